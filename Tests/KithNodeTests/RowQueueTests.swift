import Glibc
import KithHTTPCore
import KithStore
import KithTestSupport
import KithVirtualDisk
import Testing

@testable import KithNode

/// The lines of an answer between a query and a reader that may be slow.
@Suite(.timeLimit(.minutes(2))) struct RowQueueTests {
    private let folder = TemporaryDirectory()

    private func queue(on disk: VirtualDisk? = nil) throws -> RowQueue {
        let file =
            if let disk {
                DatabaseFile(try DatabaseName("notes"), in: disk.directory, on: disk.files)
            } else {
                DatabaseFile(try DatabaseName("notes"), in: folder.path)
            }
        return RowQueue(beside: file, number: 1)
    }

    private static func line(_ number: Int) -> [UInt8] {
        Array("\(number) \(String(repeating: "x", count: number % 2_000))\n".utf8)
    }

    private static func drain(_ queue: RowQueue) async throws -> [UInt8] {
        var all: [UInt8] = []
        while let part = try await queue.next() { all += part }
        return all
    }

    @Test func allThatWaitsComesInOrderThoughItIsMoreThanMemoryMayHold() async throws {
        let queue = try queue()
        var expected: [UInt8] = []
        for number in 0..<8_000 {
            #expect(queue.put(Self.line(number)))
            expected += Self.line(number)
        }
        queue.finish(nil)
        #expect(expected.count > 6 * ControlLimits.rowBytes)
        // It has no name from the beginning: nothing is left of it whatever happens.
        #expect(TestFolder.names(in: folder.path).isEmpty)
        #expect(try await Self.drain(queue) == expected)
    }

    @Test func aReaderThatIsSlowNowAndThenLosesNothing() async throws {
        let queue = try queue()
        let count = 20_000
        async let written: Void = onThread {
            for number in 0..<count { _ = queue.put(Self.line(number)) }
            queue.finish(nil)
        }
        var all: [UInt8] = []
        var parts = 0
        while let part = try await queue.next() {
            all += part
            parts += 1
            if parts.isMultiple(of: 3) { await Task.yield() }
        }
        await written
        #expect(all == (0..<count).flatMap(Self.line))
    }

    @Test func theReasonOfAFailureComesAfterWhatCameBefore() async throws {
        let queue = try queue()
        _ = queue.put(Self.line(1))
        queue.finish(ControlError(.failed, "it broke"))
        #expect(try await queue.next() == Self.line(1))
        await #expect(throws: ControlError(.failed, "it broke")) { try await queue.next() }
    }

    @Test func whoeverWritesIsToldThatNobodyReads() async throws {
        let queue = try queue()
        #expect(queue.put(Self.line(1)))
        queue.abandon()
        #expect(!queue.put(Self.line(2)) && queue.isUnwanted)
    }

    @Test func aReaderThatIsCancelledWhileItWaitsEndsTheQuery() async throws {
        let queue = try queue()
        let reader = Task { try? await queue.next() }
        reader.cancel()
        while !queue.isUnwanted { await Task.yield() }
        queue.finish(ControlError(.unavailable, "given up"))
        #expect(await reader.value == nil)
    }

    @Test func aDiskWithoutRoomEndsTheQueryBeforeWritersFeelIt() async throws {
        let disk = VirtualDisk()
        defer { disk.discard() }
        disk.capacity = 2 << 20
        let queue = try queue(on: disk)
        var isKept = true
        while isKept { isKept = queue.put([UInt8](repeating: UInt8(ascii: "x"), count: 1_000)) }
        queue.finish(nil)
        do {
            _ = try await Self.drain(queue)
            Issue.record("the rows fit")
        } catch {
            #expect((error as? ControlError)?.code == .storageFull)
        }
    }
}
