import KithDocument
import KithTransport

extension Node {
    func linkFindings(now: Int64) -> [HealthFinding] {
        var found: [HealthFinding] = []
        if let peer = peers.values.filter(losesLargePackets).min(by: { $0.id < $1.id }) {
            found.append(
                HealthFinding(
                    code: .pathMTU, level: .warning,
                    summary: "large packets are lost on the way to \(peer.shownName); small ones are used",
                    action: "lower the MTU, or clamp the segment size of TCP on the router between the two"))
        }
        if let summary = descriptorShortage(now: now) {
            found.append(
                HealthFinding(
                    code: .descriptorsLow, level: .warning, summary: summary,
                    action: "raise the limit on open files (LimitNOFILE in the service's unit, or ulimit -n)"))
        }
        return found
    }

    private func descriptorShortage(now: Int64) -> String? {
        let count = listener?.counters.outOfResources ?? 0
        if count > descriptorsShort.count { descriptorsShort = (count, now) }
        guard let limit = DescriptorLimit.current, let free = DescriptorLimit.free else { return nil }
        if free < min(TransportLimits.reservedDescriptors, limit / 4) {
            return "\(free) of \(limit) descriptors are free: new connections are turned away"
        }
        if descriptorsShort.at > .min, now - descriptorsShort.at < NodeLimits.descriptorsShortMilliseconds {
            return "connections were turned away for want of descriptors, of which there may be \(limit)"
        }
        return nil
    }
}
