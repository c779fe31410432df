/// Whether the peer lives: any byte received is life, and who has heard or said nothing for a while pings.
///
/// Each side speaks every few seconds even while it only receives, so a slow link is heard from however long its bytes take
/// one way. A ping may wait long behind data; it counts as without an answer only for as long as nothing moves.
struct HeartbeatState {
    private struct Ping {
        let nonce: UInt64
        let at: Instant
    }

    private let pingMilliseconds: UInt64
    private let silenceMilliseconds: UInt64
    private var heardAt = Instant(milliseconds: 0)
    private var saidAt = Instant(milliseconds: 0)
    private var pingedAt: Instant?
    private var lastNonce: UInt64 = 0
    /// Pings without an answer, ascending. The first is the oldest of all, to end a link whose bytes trickle and whose peer
    /// answers nothing; of the rest the newest are kept.
    private var pings: [Ping] = []
    /// When so many bytes had moved since the time before that the link is of use, and how many did since.
    private var movedAt = Instant(milliseconds: 0)
    private var moved = 0
    /// Bytes that the peer's machine has taken, as last told.
    private var arrived: UInt64 = 0
    /// A reading of the wall clock and its moment.
    private var wallClock: (milliseconds: Int64, at: Instant)?

    init(_ configuration: LinkConfiguration) {
        pingMilliseconds = configuration.pingMilliseconds
        silenceMilliseconds = configuration.silenceMilliseconds
    }

    mutating func started(now: Instant) {
        heardAt = now
        saidAt = now
        movedAt = now
    }

    /// - Parameter unsent: bytes that wait to be sent. Who does not take them is not kept by what it says itself.
    mutating func heard(bytes: Int, unsent: Int, now: Instant) {
        heardAt = now
        if unsent == 0 { move(bytes, now: now) }
    }

    mutating func said(now: Instant) { saidAt = now }

    /// The peer's machine has taken so many bytes of this link in all.
    mutating func arrived(total: UInt64, now: Instant) {
        guard total > arrived else { return }
        move(Int(clamping: total - arrived), now: now)
        arrived = total
    }

    private mutating func move(_ bytes: Int, now: Instant) {
        moved += min(bytes, ReplicationLimits.movingBytes)
        guard moved >= ReplicationLimits.movingBytes else { return }
        moved = 0
        movedAt = now
    }

    mutating func setWallClock(_ milliseconds: Int64, now: Instant) { wallClock = (milliseconds, now) }

    /// The wall clock now, from its last reading; nil before the first.
    func wallClock(_ now: Instant) -> Int64? {
        wallClock.map {
            $0.milliseconds.addingReportingOverflow(Int64(clamping: now.milliseconds(since: $0.at))).partialValue
        }
    }

    private var pingDeadline: Instant {
        guard let pingedAt else { return Instant(milliseconds: 0) }
        return min(
            max(min(heardAt, saidAt), pingedAt).advanced(byMilliseconds: pingMilliseconds),
            pingedAt.advanced(byMilliseconds: max(pingMilliseconds, ReplicationLimits.measureMilliseconds)))
    }

    private var answerDeadline: Instant? {
        pings.first.map {
            max($0.at, movedAt).advanced(
                byMilliseconds: max(ReplicationLimits.answerMilliseconds, silenceMilliseconds))
        }
    }

    var nextDeadline: Instant {
        let silent = heardAt.advanced(byMilliseconds: silenceMilliseconds)
        return min(pingDeadline, silent, answerDeadline ?? silent)
    }

    /// Pings if it is time.
    /// - Returns: the goodbye when the peer has been silent for too long.
    mutating func beat(_ output: inout LinkOutput) -> Goodbye? {
        if output.now >= heardAt.advanced(byMilliseconds: silenceMilliseconds) {
            return Goodbye(code: .silence, text: "nothing was received for \(silenceMilliseconds / 1000) s")
        }
        if let answerDeadline, output.now >= answerDeadline {
            return Goodbye(
                code: .silence, text: "pings were not answered for \(ReplicationLimits.answerMilliseconds / 1_000) s")
        }
        if pingDeadline <= output.now { ping(&output) }
        return nil
    }

    /// Pings now, but at most every `probeMilliseconds`.
    mutating func ping(_ output: inout LinkOutput) {
        if let pingedAt, output.now.milliseconds(since: pingedAt) < ReplicationLimits.probeMilliseconds { return }
        lastNonce += 1
        pingedAt = output.now
        if pings.count >= ReplicationLimits.openPings { pings.remove(at: 1) }
        pings.append(Ping(nonce: lastNonce, at: output.now))
        output.send(.ping(Heartbeat(nonce: lastNonce, wallClock: wallClock(output.now))))
    }

    mutating func receivePong(_ pong: Heartbeat, _ output: inout LinkOutput) throws(ProtocolError) {
        guard pong.nonce <= lastNonce else { throw ProtocolError("a ping was answered that was not sent") }
        let answered = pings.first { $0.nonce == pong.nonce }
        // What is read later is answered later: whoever answers one has read those before it.
        pings.removeAll { $0.nonce <= pong.nonce }
        guard let answered else { return }
        let roundTrip = output.now.milliseconds(since: answered.at)
        var offset: Int64?
        if let theirs = pong.wallClock, let mine = wallClock(output.now) {
            let (difference, overflow) = theirs.subtractingReportingOverflow(mine)
            // The answer was half a round trip on its way.
            if !overflow { offset = difference.addingReportingOverflow(Int64(clamping: roundTrip / 2)).partialValue }
        }
        output.report(
            .heartbeat(pingedAt: answered.at, roundTripMilliseconds: roundTrip, clockOffsetMilliseconds: offset))
    }
}
