/// The bounds and times of simulated runs; docs/simulation.md says what they are for.
package enum SimulationLimits {
    /// Fewest and most nodes of a plan: one alone has a disk and a clock that fail, and a thousand are the scale that the mesh
    /// is built for.
    package static let nodes = 1...1_000
    /// Machines beside those of the nodes, for clones: a disk is copied once or twice in a run.
    package static let spares = 16
    static let machineNumbers = 0...(nodes.upperBound + spares - 1)
    /// Most databases of a run.
    package static let databases = 8
    /// Longest plan in lines, and longest line in bytes: a file from outside is bounded before it is read on.
    package static let planLines = 100_000
    package static let planLineBytes = 64 << 10
    static let planBytes = 64 << 20
    /// Most steps that the items of a plan come to, repetitions and bursts included: each is kept in memory.
    package static let steps = 1_000_000
    /// Latest time in a plan, in milliseconds: ten years, beyond which no time of Kith's reaches.
    package static let longestTime = 10 * 365 * 86_400_000
    /// Largest number of an item; a clock that is ten thousand years off is within it.
    static let largestNumber = 1_000_000_000_000_000
    /// Largest body that a plan asks for, in bytes: somewhat more than a document may have, so that the limit can be tried.
    static let documentBytes = 32 << 20

    /// Bytes that a virtual connection takes in one direction before the receiver has them, as a socket buffer does.
    static let windowBytes = 128 << 10
    /// Bytes that one node may hold for one connection (S16): what a link may be granted, and a frame on either side.
    static let bufferedBytes = 8 << 20

    /// Pieces of work that the queues of one node do between two looks (L1): a thousand where thousands of announcements
    /// come, or documents.
    static let workOfInterval = 10_000

    /// Documents that one database remembers to have refused (S16), as docs/limits.md says.
    static let refusals = 10_000

    /// How often the state of all nodes is checked against the model, in microseconds of virtual time.
    static let checkInterval: UInt64 = 500_000
    /// How long two nodes may take to hear of each other's writes before a status that says `in sync` is a lie (S19):
    /// a dead link is dropped after 15 s, and what was under way needs a moment more.
    static let statusLag: UInt64 = 20_000_000
    /// How long a machine that has slept may take links for alive that died meanwhile: the look that notices the sleep comes
    /// within 5 s, and who does not answer then is not in sync. Who asks for a status is answered after such a question.
    static let wakeLag: UInt64 = 10_000_000

    /// How long a node's links may take to hear of its own commit: the slowest virtual disk takes 0.4 s.
    static let ownStatusLag: UInt64 = 1_000_000

    /// After healing: every pair is connected within this (L2). The longest wait between dials is 5 s, a hanging dial
    /// 4 s, a silent link 15 s.
    static let reconnectTime: UInt64 = 45_000_000
    /// After healing: all nodes are equal and say so within this (L1). A fruitless comparison is repeated after at most
    /// 5, 10, 20 and 40 s.
    static let convergenceTime: UInt64 = 120_000_000
    /// A fresh write reaches all nodes within this (L5).
    static let freshWriteTime: UInt64 = 5_000_000
    /// How long the idle nodes are watched (N1), and what each direction of a link may carry in that time: pings and
    /// pongs every five seconds, with their frames and encryption 1 KiB; and of each node a presence record every 20 s, which
    /// with its offer, its request and some ten neighbours has 300 bytes. An idle link is not made anew, and no address is
    /// dialled at which the other end is known to be.
    static let idleTime: UInt64 = 60_000_000
    static func idleBytes(nodes: Int) -> Int { 2 * (1_024 + 900 * nodes) }
    /// How many calls may change the disk of a node in that time: what it has learnt of others before is kept in a small file,
    /// which takes six calls, and now and then it is tried whether the disk takes a commit, which begins a log where the
    /// compaction before has left none.
    static let idleChanges = 20
    /// How many more for each link that comes or goes, as some do when a node that is gone falls out of the map and the ring
    /// is another: where the peer was reached, and when it was seen last, are kept in that file, and what it told of the group
    /// in another, its own certificate where it is new and what others said.
    static let changesPerLink = 24
    /// How long nodes get for passing on what they have just learnt of each other, before they are watched.
    static let settlingTime: UInt64 = 5_000_000
    /// What each direction of a link may carry from reconnecting to being in sync with nothing to do (N2), but for the ids that
    /// are left out of a comparison.
    static func reconnectBytes(nodes: Int, databases: Int) -> Int { 2 * (2_048 * databases + 8_000 + 800 * nodes) }
    /// What stands before an id in a message: its length.
    static let idHeadBytes = 3
    /// How often it is looked whether what is awaited is so, in microseconds.
    static let lookInterval: UInt64 = 100_000
    /// Services that are gone and that discovery still tells of.
    static let goneServices = 256
    /// How soon TCP sends again to a machine that does not answer.
    static let resendTime: UInt64 = 200_000
    /// When a node that could not start is started again.
    static let startAgain: UInt64 = 5_000_000
    /// How long after a fault of a disk its calls may still be heard to have failed: it is tried again after 5 s.
    static let diskRecovery: UInt64 = 12_000_000
    /// How long what a machine announced is believed when it is gone without a word: the TTL of its records.
    static let recordLife: UInt64 = 120_000_000
    /// How long a link to a node may last that its owner knows to be revoked.
    static let revocationTime: UInt64 = 2_000_000
    /// How much longer than it is idle the mesh may have in its map who is gone (S19).
    static let mapLag: UInt64 = 20_000_000
    /// Each node of the core is heard of by the others within this after healing (L3): a look at what is announced is taken
    /// every 20 to 60 s, and with each change.
    static let discoveryTime: UInt64 = 90_000_000
    /// When nobody takes what is gone for announced any more (L3), after it ended at the latest: its records have expired, and
    /// a look was taken.
    static let goneTime = recordLife + discoveryTime
    /// When it must show that two nodes run with one identity (S9), once both do so undisturbed: a presence record of each has
    /// gone round twice.
    static let twinTime: UInt64 = 60_000_000
    /// For how long nobody need take back that two nodes run with an identity (S9), once they do not any more: who turned one
    /// away believes it, then who heard of that from it, and a health check is looked at now and then.
    static let twinBelief: UInt64 = 120_000_000 + recordLife
    /// When a node that finds itself on another machine must say so (S9), after its start.
    static let heldTime: UInt64 = 10_000_000
    /// When a hostile member's last harmless document must have come through behind all its harm (L4).
    static let poisonTime: UInt64 = 60_000_000
    /// When a compaction must have ended (L6).
    static let compactionTime: UInt64 = 60_000_000
    /// A write must be done so long after there is room again (L7): the disk is looked at every 10 s.
    static let roomTime: UInt64 = 20_000_000
    static let roomWriteTime: UInt64 = 5_000_000
    /// When all databases must take what peers have again, after all disks are well (L7): each is looked at 10 s after it last
    /// failed, and what was to be pulled is asked for then, a second after it failed at the soonest.
    static let diskTime: UInt64 = 15_000_000
    /// When nothing of a node may be left after it has stopped (S22): goodbyes take up to 2 s, a dial under way 4 s, a resolving
    /// of a name 5 s, and a handshake 10.
    static let endingTime: UInt64 = 20_000_000
    /// How long a node that has stopped may take for that.
    static let stoppingTime: UInt64 = 30_000_000
    /// When the presence records of before a restart are forgotten.
    static let presenceTime: UInt64 = 90_000_000
    /// Nodes up to which each commit is checked against all others, and those that log everything.
    static let checkedNodes = 16
    /// Documents, leaves, ancestors and pairs of each of which a failure's message names the first, and how many more there are.
    static let shown = 4
    /// Nodes up to which each of them is told of there.
    static let shownNodes = 16
    /// Events without an end to them are a livelock: a run of more than this fails (L1).
    static func events(of plan: Plan) -> UInt64 { 20_000_000 + UInt64(plan.nodes) * UInt64(plan.end) * 10 }
}
