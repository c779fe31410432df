/// The stamps of a revision's fields beside its body: one default stamp, and what differs from it.
///
/// With the body they are the revision's `Fields`. A new document costs one stamp and no exception.
package struct FieldStamps: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        /// A leaf of the body, stamped otherwise than by default.
        case visible
        /// A removed field: its stamp stays, so that an older write of it does not come back.
        case absent
        /// A field that the body does not show because one above or under it has the higher stamp: canonical JSON.
        case hidden([UInt8])
    }

    package struct Exception: Hashable, Sendable {
        package let path: FieldPath
        package let stamp: Stamp
        package let state: State

        package init(path: FieldPath, stamp: Stamp, state: State) {
            self.path = path
            self.stamp = stamp
            self.state = state
        }
    }

    package let defaultStamp: Stamp
    /// Ascending by path.
    package let exceptions: [Exception]

    package init(defaultStamp: Stamp, exceptions: [Exception] = []) {
        self.defaultStamp = defaultStamp
        self.exceptions = exceptions
    }

    /// The highest time of any stamp.
    package var highestTime: UInt64 { exceptions.reduce(defaultStamp.time) { max($0, $1.stamp.time) } }
}
