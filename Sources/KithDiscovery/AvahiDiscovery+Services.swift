import Dispatch
import KithNetwork

/// The instances: seen, introduced, and passed on.
extension AvahiDiscovery {
    func browsed(_ event: ReferenceEvent, isOurs: Bool, generation: UInt64) {
        guard generation == self.generation else { return }
        switch event {
        case .browsed(let isAddition, let interface, let text):
            // What is gone counts on any interface: one that has gone itself has no name any more.
            guard !isAddition || interfaces.allows(index: interface) else { return }
            let name = InstanceName(text)
            let change: Bool
            if isOurs {
                change = isAddition ? ours.added(name, interface: interface) : ours.removed(name, interface: interface)
                // A new interface may bring new addresses, and a return another port.
                if change, isAddition { introduce(name) }
            } else {
                change = isAddition ? all.added(name, interface: interface) : all.removed(name, interface: interface)
            }
            if change { schedulePublish() }
        case .failed(let code): lost(.library("searching for nodes", code: code))
        default: break
        }
    }

    /// Asks who and where an instance is; again after a pause while it is present and does not answer.
    func introduce(_ name: InstanceName) {
        guard session != nil, !isOwn(name), knowledge[name]?.isAsked != true else { return }
        knowledge[name, default: Knowledge()].isAsked = true
        resolver.resolve(name, urgency: .introduction) { [weak self] answer in
            guard let self, knowledge[name] != nil else { return }
            knowledge[name]?.isAsked = false
            learn(name, answer)
            guard case .failure = answer, ours.isPresent(name), var backOff = knowledge[name]?.backOff else { return }
            let milliseconds = pause(&backOff)
            knowledge[name]?.backOff = backOff
            queue.asyncAfter(deadline: .now() + .milliseconds(Int(milliseconds))) { [weak self] in
                guard let self, ours.isPresent(name) else { return }
                introduce(name)
            }
        }
    }

    /// Keeps an answer, whoever asked for it.
    func learn(_ name: InstanceName, _ answer: Result<Resolution, DiscoveryError>) {
        guard case .success(let resolution) = answer, ours.names.contains(name) else { return }
        knowledge[name, default: Knowledge()].backOff.reset()
        guard knowledge[name]?.resolution != resolution else { return }
        knowledge[name]?.resolution = resolution
        schedulePublish()
    }

    /// Whether an instance is this node's own announcement: it has the name that Avahi gave us, or, before Avahi has
    /// confirmed one, the name we asked for.
    private func isOwn(_ name: InstanceName) -> Bool {
        if let session, let own = session.announcedName ?? session.advertiser?.requestedName {
            ownName = InstanceName(own)
        }
        return ownName == name
    }

    /// Passes the changes of the next 200 ms on together: the library never says that a batch is complete.
    func schedulePublish() {
        guard wish != nil, !isPublishPending else { return }
        isPublishPending = true
        queue.asyncAfter(deadline: .now() + .milliseconds(Limits.debounceMilliseconds)) { [weak self] in
            guard let self, isPublishPending else { return }
            isPublishPending = false
            publish()
        }
    }

    private func publish() {
        guard let wish else { return }
        let names = ours.names
        let current = Set(names)
        knowledge = knowledge.filter { current.contains($0.key) }
        let services = names.filter { !isOwn($0) }.compactMap { name -> DiscoveredService? in
            let isPresent = ours.isPresent(name)
            let resolution = knowledge[name]?.resolution
            // Gone, and never known where: no use to anyone.
            guard isPresent || resolution != nil else { return nil }
            return DiscoveredService(
                name: name, isPresent: isPresent, interfaces: ours.interfaces(of: name), text: resolution?.text,
                addresses: resolution?.addresses ?? [])
        }
        if services != lastServices {
            lastServices = services
            wish.onServicesChanged(services)
        }
        lookAtForeign(ours: current)
        updateState()
    }

    /// Reads the group tags of instances that are not of this group, each once, after everything else.
    private func lookAtForeign(ours: Set<InstanceName>) {
        let names = all.names.filter { !ours.contains($0) }
        let current = Set(names)
        foreignTags = foreignTags.filter { current.contains($0.key) }
        guard session != nil else { return }
        for name in names where foreignTags[name] == nil && all.isPresent(name) && !isOwn(name) {
            guard foreignTags.count < Limits.foreignLookups else { return }
            foreignTags[name] = ""
            resolver.resolve(name, urgency: .foreignText) { [weak self] answer in
                guard let self, case .success(let resolution) = answer, let tag = resolution.text.tag else { return }
                foreignTags[name] = tag
                updateState()
            }
        }
    }

    /// The number of groups on this network but for our own.
    var foreignGroups: Int {
        Set(foreignTags.values.filter { !$0.isEmpty && $0 != wish?.tag }).count
    }
}
