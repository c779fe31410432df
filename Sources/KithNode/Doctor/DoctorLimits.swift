/// The bounds of `kith doctor`: it ends within 15 s.
enum DoctorLimits {
    /// How long multicast is asked for and listened to, and announcements are waited for, in milliseconds. Avahi answers
    /// within half a second, and its library needs up to 3 s where a machine is slow.
    static let listenMilliseconds: UInt64 = 3_500
    /// How long an address may take to answer, in milliseconds: the kernel gives up on ARP after 3 s.
    static let dialMilliseconds = 4_000
    /// How long this machine may take to answer itself, in milliseconds.
    static let ownPortMilliseconds: Int32 = 1_500
    /// After its handshake a peer that does not want this node says so within this time, in milliseconds.
    static let refusalMilliseconds = 1_000
    /// How long a machine may take to answer an echo, in milliseconds.
    static let echoMilliseconds: UInt64 = 700
    /// How long another node of this machine may take for a handshake, in milliseconds, with the time it may take to refuse.
    static let ownNodeMilliseconds = 2_500
    /// How long another program may take, in milliseconds.
    static let programMilliseconds: UInt64 = 2_000
    /// All of it, in milliseconds; what is not done then is said.
    static let totalMilliseconds = 14_000
    /// Addresses that are tried.
    static let places = 64
    /// Addresses of this machine that are tried.
    static let ownAddresses = 32
    /// Rules that are shown.
    static let hints = 12
    /// A clock before 2025 was never set, in milliseconds since 1970.
    static let plausibleMilliseconds: Int64 = 1_735_689_600_000
    /// A node with peers and databases needs some hundreds of descriptors.
    static let fewDescriptors: UInt64 = 512
}
