/// Which link fills an empty database: it takes one feed first and the others when that one has caught up, so that a new
/// node does not fetch everything from everyone.
struct FirstFeeds {
    /// By database the link that fills it.
    private var filling: [String: UInt64] = [:]

    /// A link is about to pull an empty database from a peer that has documents.
    /// - Returns: whether it is the one that fills it.
    mutating func begin(_ database: String, link: UInt64) -> Bool {
        if let holder = filling[database] { return holder == link }
        filling[database] = link
        return true
    }

    /// A link is done with filling the database: it has caught up, or it can't.
    /// - Returns: whether it was the one that filled it, so that others may pull now.
    mutating func done(_ database: String, link: UInt64) -> Bool {
        guard filling[database] == link else { return false }
        filling[database] = nil
        return true
    }

    /// The database is not here any more.
    mutating func forget(_ database: String) { filling[database] = nil }

    /// A link ended.
    /// - Returns: the databases that another may fill now, ascending.
    mutating func ended(_ link: UInt64) -> [String] {
        let freed = filling.filter { $0.value == link }.keys.sorted()
        for database in freed { filling[database] = nil }
        return freed
    }
}
