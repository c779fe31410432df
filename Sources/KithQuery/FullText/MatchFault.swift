/// What is wrong with a text that MATCH is to look for.
package struct MatchFault: Error, Hashable, Sendable {
    /// What was found there and what was expected.
    package let message: String
    /// Where, in characters from 1.
    package let place: Int
}
