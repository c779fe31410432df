import Dispatch
import KithDocument
import KithNode
import KithReplication
import KithStore
import KithSystem
import KithTestSupport
import Synchronization
import Testing

@Suite struct DatabaseExecutorTests {
    /// Runs a test with a database in a directory of its own.
    private func withDatabase(_ body: (DatabaseExecutor) async throws -> Void) async throws {
        let directory = TemporaryDirectory()
        let file = DatabaseFile(try DatabaseName("notes"), in: directory.path)
        let database = try DatabaseExecutor(file, on: .local)
        try await body(database)
        database.close()
    }

    private let body = Array(#"{"a":1}"#.utf8)

    @Test func manyWritersAtOnceAreAllWrittenAndReadBack() async throws {
        try await withDatabase { database in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<500 {
                    group.addTask {
                        let id = DocumentID(unchecked: "document \(number)")
                        _ = try await database.write { transaction throws(StoreError) in try transaction.put(id, body) }
                        let found = try await database.read { reader throws(StoreError) in try reader.get(id) }
                        #expect(found?.body == body)
                    }
                }
                try await group.waitForAll()
            }
            #expect(database.summary.documents == 500)
            #expect(database.summary.position.sequence == 500)
        }
    }

    @Test(.timeLimit(.minutes(5))) func longReadingsDoNotHoldUpReplication() async throws {
        try await withDatabase { database in
            _ = try await database.write { transaction throws(StoreError) in
                try transaction.put(DocumentID(unchecked: "a"), body)
            }
            let gate = DispatchSemaphore(value: 0)
            let (begins, began) = AsyncStream<Void>.makeStream()
            let readings = (0..<8).map { _ in
                Task {
                    try await database.read(isLong: true) { (_: StoreReader) throws(StoreError) in
                        began.yield()
                        gate.wait()
                    }
                }
            }
            var beginnings = begins.makeAsyncIterator()
            for _ in 0..<3 { await beginnings.next() }
            // So many at once that the one reader without long readings is not the shortest line.
            await withTaskGroup(of: Int.self) { group in
                for _ in 0..<40 {
                    group.addTask {
                        await withCheckedContinuation { continuation in
                            database.perform(.changes(after: 0, limit: 10, filter: nil)) { result in
                                if case .changes(let page) = result {
                                    return continuation.resume(returning: page.changes.count)
                                }
                                continuation.resume(returning: -1)
                            }
                        }
                    }
                }
                for await count in group { #expect(count == 1) }
            }
            for _ in readings { gate.signal() }
            for reading in readings { try await reading.value }
        }
    }

    @Test func whatIsAskedOfAClosedDatabaseSaysThatItWasClosed() async throws {
        try await withDatabase { database in
            database.close()
            let written = await #expect(throws: StoreError.self) {
                try await database.write { transaction throws(StoreError) in
                    try transaction.put(DocumentID(unchecked: "late"), body)
                }
            }
            let read = await #expect(throws: StoreError.self) {
                try await database.read { reader throws(StoreError) in try reader.get(DocumentID(unchecked: "late")) }
            }
            #expect(written?.code == .closed && read?.code == .closed)
        }
    }

    @Test func aFailingWriteFailsAlone() async throws {
        try await withDatabase { database in
            async let good = database.write { transaction throws(StoreError) in
                try transaction.put(DocumentID(unchecked: "good"), body)
            }
            await #expect(throws: StoreError.self) {
                try await database.write { transaction throws(StoreError) in
                    try transaction.delete(DocumentID(unchecked: "missing"))
                }
            }
            _ = try await good
            #expect(database.summary.documents == 1)
        }
    }

    /// What is done again when the disk works may change nothing: it would be done again and again.
    @Test func aCommitThatChangesNothingIsNoProofOfTheDisk() async throws {
        try await withDatabase { database in
            let heard = Mutex<[StoreError.Code?]>([])
            database.observeStorage { trouble in heard.withLock { $0.append(trouble?.code) } }
            let trouble = StoreError(.inputOutput, "notes", "the disk fails")
            await #expect(throws: StoreError.self) {
                try await database.write { _ throws(StoreError) in throw trouble }
            }
            _ = try await database.write { transaction throws(StoreError) in try transaction.setPolicy(.initial) }
            _ = try await database.write { transaction throws(StoreError) in try transaction.maintain() }
            #expect(database.diskFailure != nil)
            _ = try await database.write { transaction throws(StoreError) in
                try transaction.put(DocumentID(unchecked: "d"), body)
            }
            #expect(database.diskFailure == nil)
            #expect(heard.withLock { $0 } == [.inputOutput, nil])
        }
    }

    @Test func observersHearOfEachCommitThatChangedTheDatabase() async throws {
        try await withDatabase { database in
            let heard = Mutex<[UInt64]>([])
            database.observe(1) { summary in heard.withLock { $0.append(summary.position.sequence) } }
            for number in 1...3 {
                let id = DocumentID(unchecked: "\(number)")
                _ = try await database.write { transaction throws(StoreError) in try transaction.put(id, body) }
            }
            #expect(heard.withLock { $0 } == [1, 2, 3])
            database.stopObserving(1)
            _ = try await database.write { transaction throws(StoreError) in
                try transaction.delete(DocumentID(unchecked: "1"))
            }
            #expect(heard.withLock { $0 } == [1, 2, 3])
        }
    }

    @Test func aClosedDatabaseAnswersWithAnError() async throws {
        try await withDatabase { database in
            database.close()
            await #expect(throws: StoreError.self) {
                try await database.write { transaction throws(StoreError) in
                    try transaction.put(DocumentID(unchecked: "late"), body)
                }
            }
            await #expect(throws: StoreError.self) {
                try await database.read { reader throws(StoreError) in try reader.summary() }
            }
        }
    }

    @Test func aDroppedDatabaseIsNotMadeAgainForAPeer() throws {
        let directory = TemporaryDirectory()
        let name = try DatabaseName("notes")
        do {
            let catalog = try DatabaseCatalog(nodeDirectory: directory.path, on: .local)
            #expect(catalog.wants(name))
            #expect(try catalog.create(name).isNew)
            #expect(try !catalog.create(name).isNew)
            #expect(try catalog.drop(name))
            #expect(!catalog.wants(name))
        }
        let reopened = try DatabaseCatalog(nodeDirectory: directory.path, on: .local)
        #expect(!reopened.wants(name))
        #expect(try reopened.create(name).isNew)
        #expect(reopened.databases.map(\.name) == [name])
        reopened.close()
    }
}
