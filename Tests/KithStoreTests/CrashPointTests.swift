import KithCrashPoints
import KithTestSupport
import KithVirtualDisk
import Testing

@testable import KithStore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The power goes at every change that a piece of work makes on the disk, and once more at every change of the recovery:
/// nothing acknowledged is lost, and the file is sound.
@Suite struct CrashPointTests {
    @Test("A power cut at any change loses nothing acknowledged", arguments: CrashWork.allCases, Survival.allCases)
    func anywhere(_ work: CrashWork, _ survival: Survival) throws {
        let report = try CrashPoints.run(work, survival, isLong ? .every(1) : .every(32))
        for failure in report.failures { Issue.record("\(failure)") }
        #expect(report.calls >= work.leastChanges, "\(work) made \(report.calls) changes")
    }

    /// Whether every change of every recovery is tried, as `kith-sim --crash-points` does.
    private let isLong = getenv("KITH_LONG_TESTS") != nil

    @Test func aDiskThatOnlySaysThatItSynchronisesIsFoundOut() throws {
        let report = try CrashPoints.run(.writing, .nothing, .none) {
            $0.operation == .synchronize ? .pretended : .done
        }
        #expect(!report.failures.isEmpty)
    }

    @Test("A power cut while a file is put aside leaves it in one place or the other", arguments: Survival.allCases)
    func whileAFileIsPutAside(_ survival: Survival) throws {
        let letter = Array("a letter that somebody kept here\n".utf8)
        let base = VirtualDisk()
        defer { base.discard() }
        base.put(base.directory + "/things.sqlite3", letter)
        var change = 0
        while true {
            let disk = base.copied()
            defer { disk.discard() }
            disk.powerGoesBefore = change
            let file = DatabaseFile(try DatabaseName("things"), in: disk.directory, on: disk.files)
            try? Store.remove(file, keepingAt: "1")
            let wasReached = disk.changes > change
            var generator = SeededGenerator(seed: UInt64(change))
            disk.cutPower(survival, &generator)
            let places = [file.path, file.path + ".damaged-1"].map { disk.content(of: $0) }
            #expect(places.contains(letter), "\(survival), cut at change \(change)")
            if !wasReached {
                #expect(places == [nil, letter])
                break
            }
            change += 1
        }
        #expect(change >= 5, "it made \(change) changes")
    }
}
