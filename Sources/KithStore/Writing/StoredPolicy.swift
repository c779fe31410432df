import KithDocument
import KithMerge

/// How a database merges, as it was told: the name of the policy, the statement it stands in, and its number.
package struct StoredPolicy: Equatable, Sendable {
    /// Of the statements of a group the highest counts.
    package let number: UInt64
    package let name: String
    /// What the statement of an admin says, for people and for the rules of single paths.
    package let statement: [UInt8]
    /// The rules; a name or a statement that is not understood here leaves conflicts alone.
    package let policy: any MergePolicy

    package init(number: UInt64, name: String, statement: [UInt8]) {
        self.number = number
        self.name = name
        self.statement = statement
        policy = MergePolicies.named(name, statement: statement) ?? ManualPolicy()
    }

    /// What it comes to where there is code that it may name.
    func policy(with resolvers: ResolverSet) -> any MergePolicy {
        resolvers.policy(name, statement: statement) ?? policy
    }

    /// What a new database has.
    package static let initial = StoredPolicy(number: 0, name: LatestPolicy.name, statement: [])

    package static func == (left: Self, right: Self) -> Bool {
        left.number == right.number && left.name.utf8.elementsEqual(right.name.utf8)
            && left.statement == right.statement
    }

    static func read(_ connection: Connection) throws(StoreError) -> StoredPolicy {
        guard let bytes = try Setting.read(.policy, connection) else { return .initial }
        do {
            var reader = ByteReader(bytes)
            let number = try reader.varint()
            let name = try reader.take(try reader.count(atMost: bytes.count))
            return StoredPolicy(
                number: number, name: String(decoding: name, as: UTF8.self),
                statement: try reader.take(reader.remaining))
        } catch {
            throw StoreError.damaged("the policy of \(connection.subject)", error)
        }
    }

    func write(_ connection: Connection) throws(StoreError) {
        var writer = ByteWriter()
        writer.append(varint: number)
        writer.append(varint: UInt64(name.utf8.count))
        writer.append(contentsOf: name.utf8)
        writer.append(contentsOf: statement)
        try Setting.write(.policy, writer.bytes, connection)
    }
}

/// Rows of the table `settings`.
enum Setting: String {
    case policy
    /// How far the documents in conflict were merged after a change of the policy, and up to where they are to be.
    case settling
    /// Counts the commits that were made only to see whether the disk takes them.
    case probe
    /// What the clock has said, for dropping what expired.
    case expiry

    static func read(_ key: Setting, _ connection: Connection) throws(StoreError) -> [UInt8]? {
        let row = try connection.statement(.readSetting)
        defer { row.reset() }
        row.bind(1, text: key.rawValue)
        return try row.step() ? row.bytes(0) : nil
    }

    static func write(_ key: Setting, _ value: [UInt8]?, _ connection: Connection) throws(StoreError) {
        let row = try connection.statement(value == nil ? .dropSetting : .writeSetting)
        defer { row.reset() }
        row.bind(1, text: key.rawValue)
        if let value { row.bind(2, blob: value) }
        _ = try row.step()
    }
}
