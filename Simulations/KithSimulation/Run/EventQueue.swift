/// The events to come, earliest first. Of events at one time those with the lower tie go first; ties are drawn from the
/// seed, so that no code may count on an order that nothing promises.
struct EventQueue<Event> {
    private struct Entry {
        let time: UInt64
        let tie: UInt64
        let number: UInt64
        let event: Event

        func precedes(_ other: Entry) -> Bool {
            if time != other.time { return time < other.time }
            return tie != other.tie ? tie < other.tie : number < other.number
        }
    }

    private var heap: [Entry] = []
    private var count: UInt64 = 0

    var isEmpty: Bool { heap.isEmpty }

    /// The time of the next event.
    var nextTime: UInt64? { heap.first?.time }

    mutating func add(_ event: Event, at time: UInt64, tie: UInt64) {
        heap.append(Entry(time: time, tie: tie, number: count, event: event))
        count += 1
        var index = heap.count - 1
        while index > 0, heap[index].precedes(heap[(index - 1) / 2]) {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    mutating func next() -> (time: UInt64, event: Event)? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            sink()
        }
        return (first.time, first.event)
    }

    private mutating func sink() {
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < heap.count && heap[child].precedes(heap[least]) {
                least = child
            }
            if least == index { return }
            heap.swapAt(index, least)
            index = least
        }
    }
}
