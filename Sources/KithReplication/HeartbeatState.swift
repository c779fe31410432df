/// Whether the peer lives: any byte received is life, and an idle link is pinged.
struct HeartbeatState {
    private let pingMilliseconds: UInt64
    private let silenceMilliseconds: UInt64
    private var heardAt = Instant(milliseconds: 0)
    private var pingedAt: Instant?
    private var lastNonce: UInt64 = 0
    /// The ping without an answer whose pong is measured.
    private var open: (nonce: UInt64, at: Instant)?
    /// The oldest ping without an answer, to end a link whose bytes trickle and whose peer answers nothing.
    private var unanswered: (nonce: UInt64, at: Instant)?
    /// A reading of the wall clock and its moment.
    private var wallClock: (milliseconds: Int64, at: Instant)?

    init(_ configuration: LinkConfiguration) {
        pingMilliseconds = configuration.pingMilliseconds
        silenceMilliseconds = configuration.silenceMilliseconds
    }

    mutating func started(now: Instant) { heardAt = now }

    mutating func heard(now: Instant) { heardAt = now }

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
            max(heardAt, pingedAt).advanced(byMilliseconds: pingMilliseconds),
            pingedAt.advanced(byMilliseconds: max(pingMilliseconds, ReplicationLimits.measureMilliseconds)))
    }

    private var answerDeadline: Instant? {
        unanswered?.at.advanced(byMilliseconds: max(ReplicationLimits.answerMilliseconds, silenceMilliseconds))
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
        open = (lastNonce, output.now)
        if unanswered == nil { unanswered = open }
        output.send(.ping(Heartbeat(nonce: lastNonce, wallClock: wallClock(output.now))))
    }

    mutating func receivePong(_ pong: Heartbeat, _ output: inout LinkOutput) throws(ProtocolError) {
        guard pong.nonce <= lastNonce else { throw ProtocolError("a ping was answered that was not sent") }
        if let unanswered, pong.nonce >= unanswered.nonce { self.unanswered = nil }
        guard let open, open.nonce == pong.nonce else { return }
        self.open = nil
        let roundTrip = output.now.milliseconds(since: open.at)
        var offset: Int64?
        if let theirs = pong.wallClock, let mine = wallClock(output.now) {
            let (difference, overflow) = theirs.subtractingReportingOverflow(mine)
            // The answer was half a round trip on its way.
            if !overflow { offset = difference.addingReportingOverflow(Int64(clamping: roundTrip / 2)).partialValue }
        }
        output.report(.heartbeat(roundTripMilliseconds: roundTrip, clockOffsetMilliseconds: offset))
    }
}
