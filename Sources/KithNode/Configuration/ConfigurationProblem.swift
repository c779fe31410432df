/// What is wrong with a configuration, and where.
package struct ConfigurationProblem: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// What is known still holds, unless strictness is asked for.
        case unknownKey
        case value(ConfigurationKey)
        /// A line that is none of the form that a file has.
        case form
        /// A whole file that can't be read.
        case unreadable
    }

    /// `FILE:LINE`, a file, a variable or an option.
    package let place: String
    /// One sentence without a full stop.
    package let message: String
    package let kind: Kind

    package init(_ kind: Kind, _ place: String, _ message: String) {
        self.kind = kind
        self.place = Shown.line(place, limit: ControlLimits.messageCharacters)
        self.message = Shown.line(message, limit: ControlLimits.messageCharacters)
    }

    package var isWarning: Bool { kind == .unknownKey }

    /// One line for people.
    package var text: String { "\(place): \(message)" }
}
