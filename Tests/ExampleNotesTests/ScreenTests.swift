import Foundation
import Testing

@testable import ExampleNotes

struct ScreenTests {
    private func note(_ title: String, _ texts: [String: String] = [:], tags: [String] = []) -> Note {
        var note = Note(id: title, title: title, at: Date(timeIntervalSince1970: 1_764_573_300))
        note.texts = texts
        for tag in tags { note.tags[tag] = true }
        return note
    }

    /// A screen with notes, and what it wants when keys are pressed on it.
    private func screen(_ notes: [Note]) -> Screen {
        var screen = Screen()
        _ = screen.handle(.notes(notes, search: "", sequence: 1))
        return screen
    }

    private func press(_ screen: inout Screen, _ text: String) -> [ScreenAction] {
        var decoder = KeyDecoder()
        return decoder.keys(of: text.utf8).flatMap { screen.handle(.key($0)) }
    }

    // MARK: What is wanted

    @Test func `a title that is typed makes a note`() {
        var screen = screen([])
        #expect(press(&screen, "nMilk!\u{7F}\r") == [.create(title: "Milk")])
        #expect(press(&screen, "n  \r") == [] && press(&screen, "nx\u{1B}") == [])
    }

    @Test func `title, tags and deletion are of the selected note`() {
        var screen = screen([note("a"), note("b", tags: ["home"]), note("c")])
        #expect(press(&screen, "jr2\r") == [.rename("b", "b2")])
        #expect(press(&screen, "t #shop\r") == [.tag("b", ["home", "shop"])])
        #expect(press(&screen, "t\u{7F}\u{7F}\u{7F}\u{7F}\r") == [.tag("b", [])])
        #expect(press(&screen, "dn\r") == [] && press(&screen, "d\r") == [] && press(&screen, "dy\r") == [.delete("b")])
    }

    @Test func `the selection stays with its note, and at its place where that is gone`() {
        var screen = screen([note("a"), note("b"), note("c")])
        _ = press(&screen, "\u{1B}[B")
        _ = screen.handle(.notes([note("new"), note("a"), note("b"), note("c")], search: "", sequence: 1))
        #expect(screen.selected?.id == "b")
        _ = screen.handle(.notes([note("new"), note("a"), note("c")], search: "", sequence: 1))
        #expect(screen.selected?.id == "c")
        _ = screen.handle(.notes([note("new")], search: "", sequence: 1))
        #expect(screen.selected?.id == "new")
        _ = screen.handle(.notes([], search: "", sequence: 1))
        #expect(screen.selected == nil && press(&screen, "erd1") == [])
    }

    @Test func `a text is saved as it was read, and only where it was changed`() {
        let read = note("a", ["1 den": "milk"])
        var screen = screen([read])
        #expect(press(&screen, "e\u{1B}") == [] && press(&screen, "ex\u{3}") == [])
        _ = press(&screen, "e, eggs")
        _ = screen.handle(.notes([note("a", ["2 attic": "bread"])], search: "", sequence: 1))
        #expect(press(&screen, "\u{1B}") == [.write("milk, eggs", read)])
    }

    @Test func `what was typed is saved when the program is to end`() {
        var screen = screen([note("a")])
        _ = press(&screen, "emilk")
        #expect(screen.handle(.quit) == [.write("milk", note("a")), .quit])
    }

    @Test func `of several texts one is kept by its number, or all are joined`() {
        let both = note("a", ["1 den": "milk", "2 attic": "bread"])
        var screen = screen([both])
        #expect(press(&screen, "3") == [] && press(&screen, "1") == [.write("bread", both)])
        #expect(press(&screen, "e!\u{1B}") == [.write("bread\n\nmilk!", both)])
        var single = self.screen([note("a", ["1 den": "milk"])])
        #expect(press(&single, "1") == [])
    }

    @Test func `a search is followed as it is typed, and only its own results are shown`() {
        var screen = screen([note("a")])
        #expect(press(&screen, "/鸡蛋") == [.search("鸡"), .search("鸡蛋")])
        _ = screen.handle(.notes([note("late")], search: "鸡", sequence: 1))
        #expect(screen.notes.map(\.id) == ["a"])
        #expect(press(&screen, "\r") == [] && screen.search == "鸡蛋")
        #expect(press(&screen, "nx\r") == [.search(""), .create(title: "x")])
        #expect(press(&screen, "/a\u{1B}") == [.search("a"), .search("")])
    }

    @Test func `what was saved is at hand until a result has seen it`() {
        var screen = screen([note("a"), note("b")])
        let changed = note("b", ["1 den": "milk"])
        _ = screen.handle(.saved(SavedNote(note: changed, sequence: 7)))
        #expect(screen.notes.map(\.id) == ["b", "a"] && screen.selected?.text == "milk")
        _ = screen.handle(.notes([note("new"), note("a"), note("b")], search: "", sequence: 6))
        #expect(screen.notes.map(\.id) == ["b", "new", "a"] && screen.selected?.text == "milk")
        _ = screen.handle(.notes([note("new"), changed], search: "", sequence: 7))
        #expect(screen.notes.map(\.id) == ["new", "b"] && screen.selected?.text == "milk")
    }

    @Test func `what was deleted is gone at once, and what could not be saved is still in the editor`() {
        var screen = screen([note("a"), note("b")])
        _ = screen.handle(.saved(SavedNote(note: note("c"), sequence: 7)))
        for id in ["c", "a"] { _ = screen.handle(.deleted(id)) }
        #expect(screen.notes.map(\.id) == ["b"] && screen.selected?.id == "b")
        _ = screen.handle(.unsaved("milk", note("b"), "the disk is full"))
        #expect(screen.message == "the disk is full" && press(&screen, "\u{1B}") == [.write("milk", note("b"))])
    }

    @Test func `the network is left and sought again`() {
        var screen = screen([])
        _ = screen.handle(.sync(.inSync(machines: 1)))
        #expect(press(&screen, "o") == [.setOnline(false)])
        _ = screen.handle(.sync(.offline))
        #expect(press(&screen, "oiq") == [.setOnline(true), .invite, .quit])
    }

    // MARK: What is drawn

    /// A frame without its colours.
    private func drawn(_ screen: Screen, _ columns: Int, _ rows: Int) -> [String] {
        screen.frame(columns: columns, rows: rows).lines.map { $0.replacing(/\u{1B}\[[0-9]*m/, with: "") }
    }

    @Test func `a frame shows list, note, state and keys`() {
        var screen = screen([
            note("Shopping", ["1 den": "milk,\nbread"], tags: ["shop", "home"]), note("今天去买鸡蛋和牛奶还有面包"),
            note("Both", ["1 den": "x", "2 attic": "y"]),
        ])
        _ = screen.handle(.sync(.catchingUp(left: 12)))
        let lines = drawn(screen, 72, 8)
        #expect(
            lines == [
                " Notes                                             catching up, 12 left ",
                "  Shopping              │Shopping                                       ",
                "  今天去买鸡蛋和牛奶还有│#home #shop · 2025-12-01 07:15:00 UTC          ",
                "! Both                  │",
                "                        │milk,",
                "                        │bread",
                "                        │",
                "n new  e text  r title  t tags  d delete  / search  o offline  i invite ",
            ])
        #expect(lines.allSatisfy { $0.cells <= 72 })
        _ = press(&screen, "jj")
        #expect(
            drawn(screen, 72, 9)[4...].map { $0.drop { $0 != "│" } } == [
                "│edited apart: 1 to 2 keeps one, e joins them", "│",
                "│[1] 2 attic                                    ", "│y",
                "",
            ])
    }

    @Test func `the cursor stands behind what is typed, by cells`() {
        var screen = screen([note("a")])
        _ = press(&screen, "e今天\rx")
        #expect(screen.frame(columns: 60, rows: 10).cursor == Frame.Place(row: 5, column: 22))
        _ = press(&screen, "\u{1B}[D\u{1B}[D")
        #expect(screen.frame(columns: 60, rows: 10).cursor == Frame.Place(row: 4, column: 25))
        _ = press(&screen, "\u{1B}/今")
        #expect(screen.frame(columns: 60, rows: 10).cursor == Frame.Place(row: 9, column: 3))
    }

    @Test func `a frame of any size fits, whatever is in the notes`() {
        var screen = screen([
            note("\u{1B}[2J control", ["1 den": String(repeating: "今\u{7}\u{1B}]0;x", count: 50) + "\r\n" + "👩‍👩‍👧"]),
            note(String(repeating: "长", count: 90)),
        ])
        _ = screen.handle(.message(String(repeating: "a long message ", count: 20)))
        for keys in ["", "e", "\u{1B}", "/some search that is longer than the line", "\r", "t"] {
            _ = press(&screen, keys)
            for columns in [20, 21, 37, 60] {
                for rows in 1...12 {
                    let lines = drawn(screen, columns, rows)
                    #expect(lines.count <= max(rows, 1) && lines.allSatisfy { $0.cells <= columns })
                    #expect(!lines.contains { $0.contains("\u{1B}") || $0.contains("\u{7}") })
                }
            }
        }
    }

    // MARK: Keys

    @Test func `keys are read however their bytes are cut`() {
        let bytes = Array("a鸡\u{1B}[A\u{1B}[3~\u{1B}OB\r\u{7F}\u{3}👍".utf8)
        let keys: [Key] = [.text("a"), .text("鸡"), .up, .delete, .down, .enter, .backspace, .control("c"), .text("👍")]
        for cut in 0...bytes.count {
            // An escape at the end of a piece is the key itself.
            if cut > 0, bytes[cut - 1] == 0x1B { continue }
            var decoder = KeyDecoder()
            #expect(decoder.keys(of: bytes[..<cut]) + decoder.keys(of: bytes[cut...]) == keys, "cut at \(cut)")
        }
        var decoder = KeyDecoder()
        #expect(decoder.keys(of: [0x1B]) == [.escape])
        #expect(decoder.keys(of: [0xFF, 0xC0, 0x80, 0x00, 0x61, 0x1B, 0x5B, 0x39, 0x39, 0x7E]) == [.text("a")])
    }

    @Test func `the editor takes and removes characters over lines`() {
        var editor = TextEditor("ab\ncd")
        for key: Key in [.up, .end, .delete, .text("鸡"), .left, .backspace, .home, .enter, .down, .end, .text("!")] {
            editor.take(key)
        }
        #expect(editor.text == "\na鸡cd!" && editor.textBefore == editor.text)
        for _ in 0..<20 { editor.take(.backspace) }
        #expect(editor.text == "")
        for key: Key in [.left, .right, .up, .down, .delete, .home, .end] { editor.take(key) }
        #expect(editor.text == "")
    }
}
