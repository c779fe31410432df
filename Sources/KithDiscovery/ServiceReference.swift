import CDNSSD
import Dispatch
import Glibc

/// What a reference of the library reports.
enum ReferenceEvent {
    case registered(name: String)
    case browsed(isAddition: Bool, interface: UInt32, name: String)
    case resolved(interface: UInt32, host: String, port: UInt16, text: [UInt8])
    case record(isAddition: Bool, interface: UInt32, data: [UInt8])
    /// The reference is dead: the library never reconnects, it says this once and then nothing for ever.
    case failed(code: Int32)
}

/// Where the library's callbacks leave what they got, until the call that ran them has returned: a reference must not be
/// freed inside its own callback, and who reads an event may want just that.
private final class Inbox {
    var events: [ReferenceEvent] = []
}

/// One reference of the DNS-SD library, driven by its socket on the discovery queue.
///
/// Sendable unchecked: made, used and cancelled on the discovery queue alone (`dispatchPrecondition` checks it).
final class ServiceReference: @unchecked Sendable {
    private let inbox: Inbox
    private let reference: DNSServiceRef
    private let source: any DispatchSourceRead
    private let deliver: (ReferenceEvent) -> Void
    private let queue: DispatchQueue
    private var isCancelled = false

    /// Opens a reference by one of the library's calls, which gets a place for the reference and the context.
    ///
    /// Events come on the queue, never during this call. Blocks while the library talks to the bus: milliseconds, or
    /// up to 25 s where the daemon hangs, which is why discovery has a queue to itself. Throws `library`.
    private init(
        _ what: String, on queue: DispatchQueue, deliver: @escaping (ReferenceEvent) -> Void,
        open: (UnsafeMutablePointer<DNSServiceRef?>, UnsafeMutableRawPointer) -> Int32
    ) throws(DiscoveryError) {
        dispatchPrecondition(condition: .onQueue(queue))
        let inbox = Inbox()
        var reference: DNSServiceRef?
        let code = open(&reference, Unmanaged.passUnretained(inbox).toOpaque())
        guard code == 0, let reference else { throw .library(what, code: code) }
        // A descriptor of our own for the same socket: a source lets go of its descriptor some time after it is
        // cancelled, and the library's must be closed at once, or the name stays taken when it is announced anew.
        let descriptor = fcntl(DNSServiceRefSockFD(reference), F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else {
            DNSServiceRefDeallocate(reference)
            throw .unavailable("\(what) failed: no file descriptor is free; raise the limit of open files")
        }
        self.inbox = inbox
        self.reference = reference
        self.deliver = deliver
        self.queue = queue
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { [weak self] in self?.process() }
        source.setCancelHandler { close(descriptor) }
        source.activate()
        if !inbox.events.isEmpty { queue.async { [weak self] in self?.deliverAll() } }
    }

    deinit { if !isCancelled { end() } }

    /// Ends the reference, at once and with all that was announced by it. No event comes after this.
    func cancel() {
        dispatchPrecondition(condition: .onQueue(queue))
        guard !isCancelled else { return }
        isCancelled = true
        end()
    }

    private func end() {
        source.cancel()
        DNSServiceRefDeallocate(reference)
    }

    private func process() {
        guard !isCancelled else { return }
        // The library reads with a blocking call, so a wake-up without data would hang the queue.
        var readiness = pollfd(fd: DNSServiceRefSockFD(reference), events: Int16(POLLIN), revents: 0)
        guard poll(&readiness, 1, 0) == 1 else { return }
        let code = DNSServiceProcessResult(reference)
        if code != 0 { inbox.events.append(.failed(code: code)) }
        deliverAll()
    }

    private func deliverAll() {
        let events = inbox.events
        inbox.events = []
        for event in events where !isCancelled { deliver(event) }
    }
}

extension ServiceReference {
    /// Announces a service on all interfaces, under `_kith._tcp` with the tag as its only subtype.
    static func register(
        name: String, tag: String, port: UInt16, text: [UInt8], on queue: DispatchQueue,
        deliver: @escaping (ReferenceEvent) -> Void
    ) throws(DiscoveryError) -> ServiceReference {
        try ServiceReference("announcing this node", on: queue, deliver: deliver) { reference, context in
            DNSServiceRegister(
                reference, 0, 0, name, "\(Limits.serviceType),_\(tag)", Limits.domain, nil, port.bigEndian,
                UInt16(text.count), text,
                { _, _, code, name, _, _, context in
                    guard code == 0, let name else { return ServiceReference.append(.failed(code: code), to: context) }
                    ServiceReference.append(.registered(name: String(cString: name)), to: context)
                }, context)
        }
    }

    /// Looks for services with the tag, or for all of `_kith._tcp`.
    static func browse(
        tag: String?, on queue: DispatchQueue, deliver: @escaping (ReferenceEvent) -> Void
    ) throws(DiscoveryError) -> ServiceReference {
        let type = tag.map { "\(Limits.serviceType),_\($0)" } ?? Limits.serviceType
        return try ServiceReference("searching for nodes", on: queue, deliver: deliver) { reference, context in
            DNSServiceBrowse(
                reference, 0, 0, type, Limits.domain,
                { _, flags, interface, code, name, _, _, context in
                    guard code == 0, let name else { return ServiceReference.append(.failed(code: code), to: context) }
                    let isAddition = flags & UInt32(kDNSServiceFlagsAdd) != 0
                    ServiceReference.append(
                        .browsed(isAddition: isAddition, interface: interface, name: String(cString: name)), to: context
                    )
                }, context)
        }
    }

    /// Asks for host, port and text of a service.
    static func resolve(
        name: InstanceName, on queue: DispatchQueue, deliver: @escaping (ReferenceEvent) -> Void
    ) throws(DiscoveryError) -> ServiceReference {
        try ServiceReference("resolving \(name)", on: queue, deliver: deliver) { reference, context in
            DNSServiceResolve(
                reference, 0, 0, name.description, Limits.serviceType, Limits.domain,
                { _, _, interface, code, _, host, port, length, text, context in
                    guard code == 0, let host else { return ServiceReference.append(.failed(code: code), to: context) }
                    let bytes = UnsafeRawBufferPointer(start: text, count: text == nil ? 0 : Int(length))
                    ServiceReference.append(
                        .resolved(
                            interface: interface, host: String(cString: host), port: UInt16(bigEndian: port),
                            text: Array(bytes.prefix(Limits.textBytes))), to: context)
                }, context)
        }
    }

    /// Asks for the records of one type of a host: 1 for IPv4 addresses, 28 for IPv6 ones.
    static func query(
        host: String, type: UInt16, on queue: DispatchQueue, deliver: @escaping (ReferenceEvent) -> Void
    ) throws(DiscoveryError) -> ServiceReference {
        try ServiceReference("looking up \(host)", on: queue, deliver: deliver) { reference, context in
            DNSServiceQueryRecord(
                reference, 0, 0, host, type, 1,
                { _, flags, interface, code, _, _, _, length, data, _, context in
                    guard code == 0 else { return ServiceReference.append(.failed(code: code), to: context) }
                    let bytes = UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : Int(length))
                    ServiceReference.append(
                        .record(
                            isAddition: flags & UInt32(kDNSServiceFlagsAdd) != 0, interface: interface,
                            data: Array(bytes.prefix(16))), to: context)
                }, context)
        }
    }

    private static func append(_ event: ReferenceEvent, to context: UnsafeMutableRawPointer?) {
        guard let context else { return }
        Unmanaged<Inbox>.fromOpaque(context).takeUnretainedValue().events.append(event)
    }
}
