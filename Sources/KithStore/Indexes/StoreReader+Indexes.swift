import KithQuery

/// An index as it is listed.
package struct IndexListing: Sendable, Equatable {
    package let definition: IndexDefinition
    /// When it was made, in milliseconds since 1970.
    package let created: Int64
    /// When a query last used it, as far as it was written down; nil for never.
    package let lastUsed: Int64?
    /// Bytes of its pages; nil where SQLite was built without counting them.
    package let bytes: Int64?
}

extension StoreReader {
    /// The indexes, ascending by name.
    /// - Complexity: O(pages of the indexes).
    package func indexes() throws(StoreError) -> [IndexListing] {
        try connection.reading { () throws(StoreError) in
            var listings: [IndexListing] = []
            for entry in try IndexCatalog(connection).entries {
                listings.append(
                    IndexListing(
                        definition: entry.definition, created: entry.created,
                        lastUsed: try lastUse(of: entry.definition.name),
                        bytes: try? bytes(of: entry)))
            }
            return listings
        }
    }

    private func bytes(of entry: IndexCatalog.Entry) throws(StoreError) -> Int64? {
        let names = entry.tables.map { "'\($0)'" }.joined(separator: ", ")
        return try connection.number("SELECT sum(pgsize) FROM dbstat WHERE name IN (\(names))")
    }

    private func lastUse(of name: String) throws(StoreError) -> Int64? {
        let row = try connection.statement(.readSetting)
        defer { row.reset() }
        row.bind(1, text: IndexCatalog.usePrefix + name)
        return try row.step() ? Int64(row.string(0)) : nil
    }
}
