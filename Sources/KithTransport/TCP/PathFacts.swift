import Dispatch
import Glibc

/// What the kernel knows of the packets of a connection, and whether it looks like a path on which small packets pass and
/// large ones vanish: a router or tunnel with a smaller MTU whose word about it is filtered.
///
/// A stopped process is no such path (its kernel acknowledges), and neither is a peer that is gone (nothing comes of it).
struct PathFacts: Equatable {
    /// How often the first unacknowledged packet was sent again without an answer.
    var repeats = 0
    /// Packets behind the unacknowledged one that did arrive.
    var arrivedBehind = 0
    /// Bytes that were given to the kernel and not acknowledged.
    var waitingBytes = 0
    /// Milliseconds since anything of the peer came: data, or a bare acknowledgement.
    var quietMilliseconds = 0
    /// Bytes that the peer's machine has taken, of all that were ever sent.
    var acknowledgedBytes: UInt64 = 0
    /// Packets of the peer that came while one before them was missing.
    var outOfOrder = 0

    /// Whether packets of ours that are large are lost on the way while others pass.
    ///
    /// The fourth repeat is sent three seconds after the packet: whatever came since then shows that the peer is there.
    var losesLargeHere: Bool {
        guard repeats >= TransportLimits.repeatsOfALostPacket, waitingBytes > TransportLimits.smallPacketBytes else {
            return false
        }
        return arrivedBehind > 0 || quietMilliseconds < TransportLimits.peerIsThereMilliseconds
    }

    /// Whether a handshake that failed did so because large packets were lost, ours or the peer's: the end of its message
    /// came and the beginning never did.
    var lostLargeInHandshake: Bool { losesLargeHere || outOfOrder > 0 }

    init() {}

    /// Asks the kernel. Nil where it does not tell, as other systems than Linux.
    ///
    /// The structure is read by its places, which are fixed (`linux/tcp.h`); the C library's own declaration of it is older
    /// and shorter.
    init?(_ descriptor: Int32) {
        #if os(Linux)
        var info = [UInt8](repeating: 0, count: 256)
        var count = socklen_t(info.count)
        guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &info, &count) == 0, count >= 104 else { return nil }
        func number(at offset: Int) -> Int {
            guard offset + 4 <= Int(count) else { return 0 }
            return Int(info.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) })
        }
        repeats = Int(info[2])
        arrivedBehind = number(at: 28)
        quietMilliseconds = min(number(at: 52), number(at: 56))
        acknowledgedBytes = UInt64(number(at: 120)) | UInt64(number(at: 124)) << 32
        outOfOrder = number(at: 224)
        var waiting: Int32 = 0
        // SIOCOUTQ, which Swift does not import.
        guard ioctl(descriptor, 0x5411, &waiting) == 0 else { return nil }
        waitingBytes = Int(waiting)
        #else
        return nil
        #endif
    }
}

extension Connection {
    /// Looks at the path now and then while large messages are under way; ends the connection when they don't get through.
    func watchPath() {
        guard !isPathWatched else { return }
        isPathWatched = true
        lookAtPath()
    }

    private func lookAtPath() {
        queue.asyncAfter(deadline: .now() + .milliseconds(TransportLimits.pathLookMilliseconds)) { [weak self] in
            guard let self else { return }
            guard state == .open || state == .handshake, let facts = PathFacts(descriptor) else {
                isPathWatched = false
                return
            }
            if facts.losesLargeHere { return fail(.largePacketsLost) }
            if state == .open, facts.acknowledgedBytes > toldAcknowledged {
                toldAcknowledged = facts.acknowledgedBytes
                deliver(.acknowledged(total: toldAcknowledged))
                // Whoever was told may have closed it.
                guard state == .open else { return isPathWatched = false }
            }
            if state == .open, facts.waitingBytes == 0 {
                isPathWatched = false
                return
            }
            lookAtPath()
        }
    }

    /// What a handshake really failed of.
    func explained(_ error: TransportError) -> TransportError {
        guard state == .handshake, descriptor >= 0 else { return error }
        switch error {
        case .timedOut, .closedInHandshake, .system:
            return PathFacts(descriptor)?.lostLargeInHandshake == true ? .largePacketsLost : error
        default: return error
        }
    }
}
