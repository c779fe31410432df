import KithDocument
import KithNode

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Values of documents and of parts of them.
enum ModelDecoding {
    /// - Parameters:
    ///   - bytes: JSON.
    ///   - place: the path of the value in the document, for errors; empty for all of it.
    static func value<Value: Decodable>(
        _ type: Value.Type, of bytes: [UInt8], document: String, at place: String
    ) throws(KithError) -> Value {
        do {
            return try decoder().decode(type, from: Data(bytes))
        } catch {
            let fault = Fault(error)
            let path = place + fault.path
            throw KithError(
                .decoding, Shown.name(document),
                "document \(Shown.name(document)) is no \(type): \(path.isEmpty ? "it" : Shown.name(path)) \(fault.reason)"
            )
        }
    }

    private static func decoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            guard let date = DateText.date(of: try container.decode(String.self)) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "is no time of RFC 3339 in UTC")
            }
            return date
        }
        return decoder
    }

    /// What a decoder found, without the values that it tells of.
    private struct Fault {
        var path = ""
        let reason: String

        init(_ error: any Error) {
            switch error as? DecodingError {
            case .keyNotFound(let key, let context)?:
                path = Self.pointer(context.codingPath + [key])
                reason = "is missing"
            case .valueNotFound(let type, let context)?:
                path = Self.pointer(context.codingPath)
                reason = "is null and should be \(type)"
            case .typeMismatch(let type, let context)?:
                path = Self.pointer(context.codingPath)
                reason = "should be \(type)"
            case .dataCorrupted(let context)?:
                path = Self.pointer(context.codingPath)
                // Of an enumeration's raw value the text names the value.
                let text = context.debugDescription
                reason = text.hasPrefix("is ") ? text : "has a value that the type does not have"
            default: reason = "does not decode"
            }
        }

        private static func pointer(_ path: [any CodingKey]) -> String {
            path.map { "/" + ($0.intValue.map(String.init) ?? $0.stringValue) }.joined()
        }
    }
}
