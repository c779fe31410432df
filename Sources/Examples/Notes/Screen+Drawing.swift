import Foundation

extension Screen {
    /// Draws all of it.
    /// - Parameters:
    ///   - columns: of the terminal; below 20 it is cut.
    ///   - rows: of the terminal; below 6 it is cut.
    public func frame(columns: Int, rows: Int) -> Frame {
        let (width, height) = (max(20, columns), max(6, rows))
        let told = (message?.wrapped(to: width) ?? []).prefix(height - 4)
        let body = height - 2 - told.count
        let listWidth = min(max(width / 3, 8), 40)
        let (page, cursor) = page(width: width - listWidth - 1, rows: body)
        let list = list(width: listWidth, rows: body)
        var lines = [header(width)]
        for row in 0..<body {
            lines.append(list[row] + "│" + (page.indices.contains(row) ? page[row] : ""))
        }
        lines += told.map { $0.fitted(to: width) }
        let (foot, footCursor) = foot(width)
        var frame = Frame(lines: lines + [foot])
        if let cursor { frame.cursor = Frame.Place(row: cursor.row + 1, column: cursor.column + listWidth + 1) }
        if let footCursor { frame.cursor = Frame.Place(row: height - 1, column: footCursor) }
        frame.lines = Array(frame.lines.prefix(max(1, rows)))
        return frame
    }

    private func header(_ width: Int) -> String {
        let corner = " \(sync.text) "
        let left = search.isEmpty ? " Notes" : " Notes  /\(search)"
        return Style.reverse(left.fitted(to: max(0, width - corner.cells)) + corner)
    }

    private func list(width: Int, rows: Int) -> [String] {
        // The selected one is always among those that have room.
        let first = max(0, place - rows + 1)
        return (first..<first + rows).map { index in
            guard notes.indices.contains(index) else { return "".fitted(to: width) }
            let note = notes[index]
            let line = ((note.isInConflict ? "! " : "  ") + note.title).fitted(to: width)
            return index == place ? Style.reverse(line) : line
        }
    }

    // MARK: The note

    private func page(width: Int, rows: Int) -> (lines: [String], cursor: Frame.Place?) {
        if case .editing(let note, let editor) = mode { return edited(note, editor, width, rows) }
        guard let note = selected else { return (notes.isEmpty ? ["no notes: n makes one"] : [], nil) }
        var lines = heading(of: note, width)
        if note.isInConflict { lines += ["edited apart: 1 to \(note.versions.count) keeps one, e joins them", ""] }
        for (index, version) in note.versions.enumerated() {
            if note.isInConflict { lines.append(Style.bold("[\(index + 1)] \(version.key)".fitted(to: width))) }
            lines += version.text.wrapped(to: width).map { $0.fitted(to: $0.cells) }
        }
        return (lines, nil)
    }

    private func heading(of note: Note, _ width: Int) -> [String] {
        let tags = note.tagNames.map { "#\($0) " }.joined() + (note.tags.isEmpty ? "" : "· ")
        let date = Date.ISO8601FormatStyle(dateTimeSeparator: .space).year().month().day().time(
            includingFractionalSeconds: false)
        let below = tags + date.format(note.updatedAt) + " UTC"
        return [Style.bold(note.title.fitted(to: width)), below.fitted(to: width), ""]
    }

    private func edited(
        _ note: Note, _ editor: TextEditor, _ width: Int, _ rows: Int
    ) -> (lines: [String], cursor: Frame.Place?) {
        let heading = heading(of: note, width)
        let room = max(1, rows - heading.count)
        // A column stays free for a cursor behind the last character.
        let before = editor.textBefore.wrapped(to: width - 1)
        let first = max(0, before.count - room)
        let lines = editor.text.wrapped(to: width - 1).dropFirst(first).prefix(room).map { $0.fitted(to: $0.cells) }
        let cursor = Frame.Place(row: heading.count + before.count - 1 - first, column: before[before.count - 1].cells)
        return (heading + lines, cursor)
    }

    // MARK: The last line

    private func foot(_ width: Int) -> (line: String, cursor: Int?) {
        switch mode {
        case .list:
            let help =
                "n new  e text  r title  t tags  d delete  / search  o \(sync == .offline ? "online" : "offline")"
            return ((help + "  i invite  q quit").fitted(to: width), nil)
        case .editing: return ("escape saves, control-C leaves it as it was".fitted(to: width), nil)
        case .prompt(let prompt, let editor):
            let before = prompt.question + editor.textBefore
            // Of a long line the end that is written at.
            let hidden = before.wrapped(to: width - 1).dropLast().joined()
            let line = (prompt.question + editor.text).dropFirst(hidden.count)
            return (String(line).fitted(to: width), before.cells - hidden.cells)
        }
    }
}

extension Screen.Prompt {
    fileprivate var question: String {
        switch self {
        case .create, .rename: "title: "
        case .tag: "tags: "
        case .delete: "delete it everywhere? y or n: "
        case .search: "/"
        }
    }
}

/// The few orders to a terminal that are used.
private enum Style {
    static func reverse(_ text: String) -> String { "\u{1B}[7m\(text)\u{1B}[0m" }
    static func bold(_ text: String) -> String { "\u{1B}[1m\(text)\u{1B}[0m" }
}
