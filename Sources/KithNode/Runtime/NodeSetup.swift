import Dispatch
import Glibc
import KithDiscovery
import KithDocument
import KithNetwork
import KithStore
import KithSystem
import KithTransport
import Synchronization

/// Makes a node's directory one of a group, or ends that; for nodes that do not run.
package enum NodeSetup {
    /// Makes the directory, this node's identity, and a new group with this node as admin. On disk when this returns.
    /// - Parameters:
    ///   - groupName: nil for the machine's name.
    ///   - nodeName: nil for the machine's name.
    ///   - rootFile: where the root's key goes; nil for the directory.
    /// - Throws: `NodeError`: the directory is a node's already, or is in use.
    package static func initialise(
        _ directory: NodeDirectory, groupName: String?, nodeName: String?, rootFile: String?,
        on files: any FileSystem = LocalFileSystem()
    ) throws(NodeError) -> Identity {
        _ = try MachineIdentity.current(file: MachineIdentity.file(), on: files)
        let identity = try withLock(directory, isNew: true, on: files) { identities throws(TransportError) in
            try identities.initGroup(
                groupName: groupName ?? machineName, nodeName: nodeName ?? machineName, rootOut: rootFile)
        }
        // Now and not at the first start: what is copied before that is noticed too.
        try MachineIdentity.record(in: directory.path, file: MachineIdentity.file(), on: files)
        return identity
    }

    /// Finds the inviter, proves the code, and writes the identity that the inviter signed. Blocks: it looks for 30 s, and ends an
    /// attempt that is under way then.
    /// - Parameter peer: `HOST:PORT` of the inviter; nil to find it by DNS-SD.
    /// - Throws: `NodeError` with the reason: a mistyped, used, expired or burnt code, nobody found.
    package static func join(
        _ directory: NodeDirectory, code text: String, nodeName: String?, peer: String?,
        on files: any FileSystem = LocalFileSystem()
    ) throws(NodeError) -> Identity {
        let code: InviteCode
        do throws(TransportError) { code = try InviteCode(text) } catch {
            throw NodeError(code: "invite_code", message: error.message)
        }
        _ = try MachineIdentity.current(file: MachineIdentity.file(), on: files)
        let identity = try withLock(directory, isNew: true, on: files) { identities throws(TransportError) in
            try identities.expectVacant()
            let name = nodeName ?? machineName
            let (identity, inviter): (Identity, Endpoint)
            if let peer {
                do throws(AddressError) {
                    inviter = try Endpoint(peer: peer, defaultPort: NodeConfiguration.defaultPort)
                } catch { throw .address(error.message) }
                identity = try Joiner.join(code, at: inviter, nodeName: name)
            } else {
                (identity, inviter) = try InviterSearch(code, nodeName: name).run()
            }
            try identities.create(identity)
            // Where the inviter was is where it is looked for first.
            var book = CandidateBook()
            book.reached(identity.peer.admittedBy, at: inviter)
            let lines = book.rememberedText.split(separator: "\n").map(String.init)
            try identities.write(SpareFile.content(lines), to: SpareFile.peers.rawValue)
            return identity
        }
        try MachineIdentity.record(in: directory.path, file: MachineIdentity.file(), on: files)
        return identity
    }

    /// What joining by a code would bring into the group: databases that are not of the group the node was in last.
    package struct Arrival: Hashable, Sendable {
        /// Ascending.
        package let databases: [String]
        /// The name of the group that the node was in; nil where that is not known.
        package let formerGroup: String?
    }

    /// Whether a person should be asked before this directory joins by a code: it holds databases, and the code is not of
    /// the group that the node has left. Nil where there is nothing to ask, or where the join will fail anyway.
    package static func arrival(
        in directory: NodeDirectory, by text: String, on files: any FileSystem = LocalFileSystem()
    ) -> Arrival? {
        let identities = IdentityStore(directory: directory.path, on: files)
        guard let code = try? InviteCode(text), (try? identities.expectVacant()) != nil else { return nil }
        let databases = (try? Store.names(in: directory.path + "/databases", on: files)) ?? []
        let former = identities.formerGroup()
        guard !databases.isEmpty, former?.shortFingerprint != code.shortFingerprint else { return nil }
        return Arrival(databases: databases.map(\.string).sorted(), formerGroup: former?.name)
    }

    /// Whether the node is the only admin that it knows of in a group with other members: when it leaves, nobody can be
    /// let in any more.
    package static func isOnlyAdmin(
        _ directory: NodeDirectory, on files: any FileSystem = LocalFileSystem()
    ) -> Bool {
        let identities = IdentityStore(directory: directory.path, on: files)
        guard let identity = try? identities.load(), identity.admin != nil else { return false }
        // Where it is not known whether there is another, there may be none.
        guard let membership = try? identities.membership(of: identity) else { return true }
        let others = membership.members.filter { $0.node != identity.nodeID && $0.revocation == nil }
        return !others.isEmpty && !others.contains(where: \.isAdmin)
    }

    /// Forgets the group; the databases stay. On disk when this returns.
    package static func leave(
        _ directory: NodeDirectory, on files: any FileSystem = LocalFileSystem()
    ) throws(NodeError) {
        try withLock(directory, on: files) { identities throws(TransportError) in try identities.leave() }
    }

    /// Whether others than the owner may look into a directory; false where there is none.
    package static func isOpenToOthers(
        _ directory: NodeDirectory, on files: any FileSystem = LocalFileSystem()
    ) -> Bool {
        IdentityStore(directory: directory.path, on: files).isOpenToOthers
    }

    private static func withLock<Value>(
        _ directory: NodeDirectory, isNew: Bool = false, on files: any FileSystem,
        _ body: (IdentityStore) throws(TransportError) -> Value
    ) throws(NodeError) -> Value {
        let identities = IdentityStore(directory: directory.path, on: files)
        // Before anything is put into it.
        if isNew { try Node.transport { () throws(TransportError) in try identities.expectClosable() } }
        let lock = try DirectoryLock(directory: directory.path, on: files)
        defer { withExtendedLifetime(lock) {} }
        do throws(StoreError) { try Store.requireLocal(directory.path, on: files) } catch {
            throw NodeError(code: error.code.rawValue, message: error.message)
        }
        do throws(TransportError) { return try body(identities) } catch {
            throw NodeError(code: "identity", message: error.message)
        }
    }

    /// The machine's name without its domain.
    private static var machineName: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "node" }
        let name = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }.prefix { $0 != UInt8(ascii: ".") }
        return name.isEmpty ? "node" : String(decoding: name, as: UTF8.self)
    }
}

/// Looks for nodes of the group that an invite code names and asks them one after the other.
private final class InviterSearch: Sendable {
    private struct Place {
        let service: InstanceName
        let endpoint: Endpoint
    }

    private struct State {
        var waiting: [Place] = []
        var tried: Set<Endpoint> = []
        /// Nodes that have another invite open: each wrong proof counts against it, so they are asked once.
        var others: Set<InstanceName> = []
    }

    private static let searchSeconds = 30
    private let code: InviteCode
    private let nodeName: String
    private let state = Mutex(State())
    private let news = DispatchSemaphore(value: 0)

    init(_ code: InviteCode, nodeName: String) {
        self.code = code
        self.nodeName = nodeName
    }

    func run() throws(TransportError) -> (Identity, Endpoint) {
        let discovery = AvahiDiscovery()
        defer { discovery.stop {} }
        do throws(DiscoveryError) {
            try discovery.start(tag: code.groupTag, advertising: nil) { services in
                self.found(services.filter(\.isPresent))
            } onStateChanged: { state in
                // Without Avahi there is nothing to wait for.
                if state.phase == .unavailable { self.news.signal() }
            }
        } catch { throw .identity(error.message) }
        let deadline = DispatchTime.now() + .seconds(Self.searchSeconds)
        var last: TransportError?
        while news.wait(timeout: deadline) == .success, discovery.state.phase != .unavailable {
            while DispatchTime.now() < deadline, let place = next() {
                do throws(TransportError) {
                    return (try Joiner.join(code, at: place.endpoint, nodeName: nodeName), place.endpoint)
                } catch {
                    if case .joinRefused(let refusal) = error {
                        guard refusal == .unknown else { throw error }
                        state.withLock { _ = $0.others.insert(place.service) }
                    }
                    last = error
                }
            }
        }
        let state = discovery.state
        let reason = last?.message ?? state.lastError ?? "no node of that group was seen on this network"
        throw .identity("the inviter was not found (\(reason)); give its address with --peer HOST:PORT")
    }

    private func found(_ services: [DiscoveredService]) {
        let isNews = state.withLock { state in
            var isNews = false
            for service in services {
                for found in service.addresses {
                    let endpoint = Endpoint.numeric(found.address)
                    guard state.tried.insert(endpoint).inserted else { continue }
                    state.waiting.append(Place(service: service.name, endpoint: endpoint))
                    isNews = true
                }
            }
            return isNews
        }
        if isNews { news.signal() }
    }

    private func next() -> Place? {
        state.withLock { state in
            let others = state.others
            state.waiting.removeAll { others.contains($0.service) }
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
    }
}
