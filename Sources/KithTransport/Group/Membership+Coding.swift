extension Membership {
    private static let magic: [UInt8] = Array("KM".utf8) + [3]
    /// The second version had no checksum.
    private static let secondMagic: [UInt8] = Array("KM".utf8) + [2]
    /// The first version kept of each node the role and the number alone.
    private static let firstMagic: [UInt8] = Array("KM".utf8) + [1]

    /// All of it, for the disk. Roles are not signed, so the file is trusted as the directory is; a checksum tells what the
    /// disk has damaged.
    package var encoded: [UInt8] { Self.encode(snapshot) }

    /// The same with one more statement, which is not taken in.
    /// - Returns: nil where it would change nothing: others outrank it, or its signer has said too much.
    package func encoded(adding statement: SignedStatement) -> [UInt8]? {
        snapshot(adding: statement).map(Self.encode)
    }

    private static func encode(_ snapshot: (roles: RoleRegistry, statements: [[UInt8]])) -> [UInt8] {
        let (roles, statements) = snapshot
        var writer = FieldWriter()
        writer.write(fixed: magic)
        roles.write(to: &writer)
        writer.write(count: statements.count)
        for statement in statements { writer.write(string: statement) }
        return Checksum.append(to: writer.bytes)
    }

    /// Reads what `encoded` gave. Statements are verified again.
    package convenience init(trust: GroupTrust, encoded: [UInt8]) throws(TransportError) {
        self.init(trust: trust)
        var bytes = encoded[...]
        if encoded.starts(with: Self.magic) {
            bytes = try Checksum.removed(from: encoded, "the file of the group's members")
        }
        var reader = FieldReader(bytes, "the file of the group's members")
        let magic = try reader.readFixed(3)
        guard [Self.magic, Self.secondMagic, Self.firstMagic].contains(magic) else {
            throw .malformed("the file of the group's members is of another version")
        }
        restore(try RoleRegistry(from: &reader, isFirstVersion: magic == Self.firstMagic))
        for _ in 0..<(try reader.readCount(atMost: Int(Int32.max))) {
            _ = take([try reader.readString(atMost: TransportLimits.statementBytes)])
        }
        try reader.expectEnd()
    }

    /// Takes in every statement that stands whole in a damaged file, wherever that is: each is signed, so nothing that the
    /// damage made can be among them. Roles and names are not taken: nothing proves them, and they come back with the
    /// nodes.
    /// - Returns: how many statements were found.
    /// - Complexity: O(n) and a verification for each statement.
    package func salvage(_ damaged: [UInt8]) -> Int {
        var count = 0
        var place = 0
        while place + SignedStatement.magic.count <= damaged.count {
            let rest = damaged[place..<min(place + TransportLimits.statementBytes, damaged.count)]
            guard rest.starts(with: SignedStatement.magic), let length = try? SignedStatement.length(of: rest),
                let statement = try? SignedStatement(encoded: Array(rest.prefix(length)), trust: trust)
            else {
                place += 1
                continue
            }
            _ = take(statement)
            count += 1
            place += length
        }
        return count
    }

    /// Whether a damaged file shows that all of its statements are among those taken in: it ends with them, and before them
    /// stands how many they are.
    package func isAll(of damaged: [UInt8]) -> Bool {
        var reader = FieldReader(damaged, "the file of the group's members")
        guard let magic = try? reader.readFixed(3), magic == Self.magic || magic == Self.secondMagic,
            (try? RoleRegistry(from: &reader, isFirstVersion: false)) != nil,
            let count = try? reader.readCount(atMost: Int(Int32.max))
        else { return false }
        var known = Set(snapshot.statements)
        for _ in 0..<count {
            guard let statement = try? reader.readString(atMost: TransportLimits.statementBytes) else { return false }
            known.remove(statement)
        }
        return known.isEmpty && count == snapshot.statements.count
    }
}
