import KithDiscovery
import KithNetwork

/// What `kith doctor` found, before it is judged: a value, so that the judgement can be tried without a network. What was
/// not found out is nil.
package struct DoctorFacts: Sendable {
    /// The node's directory and who the node is.
    package struct Directory: Hashable, Sendable {
        package var path = ""
        /// Why it holds no identity that can be used; nil when it does.
        package var failure: String?
        package var nodeName = ""
        package var nodeID = ""
        package var groupName = ""
        package var tag = ""
        /// The name of the network file system it is on; nil for a local one.
        package var networkFileSystem: String?

        package init() {}
    }

    /// The running node, from its status.
    package struct RunningNode: Hashable, Sendable {
        package struct Peer: Hashable, Sendable {
            package var id = ""
            package var name: String?
            package var isConnected = false
            package var isDialled = false
            package var address: String?
            package var clockOffsetMilliseconds: Int64?
            package var refusal: String?
            /// Whether its link goes to an address of this machine: another node here.
            package var isHere = false

            package init() {}
        }

        /// What it says of its health, without advice and what is muted.
        package struct Check: Hashable, Sendable {
            package var code = ""
            package var isCritical = false
            package var summary = ""
            package var action: String?

            package init() {}
        }

        package var pid: Int32 = 0
        package var discoveryState = "off"
        package var discoveryError: String?
        package var foreignGroups = 0
        package var peers: [Peer] = []
        package var checks: [Check] = []
        package var openDescriptors: Int?

        package var connected: [Peer] { peers.filter(\.isConnected) }

        package init() {}
    }

    /// A network interface of this machine.
    package struct NetworkInterface: Hashable, Sendable {
        package var name = ""
        package var addresses: [String] = []
        package var isRunning = false
        /// Why it does not count for discovery; nil when it does.
        package var skipped: String?

        package init() {}
    }

    /// What came of a connection to an address.
    package enum DialOutcome: Hashable, Sendable {
        /// The node that was wanted answers, or any of the group where none was.
        case answered
        case refused
        /// Nothing came back in time.
        case noAnswer
        /// The network says that nobody is there: no answer to ARP, or no route.
        case unreachable
        case wrongNode(String)
        /// It is an address of this machine with this node's port; it is not dialled.
        case itself
        /// Somebody with this node's identity, at an address that is not of this machine.
        case sameIdentity
        /// Somebody of another group, or no member.
        case otherGroup
        /// It refuses this node: why.
        case refusedThere(String)
        case failed(String)
    }

    /// The port of this node, tried at an address of this machine.
    package struct OwnPort: Hashable, Sendable {
        package var address = ""
        package var interface = ""
        package var outcome = DialOutcome.noAnswer

        package init() {}
    }

    /// An address where a node of the group may be.
    package struct Place: Hashable, Sendable {
        package var node: String?
        package var address = ""
        package var source = ""
        /// In a subnet of an interface of this machine.
        package var isNear = false
        /// An address of this machine itself.
        package var isHere = false
        /// Whether its machine is there, by ARP, an echo or what it sent itself; nil where nothing tells.
        package var machineAnswers: Bool?
        package var outcome = DialOutcome.noAnswer

        package init() {}
    }

    /// What the system's firewalls say, as far as they can be read.
    package struct Firewall: Hashable, Sendable {
        /// Rules and policies that drop or refuse what may be Kith's, in the words of the tool.
        package var hints: [FirewallHint] = []
        /// What could not be read, and why.
        package var unread: [String] = []
        /// What was read.
        package var read: [String] = []

        package init() {}
    }

    package var directory = Directory()
    package var node: RunningNode?
    /// Why there is no answer of a running node.
    package var nodeFailure: String?
    package var usesDiscovery = true
    package var interfaces: [NetworkInterface] = []
    package var avahi: AvahiProbe.Examination?
    /// Whether the library of DNS-SD could be used; its last error.
    package var discoveryError: String?
    /// Whether this node's own announcement was found; nil where it was not looked for.
    package var seesItself: Bool?
    /// Names of other nodes of the group that are announced.
    package var announced: [String] = []
    package var multicast: MulticastProbe.Finding?
    package var port: UInt16 = 0
    package var ownPort: [OwnPort] = []
    package var ownPortFailure: String?
    /// Who has this node's port, where it does not run and the port is taken; nil where nobody was asked.
    package var portHolder: DialOutcome?
    package var places: [Place] = []
    /// Whether a link of the running node goes to another machine of a subnet that this one is in.
    package var hasNearLink = false
    package var firewall = Firewall()
    /// The router's address and whether it answers; nil where there is none.
    package var router: (address: String, answers: Bool)?
    package var wallMilliseconds: Int64 = 0
    /// Descriptors that this user's processes may have open each.
    package var descriptorLimit: UInt64 = 0
    /// Probes that did not end in time.
    package var unfinished: [String] = []

    package init() {}
}

/// A rule or policy of a firewall that may be in Kith's way.
package struct FirewallHint: Hashable, Sendable {
    package enum Concern: Hashable, Sendable {
        /// Multicast DNS, UDP 5353.
        case multicast
        /// The node's own TCP port.
        case port
        /// All that comes in and is not allowed elsewhere.
        case everything
    }

    package let tool: String
    package let concern: Concern
    package let text: String

    package init(tool: String, concern: Concern, text: String) {
        self.tool = tool
        self.concern = concern
        self.text = text
    }
}
