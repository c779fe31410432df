import KithDocument
import KithTestSupport

/// Something that reads bytes from outside, and what must hold whatever they are: no trap, no hang, no memory without
/// bound, and what was read can be written and read again to the same.
///
/// `make fuzz` drives these with libFuzzer; the tests run them over mutations of the seeds and over every finding kept.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// A stream of frames, cut anywhere.
    case frames
    /// One frame: its type, then the CBOR of its payload.
    case message
    /// A JSON text, or a stream of them for import.
    case json
    /// What a person types after `kith join`.
    case invite
    /// A request on the control socket of a node: method and target in the first line, then the body.
    case control
    /// A configuration file.
    case configuration

    /// Reads the bytes as the target does.
    /// - Throws: `FuzzFailure` when something that must hold does not.
    package func run(_ bytes: [UInt8]) throws(FuzzFailure) {
        switch self {
        case .frames: try FrameFuzzing.run(bytes)
        case .message: try MessageFuzzing.run(bytes)
        case .json: try JSONFuzzing.run(bytes)
        case .invite: try InviteFuzzing.run(bytes)
        case .control: try ControlFuzzing.run(bytes)
        case .configuration: try ConfigurationFuzzing.run(bytes)
        }
    }

    /// Valid inputs, from which mutations start.
    package var seeds: [[UInt8]] {
        switch self {
        case .frames: [Self.wireFrames.flatMap(\.self)] + Self.wireFrames
        case .message: Self.wireFrames.map { Array($0.dropFirst(4)) }
        case .json: JSONFuzzing.seeds.map { Array($0.utf8) }
        case .invite: InviteFuzzing.seeds.map { Array($0.utf8) }
        case .control: ControlFuzzing.seeds.map { Array($0.utf8) }
        case .configuration: ConfigurationFuzzing.seeds.map { Array($0.utf8) }
        }
    }

    private static let wireFrames = GoldenFrames.all.compactMap { Hex.decode($0.hex.utf8) }

    /// Longest input in bytes: enough for every form, short enough to be quick.
    package var longestInput: Int { self == .invite ? 512 : 4_096 }
}

/// Something that must hold and does not.
package struct FuzzFailure: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    /// - Throws: when the condition does not hold.
    static func require(_ condition: Bool, _ what: @autoclosure () -> String) throws(FuzzFailure) {
        guard condition else { throw FuzzFailure(what()) }
    }
}
