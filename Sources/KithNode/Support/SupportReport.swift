import KithCrypto
import KithDocument
import KithQuery
import KithStore
import KithSystem

/// What `kith diagnose` writes: one text of sections, for people to read before they pass it on. It has the names of nodes
/// and databases, and addresses; nothing of a document, neither its content nor its id, no key and no code.
package struct SupportReport: Sendable {
    /// The text so far.
    package private(set) var text = ""

    package init() {}

    package mutating func add(_ title: String, _ lines: [String]) {
        if !text.isEmpty { text += "\n" }
        text += "== \(title)\n"
        // Nothing within a section looks like the head of another, or steers a terminal.
        for line in lines { text += (line.hasPrefix("==") ? " " : "") + Shown.line(line, limit: .max) + "\n" }
    }

    /// Lines as they are, of a text that has them.
    package mutating func add(_ title: String, lines: [UInt8]) {
        let texts = lines.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        add(title, texts.isEmpty ? ["none"] : texts)
    }

    package mutating func add(_ title: String, json: [UInt8]) { add(title, [String(decoding: json, as: UTF8.self)]) }

    /// Sections of another report.
    package mutating func add(sections: String) {
        if !text.isEmpty { text += "\n" }
        text += sections
    }

    /// The program and the libraries that it stands on.
    package static var versions: [String] {
        ["kith \(KithVersion.text)", StoreLibrary.version, CryptoLibrary.version]
    }
}

/// A database as a report has it.
struct DatabaseReport: Sendable {
    let name: DatabaseName
    let anatomy: StoreAnatomy
    let indexes: [IndexListing]
    var plans: [QueryPlanCount] = []

    static func read(_ name: DatabaseName, _ reader: StoreReader) throws(StoreError) -> DatabaseReport {
        DatabaseReport(name: name, anatomy: try reader.anatomy(), indexes: try reader.indexes())
    }

    /// One JSON object.
    var json: [UInt8] {
        var cover = NameCover()
        var object = JSONObjectWriter()
        object.add("name", name.string)
        object.add("format", anatomy.format)
        object.add("page_bytes", anatomy.pageBytes)
        object.add("pages", anatomy.pages)
        object.add("free_pages", anatomy.freePages)
        object.add("timelines", anatomy.timelines)
        object.add("schema", strings: anatomy.schema)
        object.add("indexes", elements: indexes.map { $0.json(covering: cover.cover($0.definition)) })
        object.add("unreadable_indexes", strings: anatomy.unreadableIndexes)
        object.add("plans", elements: plans.map(\.json))
        return object.bytes
    }

    /// For one that can't be read.
    static func json(_ name: DatabaseName, _ error: StoreError) -> [UInt8] {
        var object = JSONObjectWriter()
        object.add("name", name.string)
        object.add("error", error.forEverybody(name).message)
        return object.bytes
    }
}

/// How often queries were run in one way.
struct QueryPlanCount: Hashable, Sendable {
    /// SQLite's words, a step a line: they name tables and indexes by numbers.
    let plan: [String]
    var queries: UInt64

    var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("plan", strings: plan)
        object.add("queries", queries)
        return object.bytes
    }
}
