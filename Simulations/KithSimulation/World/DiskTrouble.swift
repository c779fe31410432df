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
    /// Calls to come that go wrong.
    private struct Coming {
        /// How many; nil for all.
        var left: Int?
        var isFirst = true
        /// Told of each, and whether it is the first.
        let struck: (Bool) -> Void

        /// - Returns: whether there are more to come.
        mutating func strike() -> Bool {
            struck(isFirst)
            isFirst = false
            left = left.map { $0 - 1 }
            return left != 0
        }
    }

    private var failing: [DiskCall.Operation: Coming] = [:]
    /// Synchronisations are done in words only.
    var pretends = false
    /// Writes that go to another place of their file.
    private var misdirecting: Coming?
    /// The power goes before the change of that number.
    var powerGoesAt: Int?
    /// Called once when it has gone.
    var powerHasGone: (() -> Void)?
    /// Of each synchronisation, in microseconds.
    var synchronizing: ClosedRange<Int>?
    var random: SeededGenerator

    init(_ random: SeededGenerator) { self.random = random }

    /// Whether calls do what they say: those that fail or go astray some time are told of when they do.
    var isWell: Bool { !pretends && !failing.values.contains { $0.left == nil } }

    /// - Parameters:
    ///   - times: how many calls fail; nil for all until it is mended.
    ///   - struck: told of each that does, and whether it is the first.
    func fail(_ operation: DiskCall.Operation, times: Int?, struck: @escaping (Bool) -> Void) {
        failing[operation] = Coming(left: times, struck: struck)
    }

    /// So many writes to come go to another place of their file.
    func misdirect(times: Int, struck: @escaping (Bool) -> Void) {
        misdirecting = Coming(left: times, struck: struck)
    }

    func endMisdirecting() { misdirecting = nil }

    func mend(_ operation: DiskCall.Operation) { failing[operation] = nil }

    /// All is well again.
    func mend() {
        failing = [:]
        pretends = false
        misdirecting = nil
        powerGoesAt = nil
        synchronizing = nil
    }

    func outcome(of call: DiskCall) -> DiskOutcome {
        if let powerGoesAt, call.operation.isChange, call.change >= powerGoesAt {
            self.powerGoesAt = nil
            powerHasGone?()
            return .powerGoes
        }
        if var coming = failing[call.operation] {
            failing[call.operation] = coming.strike() ? coming : nil
            return .failed(EIO)
        }
        switch call.operation {
        case .synchronize, .synchronizeDirectory:
            if pretends { return .pretended }
            if let synchronizing { return .delayed(microseconds: random.within(synchronizing)) }
        case .write where call.range.count >= 512:
            guard var coming = misdirecting else { break }
            misdirecting = coming.strike() ? coming : nil
            // A page before or after it.
            let place = call.range.lowerBound
            return .misdirected(to: place >= 4_096 ? place - 4_096 : place + 4_096)
        default: break
        }
        return .done
    }
}
