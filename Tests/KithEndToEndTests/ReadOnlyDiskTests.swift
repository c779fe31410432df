import KithDocument
import Testing

/// A node whose file system becomes read-only while it runs, as ext4 does after an error of the disk. By hand it can't be
/// remounted so while a node has files on it open for writing: the kernel calls it busy.
@Suite(
    .timeLimit(.minutes(10)), .enabled(if: LoopDisk.skipReason == nil, "needs root, loop devices and the tools of ext4")
)
struct ReadOnlyDiskTests {
    @Test func readingGoesOnWritesFailAndAllIsThereWhenTheDiskIsMended() async throws {
        try await Lab.open(nodes: 2) { lab in
            let (ada, ben) = (lab.node("ada"), lab.node("ben"))
            let disk = try await LoopDisk.mount(at: ben.directory, mebibytes: 64, folder: lab.folder)
            let result: Result<Void, any Error>
            do { result = .success(try await failAndMend(disk, ada, ben)) } catch { result = .failure(error) }
            ben.kill()
            await ben.ended()
            await disk.discard()
            try result.get()
        }
    }

    private func failAndMend(_ disk: LoopDisk, _ ada: TestNode, _ ben: TestNode) async throws {
        let nodes = [ada, ben]
        try await ada.found("testers")
        try await ada.start()
        // What mkfs puts there is none of the node's.
        Files.remove("\(disk.path)/lost+found")
        try await ben.join(by: ada)
        try await ben.start(peers: [ada])
        try await nodes.makeDatabase("notes")
        for number in 0..<5 { try await ben.kith("put", "notes", "early-\(number)", #"{"n":\#(number)}"#) }
        try await nodes.settle("notes")

        try await disk.abort()
        // The first is told of the disk, later ones of a file that can't be written; which one is up to the kernel.
        for _ in 0..<2 {
            let refused = try await ben.run(["put", "notes", "mine", #"{"n":1}"#])
            let reasons = ["the disk failed", "can't be written"]
            #expect(refused.status == 1 && reasons.contains { refused.errorText.contains($0) }, "\(refused.errorText)")
            #expect(refused.errorText.contains("notes"), "\(refused.errorText)")
            BadInputTests.expectOneLine(refused)
        }
        let check = try await ben.reaches("STORAGE_FAILED", level: "critical")
        #expect(check["summary"]?.string?.contains("notes") == true, "\(check)")
        #expect(try await ben.run(["check"]).status == 2)
        #expect(try await ben.run(["get", "notes", "mine"]).status == 2)
        for arguments in [["db", "create", "more"], ["pause"]] {
            let failed = try await ben.run(arguments)
            #expect(failed.status == 1, "\(arguments): \(failed.outputText)\(failed.errorText)")
            BadInputTests.expectOneLine(failed)
        }

        // Reading goes on, and the others see why nothing arrives.
        for number in 0..<5 { #expect(try await ben.kith("get", "notes", "early-\(number)") == #"{"n":\#(number)}"#) }
        #expect(try await ben.lines("changes", "notes").count == 5)
        #expect(try await ben.run(["export", "notes"]).status == 0)
        try await ada.kith("put", "notes", "late", #"{"n":2}"#)
        #expect(try await eventually(within: 40) { try await ada.peer(ben)["state"]?.string == "blocked" })
        #expect(try await ben.run(["get", "notes", "late"]).status == 2)

        // It ends in order all the same, and goes on where the disk is mended.
        try await ben.stop()
        try await disk.unmount()
        try await disk.check()
        try await disk.mount()
        try await ben.start(peers: [ada])
        try await nodes.settle("notes", within: 60)
        #expect(try await ben.kith("get", "notes", "late") == #"{"n":2}"#)
        try await ben.kith("put", "notes", "mine", #"{"n":3}"#)
        try await nodes.settle("notes")
        #expect(try await ada.database("notes")["documents"]?.natural == 7)
        try await ben.leaves("STORAGE_FAILED")
        #expect(try await ben.run(["check"]).status == 0)
    }
}
