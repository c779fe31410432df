import KithDocument

/// Why an operation of the control interface failed: a stable code for programs, one sentence for people.
package struct ControlError: Error, Hashable, Sendable {
    package enum Code: String, Sendable, CaseIterable {
        /// No such document, revision, database or node.
        case notFound = "not_found"
        /// What was waited for did not come true in time.
        case notYet = "not_yet"
        /// The revision named is not the present one.
        case conflict
        /// There is one of that name already.
        case exists
        /// A document, an id, a name or a policy breaks a rule.
        case invalid
        case tooLarge = "too_large"
        /// This node's role does not allow it.
        case forbidden
        /// Not now: the node is stopping, its disk fails, its clock is beyond range.
        case unavailable
        /// No space is left on the node's disk; nothing was written.
        case storageFull = "storage_full"
        /// A parameter that does not exist or cannot be read, or a path that is no operation.
        case usage
        case methodNotAllowed = "method_not_allowed"
        /// An error of the system or of this program.
        case failed
    }

    package let code: Code
    /// One line: what happened, to what, and what to do.
    package let message: String

    /// The answer to who waits for more when the node ends.
    package static let stopping = ControlError(.unavailable, "the node stops; start it again with: kith start")

    /// Line ends become spaces. Whoever makes the message cuts what others gave, with `Shown`.
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = Shown.line(message, limit: ControlLimits.messageCharacters)
    }

    /// What is wrong with a document or its id.
    package init(_ error: DocumentError, document: String) {
        let code: Code =
            switch error {
            case .invalidID, .invalidJSON, .malformed, .hashMismatch: .invalid
            case .clockBeyondRange: .unavailable
            }
        if case .invalidID = error {
            self.init(code, "\(error.message); choose another id")
        } else {
            self.init(code, "document \(Shown.name(document)): \(error.message)")
        }
    }

    package var httpStatus: Int {
        switch code {
        case .notFound: 404
        case .notYet: 504
        case .conflict, .exists: 409
        case .invalid, .usage: 400
        case .tooLarge: 413
        case .forbidden: 403
        case .unavailable: 503
        case .storageFull: 507
        case .methodNotAllowed: 405
        case .failed: 500
        }
    }

    /// The exit status of a command that failed for this reason.
    package var exitStatus: Int {
        switch code {
        case .notFound, .notYet: 2
        case .usage, .methodNotAllowed: 64
        case .conflict, .exists, .invalid, .tooLarge, .forbidden, .unavailable, .storageFull, .failed: 1
        }
    }

    /// `{"error":CODE,"message":TEXT,"exit":STATUS}`
    package var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("error", code.rawValue)
        object.add("message", message)
        object.add("exit", exitStatus)
        return object.bytes
    }

    package static func unknownDatabase(_ name: String) -> ControlError {
        ControlError(.notFound, "there is no database \(Shown.name(name)) here; kith db list shows those there are")
    }

    package static func unknownDocument(_ id: DocumentID, database: String) -> ControlError {
        ControlError(
            .notFound,
            "there is no document \(Shown.name(id.string)) in \(Shown.name(database)); kith changes lists those there are"
        )
    }

    package static func unknownNode(_ name: String) -> ControlError {
        ControlError(.notFound, "no node \(Shown.name(name)) is known; kith status shows those that are")
    }
}

/// Text of others as it stands in a message: on one line, without control characters, and not too long.
package enum Shown {
    /// An id or name.
    package static func name(_ text: String) -> String { line(text, limit: ControlLimits.shownCharacters) }

    /// A path, whole.
    package static func path(_ text: String) -> String { line(text, limit: ControlLimits.shownPathCharacters) }

    /// A path as a shell takes it, whatever it has in it.
    package static func quoted(_ path: String) -> String {
        let isPlain = path.utf8.allSatisfy { byte in
            (byte >= 48 && byte <= 57) || (byte | 0x20 >= 97 && byte | 0x20 <= 122) || "/._-+:@%,=".utf8.contains(byte)
        }
        return isPlain && !path.isEmpty ? path : "'" + Self.path(path).replacing("'", with: "'\\''") + "'"
    }

    /// Control characters become spaces; what is too long ends with `…`.
    package static func line(_ text: String, limit: Int) -> String {
        var shown = ""
        var count = 0
        for character in text {
            if count == limit {
                shown.removeLast()
                return shown + "…"
            }
            let isControl = character.unicodeScalars.contains { $0.value < 32 || (0x7f...0x9f).contains($0.value) }
            shown.append(isControl ? " " : character)
            count += 1
        }
        return shown
    }
}
