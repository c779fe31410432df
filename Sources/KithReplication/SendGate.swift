/// What may be sent to a peer and when the store may be read for it.
///
/// Credited frames wait here in order until the peer has granted bytes and the shell has room. A frame may take the
/// credit below zero: so one frame always travels when nothing else is under way.
struct SendGate {
    /// Bytes that the peer lets us send.
    private(set) var credit = 0
    /// Bytes that the shell has not sent yet.
    var unsent = 0
    /// What the store reads under way may bring.
    private(set) var reserved = 0
    private var queue: [[UInt8]] = []
    private var head = 0
    private(set) var queuedBytes = 0
    var queuedFrames: Int { queue.count - head }

    /// Whether there is room to read the store for this peer.
    var mayRead: Bool {
        credit > queuedBytes + reserved && unsent + queuedBytes + reserved < ReplicationLimits.sendBufferBytes
    }

    mutating func grant(_ bytes: UInt64) throws(ProtocolError) {
        guard bytes <= UInt64(ReplicationLimits.maximumWindowBytes),
            credit + Int(bytes) <= ReplicationLimits.maximumWindowBytes
        else { throw ProtocolError("the credit is over \(ReplicationLimits.maximumWindowBytes) bytes") }
        credit += Int(bytes)
    }

    mutating func reserve(_ bytes: Int) { reserved += bytes }

    mutating func unreserve(_ bytes: Int) {
        precondition(reserved >= bytes, "\(bytes) bytes are given back of \(reserved) reserved")
        reserved -= bytes
    }

    mutating func enqueue(_ frame: [UInt8]) {
        queue.append(frame)
        queuedBytes += frame.count
    }

    /// The next frame that may go.
    mutating func next() -> [UInt8]? {
        guard head < queue.count, credit > 0, unsent < ReplicationLimits.sendBufferBytes else { return nil }
        let frame = queue[head]
        queue[head] = []
        head += 1
        if head == queue.count {
            queue.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 64 {
            queue.removeFirst(head)
            head = 0
        }
        queuedBytes -= frame.count
        credit -= frame.count
        return frame
    }
}

/// The credit that this side has granted and not yet taken back into use.
struct ReceiveCredit {
    /// What the peer may still send.
    private var open: Int
    /// What is free again and not yet granted anew.
    private var returned = 0
    /// Documents that came in chunks and wait for the store, and the credit of the chunks that came behind them.
    private var largeWaiting = 0
    private var withheld = 0

    init(window: Int) { open = window }

    /// What the peer may send and what it will be granted again.
    var free: Int { open + returned }

    mutating func received(_ bytes: Int) throws(ProtocolError) {
        guard open > 0 else { throw ProtocolError("more was sent than the credit allowed") }
        open -= bytes
    }

    mutating func giveBack(_ bytes: Int) { returned += bytes }

    /// A part of a large document came: it is room again at once, unless another such document waits for the store.
    mutating func giveBack(chunk bytes: Int) {
        if largeWaiting == 0 { returned += bytes } else { withheld += bytes }
    }

    mutating func beginWaiting() { largeWaiting += 1 }

    mutating func endWaiting(_ count: Int) {
        precondition(largeWaiting >= count, "\(count) large documents end waiting of \(largeWaiting)")
        largeWaiting -= count
        if largeWaiting > 0 { return }
        returned += withheld
        withheld = 0
    }

    /// What to grant now; nil while it is too little to say.
    mutating func grant(window: Int) -> UInt64? {
        guard returned >= min(ReplicationLimits.creditStepBytes, window / 4) else { return nil }
        defer { returned = 0 }
        open += returned
        return UInt64(returned)
    }
}
