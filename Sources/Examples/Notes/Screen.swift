/// Something that happened, in the order in which it did.
public enum ScreenEvent: Sendable {
    case key(Key)
    /// What a search finds, newest first, and the last change that it has seen.
    case notes([Note], search: String, sequence: UInt64)
    case sync(SyncState)
    /// A note as it was saved here a moment ago.
    case saved(SavedNote)
    /// A text that could not be saved to its note, and why.
    case unsaved(String, Note, String)
    /// A note that was deleted here a moment ago.
    case deleted(Note.ID)
    /// For the person, until the next key.
    case message(String)
    /// The terminal has another size.
    case resized
    /// The program is to end.
    case quit
}

/// Something that is to be done for the screen.
public enum ScreenAction: Hashable, Sendable {
    case create(title: String)
    case rename(Note.ID, String)
    case tag(Note.ID, [String])
    /// A text, to the note as it was when its editing began.
    case write(String, Note)
    case delete(Note.ID)
    /// Another search is to be followed.
    case search(String)
    case setOnline(Bool)
    case invite
    case quit
}

/// All that the screen knows. A value: it asks nobody and does nothing, but says what is to be done.
public struct Screen: Sendable {
    /// What the keys are for.
    enum Mode: Hashable, Sendable {
        case list
        /// A line that is asked for.
        case prompt(Prompt, TextEditor)
        /// The text of a note as it was when the editing began.
        case editing(Note, TextEditor)
    }

    enum Prompt: Hashable, Sendable {
        case create
        case rename(Note.ID)
        case tag(Note.ID)
        case delete(Note.ID)
        case search
    }

    private(set) var mode = Mode.list
    private(set) var notes: [Note] = []
    private(set) var search = ""
    private(set) var sync = SyncState.alone
    private(set) var message: String?
    /// Where the selected note stands in the list.
    private(set) var place = 0
    private var selectedID: Note.ID?
    /// What the search found last.
    private var found: [Note] = []
    /// What was saved here since.
    private var saved: [SavedNote] = []

    /// An empty one, at the list.
    public init() {}

    /// The note that the keys are about.
    var selected: Note? { notes.indices.contains(place) ? notes[place] : nil }

    /// Takes what happened.
    /// - Returns: what is to be done, in this order.
    public mutating func handle(_ event: ScreenEvent) -> [ScreenAction] {
        switch event {
        case .key(let key):
            message = nil
            return press(key)
        case .notes(let found, let search, let sequence):
            // A result of a search that was given up meanwhile may still come.
            guard search == self.search else { break }
            self.found = found
            saved.removeAll { $0.sequence <= sequence }
            list()
        case .sync(let state): sync = state
        case .saved(let one):
            saved.removeAll { $0.note.id == one.note.id }
            saved.insert(one, at: 0)
            selectedID = one.note.id
            list()
        case .unsaved(let text, let note, let reason):
            // What was typed stays at hand.
            (mode, message) = (.editing(note, TextEditor(text)), reason)
        case .deleted(let id):
            saved.removeAll { $0.note.id == id }
            found.removeAll { $0.id == id }
            list()
        case .message(let text): message = text
        case .resized: break
        case .quit: return leaveEditor() + [.quit]
        }
        return []
    }

    /// Lists what was found, and first what was saved here since: the next key finds it, however late the next result comes. The
    /// selection stays with its note; where that is gone, at its place.
    private mutating func list() {
        let own = saved.map(\.note)
        notes = own + found.filter { note in !own.contains { $0.id == note.id } }
        if let new = notes.firstIndex(where: { $0.id == selectedID }) {
            place = new
        } else {
            select(place)
        }
    }

    private mutating func select(_ other: Int) {
        place = max(0, min(other, notes.count - 1))
        selectedID = selected?.id
    }
}

// MARK: Keys

extension Screen {
    private mutating func press(_ key: Key) -> [ScreenAction] {
        switch mode {
        case .list: return pressInList(key)
        case .prompt(let prompt, var line):
            switch key {
            case .escape, .control("c"): return answer(prompt, nil)
            case .enter: return answer(prompt, line.text)
            default: line.take(key)
            }
            mode = .prompt(prompt, line)
            return prompt == .search ? follow(line.text) : []
        case .editing(let note, var editor):
            switch key {
            case .escape: return leaveEditor()
            case .control("c"): mode = .list
            default:
                editor.take(key)
                mode = .editing(note, editor)
            }
            return []
        }
    }

    private mutating func pressInList(_ key: Key) -> [ScreenAction] {
        switch key {
        case .text("q"), .control("c"): return [.quit]
        case .text("n"): ask(.create)
        case .text("/"): ask(.search, search)
        case .text("i"): return [.invite]
        case .text("o"): return [.setOnline(sync == .offline)]
        case .escape: return follow("")
        case .up, .text("k"): select(place - 1)
        case .down, .text("j"): select(place + 1)
        case .home: select(0)
        case .end: select(notes.count - 1)
        default: if let selected { return press(key, on: selected) }
        }
        return []
    }

    /// The keys that are about the selected note.
    private mutating func press(_ key: Key, on note: Note) -> [ScreenAction] {
        switch key {
        case .text("e"), .enter: mode = .editing(note, TextEditor(note.text))
        case .text("r"): ask(.rename(note.id), note.title)
        case .text("t"): ask(.tag(note.id), note.tagNames.joined(separator: " "))
        case .text("d"): ask(.delete(note.id))
        case .text(let digit):
            if note.isInConflict, let number = digit.wholeNumberValue, note.versions.indices.contains(number - 1) {
                return [.write(note.versions[number - 1].text, note)]
            }
        default: break
        }
        return []
    }

    private mutating func ask(_ prompt: Prompt, _ line: String = "") { mode = .prompt(prompt, TextEditor(line)) }

    /// - Parameter line: nil where the person gave up.
    private mutating func answer(_ prompt: Prompt, _ line: String?) -> [ScreenAction] {
        mode = .list
        if prompt == .search { return follow(line ?? "") }
        guard let line else { return [] }
        let isEmpty = line.allSatisfy(\.isWhitespace)
        switch prompt {
        case .create: return isEmpty ? [] : follow("") + [.create(title: line)]
        case .rename(let id): return isEmpty ? [] : [.rename(id, line)]
        case .tag(let id):
            let names = line.split(whereSeparator: \.isWhitespace).map { String($0.drop { $0 == "#" }) }
            return [.tag(id, names.filter { !$0.isEmpty })]
        case .delete(let id): return line == "y" ? [.delete(id)] : []
        case .search: return []
        }
    }

    private mutating func follow(_ typed: String) -> [ScreenAction] {
        guard typed != search else { return [] }
        search = typed
        return [.search(typed)]
    }

    /// Leaves the editor, where there is one, with what was typed.
    private mutating func leaveEditor() -> [ScreenAction] {
        guard case .editing(let note, let editor) = mode else { return [] }
        mode = .list
        return editor.text == note.text ? [] : [.write(editor.text, note)]
    }
}
