import KithDocument
import KithReplication
import KithTransport

/// What a hostile member does, and to whom: one class for each kind. What is left out here is done as an honest node does it,
/// but that it holds nothing but what it offers.
protocol Harm: AnyObject {
    /// How often it does its harm at most.
    var rounds: Int { get }
    /// Milliseconds between two rounds.
    var pace: Int { get }
    /// Whether it carries the group's databases; else nobody opens a feed to it, and it opens feeds by itself.
    var carriesDatabases: Bool { get }
    /// The name and the id under which it is announced.
    func announced(_ member: HostileMember) -> (name: String, id: NodeID)
    /// Where it says that a database stands.
    /// - Parameter offered: where it stands by what it offers.
    func summary(_ offered: ReplicaSummary, on link: HostileLink) -> ReplicaSummary
    /// The hello of a peer has come and its own was sent.
    func opened(_ link: HostileLink)
    func round(_ number: Int, of member: HostileMember)
    /// A frame came.
    /// - Returns: whether it is dealt with.
    func takes(_ frame: Frame, on link: HostileLink) -> Bool
}

extension Harm {
    var rounds: Int { 20 }
    var pace: Int { 2_000 }
    var carriesDatabases: Bool { true }
    func announced(_ member: HostileMember) -> (name: String, id: NodeID) {
        (member.identity.nodeName, member.identity.nodeID)
    }
    func summary(_ offered: ReplicaSummary, on link: HostileLink) -> ReplicaSummary { offered }
    func opened(_ link: HostileLink) {}
    func round(_ number: Int, of member: HostileMember) {}
    func takes(_ frame: Frame, on link: HostileLink) -> Bool { false }
}

extension HostileKind {
    /// What a member of this kind does.
    func makeHarm() -> any Harm {
        switch self {
        case .farAhead: FarAhead()
        case .claimsAll: ClaimsAll()
        case .replays: Replays()
        case .wrongHash: WrongHash()
        case .forgedAncestry: ForgedAncestry()
        case .hugeGeneration: HugeGeneration()
        case .deepTree: DeepTree()
        case .wideTree: WideTree()
        case .endlessFrame: EndlessFrame()
        case .slowLoris: SlowLoris()
        case .asksAgain: AsksAgain()
        case .conflictFlood: ConflictFlood()
        case .refusalFlood: RefusalFlood()
        case .foreignCopy: ForeignCopy()
        case .badJSON: BadJSON()
        case .normalisedIDs: NormalisedIDs()
        case .falsePresence: FalsePresence()
        case .copiedRecord: CopiedRecord()
        case .year9999: Year9999()
        case .malformed: Malformed()
        }
    }
}
