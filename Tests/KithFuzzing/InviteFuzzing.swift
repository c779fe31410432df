import KithTransport

/// A code that is read is written and read again as itself.
enum InviteFuzzing {
    static let seeds = [
        InviteCode(shortFingerprint: Array(0..<16), secret: Array(0..<11)).text,
        InviteCode(shortFingerprint: Array(repeating: 0xFF, count: 16), secret: Array(repeating: 0, count: 11)).text
            .lowercased(),
    ]

    static func run(_ bytes: [UInt8]) throws(FuzzFailure) {
        guard let code = code(String(decoding: bytes, as: UTF8.self)) else { return }
        try FuzzFailure.require(self.code(code.text) == code, "an invite code changes when read again")
    }

    private static func code(_ text: String) -> InviteCode? {
        do throws(TransportError) { return try InviteCode(text) } catch { return nil }
    }
}
