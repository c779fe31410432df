import Glibc
import KithNetwork

/// Whether multicast DNS gets out of this machine and in from others, tried by asking and listening on the same port as
/// Avahi, which all such programs share.
package struct MulticastProbe: Sendable {
    /// What was heard on one network interface.
    package struct Hearing: Hashable, Sendable {
        package let interface: String
        /// Whether the question could be sent; else why not.
        package var sendError: Int32?
        package var isSent = false
        /// Our own question came back, as it does where nothing drops it: or another packet of this machine.
        package var heardOwn = false
        /// The addresses of other machines that were heard.
        package var others: Set<String> = []

        package init(
            interface: String, sendError: Int32? = nil, isSent: Bool = false, heardOwn: Bool = false,
            others: Set<String> = []
        ) {
            self.interface = interface
            self.sendError = sendError
            self.isSent = isSent
            self.heardOwn = heardOwn
            self.others = others
        }
    }

    /// A node of Kith that another machine announces.
    package struct Sighting: Hashable, Sendable {
        package let instance: String
        /// The tag of its group; nil where it did not say.
        package let tag: String?
        package let address: String

        package init(instance: String, tag: String?, address: String) {
            self.instance = instance
            self.tag = tag
            self.address = address
        }
    }

    package struct Finding: Hashable, Sendable {
        /// Nothing could be tried: why.
        package var failure: String?
        package var hearings: [Hearing] = []
        package var sightings: Set<Sighting> = []

        package init() {}
    }

    private let interfaces: [Interface]
    private let tag: String?

    /// - Parameter interfaces: those to ask on; loopback ones and those without a carrier are left out.
    package init(interfaces: [Interface], tag: String?) {
        self.interfaces = interfaces.filter { !$0.isLoopback && $0.isRunning && !$0.isPointToPoint }
        self.tag = tag
    }

    /// Asks three times within the time and listens all along. Blocks for that time.
    package func run(milliseconds: UInt64) -> Finding {
        var finding = Finding()
        let names = interfaces.reduce(into: [String]()) { if !$0.contains($1.name) { $0.append($1.name) } }
        finding.hearings = names.map { Hearing(interface: $0) }
        guard !names.isEmpty else { return finding }
        let sockets = [AF_INET, AF_INET6].compactMap { family in
            MulticastSocket(family: family, interfaces: interfaces.filter { ($0.ip.count == 4) == (family == AF_INET) })
        }
        guard !sockets.isEmpty else {
            finding.failure = "UDP port 5353 can't be used: \(String(cString: strerror(errno)))"
            return finding
        }
        let start = Clock.monotonic()
        for round in 0..<UInt64(Limits.diagnosisQuestions) {
            // An answer may leave out the text that was told of a moment ago.
            let silent = Set(finding.sightings.filter { $0.tag == nil }.map(\.instance)).sorted()
            let question = MulticastMessage.question(tag: tag, instances: silent)
            for socket in sockets {
                for (interface, error) in socket.send(question) {
                    guard let index = names.firstIndex(of: interface) else { continue }
                    if let error {
                        finding.hearings[index].sendError = error
                    } else {
                        finding.hearings[index].isSent = true
                    }
                }
            }
            let until = start + milliseconds * (round + 1) / UInt64(Limits.diagnosisQuestions)
            listen(sockets, until: until, names, &finding)
        }
        return finding
    }

    private func listen(
        _ sockets: [MulticastSocket], until deadline: UInt64, _ names: [String], _ finding: inout Finding
    ) {
        while true {
            let now = Clock.monotonic()
            guard now < deadline else { return }
            var readiness = sockets.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            guard poll(&readiness, nfds_t(readiness.count), Int32(deadline - now)) > 0 else { continue }
            for (socket, ready) in zip(sockets, readiness) where ready.revents != 0 {
                guard let packet = socket.receive() else { continue }
                take(packet, names, &finding)
            }
        }
    }

    private func take(_ packet: MulticastSocket.Packet, _ names: [String], _ finding: inout Finding) {
        let isOwn = interfaces.contains { $0.ip == packet.source.ip }
        guard let index = names.firstIndex(of: Interface.name(of: packet.interface)) else { return }
        if isOwn {
            finding.hearings[index].heardOwn = true
            return
        }
        if finding.hearings[index].others.count < Limits.diagnosedHosts {
            finding.hearings[index].others.insert(packet.source.host)
        }
        for sighting in MulticastMessage.sightings(in: packet.bytes) {
            guard finding.sightings.count < Limits.services else { return }
            let tag = sighting.text?.tag ?? sighting.tags.min()
            let nameless = Sighting(instance: sighting.instance, tag: nil, address: packet.source.host)
            if tag != nil { finding.sightings.remove(nameless) }
            finding.sightings.insert(Sighting(instance: sighting.instance, tag: tag, address: packet.source.host))
        }
    }
}
