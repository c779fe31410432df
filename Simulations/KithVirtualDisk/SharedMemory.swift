import CSQLite

/// The memory that the connections to one database share for its log, with the locks on it. SQLite keeps its index of
/// the log there; a power cut leaves nothing of it.
final class SharedMemory {
    private var regions: [UnsafeMutableRawPointer] = []
    private var shared: [[ObjectIdentifier]] = Array(repeating: [], count: Int(SQLITE_SHM_NLOCK))
    private var exclusive: [ObjectIdentifier?] = Array(repeating: nil, count: Int(SQLITE_SHM_NLOCK))

    /// Who has it mapped.
    private var members: Set<ObjectIdentifier> = []

    /// How many regions there are.
    var count: Int { regions.count }

    deinit { for region in regions { region.deallocate() } }

    /// The region of that number; nil where it is not there and shall not be made.
    func region(
        _ number: Int, bytes: Int, makes: Bool, for member: ObjectIdentifier
    ) -> UnsafeMutableRawPointer? {
        members.insert(member)
        while makes, regions.count <= number {
            let region = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 4096)
            region.initializeMemory(as: UInt8.self, repeating: 0, count: bytes)
            regions.append(region)
        }
        return number < regions.count ? regions[number] : nil
    }

    /// Takes or gives back locks.
    /// - Returns: whether nobody else is in the way.
    func lock(_ slots: Range<Int>, _ flags: Int32, by holder: ObjectIdentifier) -> Bool {
        if flags & SQLITE_SHM_UNLOCK != 0 {
            for slot in slots {
                shared[slot].removeAll { $0 == holder }
                if exclusive[slot] == holder { exclusive[slot] = nil }
            }
            return true
        }
        let isFree = slots.allSatisfy { slot in
            (exclusive[slot] ?? holder) == holder
                && (flags & SQLITE_SHM_SHARED != 0 || shared[slot].allSatisfy { $0 == holder })
        }
        guard isFree else { return false }
        for slot in slots {
            if flags & SQLITE_SHM_SHARED != 0 {
                if !shared[slot].contains(holder) { shared[slot].append(holder) }
            } else {
                exclusive[slot] = holder
            }
        }
        return true
    }

    /// Gives back all that one has of it who goes.
    /// - Returns: whether that was the last one.
    func leave(_ member: ObjectIdentifier) -> Bool {
        _ = lock(0..<Int(SQLITE_SHM_NLOCK), SQLITE_SHM_UNLOCK, by: member)
        members.remove(member)
        return members.isEmpty
    }
}
