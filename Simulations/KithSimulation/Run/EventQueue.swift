/// The events to come, earliest first. Of events at one time those with the lower tie go first; ties are drawn from the
/// seed, so that no code may count on an order that nothing promises.
struct EventQueue<Event> {
    /// When an event happens; the event itself stays in its slot, so that sorting moves numbers alone.
    private struct Entry {
        let time: UInt64
        let tie: UInt64
        let number: UInt64
        let slot: Int

        @inline(__always)
        func precedes(_ other: Entry) -> Bool {
            if time != other.time { return time < other.time }
            return tie != other.tie ? tie < other.tie : number < other.number
        }
    }

    private var heap: [Entry] = []
    private var slots: [Event?] = []
    private var free: [Int] = []
    private var count: UInt64 = 0

    var isEmpty: Bool { heap.isEmpty }

    /// The time of the next event.
    var nextTime: UInt64? { heap.first?.time }

    mutating func add(_ event: Event, at time: UInt64, tie: UInt64) {
        let slot: Int
        if let unused = free.popLast() {
            slot = unused
            slots[slot] = event
        } else {
            slot = slots.count
            slots.append(event)
        }
        let entry = Entry(time: time, tie: tie, number: count, slot: slot)
        count += 1
        heap.append(entry)
        var index = heap.count - 1
        while index > 0 {
            let parent = (index - 1) / 2
            guard entry.precedes(heap[parent]) else { break }
            heap[index] = heap[parent]
            index = parent
        }
        heap[index] = entry
    }

    mutating func next() -> (time: UInt64, event: Event)? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty { sink(last) }
        guard let event = slots[first.slot].take() else { preconditionFailure("an event happened twice") }
        free.append(first.slot)
        return (first.time, event)
    }

    /// Puts an entry where the first one was.
    private mutating func sink(_ entry: Entry) {
        var index = 0
        while true {
            var child = 2 * index + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1].precedes(heap[child]) { child += 1 }
            guard heap[child].precedes(entry) else { break }
            heap[index] = heap[child]
            index = child
        }
        heap[index] = entry
    }
}
