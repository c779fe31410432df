import Foundation
import Kith
import KithTestSupport
import KithTesting
import Synchronization
import Testing

struct LogTests {
    private let directory = TemporaryDirectory()
    private var folder: URL { URL(fileURLWithPath: directory.path) }

    @Test func `a node tells of itself by domain and level, to a file and to a function`() async throws {
        let entries = Mutex<[KithLog.Entry]>([])
        let file = folder.appending(path: "app.log")
        let log = try KithLog(
            level: .info, domains: [.store: .error],
            to: .file(file), .custom { entry in entries.withLock { $0.append(entry) } })
        let began = Date()
        try LocalNode.makeGroup("home", in: folder.appending(path: "kith"), as: "den")
        var options = NodeOptions()
        options.listen = "127.0.0.1:0"
        options.usesDiscovery = false
        options.log = log
        let node = try LocalNode(in: folder.appending(path: "kith"), options: options)
        try await node.start()
        await node.stop()
        await log.flush()
        let all = entries.withLock { $0 }
        #expect(all.contains { $0.domain == .node && $0.level == .info && $0.message == "stopped" })
        #expect(!all.contains { $0.level > .info || ($0.domain == .store && $0.level > .error) })
        // Both have the same lines.
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(lines == all.map(\.line) && !lines.isEmpty, "\(lines)")
        #expect((began.addingTimeInterval(-0.001)...Date()).contains(all[0].time))
    }

    @Test func `a database that is opened alone tells of its opening and of its disk`() async throws {
        let entries = Mutex<[KithLog.Entry]>([])
        let log = KithLog(level: .debug, to: .custom { entry in entries.withLock { $0.append(entry) } })
        var options = DatabaseOptions()
        options.log = log
        let database = try Database("notes", in: folder.appending(path: "kith"), options: options)
        try await database.save(Document(id: "a", ["text": "hi"]))
        await log.flush()
        let opened = try #require(entries.withLock { $0.first })
        #expect(opened.message == "a database was opened" && opened.domain == .store)
        #expect(opened.fields.contains { $0.name == "database" && $0.value == "notes" }, "\(opened.line)")
    }

    @Test func `a level is changed while the log is used`() async throws {
        let count = Mutex(0)
        let log = KithLog(level: .error, to: .custom { _ in count.withLock { $0 += 1 } })
        var options = DatabaseOptions()
        options.log = log
        for (name, expected) in [("one", 0), ("two", 1), ("three", 1)] {
            if name == "two" { log.set(.info, for: .store) }
            if name == "three" { log.set(.warning, for: .store) }
            try Database(name, in: folder.appending(path: "kith"), options: options).close()
            await log.flush()
            #expect(count.withLock { $0 } == expected, "\(name)")
        }
    }

    @Test func `a file that can't be written is an error`() {
        let error = #expect(throws: KithError.self) { try KithLog.Sink.file(folder.appending(path: "none/app.log")) }
        #expect(error?.code == .disk)
    }
}
