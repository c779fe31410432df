/// What a person reads of one check: `kith help CODE` and docs/troubleshooting.md are made of it.
///
/// Commands stand between backquotes; the help of the command shows them without.
package struct HealthPage: Sendable {
    /// What is wrong, and what it does to the node, a paragraph each.
    package let meaning: [String]
    /// How it shows besides the check itself, a line each.
    package let shows: [String]
    /// What to do, a step each, the first first.
    package let actions: [String]
    /// When the check goes away: a sentence that goes on "It goes away ...".
    package let ends: String

    /// For a check of which nothing more is to be said than that it ends with its cause.
    private static let endsWithCause = "Soon after its cause is gone."

    package init(meaning: [String], shows: [String] = [], actions: [String], ends: String = Self.endsWithCause) {
        self.meaning = meaning
        self.shows = shows
        self.actions = actions
        self.ends = ends
    }
}

/// A check that holds now.
struct HealthFinding: Hashable, Sendable {
    let code: HealthCode
    let level: ControlStatus.Level
    /// What is wrong, and with what, in one sentence without a full stop.
    let summary: String
    /// The first thing to do.
    let action: String
}
