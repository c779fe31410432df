import Glibc
import KithDocument
import Testing

/// A disk that takes no writes for a while and gives no error: what needs it waits, and nothing else does.
@Suite(.timeLimit(.minutes(10)), .enabled(if: LoopDisk.canFreeze, "needs root, loop devices and ext4"))
struct StalledDiskTests {
    @Test func dialsAndHeartbeatsGoOnWhileTheDiskStandsStill() async throws {
        try await Lab.open(nodes: 3) { lab in
            let (ada, ben, cleo) = (lab.node("ada"), lab.node("ben"), lab.node("cleo"))
            let disk = try await LoopDisk.mount(at: ben.directory, mebibytes: 64, folder: lab.folder)
            let result: Result<Void, any Error>
            do { result = .success(try await freezeAndThaw(disk, ada, ben, cleo)) } catch { result = .failure(error) }
            await disk.thawIfFrozen()
            ben.kill()
            await ben.ended()
            await disk.discard()
            try result.get()
        }
    }

    private func freezeAndThaw(_ disk: LoopDisk, _ ada: TestNode, _ ben: TestNode, _ cleo: TestNode) async throws {
        try await ada.found("testers")
        try await ada.start()
        // What mkfs puts there is none of the node's.
        Files.remove("\(disk.path)/lost+found")
        try await ben.join(by: ada)
        try await ben.start(peers: [ada])
        try await cleo.join(by: ada)
        try await [ada, ben].makeDatabase("notes")
        try await ada.kith("put", "notes", "one", #"{"n":1}"#)
        try await [ada, ben].settle("notes")

        try await disk.freeze()
        // Each of these has the node write: a small file here, what it learns of the group, a database.
        let mute = try ben.program(["mute", "PAUSED"])
        try await ada.kith("policy", "notes", #"{"default":"manual"}"#)
        try await ada.kith("db", "create", "more")
        try await ada.kith("put", "more", "one", #"{"n":1}"#)
        // A node that ben has never heard of.
        try await cleo.start(peers: [ada, ben])
        let isMet = try await eventually(within: 30) { try await ben.peer(cleo)["connected"]?.bool == true }
        #expect(isMet, "\(ben.log.suffix(1_000))")
        // One that goes and comes back.
        try await ada.stop()
        #expect(try await eventually(within: 30) { try await ben.peer(ada)["connected"]?.bool == false })
        try await ada.start(peers: [cleo, ben])
        #expect(try await eventually(within: 30) { try await ben.peer(ada)["connected"]?.bool == true })
        // Each status asks the peer whether it is there.
        let told = try await cleo.peer(ben)
        #expect(told["connected"]?.bool == true && told["state"]?.string != "unknown", "\(told)")
        #expect(try await ben.kith("get", "notes", "one") == #"{"n":1}"#)
        #expect(mute.status == nil, "a mute was said to be on a disk that takes nothing")
        #expect(try await !ben.kith("db", "list").contains("more"))

        try await disk.thaw()
        #expect(try await mute.finish(within: 60).status == 0)
        for name in ["notes", "more"] { try await [ada, ben, cleo].settle(name, within: 90) }
        #expect(try await ben.kith("policy", "notes").contains("manual"))
    }
}
