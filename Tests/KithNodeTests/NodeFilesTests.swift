import Dispatch
import Glibc
import KithDocument
import KithStore
import KithSystem
import KithTestSupport
import KithTransport
import KithVirtualDisk
import Testing

@testable import KithNode

/// The directory of a node on a file system that is not the process's own.
@Suite struct NodeFilesTests {
    private let files = MovedFileSystem(root: "/no-such-root-of-kith")
    private let directory: NodeDirectory
    private let identity: Identity

    init() throws {
        directory = try NodeDirectory(option: files.root + "/some/node")
        identity = try NodeSetup.initialise(
            directory, groupName: "testers", nodeName: "ada", rootFile: nil, on: files)
    }

    private var configuration: NodeConfiguration {
        var configuration = NodeConfiguration(directory: directory, log: Log(level: .error))
        let local = Machine.local
        configuration.machine = Machine(clock: local.clock, files: files, random: local.random, queue: local.queue)
        return configuration
    }

    private func path(_ name: String) -> String { files.place.path + "/some/node/" + name }

    @Test func aNodeIsMadeLoadedChangedAndLockedThere() throws {
        #expect(try IdentityStore(directory: directory.path, on: files).load().peer == identity.peer)
        #expect(StartCheck(configuration).problems == [])
        do {
            let node = try Node(configuration)
            // As a start does.
            try node.checkMachine()
            try node.beginInstance()
            try node.readPauses()
            try node.readMutes()
            node.findSetAside()
            try ListeningPlace(configuration).keep(7_000)
            node.damage.note(try DatabaseName("notes"), DamageBook.Entry(findings: 2, message: "bad pages"))
            node.queue.sync { node.keep(.paused) { .init(content: SpareFile.content(["all forever"])) { _ in } } }
            node.files.sync {}
            node.queue.sync {}
            #expect(try SpareFile.paused.look(in: directory.path, on: files).lines == ["all forever"])
            #expect(try DamageBook(nodeDirectory: directory.path, on: files).all.map(\.entry.findings) == [2])

            let error = #expect(throws: NodeError.self) { try Node(configuration) }
            #expect(error?.code == "directory_in_use")
            #expect(error?.message.contains("of this process") == true)
            #expect(throws: NodeError.self) { try NodeSetup.leave(directory, on: files) }
        }
        #expect(
            Set(TemporaryDirectory.names(in: path(""))).isSuperset(of: [
                "damage", "databases", "identity.pem", "instances", "listen", "lock", "membership", "paused",
                "root.pem",
            ]))
        _ = try NodeSetup.reset(directory, on: files)
        #expect(IdentityStore(directory: directory.path, on: files).state() == .left)
        #expect(access(files.root, F_OK) != 0, "something went by the file system")
        #expect(Set(files.elsewhere).isSubset(of: [MachineIdentity.file()]), "\(files.elsewhere)")
    }

    @Test func whatStandsInAFilesPlaceIsNoticedThere() throws {
        let store = IdentityStore(directory: directory.path, on: files)
        #expect(chmod(path("identity.pem"), 0o640) == 0)
        let open = #expect(throws: TransportError.self) { try store.load() }
        #expect(open?.message.contains("others may read the key") == true)
        #expect(chmod(path(""), 0o755) == 0 && NodeSetup.isOpenToOthers(directory, on: files))

        #expect(mkfifo(path("muted"), 0o600) == 0)
        let pipe = try SpareFile.muted.look(in: directory.path, on: files)
        #expect(pipe.damage?.hasSuffix("is a pipe and no file") == true, "\(pipe)")
        try TestFolder.make(path("peers"))
        #expect(try SpareFile.peers.look(in: directory.path, on: files).damage != nil)
        TestFolder.write([1], to: path("file"))
        let error = #expect(throws: NodeError.self) {
            try DirectoryLock.makeDirectory(directory.path + "/file", on: files)
        }
        #expect(error?.message.hasSuffix("Not a directory") == true)
        try DirectoryLock.makeDirectory(directory.path + "/a/b/c", on: files)
        try DirectoryLock.makeDirectory(directory.path + "/a/b/c", on: files)
        #expect(TestFolder.names(in: path("a/b")) == ["c"])
    }

    // MARK: Power cuts

    enum Change: CaseIterable { case identity, membership, pauses, damagedFile }

    /// Does the change with the power going at each of its changes of the disk; then what is there is looked at, and the
    /// change is made once more, for good.
    @Test(arguments: Change.allCases, Survival.allCases)
    func aPowerCutAtAnyPlaceLeavesTheOldOrTheNew(change: Change, survival: Survival) throws {
        let (first, second) = (try Self.identity("first"), try Self.identity("second"))
        let base = VirtualDisk()
        defer { base.discard() }
        try IdentityStore(directory: base.directory, on: base.files).create(first)
        if change == .damagedFile {
            base.put(SpareFile.paused.path(in: base.directory), Trial.damaged)
        } else {
            try SpareFile.paused.write(["all forever"], in: base.directory, on: base.files)
        }
        let trial = Trial(change, first, second)
        let whole = base.copied()
        defer { whole.discard() }
        let (old, new) = (try trial.state(base), try trial.done(whole))
        #expect(old != new)
        var cut = 0
        while true {
            let disk = base.copied()
            defer { disk.discard() }
            disk.plan = { $0.operation.isChange && $0.change >= cut ? .powerGoes : .done }
            let isDone = (try? trial.make(disk)) != nil
            let wasReached = disk.changes > cut
            disk.plan = nil
            var generator = SeededGenerator(seed: UInt64(cut))
            disk.cutPower(survival, &generator)
            let left = try trial.state(disk)
            #expect(left == new || (left == old && !(isDone && trial.tellsOfFailure)), "cut at change \(cut): \(left)")
            #expect(try trial.done(disk) == new, "cut at change \(cut), and made once more")
            guard wasReached else { break }
            cut += 1
        }
        #expect(cut >= 4, "it made \(cut) changes")
    }

    private static func identity(_ name: String) throws -> Identity {
        try Identity.createGroup(name: "testers", nodeName: name).identity
    }

    private struct Trial {
        let change: Change
        let first: Identity
        let second: Identity

        init(_ change: Change, _ first: Identity, _ second: Identity) {
            self.change = change
            self.first = first
            self.second = second
        }

        static let damaged = Array("all forever\n".utf8) + [0xff, 0x0a]

        /// Setting a file aside may fail in silence; the next start does it.
        var tellsOfFailure: Bool { change != .damagedFile }

        func make(_ disk: VirtualDisk) throws {
            let store = IdentityStore(directory: disk.directory, on: disk.files)
            switch change {
            case .identity: try store.save(second)
            case .membership:
                let membership = Membership(trust: first.trust)
                _ = membership.admit([first.certificate, first.issuer])
                membership.note(name: "somebody", of: first.nodeID)
                try store.write(membership.encoded, to: IdentityStore.membershipName)
            case .pauses: try SpareFile.paused.write(["all 99999999999999"], in: disk.directory, on: disk.files)
            case .damagedFile:
                guard try SpareFile.paused.look(in: disk.directory, on: disk.files).damage != nil else { return }
                SpareFile.paused.setAside(in: disk.directory, leaving: ["all 99999999999999"], on: disk.files)
            }
        }

        /// Makes the change, and cuts the power when all is said to be on disk.
        func done(_ disk: VirtualDisk) throws -> [String] {
            try make(disk)
            var generator = SeededGenerator(seed: 0)
            disk.cutPower(.nothing, &generator)
            return try state(disk)
        }

        /// What can be read of it: everything must be sound.
        func state(_ disk: VirtualDisk) throws -> [String] {
            let store = IdentityStore(directory: disk.directory, on: disk.files)
            let identity = try store.load()
            guard change != .identity else { return [identity.nodeName] }
            let membership = try store.membership(of: identity).members.map(\.name)
            let pauses = try SpareFile.paused.look(in: disk.directory, on: disk.files)
            if change == .damagedFile {
                // At no moment is there neither the file nor what it held.
                let aside = disk.content(of: SpareFile.paused.aside(in: disk.directory))
                #expect(aside == Self.damaged || (aside == nil && pauses.damage != nil), "\(pauses)")
            } else {
                #expect(pauses.damage == nil, "\(pauses)")
            }
            return membership + pauses.lines
        }
    }
}
