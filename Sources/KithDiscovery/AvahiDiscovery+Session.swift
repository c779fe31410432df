import Dispatch

/// The connection to Avahi: made, lost, made again.
extension AvahiDiscovery {
    /// Makes the long-lived references; where that fails, tries again after a pause, or as soon as Avahi shows up.
    func connect() {
        dispatchPrecondition(condition: .onQueue(queue))
        guard let wish, session == nil else { return }
        generation += 1
        let generation = generation
        do throws(DiscoveryError) {
            var browses: [ServiceReference] = []
            for tag in [wish.tag, nil] {
                let browse = try ServiceReference.browse(tag: tag, on: queue) { [weak self] event in
                    self?.browsed(event, isOurs: tag != nil, generation: generation)
                }
                browses.append(browse)
            }
            session = Session(browses: browses)
        } catch {
            return lost(error)
        }
        watch?.cancel()
        watch = nil
        lastError = nil
        if let advertisement = wish.advertisement {
            let advertiser = Advertiser(
                advertisement, tag: wish.tag, queue: queue, pause: { [unowned self] in pause(&$0) }
            ) { [weak self] event in
                self?.advertised(event, generation: generation)
            }
            session?.advertiser = advertiser
            advertiser.register()
        } else {
            backOff.reset()
        }
        updateState()
        schedulePublish()
    }

    /// Drops the long-lived references. Instances stay, as hints.
    func disconnect() {
        generation += 1
        session?.advertiser?.cancel()
        for browse in session?.browses ?? [] { browse.cancel() }
        session = nil
        ours.startOver()
        all.startOver()
        schedulePublish()
    }

    private func advertised(_ event: Advertiser.Event, generation: UInt64) {
        guard generation == self.generation else { return }
        switch event {
        case .announced(let name):
            session?.announcedName = name
            backOff.reset()
            lastError = nil
            updateState()
            schedulePublish()
            // What was taken for our own name so far may be another's, if Avahi has changed ours.
            for name in ours.names where ours.isPresent(name) && knowledge[name]?.resolution == nil { introduce(name) }
        case .troubled(let error):
            session?.announcedName = nil
            lastError = error.message
            updateState()
        case .lost(let error): lost(error)
        }
    }

    /// Takes note that the connection is dead and plans the next one.
    func lost(_ error: DiscoveryError) {
        guard wish != nil else { return }
        disconnect()
        resolver.cancelAll(.unavailable("Avahi is gone"))
        lastError = explain(error)
        updateState()
        let generation = generation
        queue.asyncAfter(deadline: .now() + .milliseconds(Int(pause(&backOff)))) { [weak self] in
            guard let self, generation == self.generation else { return }
            connect()
        }
        beginWatch()
    }

    /// The library has one number for all that can be missing; the probe can tell.
    private func explain(_ error: DiscoveryError) -> String {
        missing = nil
        guard case .library(_, let code) = error, code == -65537 || code == -65563 else { return error.message }
        let finding = AvahiProbe().find()
        missing = finding
        return finding.message
    }

    /// While discovery is unavailable, looks each second whether Avahi answers, and connects when it begins to.
    private func beginWatch() {
        guard watch == nil else { return }
        var wasAnswering = true
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(
            deadline: .now() + .milliseconds(Limits.watchMilliseconds),
            repeating: .milliseconds(Limits.watchMilliseconds))
        timer.setEventHandler { [weak self] in
            guard let self, session == nil else { return }
            let finding = AvahiProbe().find()
            let isAnswering = finding == .answering
            defer { wasAnswering = isAnswering }
            if !isAnswering, let missing, missing != finding {
                // Another piece is missing now: the bus is back, and Avahi is not.
                self.missing = finding
                lastError = finding.message
                updateState()
            }
            guard isAnswering, !wasAnswering else { return }
            backOff.reset()
            generation += 1
            connect()
        }
        timer.activate()
        watch = timer
    }

    /// A machine that slept has a cache of another time and place, and Avahi says nothing about it. Sleep shows in the
    /// clock that counts it; a process that was stopped shows in a check that comes late.
    func beginSleepCheck() {
        let interval = DispatchTimeInterval.milliseconds(Limits.sleepCheckMilliseconds)
        var last = Clock.boot()
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + interval, repeating: interval, leeway: .seconds(1))
        timer.setEventHandler { [weak self] in
            let now = Clock.boot()
            let gap = now - last
            last = now
            guard let self, gap > UInt64(Limits.sleepCheckMilliseconds) + Limits.sleepGapMilliseconds else { return }
            refresh()
        }
        timer.activate()
        sleepCheck = timer
    }
}
