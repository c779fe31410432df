import Dispatch
import KithReplication
import KithStore
import KithSystem

// What the disk under the databases does. A database that can't be used is no end of the node: the others go on, and it
// comes back by itself when it can be opened.

extension Node {
    /// Tells in the log when the disk under a database begins to fail, and when it has ended.
    func watchStorage(_ database: DatabaseExecutor) {
        log.noteOpening(of: database)
        database.observeStorage { [weak self, weak database, log, name = database.name] trouble in
            log.noteStorage(of: name, trouble)
            guard let self, let database else { return }
            self.queue.async {
                #if KITH_MUTANTS
                if Mutant.isActive(.makesUpAtOnce), database.pullStop == nil { self.makeUp(for: database) }
                #endif
                self.databasesInArrears.insert(database.name)
                if database.pullStop == nil { self.tellRecovery(of: database) }
                self.changed()
            }
        }
    }

    /// Tells all links that a database takes commits again, so that they do not wait until they would have tried.
    private func tellRecovery(of database: DatabaseExecutor) {
        #if KITH_MUTANTS
        if Mutant.isActive(.tellsNoRecovery) { return }
        #endif
        for link in drivers.keys.sorted() { drivers[link]?.post(.storeRecovered(database: database.name.string)) }
    }

    /// Does again what a database may not have taken while its disk failed and that nobody else tries again.
    private func makeUp(for database: DatabaseExecutor) {
        #if KITH_MUTANTS
        if Mutant.isActive(.setsPoliciesOnce) { return database.maintain() }
        #endif
        applyPolicies([database.name.string])
        database.maintain()
    }

    /// Looks at the disk off the queue.
    /// - Parameter number: of the freshening that waits for a look which begins now or later; nil when nobody does.
    func look(for number: UInt64? = nil) {
        if let number { waitingLooks.insert(number) }
        guard !isLooking else { return }
        isLooking = true
        let waiting = waitingLooks
        waitingLooks = []
        let (directory, databases) = (configuration.directory.path, catalog.directory)
        let files = catalog.databases.map(\.file) + catalog.unusable.map(\.file)
        let (aside, disk) = (setAside.map(\.aside), configuration.machine.files)
        looks.async {
            let look = DiskLook(directory: directory, databases: databases, files, setAside: aside, on: disk)
            self.queue.async {
                let isNews = (look.isFull, look.isLow) != (self.disk.isFull, self.disk.isLow)
                self.disk = look
                self.setAside.removeAll { !look.setAside.contains($0.aside) }
                self.isLooking = false
                for number in waiting { self.looked(number) }
                if !self.waitingLooks.isEmpty { self.look() }
                if isNews { self.changed() }
            }
        }
    }

    /// Tells of databases that could not be opened.
    func reportUnusable() {
        for entry in catalog.unusable {
            log(.error, .store, "database \(entry.file.name) can't be used: \(entry.error.message)")
        }
    }

    /// When a disk that fails is next looked at.
    var nextStorageRetry: Instant? {
        catalog.databases.compactMap(\.retryAt).min().map(Instant.init(milliseconds:))
    }

    /// Tries now and then what the disk refused.
    func tendStorage(now: Instant) {
        // Each at its own time.
        for database in catalog.databases { database.tend() }
        if let storageTendedAt,
            now.milliseconds(since: storageTendedAt) < NodeLimits.storageRetryMilliseconds
        {
            return
        }
        storageTendedAt = now
        for database in catalog.databases {
            // At this pace: where it fails again at once, it would be done again at once.
            if database.pullStop == nil, databasesInArrears.remove(database.name) != nil { makeUp(for: database) }
        }
        makeUnmade()
        keepInstances()
        guard !isRetryingUnusable, !catalog.unusable.isEmpty else { return }
        isRetryingUnusable = true
        // Opening may take as long as the file is large: off the queue.
        retries.async { [weak self, catalog] in
            let opened = catalog.retryUnusable()
            guard let self else { return }
            self.queue.async {
                self.isRetryingUnusable = false
                for database in opened where self.isRunning {
                    self.log(.info, .store, "database \(database.name) can be used again")
                    self.added(database)
                }
            }
        }
    }
}
