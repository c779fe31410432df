import KithDocument
import KithNetwork

#if KITH_MUTANTS
import KithSystem
#endif

/// Where the nodes of the group may be, from all sources, and which of these addresses to dial next.
///
/// A value without I/O: the caller gives it time (milliseconds of one clock that never goes back) and randomness.
/// Discovery, the static list and addresses that worked before are kept apart and merged when asked for, so that none of
/// them can take away what another knows: that a service is gone makes its addresses the last choice, and no more.
/// Failures are counted per address and expected node: that A is not found where B is says nothing about B.
package struct CandidateBook: Sendable {
    struct Key: Hashable {
        let node: NodeID?
        let address: Endpoint
    }

    struct Attempt {
        var backOff = BackOff(
            initialMilliseconds: Limits.dialInitialMilliseconds, maximumMilliseconds: Limits.dialMaximumMilliseconds)
        var lastTried: UInt64
        var lastError: String?
        var notBefore: UInt64
        /// The other node that answered there.
        var answerer: NodeID?
    }

    private(set) var services: [DiscoveredService] = [] {
        didSet { servicesByNode = Dictionary(grouping: services, by: \.nodeID) }
    }
    /// In the same order. In a large mesh one node's are asked for often.
    private(set) var servicesByNode: [NodeID?: [DiscoveredService]] = [:]
    /// Every node that is announced at this moment, in order.
    package private(set) var announcedNodes: [NodeID] = []
    var statics: [Endpoint] = []
    /// Who answered at a static address, so that it is dialled for that node and not for every other.
    var staticNodes: [Endpoint: NodeID] = [:]
    /// Who answered at an address that is announced without a node: it is not dialled again to find out.
    var answeredBy: [Endpoint: NodeID] = [:]
    /// Where nodes themselves say that they can be reached, told through the group.
    var advertised: [NodeID: [Endpoint]] = [:]
    /// The latest first.
    var remembered: [Remembered] = []
    var attempts: [Key: Attempt] = [:]
    /// Addresses that proved to be this node itself, and until when they are left alone.
    var own: [Endpoint: UInt64] = [:]

    package init() {}

    // MARK: What is known

    /// Takes the static list; what is past the first 256 entries is not kept.
    package mutating func setStatic(_ addresses: [Endpoint]) {
        var seen: Set<Endpoint> = []
        statics = Array(addresses.filter { seen.insert($0).inserted }.prefix(Limits.staticAddresses))
        staticNodes = staticNodes.filter { seen.contains($0.key) }
    }

    /// Takes the services as discovery has them now. Addresses that were not announced before are due at once, whatever
    /// happened there earlier: that somebody came back is just what an announcement tells.
    /// - Parameter members: nodes of the group, whose services are kept before others where there are too many.
    package mutating func setDiscovered(_ new: [DiscoveredService], members: Set<NodeID> = []) {
        let before = Set(Self.announced(services))
        services = new.count > Limits.services ? mostWorthKnowing(new, members) : new
        announcedNodes = Set(services.filter(\.isPresent).compactMap(\.nodeID)).sorted()
        #if KITH_MUTANTS
        if Mutant.isActive(.keepsAnnounced) { announcedNodes = Set(services.compactMap(\.nodeID)).sorted() }
        #endif
        let nameless = namelessAddresses
        answeredBy = answeredBy.filter { nameless.contains($0.key) }
        for key in Self.announced(services) where !before.contains(key) { attempts[key] = nil }
    }

    /// Of too many services those that are kept: of nodes that are members or were reached before and are announced now, then
    /// of others that are announced. Anybody may announce as many as he likes, and those are not to hide the members.
    private func mostWorthKnowing(_ new: [DiscoveredService], _ members: Set<NodeID>) -> [DiscoveredService] {
        #if KITH_MUTANTS
        if Mutant.isActive(.keepsAnyService) { return Array(new.prefix(Limits.services)) }
        #endif
        let met = members.union(rememberedNodes).union(advertised.keys)
        var ranks: [[DiscoveredService]] = [[], [], [], []]
        for service in new {
            let isMet = service.nodeID.map(met.contains) ?? false
            ranks[(service.isPresent ? 0 : 2) + (isMet ? 0 : 1)].append(service)
        }
        return Array(ranks.joined().prefix(Limits.services))
    }

    /// Takes what a node says of where it can be reached. What it said before is forgotten.
    package mutating func setAdvertised(_ addresses: [Endpoint], by node: NodeID) {
        guard addresses.isEmpty || advertised[node] != nil || advertised.count < Limits.remembered else { return }
        advertised[node] = addresses.isEmpty ? nil : Array(addresses.prefix(Limits.rememberedPerNode))
    }

    /// Those that are announced without a node.
    private var namelessAddresses: Set<Endpoint> {
        Set((servicesByNode[nil] ?? []).flatMap { $0.addresses.map { Endpoint.numeric($0.address) } })
    }

    private static func announced(_ services: [DiscoveredService]) -> [Key] {
        services.filter(\.isPresent).flatMap { service in
            service.addresses.map { Key(node: service.nodeID, address: .numeric($0.address)) }
        }
    }

    /// A dial to the address reached this node: remember it. The address is the one that was dialled, so a name stays
    /// a name.
    package mutating func reached(_ node: NodeID, at address: Endpoint) {
        attempts[Key(node: node, address: address)] = nil
        attempts[Key(node: nil, address: address)] = nil
        own[address] = nil
        if statics.contains(address) { staticNodes[address] = node }
        if namelessAddresses.contains(address) { answeredBy[address] = node }
        remember(Remembered(node: node, address: address))
    }

    // MARK: What went wrong

    /// A dial failed: the address is left alone for a while, the longer the more often it has failed.
    package mutating func failed(
        _ address: Endpoint, for node: NodeID?, reason: String, now: UInt64,
        using random: inout some RandomNumberGenerator
    ) {
        let key = Key(node: node, address: address)
        if attempts[key] == nil, attempts.count >= Limits.attempts { dropAttempts() }
        var attempt = attempts[key] ?? Attempt(lastTried: now, lastError: nil, notBefore: now)
        var pause = attempt.backOff.next(using: &random)
        if attempt.backOff.failures > Limits.dialFailuresUntilSlow {
            var slow = BackOff(
                initialMilliseconds: Limits.dialSlowMilliseconds, maximumMilliseconds: Limits.dialSlowMilliseconds)
            pause = slow.next(using: &random)
        }
        attempt.answerer = nil
        attempt.lastTried = now
        attempt.lastError = String(decoding: reason.utf8.prefix(Limits.reasonBytes), as: UTF8.self)
        attempt.notBefore = now + pause
        attempts[key] = attempt
    }

    /// Another node of the group answered than the one that was expected: the address is remembered for the node that is
    /// there, and tried for the other at the slow pace alone. Each such dial is one more link to who is there, who would
    /// soon take many for those of a twin.
    package mutating func reachedOther(
        _ actual: NodeID, insteadOf expected: NodeID?, at address: Endpoint, now: UInt64,
        using random: inout some RandomNumberGenerator
    ) {
        reached(actual, at: address)
        guard let expected, expected != actual else { return }
        failed(address, for: expected, reason: "\(actual.short) answered there", now: now, using: &random)
        let key = Key(node: expected, address: address)
        attempts[key]?.answerer = actual
        attempts[key]?.notBefore = now + Limits.dialSlowMilliseconds
        if let index = remembered.firstIndex(where: { $0.node == expected && $0.address == address }) {
            remembered.remove(at: index)
        }
    }

    /// The node itself answered. Nobody is to dial this address for a while.
    package mutating func reachedSelf(at address: Endpoint, now: UInt64) {
        if own.count >= Limits.staticAddresses { own = own.filter { $0.value > now } }
        guard own.count < Limits.staticAddresses else { return }
        own[address] = now + Limits.ownAddressMilliseconds
    }

    /// Another node with this node's identity answered: it is looked for again soon, for it may have become a new one.
    package mutating func reachedTwin(at address: Endpoint, now: UInt64) {
        if own[address] != nil { own[address] = now + Limits.twinAddressMilliseconds }
    }

    /// Makes all addresses of a node due at once, but those where another one answered: it dialled us, or the network
    /// changed. Nil for those of everyone, and an address that was this node's own may be another's now.
    package mutating func hurry(_ node: NodeID?) {
        if node == nil { own = [:] }
        for (key, attempt) in attempts where attempt.answerer == nil && (node == nil || key.node == node) {
            var attempt = attempt
            attempt.backOff.reset()
            attempt.notBefore = 0
            attempts[key] = attempt
        }
    }

    /// Forgets the failures of addresses that no list names any more.
    private mutating func dropAttempts() {
        let known = Set(
            services.flatMap { service in service.addresses.map { Endpoint.numeric($0.address) } } + statics
                + advertised.values.joined() + remembered.map(\.address))
        attempts = attempts.filter { known.contains($0.key.address) }
        if attempts.count >= Limits.attempts { attempts = [:] }
    }
}
