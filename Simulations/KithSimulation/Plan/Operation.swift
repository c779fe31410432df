/// What a client asks of its node.
package struct Operation: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        /// Writes a whole body: `fields`.
        case put
        /// Changes the one field at `path` to `fields`, whatever else the document holds.
        case set
        /// Removes the field at `path`.
        case unset
        /// Writes the body that is there.
        case touch
        case delete
        /// Loads initial data: `fields`.
        case initial
        /// Destroys the document on this node, as it is meant to.
        case purge
        /// Ends all live leaves but one.
        case resolve
        case read
        /// Gives the room of what was removed back to the disk.
        case compact
        /// Checks the database; between faults of disks it must find it sound.
        case verify
        /// Makes a copy of the database beside the work that goes on; the copy must be sound.
        case backupCheck = "backup-check"
        /// An admin sets the merge policy of the database to `text`.
        case policy
        /// Makes the database, which is not there before.
        case create
        /// Drops this node's copy of the database and carries it no more: what it had not given away is gone.
        case drop
    }

    package var kind: Kind
    package var node: Int
    /// Not empty: it happens on each of these instead of `node`.
    package var nodes: NodeList
    package var database: Int
    /// An id. In an item `$n` in it stands for the number of the repetition, `$k` for that of the node, and `$i` for that
    /// in the burst; a burst whose id has no `$i` has the number at the end.
    package var document: String
    /// A JSON Pointer of one or two keys.
    package var path: String
    /// `PATH=VALUE` pairs with one space between them, or one value: JSON without spaces. With `$n`, `$k` and `$i` as above.
    package var fields: String
    /// A burst of so many documents at once; 0 for the one.
    package var count: Int
    /// The body is padded to about so many bytes; 0 for none.
    package var size: Int
    /// The policy: its name, or its JSON without spaces.
    package var text: String

    package init(
        _ kind: Kind, node: Int, nodes: NodeList = NodeList(), database: Int = 0, document: String = "",
        path: String = "", fields: String = "", count: Int = 0, size: Int = 0, text: String = ""
    ) {
        self.kind = kind
        self.node = node
        self.nodes = nodes
        self.database = database
        self.document = document
        self.path = path
        self.fields = fields
        self.count = count
        self.size = size
        self.text = text
    }

    /// What no log may have in it (S21).
    static let secret: StaticString = "canary-secret-"

    /// `fields`, and the padding that `size` asks for as one more field.
    package var paddedFields: String {
        let missing = size - fields.utf8.count - 16
        guard missing > 0 else { return fields }
        let padding =
            "/pad=\"\(String(repeating: "\(Self.secret)", count: missing / Self.secret.utf8CodeUnitCount + 1).prefix(missing))\""
        return fields.isEmpty ? padding : "\(fields) \(padding)"
    }
}

extension Operation.Kind {
    /// What a line of it has beside `node` or `nodes`, and `db`.
    package var parameters: [Parameter] {
        switch self {
        case .put, .initial: [.document, .fields, .count, .size]
        case .set: [.document, .path, .fields, .count]
        case .unset: [.document, .path, .count]
        case .touch, .delete, .purge, .resolve, .read: [.document, .count]
        case .policy: [.text]
        case .compact, .verify, .backupCheck, .create, .drop: []
        }
    }

    /// Whether it writes a document, which a reader's clients may not.
    var isWriting: Bool {
        switch self {
        case .put, .set, .unset, .touch, .delete, .initial, .resolve: true
        default: false
        }
    }

    /// What it takes from its node on purpose.
    package var destroys: Destruction { self == .drop ? .unshared : .nothing }
}
