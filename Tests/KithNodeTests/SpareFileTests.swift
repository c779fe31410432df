import Glibc
import KithTestSupport
import KithTransport
import Testing

@testable import KithNode

/// The small files without which a node can go on: what damage is noticed, and what becomes of it.
@Suite struct SpareFileTests {
    private let folder = TemporaryDirectory()

    private static let lines: [SpareFile: [String]] = [
        .paused: ["all forever", "\(String(repeating: "1f", count: 32)) 99999999999999"],
        .replication: ["* both continuous paused", "notes pull on-demand running"],
        .muted: ["CONFLICTS 99999999999999 warning"], .damage: ["notes 2 bad pages"], .carried: ["notes", "stock"],
        .dropped: ["old"], .peers: ["kith addresses 1"], .listen: ["127.0.0.1:7000"], .instances: ["1f", "2a"],
    ]

    private func write(_ bytes: [UInt8], to file: SpareFile) {
        TestFolder.write(bytes, to: file.path(in: folder.path))
    }

    @Test(arguments: SpareFile.allCases.filter { $0 != .invites })
    func whatIsWrittenIsReadAndAFlippedBitIsNoticed(file: SpareFile) throws {
        let lines = try #require(Self.lines[file])
        try file.write(lines, in: folder.path)
        #expect(try file.look(in: folder.path) == SpareFile.Reading(lines: lines))
        let whole = TestFolder.read(file.path(in: folder.path))
        for place in whole.indices {
            for bit in 0..<UInt8(8) {
                var bytes = whole
                bytes[place] ^= 1 << bit
                write(bytes, to: file)
                let reading = try file.look(in: folder.path)
                // The lines of peers are of any kind: what was the checksum may be one more.
                let isHeld = file == .peers && reading.lines.starts(with: lines)
                #expect(reading.damage != nil || isHeld, "byte \(place), bit \(bit): \(reading)")
            }
        }
    }

    @Test func theFirstFilesHadNoChecksumAndAnEmptyFileIsNone() throws {
        write(Array("notes\nstock\n".utf8), to: .dropped)
        #expect(try SpareFile.dropped.look(in: folder.path) == SpareFile.Reading(lines: ["notes", "stock"]))
        write([], to: .dropped)
        #expect(try SpareFile.dropped.look(in: folder.path).damage == "it is empty")
        try SpareFile.dropped.write([], in: folder.path)
        #expect(try SpareFile.dropped.look(in: folder.path) == SpareFile.Reading())
    }

    @Test func nothingIsRemovedThatCouldNotBePutAside() throws {
        let file = SpareFile.muted
        write([0xff], to: file)
        // The place aside is taken by a folder with something in it.
        let aside = file.aside(in: folder.path)
        try TestFolder.make(aside)
        try TestFolder.make(aside + "/x")
        file.setAside(in: folder.path)
        #expect(TestFolder.read(file.path(in: folder.path)) == [0xff])
        #expect(folder.names == ["muted", "muted.damaged"])

        TestFolder.remove(aside)
        write([0xfe], to: file)
        file.setAside(in: folder.path, leaving: [])
        #expect(TestFolder.read(aside) == [0xfe] && folder.names == ["muted.damaged"])
        write([0xfd], to: file)
        file.setAside(in: folder.path, leaving: ["CONFLICTS 99999999999999 warning"])
        #expect(TestFolder.read(aside) == [0xfd] && folder.names == ["muted", "muted.damaged"])
        #expect(try file.look(in: folder.path).damage == nil)
        // Again, as after a crash between the two steps.
        write([0xfc], to: file)
        for _ in 1...2 { try SpareFile.keepAside(file.path(in: folder.path)) }
        #expect(TestFolder.read(aside) == [0xfc] && folder.names == ["muted", "muted.damaged"])
        // A folder in the place of the file.
        unlink(file.path(in: folder.path))
        try TestFolder.make(file.path(in: folder.path))
        file.setAside(in: folder.path)
        #expect(folder.names == ["muted.damaged"])
    }

    @Test func pausesThatMayBeLostHoldAlsoWhereNothingCanBeWritten() throws {
        let directory = try NodeDirectory(option: folder.path + "/node")
        _ = try NodeSetup.initialise(directory, groupName: "testers", nodeName: "ada", rootFile: nil)
        let path = SpareFile.paused.path(in: directory.path)
        TestFolder.write([0xff, 0x0a], to: path)
        try TestFolder.make(path + ".new")
        try TestFolder.make(path + ".new/x")
        let log = Log()
        _ = log.configure("error")
        for start in 1...2 {
            let node = try Node(NodeConfiguration(directory: directory, log: log))
            try node.readPauses()
            #expect(node.pauses.lines == ["all forever"], "start \(start)")
            #expect(TestFolder.read(path) == [0xff, 0x0a], "start \(start)")
        }
        TestFolder.remove(path + ".new")
        let node = try Node(NodeConfiguration(directory: directory, log: log))
        try node.readPauses()
        #expect(try SpareFile.paused.look(in: directory.path) == SpareFile.Reading(lines: ["all forever"]))
    }
}
