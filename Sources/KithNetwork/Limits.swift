/// Every bound of this target, with its reason.
enum Limits {
    /// Bytes of an address as text: the longest host name, brackets and a port, with room.
    static let textBytes = 300

    /// Bytes of a host name (RFC 1035, 2.3.4, without the length bytes at both ends).
    static let nameBytes = 253

    /// Bytes of one label of a host name (RFC 1035, 2.3.4).
    static let labelBytes = 63

    /// Patterns of interfaces that a node is given, and bytes of one: a name has at most 15 on Linux.
    static let patterns = 64
    static let patternBytes = 32
}
