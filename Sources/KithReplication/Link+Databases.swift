internal import KithDocument

// Which databases both sides carry.

extension Link {
    /// Gives a database its number.
    mutating func add(_ database: CarriedDatabase) {
        lastNumber += 1
        carried.append(
            Carried(
                number: lastNumber, name: database.name, summary: database.summary, isHeld: database.isHeld,
                directions: database.directions, session: nil))
    }

    mutating func carry(_ database: CarriedDatabase) {
        guard !carried.contains(where: { $0.name.isSameBytes(as: database.name) }),
            carried.count < ReplicationLimits.databases
        else { return }
        add(database)
        if case .fresh = state { return }
        guard let entry = carried.last?.entry else { return }
        output.send(.databases(DatabasesUpdate(added: [entry], removed: [])))
        match(carried.count - 1)
    }

    mutating func drop(_ name: String) {
        guard let index = carried.firstIndex(where: { $0.name.isSameBytes(as: name) }) else { return }
        let database = carried.remove(at: index)
        if let session = database.session { endSession(session) }
        output.send(.databases(DatabasesUpdate(added: [], removed: [database.number])))
    }

    mutating func hold(_ name: String, _ isHeld: Bool) {
        guard let index = carried.firstIndex(where: { $0.name.isSameBytes(as: name) }) else { return }
        carried[index].isHeld = isHeld
        if let session = carried[index].session { sessions[session]?.hold(isHeld, &output) }
    }

    /// To the peer it is another database of the same name, so that one who knows nothing of directions begins anew too.
    mutating func direct(_ name: String, _ directions: FeedDirections) {
        guard let index = carried.firstIndex(where: { $0.name.isSameBytes(as: name) }),
            carried[index].directions != directions
        else { return }
        let old = carried.remove(at: index)
        if let session = old.session { endSession(session) }
        add(CarriedDatabase(name: old.name, summary: old.summary, isHeld: old.isHeld, directions: directions))
        if case .fresh = state { return }
        guard let entry = carried.last?.entry else { return }
        output.send(.databases(DatabasesUpdate(added: [entry], removed: [old.number])))
        match(carried.count - 1)
    }

    mutating func noteCommit(_ name: String, _ summary: ReplicaSummary) {
        guard let index = carried.firstIndex(where: { $0.name.isSameBytes(as: name) }) else { return }
        carried[index].summary = summary
        if let session = carried[index].session { sessions[session]?.noteCommit(summary, &output) }
    }

    mutating func noteRecovery(_ name: String) {
        guard let session = carried.first(where: { $0.name.isSameBytes(as: name) })?.session else { return }
        sessions[session]?.noteRecovery(&output)
    }

    // The peer's.

    mutating func receive(_ update: DatabasesUpdate) throws(ProtocolError) {
        for number in update.removed {
            guard number >= 1, number <= lastPeerNumber else { throw ProtocolError("database \(number) was not named") }
            guard let index = peerDatabases.firstIndex(where: { $0.number == number }) else { continue }
            peerDatabases.remove(at: index)
            let ended = sessions.indices.filter { sessions[$0]?.facts.peerNumber == number }
            for session in ended { endSession(session) }
        }
        try add(update.added)
        output.report(.peerDatabases(peerDatabases))
    }

    mutating func add(_ entries: [DatabaseEntry]) throws(ProtocolError) {
        for entry in entries {
            guard entry.number > lastPeerNumber else { throw ProtocolError("the numbers of databases do not ascend") }
            guard !peerDatabases.contains(where: { $0.name.isSameBytes(as: entry.name) }) else {
                throw ProtocolError("a database is named twice")
            }
            guard peerDatabases.count < ReplicationLimits.databases else {
                throw ProtocolError("more than \(ReplicationLimits.databases) databases are named")
            }
            lastPeerNumber = entry.number
            peerDatabases.append(entry)
            if let index = carried.firstIndex(where: { $0.name.isSameBytes(as: entry.name) }) { match(index) }
        }
    }

    // Sessions.

    /// Begins the session of a database if the peer carries it too.
    private mutating func match(_ index: Int) {
        let database = carried[index]
        guard isOpen, database.session == nil,
            let entry = peerDatabases.first(where: { $0.name.isSameBytes(as: database.name) })
        else { return }
        guard sessions.count < 2 * ReplicationLimits.databases else {
            return end(Goodbye(code: .closing, text: "databases come and go too often for one link"))
        }
        let facts = SessionFacts(
            session: sessions.count, database: database.name, peer: configuration.peerNode, peerNumber: entry.number,
            here: database.directions, there: entry.directions, peerIsPart: entry.isPart, peerFilters: peerFilters,
            peerIsSource: configuration.peerIsSource,
            localIsSource: configuration.localIsSource, local: DatabaseState(database.summary), theirs: entry.state)
        carried[index].session = sessions.count
        var session = Session(facts, isHeld: database.isHeld)
        session.beginPulling(&output)
        sessions.append(session)
    }

    /// Either side carries the database no more. What the peer sends of its feeds until it knows is ignored.
    private mutating func endSession(_ index: Int) {
        if let feed = sessions[index]?.source?.feed { servedFeeds[feed] = nil }
        sessions[index]?.endPulling(&output)
        sessions[index] = nil
        for position in carried.indices where carried[position].session == index { carried[position].session = nil }
    }
}

extension String {
    /// Equality of the bytes of UTF-8, as names have it.
    func isSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
