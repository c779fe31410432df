import KithReplication

/// The size of packets on the way to each target: how small they must be where large ones are lost.
///
/// A path that loses large packets lets a connection come up and stops it with the first large message. What the transport
/// saw of that makes the next dial agree on small segments, and smaller ones if that did not help. Where nothing was seen
/// but handshakes that never end, small segments are tried in turns, for what is lost may be the peer's packets alone.
package struct PathBook<Target: Hashable & Sendable>: Sendable {
    private struct Path: Sendable {
        /// Which of the sizes is used; nil for no limit.
        var size: Int?
        /// Whether packets were seen to be lost, or small ones are a guess.
        var isKnown = false
        /// Since when that size is used, or when a larger one was tried last.
        var since: Instant
        /// How often a larger one was tried since something new was known of the path.
        var tries = 0
        /// Handshakes without an end, one after the other.
        var silentHandshakes = 0
    }

    private let sizes: [Int]
    private var paths: [Target: Path] = [:]

    /// - Parameter sizes: bytes of a segment, the largest first.
    package init(sizes: [Int]) { self.sizes = sizes }

    /// The largest segment to agree on when dialling, in bytes; nil for no limit.
    package func segmentBytes(for target: Target) -> Int? {
        guard let path = paths[target] else { return nil }
        if let size = path.size { return sizes[size] }
        // Two of three dials to a host that is only slow or stopped are as ever.
        return path.silentHandshakes > 0 && path.silentHandshakes % 3 == 2 ? sizes.first : nil
    }

    /// Whether large packets to a target are known to be lost.
    package func isKnownToLose(_ target: Target) -> Bool { paths[target]?.isKnown == true }

    /// Large packets were lost: smaller ones are used from now on.
    package mutating func lostLarge(_ target: Target, now: Instant) {
        var path = paths[target] ?? Path(since: now)
        path.size = min((path.size ?? -1) + 1, sizes.count - 1)
        path.isKnown = true
        // What passed when it was tried did not pass for long: the next try waits as long as the one after it would have.
        path.since = now
        path.silentHandshakes = 0
        paths[target] = path
    }

    /// A connection was there, and the handshake had no end.
    package mutating func handshakeSilent(_ target: Target, now: Instant) {
        var path = paths[target] ?? Path(since: now)
        path.silentHandshakes += 1
        paths[target] = path
    }

    /// Nobody answered at all: nothing that was learnt before of the size of packets holds.
    package mutating func unreachable(_ target: Target) { paths[target] = nil }

    /// A connection is there with segments of that size.
    package mutating func connected(_ target: Target, segmentBytes: Int?, now: Instant) {
        guard var path = paths[target] else { return }
        path.silentHandshakes = 0
        if segmentBytes == nil {
            path.size = nil
            path.isKnown = false
        }
        // The pace of the tries outlives one that seems to succeed: what passes a handshake may fail with more.
        paths[target] = segmentBytes == nil && path.tries == 0 ? nil : path
    }

    /// What was learnt of an address holds for the node that is there.
    package mutating func move(_ target: Target, to other: Target) {
        guard target != other, let path = paths.removeValue(forKey: target) else { return }
        paths[other] = path
    }

    /// Whether it is time to try large packets again: soon at first, then after twice as long each time.
    package func isRetryDue(_ target: Target, now: Instant) -> Bool {
        guard let path = paths[target], path.size != nil else { return false }
        let wait = NodeLimits.firstPathRetryMilliseconds << UInt64(min(path.tries, 16))
        return now.milliseconds(since: path.since) >= min(wait, NodeLimits.longestPathRetryMilliseconds)
    }

    /// Large packets are being tried again.
    package mutating func retrying(_ target: Target, now: Instant) {
        paths[target]?.since = now
        paths[target]?.tries += 1
    }

    /// A link ended for another reason than its large packets: the way to the peer may be another from now on.
    package mutating func mayHaveChanged(_ target: Target) { paths[target]?.tries = 0 }

    /// The network is another.
    package mutating func forgetAll() { paths = [:] }
}
