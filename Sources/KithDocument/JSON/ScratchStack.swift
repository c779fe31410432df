/// A stack of plain values that begins in memory lent by the caller and moves to the heap when that is full, so that
/// reading a small document allocates nothing for it.
struct ScratchStack<Element: BitwiseCopyable>: ~Copyable {
    private var base: UnsafeMutablePointer<Element>
    private var capacity: Int
    private var isOnHeap: Bool
    private(set) var count = 0

    /// - Parameter lent: outlives the stack; not empty.
    init(in lent: UnsafeMutableBufferPointer<Element>) {
        base = lent.baseAddress!
        capacity = lent.count
        isOnHeap = false
    }

    /// An empty stack that takes memory at its first push.
    init() {
        // It points nowhere, as nothing is there.
        base = UnsafeMutablePointer(bitPattern: MemoryLayout<Element>.alignment)!
        capacity = 0
        isOnHeap = false
    }

    deinit {
        if isOnHeap { base.deallocate() }
    }

    var isEmpty: Bool { count == 0 }

    subscript(index: Int) -> Element {
        get {
            precondition(index >= 0 && index < count, "the stack has no such element")
            return base[index]
        }
        set {
            precondition(index >= 0 && index < count, "the stack has no such element")
            base[index] = newValue
        }
    }

    @inline(__always)
    mutating func push(_ element: Element) {
        if count == capacity { grow() }
        base[count] = element
        count += 1
    }

    @inline(__always)
    mutating func pop() -> Element {
        precondition(count > 0, "the stack is empty")
        count -= 1
        return base[count]
    }

    mutating func removeLast(to newCount: Int) {
        precondition(newCount <= count, "a stack shrinks only")
        count = newCount
    }

    /// The elements from an index on, to sort them in place.
    mutating func withElements<Result>(
        from start: Int, _ body: (inout UnsafeMutableBufferPointer<Element>) -> Result
    ) -> Result {
        var elements = UnsafeMutableBufferPointer(start: base + start, count: count - start)
        return body(&elements)
    }

    @inline(never)
    private mutating func grow() {
        let larger = max(16, capacity * 2)
        let moved = UnsafeMutablePointer<Element>.allocate(capacity: larger)
        moved.update(from: base, count: count)
        if isOnHeap { base.deallocate() }
        base = moved
        capacity = larger
        isOnHeap = true
    }
}
