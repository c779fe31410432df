import KithDocument
import KithNode
import KithReplication
import KithStore
import KithTestSupport
import KithTransport
import KithVirtualDisk

/// One run of a plan: machines, nodes, network and model, and the loop that lets the earliest event happen and checks.
///
/// Everything is in one thread and on virtual time. The extensions are the parts: `+Nodes` (starting and ending them),
/// `+Clients` (operations of the plan), `+Faults` and those beside it (faults), `+Observing` (what the model is told),
/// `+Checks`, `+Phases`.
final class SimulationRun: @unchecked Sendable {
    // Sendable: a run has one thread.

    let plan: Plan
    let steps: [PlanStep]
    let budget: FaultBudget
    let sabotage: Sabotage?
    let world: World
    let network: SimulatedNetwork
    let multicast: Multicast
    var machines: [SimulatedMachine] = []
    var nodes: [SimulatedNode] = []
    var group: SimulatedGroup
    var model: Model
    var trace: Trace
    /// How often each `Mark` was met.
    var marks = Tally()
    /// Every identity that a member has had.
    var identities: [NodeID] = []
    /// Those of them that an admin was told are revoked.
    var revoked: [NodeID] = []
    /// What an admin was told that each may do from then on. Looked up only.
    var roles: [NodeID: Role] = [:]
    /// When each node was last started.
    var startTimes: [Int: UInt64] = [:]
    var carriedOut = Tally()
    var counts = Counts()
    /// Whether operations and faults are over.
    var isHealed = false
    /// Whether all nodes end and begin once more.
    var isReopening = false
    /// Whether a disk has held what its node did not write: others refuse that with reason.
    var hadWrongPeers = false
    /// The node whose checkpoints were looked at last.
    var checkpointsOf = 0
    /// Which nodes can have a link.
    var shape: Shape
    /// Documents that changed since the dear checks.
    var unchecked: [(place: Model.Place, document: DocumentID)] = []
    var checking: SeededGenerator
    var swizzles: SeededGenerator
    var powerCuts: SeededGenerator
    var diskFaults: SeededGenerator
    /// Images of disks that were taken, by node, with what the model knew of the node then.
    var images: [Int: DiskImage] = [:]
    /// By directory what disks held a while ago.
    var staleImages: [String: VirtualDisk] = [:]
    /// Who began each timeline of each database.
    var timelines: [Timeline: Beginner] = [:]
    /// Since when copies of a node run beside it undisturbed, by the copy.
    var twins: [Int: TwinWatch] = [:]
    /// When two nodes last ran with an identity.
    var doubledAt: [NodeID: UInt64] = [:]
    /// What had gone through connections with revoked nodes, when it was first seen that they are still there.
    var sentToRevoked: [RevokedChannel: (since: UInt64, bytes: UInt64)] = [:]
    /// When the last of those ended that are not healed.
    var goneSince: UInt64 = 0
    /// The policy of each database that an admin was told last to be set, and who that was. Looked up only.
    var lastPolicies: [Int: (policy: [UInt8], admin: Int)] = [:]
    var lastCall = 0
    var lastAddress = 0

    /// What a run did, for its last line.
    struct Counts {
        var acknowledged = 0
        var revisionsPulled = 0
    }

    init(plan: Plan, sabotage: Sabotage?, printing: ((String) -> Void)?) throws {
        self.plan = plan
        shape = plan.shape
        self.sabotage = sabotage
        steps = plan.steps
        budget = FaultBudget(plan)
        world = World(seed: plan.seed)
        VirtualDiskLayer.seed(world.generator("sqlite"))
        network = SimulatedNetwork(world)
        multicast = Multicast(network)
        trace = Trace(print: printing)
        checking = world.generator("checks")
        swizzles = world.generator("swizzles")
        powerCuts = world.generator("power cuts")
        diskFaults = world.generator("disk faults")
        let machineCount = max(plan.nodes, (plan.clones.members.last ?? 0) + 1)
        model = Model(
            nodes: machineCount, databases: plan.databases, policy: PolicyModel(plan.policy))
        let printsEvents = printing != nil
        group = try SimulatedGroup(world.generator("keys"))
        for index in 0..<machineCount {
            let machine = SimulatedMachine(index, world, network)
            machines.append(machine)
            machine.trouble.pretends = sabotage == .forgetsToSynchronise
            nodes.append(SimulatedNode(index, on: machine, id: try group.makeID(index)))
        }
        if printsEvents { tellOfEvents() }
    }

    var now: UInt64 { world.now }

    /// Every event is a line, where lines are wanted.
    private func tellOfEvents() {
        world.told = { [unowned self] machine, event, detail in trace.show(now, node: machine, event, detail) }
    }

    /// Lets events happen up to a time, or until something is so.
    /// - Returns: whether it became so.
    @discardableResult
    func advance(to time: UInt64, until isDone: (() -> Bool)? = nil) throws -> Bool {
        // What is awaited is looked for now and then: it costs more than an event.
        var lookAt = world.now
        while let next = world.nextTime, next <= time {
            if let isDone, world.now >= lookAt {
                if isDone() { return true }
                lookAt = world.now + SimulationLimits.lookInterval
            }
            _ = try world.step()
            guard world.handled < SimulationLimits.events(of: plan) else {
                throw Violation(.convergence, "\(world.handled) events and no end to them")
            }
        }
        world.skip(to: time)
        return isDone?() ?? true
    }

    /// Gives back what the run holds.
    func discard() {
        for node in nodes { node.end() }
        for machine in machines { machine.disk.discard() }
        for key in images.keys.sorted() { images[key]?.disk.discard() }
        for key in staleImages.keys.sorted() { staleImages[key]?.discard() }
        world.discard()
    }
}
