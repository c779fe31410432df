import KithDocument
import KithHTTPCore

// What the operations of the control interface take and give. Their JSON is docs/control.md's.

/// Lines of JSON that are made while they are sent.
package struct ControlStream: Sendable {
    /// Writes whole lines, each with its `\n`, many at a time where they are at hand. Ends the stream when it returns.
    /// A `ControlError` thrown becomes the stream's last line; `HTTPError.gone`, which `write` throws when the client
    /// left, may pass through.
    package let produce: @Sendable (HTTPBodyWriter) async throws -> Void

    package init(_ produce: @escaping @Sendable (HTTPBodyWriter) async throws -> Void) { self.produce = produce }
}

/// `kith wait`
package struct ControlWait: Hashable, Sendable {
    /// Peers that must be connected, at least 1.
    package var peers = 1
    /// The database whose digest must equal that of every connected peer.
    package var database: String?
    package var timeoutMilliseconds: Int64 = 30_000

    package init() {}
}

/// What held when a wait ended well.
package struct ControlWaitResult: Hashable, Sendable {
    package var peers: Int
    package var inSync: Bool?

    package init(peers: Int, inSync: Bool?) {
        self.peers = peers
        self.inSync = inSync
    }

    var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("peers", peers)
        object.add("in_sync", inSync)
        return object.bytes
    }
}

/// A pause that was set.
package struct ControlPause: Hashable, Sendable {
    /// The node's id; nil for all.
    package var peer: String?
    package var until: Int64?

    package init(peer: String?, until: Int64?) {
        self.peer = peer
        self.until = until
    }

    var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("peer", peer)
        object.add("paused_until", time: until)
        return object.bytes
    }
}

/// `kith invite`
package struct ControlInvite: Hashable, Sendable {
    /// `admin`, `writer` or `reader`; checked.
    package var role = "writer"
    package var validMilliseconds: Int64 = 900_000
    /// The root's key as it stands in its file; needed for `admin`.
    package var rootKey: [UInt8]?

    package init() {}
}

package struct ControlInvitation: Hashable, Sendable {
    package var code: String
    package var role: String
    package var expiresAt: Int64

    package init(code: String, role: String, expiresAt: Int64) {
        self.code = code
        self.role = role
        self.expiresAt = expiresAt
    }

    var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("code", code)
        object.add("role", role)
        object.add("expires_at", time: expiresAt)
        return object.bytes
    }
}

/// A document as it is read.
package struct ControlDocument: Hashable, Sendable {
    /// Canonical JSON; with the names `_id`, `_rev`, `_conflicts`, `_sequence` where they were asked for.
    package var body: [UInt8]
    package var revision: RevisionID

    package init(body: [UInt8], revision: RevisionID) {
        self.body = body
        self.revision = revision
    }
}

/// A document as it was written.
package struct ControlWritten: Hashable, Sendable {
    package var id: DocumentID
    package var revision: RevisionID
    /// False where the body was equal, and nothing was written.
    package var isNew: Bool

    package init(id: DocumentID, revision: RevisionID, isNew: Bool) {
        self.id = id
        self.revision = revision
        self.isNew = isNew
    }

    var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("id", id.string)
        object.add("rev", revision.description)
        object.add("written", isNew)
        return object.bytes
    }
}

/// `kith changes`
package struct ControlChanges: Hashable, Sendable {
    /// The sequence after which to begin.
    package var since: UInt64 = 0
    package var limit: Int?
    /// Whether to go on with changes to come.
    package var follows = false

    package init() {}

    /// A line of the feed, with its end.
    package static func line(sequence: UInt64, id: DocumentID, revision: RevisionID, deleted: Bool) -> [UInt8] {
        var object = JSONObjectWriter()
        object.add("seq", sequence)
        object.add("id", id.string)
        object.add("rev", revision.description)
        object.add("deleted", deleted)
        return object.bytes + [UInt8(ascii: "\n")]
    }
}

/// A line of `kith conflicts`.
package struct ControlConflict: Hashable, Sendable {
    package var id: DocumentID
    package var winner: RevisionID
    /// The live leaves, the winner first.
    package var leaves: [RevisionID]

    package init(id: DocumentID, winner: RevisionID, leaves: [RevisionID]) {
        self.id = id
        self.winner = winner
        self.leaves = leaves
    }

    /// With its end.
    package var line: [UInt8] {
        var object = JSONObjectWriter()
        object.add("id", id.string)
        object.add("winner", winner.description)
        object.add("leaves", strings: leaves.map(\.description))
        return object.bytes + [UInt8(ascii: "\n")]
    }
}

/// `kith import`
package struct ControlImport: Hashable, Sendable {
    /// The member that holds the id; `_id` where none is named.
    package var idField: String?
    /// Whether objects with new ids become initial revisions.
    package var isInitial = false
    /// Whether nothing is written.
    package var isDryRun = false

    package init() {}
}

/// A line of the answer to an import.
package enum ControlImportEvent: Hashable, Sendable {
    /// An object that was not taken in.
    case failure(position: Int, id: String?, message: String)
    case done(read: Int, written: Int, unchanged: Int, failed: Int)

    /// With its end.
    package var line: [UInt8] {
        var object = JSONObjectWriter()
        switch self {
        case .failure(let position, let id, let message):
            object.add("event", "failure")
            object.add("position", position)
            object.add("id", id)
            object.add("message", Shown.line(message, limit: ControlLimits.messageCharacters))
        case .done(let read, let written, let unchanged, let failed):
            object.add("event", "done")
            object.add("read", read)
            object.add("written", written)
            object.add("unchanged", unchanged)
            object.add("failed", failed)
        }
        return object.bytes + [UInt8(ascii: "\n")]
    }
}
