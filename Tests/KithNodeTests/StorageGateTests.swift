import KithNode
import KithStore
import Testing

@Suite struct StorageGateTests {
    private let full = StoreError(.storageFull, "notes", "no space")
    private let broken = StoreError(.inputOutput, "notes", "the disk failed")

    @Test func whatIsNoFaultOfTheDiskIsPassedOver() {
        var gate = StorageGate(now: 0)
        for code in [StoreError.Code.conflict, .notFound, .invalid, .damaged, .clockBeyondRange] {
            gate.failed(StoreError(code, "notes", "no"), now: 1)
        }
        #expect(gate.failure == nil)
    }

    @Test func afterAFailureItIsTriedEveryTenSeconds() {
        var gate = StorageGate(now: 0)
        gate.failed(broken, now: 1_000)
        #expect(gate.failure == broken)
        #expect(!gate.isProbeDue(now: 10_999))
        #expect(gate.isProbeDue(now: 11_000))
        gate.failed(broken, now: 11_000)
        #expect(!gate.isProbeDue(now: 20_999))
        #expect(gate.probeDueAt == 21_000)
        gate.succeeded(free: nil, now: 21_000)
        #expect(gate.failure == nil)
    }

    @Test func aFullDiskIsOverOnceThereIsRoomAndNotWithOneSmallCommit() {
        var gate = StorageGate(now: 0)
        gate.failed(full, now: 0)
        #expect(!gate.mayProbe(free: 1 << 20))
        gate.succeeded(free: 1 << 20, now: 5)
        #expect(gate.failure == full)
        #expect(gate.mayProbe(free: NodeLimits.resumeBytes))
        #expect(gate.mayProbe(free: nil), "who does not know the room tries")
        gate.succeeded(free: NodeLimits.resumeBytes, now: 6)
        #expect(gate.failure == nil)
    }

    @Test func whereNobodyWritesItIsTriedNowAndThen() {
        var gate = StorageGate(now: 0)
        #expect(!gate.isProbeDue(now: NodeLimits.idleProbeMilliseconds - 1))
        #expect(gate.isProbeDue(now: NodeLimits.idleProbeMilliseconds))
        gate.succeeded(free: nil, now: 500_000)
        #expect(!gate.isProbeDue(now: NodeLimits.idleProbeMilliseconds))
    }
}
