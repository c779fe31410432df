import KithTestSupport

/// The content of a file on a virtual disk: what programs read, and what a power cut leaves of it.
///
/// What was written is durable once the file was synchronised. Until then each write and each change of length may
/// survive or not, on its own; and after a synchronisation that failed what was waiting is never made durable by a later
/// one, as Linux marks such pages clean: what of it the failed one did is all that there will be.
struct FileContent {
    /// What programs read.
    private(set) var bytes: [UInt8] = []
    private var durable: [UInt8] = []
    private var waiting: [Change] = []

    fileprivate enum Change {
        case write(offset: Int, [UInt8])
        case resize(Int)

        func apply(to bytes: inout [UInt8]) {
            switch self {
            case .write(let offset, let new):
                if bytes.count < offset + new.count {
                    bytes += [UInt8](repeating: 0, count: offset + new.count - bytes.count)
                }
                bytes.withUnsafeMutableBytes { target in
                    new.withUnsafeBytes {
                        UnsafeMutableRawBufferPointer(rebasing: target[offset...]).copyMemory(from: $0)
                    }
                }
            case .resize(let size):
                bytes.removeLast(max(0, bytes.count - size))
                bytes += [UInt8](repeating: 0, count: size - bytes.count)
            }
        }
    }

    init() {}

    /// A file of which all is durable.
    init(durable bytes: [UInt8]) {
        self.bytes = bytes
        durable = bytes
    }

    mutating func write(_ new: [UInt8], at offset: Int) { take(.write(offset: offset, new)) }

    mutating func resize(to size: Int) { take(.resize(size)) }

    private mutating func take(_ change: Change) {
        change.apply(to: &bytes)
        waiting.append(change)
    }

    /// All that was written is durable.
    mutating func synchronize() {
        for change in waiting { change.apply(to: &durable) }
        waiting = []
    }

    /// A synchronisation failed: what waited for it is read until the power goes. Durable is what it did before it failed,
    /// by the toss of a coin; nothing without one.
    mutating func loseWaiting(_ coin: inout SeededGenerator?) {
        for change in waiting where coin?.chance(1, in: 2) == true { change.apply(to: &durable) }
        waiting = []
    }

    /// Changes what stands on the disk behind everybody's back, what waits for it too.
    mutating func rot(_ range: Range<Int>, _ change: (Int, inout UInt8) -> Void) {
        for place in range.clamped(to: 0..<max(bytes.count, durable.count)) {
            if place < bytes.count { change(place, &bytes[place]) }
            if place < durable.count { change(place, &durable[place]) }
            for index in waiting.indices { waiting[index].rot(place, change) }
        }
    }

    /// Sets what programs read and what is durable.
    mutating func replace(_ new: [UInt8]) { self = FileContent(durable: new) }

    /// What a power cut leaves.
    func afterPowerCut(_ survival: Survival, _ generator: inout SeededGenerator) -> FileContent {
        var left = durable
        let torn = waiting.isEmpty ? 0 : generator.below(waiting.count)
        for (index, change) in waiting.enumerated() {
            switch survival {
            case .nothing: break
            case .everything: change.apply(to: &left)
            case .some: if generator.chance(1, in: 2) { change.apply(to: &left) }
            case .torn, .tornPages:
                let sector = survival == .torn ? 512 : 4_096
                if index < torn { change.apply(to: &left) }
                if index == torn { change.half(sector, &generator)?.apply(to: &left) }
            }
        }
        return FileContent(durable: left)
    }
}

extension FileContent.Change {
    fileprivate mutating func rot(_ place: Int, _ change: (Int, inout UInt8) -> Void) {
        guard case .write(let offset, var bytes) = self, offset <= place, place < offset + bytes.count else { return }
        self = .resize(0)
        change(place, &bytes[place - offset])
        self = .write(offset: offset, bytes)
    }

    /// The part of a write that reached the disk: sectors from its beginning or up to its end.
    fileprivate func half(_ sector: Int, _ generator: inout SeededGenerator) -> Self? {
        guard case .write(let offset, let bytes) = self else { return nil }
        // Sectors lie where the disk has them, not where the write begins.
        let first = (offset + sector) / sector * sector - offset
        let cuts = stride(from: first, to: bytes.count, by: sector).map { $0 }
        guard !cuts.isEmpty else { return nil }
        let cut = generator.pick(cuts)
        return generator.chance(1, in: 2)
            ? .write(offset: offset, Array(bytes[..<cut])) : .write(offset: offset + cut, Array(bytes[cut...]))
    }
}

/// What survives a power cut of that which nobody had synchronised.
package enum Survival: String, CaseIterable, Sendable {
    case nothing
    case everything
    /// Each write and each change of a name or length, by the toss of a coin: so also later ones without earlier ones.
    case some
    /// What was written first, and of one write the sectors of 512 bytes on one side.
    case torn
    /// The same on a disk that writes 4,096 bytes as one.
    case tornPages
}
