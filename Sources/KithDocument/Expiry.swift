/// When a document expires: the member `_expires` of its body, the one reserved name that a body may have. A field like
/// others to the merge rules: of two edits the later shows.
package enum Expiry {
    package static let key = "_expires"
    /// The field that it is.
    package static let path = FieldPath(keys: [key])

    /// What a body says of its expiry.
    package enum Content: Hashable, Sendable {
        case none
        /// In milliseconds since 1970.
        case time(Int64)
        /// Something else than a time from 1970 on: the document does not expire.
        case invalid
    }

    /// - Parameter body: canonical.
    /// - Complexity: O(n) to the member.
    package static func content(of body: [UInt8]) -> Content {
        body.withUnsafeBytes { bytes in
            guard let range = CanonicalJSON.member(key, of: bytes) else { return .none }
            guard let time = Int64(String(decoding: bytes[range], as: UTF8.self)), time >= 0 else { return .invalid }
            return .time(time)
        }
    }

    /// In milliseconds since 1970; nil for a body that does not expire.
    package static func time(of body: [UInt8]) -> Int64? {
        if case .time(let time) = content(of: body) { time } else { nil }
    }
}
