/// Which network interfaces count, by name: patterns with `*` (any letters, also none) and `?` (one letter); `!` before a
/// pattern leaves its interfaces out.
///
/// An interface counts when no `!` pattern fits it and, where there are patterns without `!`, one of those does. Without
/// patterns all count, and the loopback interface always does: it leads to this machine alone.
package struct InterfacePatterns: Hashable, Sendable {
    private let wanted: [String]
    private let unwanted: [String]

    /// All interfaces.
    package static let all = InterfacePatterns()

    private init() {
        wanted = []
        unwanted = []
    }

    /// Reads patterns as a person writes them: `eth*`, `!docker*`.
    /// - Throws: the rule that one breaks.
    package init(_ texts: [String]) throws(AddressError) {
        guard texts.count <= Limits.patterns else {
            throw AddressError(message: "there may be \(Limits.patterns) patterns of interfaces at most")
        }
        var wanted: [String] = []
        var unwanted: [String] = []
        for text in texts {
            let isUnwanted = text.utf8.first == UInt8(ascii: "!")
            let pattern = isUnwanted ? String(text.dropFirst()) : text
            guard Self.isPattern(pattern) else {
                throw AddressError(
                    message: "\(text): no pattern of interfaces; write it like eth0, wl* or !docker*, a pattern each")
            }
            if isUnwanted { unwanted.append(pattern) } else { wanted.append(pattern) }
        }
        self.wanted = wanted
        self.unwanted = unwanted
    }

    /// The patterns as they were read.
    package var texts: [String] { wanted + unwanted.map { "!\($0)" } }

    /// Whether the interface of this name counts.
    package func allows(_ name: String) -> Bool {
        if name == "lo" { return true }
        if unwanted.contains(where: { Self.fits(name, $0) }) { return false }
        return wanted.isEmpty || wanted.contains { Self.fits(name, $0) }
    }

    /// Whether the interface of this number counts. One that has no name any more counts where all do.
    package func allows(index: UInt32) -> Bool {
        (wanted.isEmpty && unwanted.isEmpty) || allows(Interface.name(of: index))
    }

    /// What a name of an interface can be: 1 to 15 printable bytes without a slash or a space, and `*` and `?`.
    private static func isPattern(_ text: String) -> Bool {
        (1...Limits.patternBytes).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "!") }
    }

    /// - Complexity: O(name · pattern).
    private static func fits(_ name: String, _ pattern: String) -> Bool {
        let name = Array(name.utf8)
        // Whether the first n bytes of the name fit the part of the pattern that was looked at.
        var reachable = [Bool](repeating: false, count: name.count + 1)
        reachable[0] = true
        for byte in pattern.utf8 {
            var next = [Bool](repeating: false, count: name.count + 1)
            if byte == UInt8(ascii: "*") {
                var isOpen = false
                for index in reachable.indices {
                    isOpen = isOpen || reachable[index]
                    next[index] = isOpen
                }
            } else {
                for index in name.indices where reachable[index] {
                    next[index + 1] = byte == UInt8(ascii: "?") || byte == name[index]
                }
            }
            reachable = next
        }
        return reachable[name.count]
    }
}
