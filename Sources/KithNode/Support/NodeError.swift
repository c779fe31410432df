/// What goes wrong with a node as a whole: one sentence that says what happened, to what, and what to do.
package struct NodeError: Error, Hashable, Sendable {
    /// A stable word for programs.
    package let code: String
    package let message: String

    package init(code: String, message: String) {
        self.code = code
        self.message = message
    }
}
