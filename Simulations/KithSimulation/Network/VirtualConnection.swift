/// One TCP connection as its two kernels see it. End 0 dialled, end 1 accepted.
struct VirtualConnection {
    /// What is on its way from one end to the other, in order.
    enum Segment {
        /// The last part of the dialler's handshake: only now the other side knows whom it talks to.
        case handshake
        case bytes([UInt8])
        /// The end of the stream.
        case end
    }

    struct End {
        let node: Int
        /// Whether a process holds it.
        var isOpen = false
        /// What the process gave and the kernel holds.
        var outbox: [UInt8] = []
        /// Whether the stream ends after the outbox.
        var endsAfterOutbox = false
        var hasEnded = false
        var inFlight: [Segment] = []
        /// Bytes sent that the other side has not confirmed: no more than a window.
        var unconfirmed = 0
        /// Bytes that arrived, unconfirmed while the way back is cut.
        var arrivedUnconfirmed = 0
        /// When the last segment arrives: a stream stays in order.
        var lastArrival: UInt64 = 0
        /// Arrivals that wait for a cut to open.
        var stalled = 0
        /// Bytes that this end has sent in all.
        var sent: UInt64 = 0
    }

    let id: UInt64
    var ends: [End]
    var isEstablished = false
    /// Nobody has anything of it any more.
    var isGone = false

    var dialler: Int { ends[0].node }
    var acceptor: Int { ends[1].node }
}
