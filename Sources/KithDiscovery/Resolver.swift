import Dispatch
import KithNetwork

/// Asks Avahi where services are, one at a time: first for host, port and text, then for the IPv4 and the IPv6 addresses
/// of the host together, so that never more than two references live. What a dial waits for goes first.
///
/// Sendable unchecked: used on the discovery queue alone.
final class Resolver: @unchecked Sendable {
    /// Why somebody asks, and so who goes first.
    enum Urgency: Int, CaseIterable {
        /// A dial waits for the answer.
        case dial
        /// A service was seen; who is it?
        case introduction
        /// The text of a foreign service alone.
        case foreignText
    }

    typealias Answer = Result<Resolution, DiscoveryError>

    private struct Job {
        let name: InstanceName
        let urgency: Urgency
        var completions: [(Answer) -> Void]
    }

    private struct Active {
        var job: Job
        var text: ServiceText?
        var port: UInt16 = 0
        var references: [ServiceReference] = []
        var records: [AddressSelection.Record] = []
        var families: Set<Int> = []
        var timer: DispatchWorkItem?
    }

    private let queue: DispatchQueue
    private let interfaces: InterfacePatterns
    private var waiting: [[Job]] = Urgency.allCases.map { _ in [] }
    private var active: Active?
    /// The port of this node, by which it knows itself among the answers.
    var ownPort: UInt16?

    init(queue: DispatchQueue, interfaces: InterfacePatterns) {
        self.queue = queue
        self.interfaces = interfaces
    }

    /// Asks; the completion comes on the discovery queue, and never during this call.
    func resolve(_ name: InstanceName, urgency: Urgency, completion: @escaping (Answer) -> Void) {
        if let index = waiting[urgency.rawValue].firstIndex(where: { $0.name == name }) {
            waiting[urgency.rawValue][index].completions.append(completion)
        } else if waiting[urgency.rawValue].count >= Limits.waitingResolves {
            let refusal = UncheckedCompletion { completion(.failure(.unresolved("\(name): too many wait; it"))) }
            queue.async { refusal.run() }
            return
        } else {
            waiting[urgency.rawValue].append(Job(name: name, urgency: urgency, completions: [completion]))
        }
        queue.async { [weak self] in self?.startNext() }
    }

    /// Fails all that is under way and all that waits.
    func cancelAll(_ error: DiscoveryError) {
        let jobs = (active.map { [$0.job] } ?? []) + waiting.joined()
        if let active { end(active) }
        active = nil
        waiting = Urgency.allCases.map { _ in [] }
        for job in jobs { for completion in job.completions { completion(.failure(error)) } }
    }

    private func startNext() {
        guard active == nil, let urgency = waiting.firstIndex(where: { !$0.isEmpty }) else { return }
        let job = waiting[urgency].removeFirst()
        let name = job.name
        active = Active(job: job)
        do throws(DiscoveryError) {
            let reference = try ServiceReference.resolve(name: name, on: queue) { [weak self] event in
                self?.resolved(event)
            }
            active?.references = [reference]
            wait(Limits.resolveTimeoutMilliseconds) { $0.finish(.failure(.unresolved(name.description))) }
        } catch {
            finish(.failure(error))
        }
    }

    private func resolved(_ event: ReferenceEvent) {
        guard let current = active, current.text == nil else { return }
        switch event {
        case .resolved(_, let host, let port, let data):
            let text = ServiceText(decoding: data)
            active?.text = text
            active?.port = port
            for reference in current.references { reference.cancel() }
            active?.references = []
            if current.job.urgency == .foreignText {
                finish(.success(Resolution(text: text, addresses: [])))
            } else {
                lookUp(host)
            }
        case .failed: finish(.failure(.unresolved(current.job.name.description)))
        default: break
        }
    }

    /// Asks for both families at once: 1 and 28 are the record types A and AAAA.
    private func lookUp(_ host: String) {
        do throws(DiscoveryError) {
            for type: UInt16 in [1, 28] {
                let reference = try ServiceReference.query(host: host, type: type, on: queue) { [weak self] event in
                    self?.addressed(event)
                }
                active?.references.append(reference)
            }
            wait(Limits.addressTimeoutMilliseconds) { $0.finishWithAddresses() }
        } catch {
            finish(.failure(error))
        }
    }

    private func addressed(_ event: ReferenceEvent) {
        guard active != nil else { return }
        switch event {
        case .record(let isAddition, let interface, let ip) where ip.count == 4 || ip.count == 16:
            let record = AddressSelection.Record(interface: interface, ip: ip)
            guard isAddition else {
                active?.records.removeAll { $0 == record }
                return
            }
            guard interfaces.allows(index: interface) else { return }
            // Each address comes once per IP version it was heard over.
            guard let records = active?.records, !records.contains(record),
                records.count < Limits.addressesPerService * 2
            else { return }
            active?.records.append(record)
            active?.families.insert(ip.count)
            let hasBoth = active?.families.count == 2
            wait(hasBoth ? Limits.addressQuietMilliseconds : Limits.otherFamilyMilliseconds) {
                $0.finishWithAddresses()
            }
        case .failed where active?.records.isEmpty ?? false:
            // One of the two is dead; what the other brings until the time is up still counts.
            break
        default: break
        }
    }

    private func finishWithAddresses() {
        guard let current = active, let text = current.text else { return }
        guard !current.records.isEmpty else {
            return finish(.failure(.unresolved(current.job.name.description)))
        }
        let addresses = AddressSelection.order(
            current.records, port: current.port, ownPort: ownPort, interfaces: Interface.all())
        finish(.success(Resolution(text: text, addresses: addresses)))
    }

    private func finish(_ answer: Answer) {
        guard let current = active else { return }
        end(current)
        active = nil
        queue.async { [weak self] in self?.startNext() }
        for completion in current.job.completions { completion(answer) }
    }

    private func end(_ active: Active) {
        active.timer?.cancel()
        for reference in active.references { reference.cancel() }
    }

    /// Sets the one timer of what is under way.
    private func wait(_ milliseconds: Int, then action: @escaping @Sendable (Resolver) -> Void) {
        active?.timer?.cancel()
        let timer = DispatchWorkItem { [weak self] in
            if let self { action(self) }
        }
        active?.timer = timer
        queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds), execute: timer)
    }
}

/// Carries a completion over to the discovery queue. Sendable unchecked: it is called there alone, once.
private struct UncheckedCompletion: @unchecked Sendable {
    let run: () -> Void
}
