import KithSystem
import KithTestSupport
import KithVirtualDisk

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What the disk of a machine does wrong at the moment: asked at each of its calls.
final class DiskTrouble {
    /// How many calls of a kind are still to fail; nil for all.
    private var failing: [DiskCall.Operation: Int?] = [:]
    /// Synchronisations are done in words only.
    var pretends = false
    /// So many writes to come go to another place of their file.
    var misdirects = 0
    /// The power goes before the change of that number.
    var powerGoesAt: Int?
    /// Called once when it has gone.
    var powerHasGone: (() -> Void)?
    /// Of each synchronisation, in microseconds.
    var synchronizing: ClosedRange<Int>?
    var random: SeededGenerator

    init(_ random: SeededGenerator) { self.random = random }

    /// Whether calls do what they say.
    var isWell: Bool { failing.isEmpty && !pretends && misdirects == 0 }

    func fail(_ operation: DiskCall.Operation, times: Int?) { failing[operation] = .some(times) }

    func mend(_ operation: DiskCall.Operation) { failing[operation] = nil }

    /// All is well again.
    func mend() {
        failing = [:]
        pretends = false
        misdirects = 0
        powerGoesAt = nil
        synchronizing = nil
    }

    func outcome(of call: DiskCall) -> DiskOutcome {
        if let powerGoesAt, call.operation.isChange, call.change >= powerGoesAt {
            self.powerGoesAt = nil
            powerHasGone?()
            return .powerGoes
        }
        if let times = failing[call.operation] {
            if let times {
                if times <= 1 { failing[call.operation] = nil } else { failing[call.operation] = .some(times - 1) }
            }
            return .failed(EIO)
        }
        switch call.operation {
        case .synchronize, .synchronizeDirectory:
            if pretends { return .pretended }
            if let synchronizing { return .delayed(microseconds: random.within(synchronizing)) }
        case .write where misdirects > 0 && call.range.count >= 512:
            misdirects -= 1
            return .misdirected(to: max(0, call.range.lowerBound - 4_096))
        default: break
        }
        return .done
    }
}
