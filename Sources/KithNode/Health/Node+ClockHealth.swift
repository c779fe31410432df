import KithDocument

extension Node {
    /// A clock that is off: this one where it can't be right or all peers agree against it, else that of a peer.
    func clockFindings(_ open: [PeerState], now: Int64) -> [HealthFinding] {
        let (measured, skewed) = Self.clocks(of: open)
        let summary: String
        if let offset = commonOffset(skewed, of: measured) {
            let direction = offset > 0 ? "behind" : "ahead of"
            summary =
                "the clock of this machine is \(Self.span(offset)) \(direction) those of all \(measured.count) peers"
        } else if now < NodeLimits.earliestClockMilliseconds {
            summary = "the clock of this machine says \(Timestamp.text(ofMilliseconds: now)), which can't be"
        } else if let peer = skewed.first, let offset = peer.clock.offsetMilliseconds {
            let direction = offset > 0 ? "ahead of" : "behind"
            summary = "the clock of \(name(of: peer.id)) is \(Self.span(offset)) \(direction) this one"
        } else {
            return []
        }
        return [
            HealthFinding(
                code: .clockSkew, level: .warning, summary: summary,
                action: "set both clocks by a time service; until then the clock that is ahead wins edits of one field")
        ]
    }

    /// Whether the clock of this machine may be off: it can't be right, or at least half of the peers say another time.
    func mayClockBeOff(now: Int64) -> Bool {
        let (measured, skewed) = Self.clocks(of: peers.values.filter(\.isOpen))
        return now < NodeLimits.earliestClockMilliseconds || !skewed.isEmpty && 2 * skewed.count >= measured.count
    }

    /// Those whose clocks are known, and of them those that are off from this one.
    private static func clocks(of open: [PeerState]) -> (measured: [PeerState], skewed: [PeerState]) {
        let measured = open.filter { $0.clock.offsetMilliseconds != nil }
        let bound = UInt64(NodeLimits.clockSkewMilliseconds)
        return (measured, measured.filter { $0.clock.certainMilliseconds > bound })
    }

    /// The offset that two or more peers have in common, if all peers have it.
    private func commonOffset(_ skewed: [PeerState], of measured: [PeerState]) -> Int64? {
        let offsets = skewed.compactMap(\.clock.offsetMilliseconds)
        guard measured.count >= 2, offsets.count == measured.count, let first = offsets.first,
            let least = offsets.min(), let most = offsets.max()
        else { return nil }
        let (difference, overflow) = most.subtractingReportingOverflow(least)
        return !overflow && difference <= NodeLimits.clockSkewMilliseconds ? first : nil
    }

    /// `90 s`, `20 min`, `3 h`, `2 days`, `10 years`, without the sign.
    static func span(_ milliseconds: Int64) -> String {
        let seconds = milliseconds.magnitude / 1_000
        switch seconds {
        case ..<120: return "\(seconds) s"
        case ..<7_200: return "\(seconds / 60) min"
        case ..<172_800: return "\(seconds / 3_600) h"
        case ..<63_072_000: return "\(seconds / 86_400) days"
        default: return "\(seconds / 31_556_952) years"
        }
    }
}
