/// A table of aligned columns. Cells are never cut unless a width is given.
struct TextTable {
    struct Column {
        let title: String
        var alignsRight = false
        /// Cells that the column may be cut to where the width is short; nil never.
        var least: Int?
        /// Whether, and how soon, the column is left out where the width is short: 1 first; nil never.
        var leftOut: Int?
    }

    struct Cell {
        let text: String
        let style: Style

        init(text: String, style: Style = .plain) {
            self.text = Display.clean(text)
            self.style = style
        }
    }

    private(set) var columns: [Column]
    private(set) var rows: [[Cell]] = []

    init(_ columns: [Column]) { self.columns = columns }

    /// Adds a row; it has a cell for each column.
    mutating func add(_ cells: [Cell]) {
        precondition(cells.count == columns.count, "a row has \(cells.count) cells of \(columns.count)")
        rows.append(cells)
    }

    /// The lines, the titles first.
    /// - Parameter width: nil for as much as it takes.
    func lines(width: Int?, colour: Bool) -> [String] {
        var table = self
        if let width { table.leaveOut(toFit: width) }
        let widths = table.fit(width)
        let titles = table.columns.map { Cell(text: $0.title, style: .quiet) }
        return ([titles] + table.rows).map { table.line($0, widths, width, colour) }
    }

    /// Leaves columns out while the others, cut as far as they may be, do not fit.
    private mutating func leaveOut(toFit width: Int) {
        while true {
            let least = columns.indices.map { index in
                let natural = naturalWidth(index)
                return columns[index].least.map { min($0, natural) } ?? natural
            }
            guard least.reduce(0, +) + Self.gap * (columns.count - 1) > width else { return }
            let droppable = columns.indices.filter { columns[$0].leftOut != nil }
            guard let next = droppable.min(by: { columns[$0].leftOut! < columns[$1].leftOut! }) else { return }
            columns.remove(at: next)
            for row in rows.indices { rows[row].remove(at: next) }
        }
    }

    private func naturalWidth(_ index: Int) -> Int {
        max(Display.cells(columns[index].title), rows.map { Display.cells($0[index].text) }.max() ?? 0)
    }

    private static let gap = 2

    /// The columns' widths: as wide as their cells, the ones that may be cut narrower, the last such first.
    private func fit(_ width: Int?) -> [Int] {
        var widths = columns.indices.map { naturalWidth($0) }
        guard let width else { return widths }
        var excess = widths.reduce(0, +) + Self.gap * (widths.count - 1) - width
        for index in columns.indices.reversed() where excess > 0 {
            guard let least = columns[index].least else { continue }
            let taken = min(excess, max(0, widths[index] - max(least, Display.cells(columns[index].title))))
            widths[index] -= taken
            excess -= taken
        }
        return widths
    }

    private func line(_ cells: [Cell], _ widths: [Int], _ width: Int?, _ colour: Bool) -> String {
        var line = ""
        var left = width ?? Int.max
        for (index, cell) in cells.enumerated() {
            let isLast = index == cells.count - 1
            var text = Display.cut(cell.text, to: widths[index])
            if !isLast || columns[index].alignsRight {
                text = Display.pad(text, to: widths[index], atStart: columns[index].alignsRight)
            }
            if index > 0 {
                guard left > Self.gap else { break }
                line += String(repeating: " ", count: Self.gap)
                left -= Self.gap
            }
            text = Display.cut(text, to: left)
            left -= Display.cells(text)
            line += cell.style.apply(text, colour: colour)
            if left <= 0 { break }
        }
        while line.hasSuffix(" ") { line.removeLast() }
        return line
    }
}
