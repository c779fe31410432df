import Glibc
import KithCrypto
import KithDocument
import KithSystem

/// The files of a node's directory that say who it is. `docs/security.md` has the formats.
///
/// One file, `identity.pem`, holds the whole identity, so that there is never half of one. The caller holds the
/// directory's lock; nothing here is safe against a second process.
package struct IdentityStore: Sendable {
    /// What the directory holds.
    package enum State: Hashable, Sendable {
        /// No trace of an identity: a new directory, or a disk that is not mounted.
        case absent
        /// The directory is in no group, because the node has left it or never was in one, and may join one.
        case left
        case present
        /// Something is there and not whole; the text says what. Databases without an identity are such: a disk that is
        /// mounted in part, or a file that was lost.
        case incomplete(String)
    }

    package let directory: String
    /// What the directory is on.
    package let files: any FileSystem

    private static let identityName = "identity.pem"
    private static let rootName = "root.pem"
    private static let keptRootName = "root.pem.kept"
    /// Files that stand beside an identity and never without one.
    private static let companions = [rootName, invitesName, membershipName, awaitedName]
    /// On which machine the directory was used, and what the processes on it were called.
    package static let machineName = "machine"
    private static let instancesName = "instances"
    /// The invites that this node has open.
    private static let invitesName = "invites"
    /// What this node knows of its group.
    package static let membershipName = "membership"

    /// The node whose word is awaited, after what was known of the group was lost.
    package static let awaitedName = "awaited"

    /// What the name of a file ends with that was damaged and is kept beside its place.
    package static let asideEnding = ".damaged"

    /// The group that this node was in before it left.
    private static let formerName = "former-group"

    package init(directory: String, on files: any FileSystem = LocalFileSystem()) {
        self.directory = directory
        self.files = files
    }

    /// Looks at the directory and changes nothing.
    package func state() -> State {
        do throws(TransportError) {
            guard let content = try content() else {
                for name in Self.companions where files.exists(path(name)) {
                    return .incomplete("\(name) is there and \(Self.identityName) is not")
                }
                // Leaving keeps the databases and leaves a file that says so.
                if hasDatabases { return .incomplete("databases are there and \(Self.identityName) is not") }
                return .absent
            }
            if case .left = content { return .left }
            return .present
        } catch { return .incomplete(error.message) }
    }

    /// Reads the identity.
    /// - Throws: `.identity` when there is none, when it is not whole, or when others could read the key.
    package func load() throws(TransportError) -> Identity {
        switch state() {
        case .absent:
            throw .identity(
                "\(directory) holds no identity: is its disk mounted? `kith init` makes a group, `kith join` joins one")
        case .left:
            let reason = formerGroup() == nil ? "is in no group" : "has left its group"
            throw .identity("the node in \(directory) \(reason); `kith join` takes it into one")
        case .incomplete(let reason): throw incomplete(reason)
        case .present: break
        }
        try checkMode(Self.identityName)
        guard case .identity(let identity)? = try content() else { throw incomplete("it changed while it was read") }
        return identity
    }

    /// Makes a new group with this node as its first admin. The root's key goes to the file `rootOut`, which must not be
    /// there yet, or stays in the directory. All is on disk when this returns.
    /// - Parameters:
    ///   - rootKey: nil for a new one.
    ///   - keys: nil for new ones.
    /// - Throws: `.identity` when the directory holds an identity, whole or not.
    package func initGroup(
        groupName: String, nodeName: String, rootOut: String? = nil, rootKey: PrivateKey? = nil, keys: NodeKeys? = nil
    ) throws(TransportError) -> Identity {
        try prepare()
        let (identity, root) = try Identity.createGroup(
            name: groupName, nodeName: nodeName, rootKey: rootKey, keys: keys)
        let text = try IdentityFile.text(of: root)
        if let rootOut {
            try AtomicFile.create(Array(text.utf8), at: rootOut, on: files)
        } else {
            try write(Array(text.utf8), to: Self.rootName)
        }
        do throws(TransportError) {
            // Last, for from then on the group exists.
            try begin(identity)
        } catch {
            files.discard(rootOut ?? path(Self.rootName))
            throw error
        }
        return identity
    }

    /// Writes an identity that a join brought. On disk when this returns.
    /// - Throws: `.identity` when the directory holds an identity, whole or not.
    package func create(_ identity: Identity) throws(TransportError) {
        try prepare()
        try begin(identity)
    }

    /// What is known of the group is a file from the beginning, so that it is missed when it is gone: a node that began anew
    /// without a word would let in whom the group has revoked.
    private func begin(_ identity: Identity) throws(TransportError) {
        try write(Membership(trust: identity.trust).encoded, to: Self.membershipName)
        do throws(TransportError) { try save(identity) } catch {
            try? remove(Self.membershipName)
            throw error
        }
    }

    /// Replaces the identity, for a new role or name. On disk when this returns.
    package func save(_ identity: Identity) throws(TransportError) {
        try write(Array(try IdentityFile.text(of: identity).utf8), to: Self.identityName)
    }

    /// Says of a directory without a trace of an identity that its databases are of no group: for a program that keeps
    /// databases there by itself. It may join a group later. On disk when this returns; elsewhere nothing happens.
    package func beginAlone() throws(TransportError) {
        guard state() == .absent else { return }
        do throws(SystemError) { try files.makeDirectories(directory) } catch {
            throw .system("making \(directory)", error.number)
        }
        try write(Array(IdentityFile.left.utf8), to: Self.identityName)
    }

    /// Whether `initGroup` or `create` may be called: nothing is written.
    /// - Throws: `.identity` with what to do.
    package func expectVacant() throws(TransportError) {
        switch state() {
        case .absent, .left: break
        case .incomplete(let reason): throw incomplete(reason)
        case .present:
            throw .identity("the node in \(directory) is in a group already; `kith leave` first (its databases stay)")
        }
    }

    /// Whether others than the owner may look into the directory; false where there is none.
    package var isOpenToOthers: Bool { files.stamp(of: directory)?.isOpenToOthers ?? false }

    /// Whether the directory is closed to others, or may be closed without a word: one with things of others in it may be
    /// somebody's home or all programs' folder for temporary files.
    /// - Throws: `.identity` with what to do.
    package func expectClosable() throws(TransportError) {
        guard isOpenToOthers else { return }
        let names: [String]
        do throws(SystemError) { names = try files.list(directory) } catch {
            throw .system("opening \(directory)", error.number)
        }
        // What a lock or a new file system puts there is nobody's.
        guard names.allSatisfy({ ["lock", "lost+found"].contains($0) }) else {
            throw .identity(
                "\(directory) is open to others and not empty, and a node's directory holds its key: `chmod 700 \(directory)` "
                    + "if it is for the node alone, else name another with --data DIR")
        }
    }

    /// The group's root: from the file given, or from the directory; nil where the directory does not have it.
    /// - Throws: `.identity` when the file holds the root of another group.
    package func loadRoot(from file: String? = nil, of trust: GroupTrust) throws(TransportError) -> GroupRoot? {
        let path = file ?? path(Self.rootName)
        guard let bytes = try AtomicFile.read(path, atMost: TransportLimits.identityFileBytes, on: files) else {
            if file != nil { throw .identity("there is no file \(path)") }
            return nil
        }
        let root: GroupRoot
        do throws(TransportError) { root = try IdentityFile.readRoot(bytes) } catch {
            throw .identity("\(path) can't be used: \(error.message)")
        }
        guard root.certificate == trust.root else { throw .identity("\(path) holds the root of another group") }
        return root
    }

    /// The group's root from the bytes of its file, as somebody sent them.
    package static func readRoot(_ bytes: [UInt8]) throws(TransportError) -> GroupRoot {
        try IdentityFile.readRoot(bytes)
    }

    /// Forgets the group; everything else in the directory stays. On disk when this returns.
    /// - Throws: `.identity` when the group's root key is here and `discardingRoot` is not set: without it nobody can make
    ///   or revoke admins again.
    package func leave(discardingRoot: Bool = false) throws(TransportError) {
        switch state() {
        case .present: break
        case .left: return
        case .absent: throw .identity("\(directory) holds no identity")
        case .incomplete(let reason): throw incomplete(reason)
        }
        if !discardingRoot, files.exists(path(Self.rootName)) {
            throw .identity("the root's key of the group is in \(path(Self.rootName)): move it to a safe place first")
        }
        try forget()
    }

    private func forget() throws(TransportError) {
        try keepFormerGroup()
        try write(Array(IdentityFile.left.utf8), to: Self.identityName)
        try removeCompanions()
    }

    /// Removes what belongs to an identity, also what of it was damaged and kept.
    private func removeCompanions() throws(TransportError) {
        for name in Self.companions + [Self.machineName, Self.instancesName] {
            try remove(name)
            try remove(name + Self.asideEnding)
        }
    }

    /// Makes a copy of a node a new node, to be joined anew: the identity and all that was copied with it goes, whole or
    /// not. The databases stay, and so does a root's key, under another name: it may be the only one. On disk when this
    /// returns.
    /// - Returns: where a root's key is kept, if there was one.
    /// - Throws: `.identity` when there is no identity, or when it can't be read and so may be whole.
    @discardableResult
    package func reset() throws(TransportError) -> String? {
        guard state() != .absent else { throw .identity("\(directory) holds no identity") }
        if isClosedToUs { throw incomplete("") }
        var kept: String?
        if files.exists(path(Self.rootName)) {
            let aside = path(Self.keptRootName)
            do throws(SystemError) { try files.rename(path(Self.rootName), to: aside) } catch {
                throw .system("renaming \(path(Self.rootName))", error.number)
            }
            kept = aside
        }
        try forget()
        return kept
    }

    /// The group that a node was in.
    package struct FormerGroup: Hashable, Sendable {
        /// The first 128 bits of the root's fingerprint, as an invite code holds them.
        package let shortFingerprint: [UInt8]
        package let name: String
    }

    /// The group that this node left last; nil where it never left one, or that is not known.
    package func formerGroup() -> FormerGroup? {
        guard let bytes = try? read(Self.formerName, atMost: TransportLimits.identityFileBytes),
            let text = String(validating: bytes, as: UTF8.self)
        else { return nil }
        let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        guard lines.count == 2, let fingerprint = Hex.decode(lines[0].utf8), fingerprint.count == 16 else { return nil }
        return FormerGroup(shortFingerprint: fingerprint, name: String(lines[1].prefix { $0 != "\n" }))
    }

    /// An identity that is not whole names no group.
    private func keepFormerGroup() throws(TransportError) {
        guard case .identity(let identity)? = try? content() else { return }
        let text = "\(Hex.encode(identity.trust.shortFingerprint))\n\(identity.groupName)\n"
        try write(Array(text.utf8), to: Self.formerName)
    }

    /// One of the files beside the identity; nil when it is not there.
    package func read(_ name: String, atMost limit: Int) throws(TransportError) -> [UInt8]? {
        try AtomicFile.read(path(name), atMost: limit, on: files)
    }

    /// Replaces one of the files beside the identity. On disk when this returns.
    package func write(_ bytes: [UInt8], to name: String) throws(TransportError) {
        try AtomicFile.write(bytes, to: path(name), on: files)
    }

    /// Removes one of the files beside the identity, if it is there. On disk when this returns.
    package func remove(_ name: String) throws(TransportError) { try AtomicFile.remove(path(name), on: files) }

    /// Whether there are databases of a node: files of SQLite, or logs of such.
    private var hasDatabases: Bool {
        let names = (try? files.list(path("databases"))) ?? []
        return names.contains { $0.hasSuffix(".sqlite3") || $0.hasSuffix(".sqlite3-wal") }
    }

    private func path(_ name: String) -> String { "\(directory)/\(name)" }

    private func content() throws(TransportError) -> IdentityFile.Content? {
        guard let bytes = try read(Self.identityName, atMost: TransportLimits.identityFileBytes) else {
            return nil
        }
        return try IdentityFile.read(bytes)
    }

    /// Whether the identity is there and this user may not read it.
    private var isClosedToUs: Bool {
        do throws(SystemError) { _ = try files.open(path(Self.identityName), .read) } catch {
            return error.number == EACCES
        }
        return false
    }

    private func incomplete(_ reason: String) -> TransportError {
        if isClosedToUs {
            return .identity(
                "\(path(Self.identityName)) belongs to another user and can't be read: run kith as that user, or give the file "
                    + "to this one with chown")
        }
        return .identity(
            "the identity in \(directory) is not whole (\(reason)): restore it, or `kith identity reset` and join anew")
    }

    /// Makes the directory where it is missing, closes it to others, and clears what a crash during `leave` left.
    private func prepare() throws(TransportError) {
        try expectVacant()
        try expectClosable()
        do throws(SystemError) { try files.makeDirectories(directory) } catch {
            throw .system("making \(directory)", error.number)
        }
        do throws(SystemError) { try files.closeToOthers(directory) } catch {
            throw .system("closing \(directory) to others", error.number)
        }
        try removeCompanions()
    }

    private func checkMode(_ name: String) throws(TransportError) {
        guard let stamp = files.stamp(of: path(name)) else { throw .system("looking at \(path(name))", ENOENT) }
        guard !stamp.isOpenToOthers else {
            throw .identity("others may read the key in \(path(name)): `chmod 600 \(path(name))`")
        }
    }
}
