import KithCrypto

/// What `kith invite` prints and `kith join` reads: 45 characters in nine groups of five, of which the last is a check.
///
/// 220 bits: 4 of version (1), 128 of the root's fingerprint, 88 of a secret that is used once. It is a secret as a whole:
/// never in a log.
package struct InviteCode: Hashable, Sendable {
    /// The first 16 bytes of the fingerprint of the group's root.
    package let shortFingerprint: [UInt8]
    /// 11 bytes.
    package let secret: [UInt8]

    private static let version: UInt8 = 1
    private static let groupSize = 5
    private static let groups = 9
    private static let count = groupSize * groups
    private static let secretBytes = 11
    /// Longer texts are no code, whatever stands between the characters.
    private static let textBytes = 400

    package init(shortFingerprint: [UInt8], secret: [UInt8]) {
        precondition(
            shortFingerprint.count == 16 && secret.count == Self.secretBytes, "the parts of a code have fixed sizes")
        self.shortFingerprint = shortFingerprint
        self.secret = secret
    }

    /// A code of the group with a new secret.
    package static func create(for trust: GroupTrust) -> InviteCode {
        InviteCode(shortFingerprint: trust.shortFingerprint, secret: SecureRandom.bytes(secretBytes))
    }

    /// The public tag of the group, to look for its nodes.
    package var groupTag: String { GroupTrust.tag(shortFingerprint: shortFingerprint) }

    /// `XXXXX-XXXXX-…`, nine groups.
    package var text: String {
        var values = Self.values(ofBytes: shortFingerprint + secret)
        values.append(CodeAlphabet.check(values))
        var text: [UInt8] = []
        for (index, value) in values.enumerated() {
            if index > 0, index.isMultiple(of: Self.groupSize) { text.append(UInt8(ascii: "-")) }
            text.append(CodeAlphabet.characters[Int(value)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads what a person typed: any case, any spaces and dashes, O for 0, I and L for 1.
    /// - Throws: `.inviteCode`, naming the group that looks wrong where it can be known.
    package init(_ text: String) throws(TransportError) {
        guard text.utf8.count <= Self.textBytes else { throw .inviteCode("this is too long for an invite code") }
        let values = try Self.values(ofText: text)
        guard CodeAlphabet.holds(values) else {
            throw .inviteCode("the invite code is mistyped: one of its characters is wrong or two have changed places")
        }
        var bits = Self.bits(of: values.dropLast(), width: 5)
        let version = Self.number(of: bits.prefix(4))
        guard version == Self.version else {
            throw .inviteCode(
                "the invite code is of version \(version), and this program reads \(Self.version): update it")
        }
        bits.removeFirst(4)
        let bytes = Self.numbers(of: bits, width: 8)
        self.init(shortFingerprint: Array(bytes.prefix(16)), secret: Array(bytes.dropFirst(16)))
    }

    private static func values(ofBytes bytes: [UInt8]) -> [UInt8] {
        numbers(of: bits(of: [version], width: 4) + bits(of: bytes, width: 8), width: 5)
    }

    /// The lowest `width` bits of each number, the most significant first.
    private static func bits(of numbers: some Sequence<UInt8>, width: Int) -> [UInt8] {
        numbers.flatMap { number -> [UInt8] in (0..<width).map { (number >> UInt8(width - 1 - $0)) & 1 } }
    }

    private static func numbers(of bits: [UInt8], width: Int) -> [UInt8] {
        stride(from: 0, to: bits.count, by: width).map { number(of: bits[$0..<$0 + width]) }
    }

    private static func number(of bits: some Sequence<UInt8>) -> UInt8 { bits.reduce(0) { $0 << 1 | $1 } }

    private static func values(ofText text: String) throws(TransportError) -> [UInt8] {
        // Spaces and every dash that a mail program may put for one.
        let parts = text.unicodeScalars.split { scalar in
            scalar.properties.isWhitespace || scalar == "-" || scalar == "_"
                || ("\u{2010}"..."\u{2015}").contains(scalar)
                || scalar == "\u{2212}"
        }
        var values: [UInt8] = []
        for (index, part) in parts.enumerated() {
            for scalar in part {
                guard scalar.isASCII, let value = CodeAlphabet.value(of: UInt8(scalar.value)) else {
                    let group = parts.count == groups ? index + 1 : values.count / groupSize + 1
                    throw .inviteCode("group \(group) of the invite code holds a character that no code has")
                }
                values.append(value)
            }
        }
        if values.count != count, parts.count == groups, let wrong = parts.firstIndex(where: { $0.count != groupSize })
        {
            throw .inviteCode(
                "group \(wrong + 1) of the invite code has \(parts[wrong].count) characters, not \(groupSize)")
        }
        guard values.count == count else {
            throw .inviteCode("the invite code has \(values.count) characters, not \(count): is a part missing?")
        }
        return values
    }
}
