import KithDocument

/// Rows of a query in columns. So that many of them take no memory they are printed in blocks, each as wide as it needs to be.
final class RowTable {
    /// As the query names them; nil where the rows are values.
    var columns: [String]?
    private var rows: [JSONValue] = []
    private let width: Int?
    private let colour: Bool
    private var printed: [TextTable.Column] = []

    /// Rows of a block: more than a person looks at, and little memory.
    private static let blockRows = 1_000
    /// Bytes of text that end a block earlier.
    private static let blockBytes = 4 << 20
    private var bytes = 0

    /// Cells that a column keeps where a terminal is too narrow.
    private static let leastCells = 8

    init(_ terminal: Terminal) {
        width = terminal.width
        colour = terminal.colour
    }

    func add(_ row: JSONValue) {
        rows.append(row)
        bytes += row.canonicalBytes.count
        if rows.count >= Self.blockRows || bytes >= Self.blockBytes { flush() }
    }

    /// All rows were there.
    func end() { if !rows.isEmpty || printed.isEmpty { flush() } }

    private func flush() {
        let names = names()
        let cells = rows.map { row in names.map { Self.text(columns == nil ? row : row[$0]) } }
        let headings = names.indices.map { index in
            let isNumeric = !rows.isEmpty && rows.allSatisfy { Self.isNumber(columns == nil ? $0 : $0[names[index]]) }
            return TextTable.Column(title: Display.clean(names[index]), alignsRight: isNumeric, least: Self.leastCells)
        }
        var table = TextTable(headings)
        for row in cells { table.add(row.map { TextTable.Cell(text: $0) }) }
        let lines = table.lines(width: width, colour: colour)
        // The titles again only where they are others.
        let isSame = printed.map(\.title) == headings.map(\.title)
        for line in lines.dropFirst(isSame ? 1 : 0) { Output.line(line) }
        printed = headings
        rows = []
        bytes = 0
    }

    /// The columns in the order of SELECT, then what the rows of this block have besides.
    private func names() -> [String] {
        guard let columns else { return ["value"] }
        var others: [String] = []
        for row in rows {
            for name in row.object?.keys ?? [] where !columns.contains(name) && !others.contains(name) {
                others.append(name)
            }
        }
        return columns + others
    }

    /// A text as it is, any other value as JSON; nothing for what is MISSING.
    private static func text(_ value: JSONValue?) -> String {
        guard let value else { return "" }
        return value.string ?? String(decoding: value.canonicalBytes, as: UTF8.self)
    }

    private static func isNumber(_ value: JSONValue?) -> Bool { value == nil || value?.number != nil }
}
