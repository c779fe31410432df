/// A text that was to be an address and is none.
package struct AddressError: Error, Hashable, Sendable {
    /// The rule that the text breaks, as one sentence for people.
    package let message: String
}
