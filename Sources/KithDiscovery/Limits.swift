/// Every bound and every wait of this target, each with its reason.
enum Limits {
    // MARK: Avahi

    /// The DNS-SD type of a node.
    static let serviceType = "_kith._tcp"

    /// The only domain that multicast DNS serves.
    static let domain = "local"

    /// A DNS label, and so an instance name, has at most 63 bytes (RFC 1035).
    static let labelBytes = 63

    /// References for resolving that live at one time. Each costs a thread, five descriptors and one of the 256 bus
    /// connections that all processes of one user share.
    static let shortLivedReferences = 2

    /// Avahi confirms a registration about a second after the call, or 3 s where names collide; without a word after
    /// this long the registration is lost and is made anew under another name.
    static let registrationTimeoutMilliseconds = 10_000

    /// A resolve that is answered from the cache takes milliseconds and one from the network about a second.
    static let resolveTimeoutMilliseconds = 3_000

    /// How long to wait for the first address; a host that answered for its service answers for its name too.
    static let addressTimeoutMilliseconds = 1_500

    /// With addresses of one family only, how long the other family may still come: a host may have just one.
    static let otherFamilyMilliseconds = 250

    /// The library never says "that was all": addresses come together, so a silence of this length is taken for it.
    static let addressQuietMilliseconds = 60

    /// Changes are passed on together at most this often, for the same reason.
    static let debounceMilliseconds = 200

    /// First and longest pause before a failed connection to Avahi is made anew.
    static let reconnectInitialMilliseconds: UInt64 = 500
    static let reconnectMaximumMilliseconds: UInt64 = 30_000

    /// How often the sockets of the bus and of Avahi are looked at while discovery is unavailable, so that peers show
    /// within seconds of Avahi's start and not after the longest pause.
    static let watchMilliseconds = 1_000

    /// How long the bus and Avahi may take to answer all that a probe asks; they take milliseconds.
    static let probeMilliseconds: UInt64 = 800

    /// How often the process checks whether the machine has slept, and by how much a check must be late to mean it.
    static let sleepCheckMilliseconds = 5_000
    static let sleepGapMilliseconds: UInt64 = 10_000

    /// First and longest pause before a service that could not be resolved is asked again on its own account.
    static let resolveAgainInitialMilliseconds: UInt64 = 2_000
    static let resolveAgainMaximumMilliseconds: UInt64 = 60_000

    /// Instances remembered of one browse. A LAN of Kith nodes has tens; a flood of invented names stops here.
    static let services = 1_024

    /// Interfaces counted of one instance; a machine with containers has tens.
    static let interfacesPerService = 64

    /// A removed instance is kept as a hint; when there is no room for a new one the oldest of these go.
    static let staleServices = 256

    /// Resolves that wait for a free reference; more are refused at once.
    static let waitingResolves = 1_024

    /// Addresses taken from one answer: a host has one or two per interface.
    static let addressesPerService = 32

    /// Foreign instances whose group is looked up for the count in status.
    static let foreignLookups = 64

    /// TXT data as a whole; ours has under 150 bytes, and more than this is not read.
    static let textBytes = 1_300

    // MARK: Candidates

    /// Entries of the static list; it is written by hand.
    static let staticAddresses = 256

    /// Addresses of one node that are remembered over a restart, and of all nodes together.
    static let rememberedPerNode = 8
    static let remembered = 1_024

    /// Bytes of the remembered list that are read: 1,024 lines of at most 150 bytes, with room.
    static let rememberedBytes = 256 * 1_024

    /// Addresses whose failures are kept; those no list names any more go first.
    static let attempts = 8_192

    /// First pause after a failed dial, doubled up to the cap. The cap is short because a peer that returns is to be in
    /// sync within 10 s, also where discovery says nothing about it.
    static let dialInitialMilliseconds: UInt64 = 500
    static let dialMaximumMilliseconds: UInt64 = 5_000

    /// An address that failed this often in a row (about ten minutes) is tried at the slow pace.
    static let dialFailuresUntilSlow = 120
    static let dialSlowMilliseconds: UInt64 = 60_000

    /// An address that proved to be this node's own is left alone this long.
    static let ownAddressMilliseconds: UInt64 = 3_600_000
    /// And one at which another node with this node's identity answered, in milliseconds.
    static let twinAddressMilliseconds: UInt64 = 60_000

    /// The reason of a failed dial is shown in status; it is cut here.
    static let reasonBytes = 200

    // MARK: A bus and an avahi-daemon of our own

    /// How long the two daemons may take to start, and to end before they are killed.
    static let daemonStartMilliseconds = 5_000
    static let daemonStopMilliseconds = 3_000

    // MARK: Diagnosis

    /// Questions that a diagnosis asks by multicast: one may be lost, and Avahi does not repeat an answer within a second.
    static let diagnosisQuestions = 3

    /// Records of one message that a diagnosis reads, and jumps within one name: a name has at most 128 parts.
    static let diagnosedRecords = 512
    static let diagnosedJumps = 32

    /// Other machines that a diagnosis counts on one interface.
    static let diagnosedHosts = 256

    /// What a diagnosis reads of another program's output: the rules of a large firewall.
    static let diagnosisOutputBytes = 256 * 1_024
}
