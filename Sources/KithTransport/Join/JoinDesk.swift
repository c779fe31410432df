import Dispatch
import KithCrypto
import KithDocument
import KithSystem
import Synchronization

/// The inviter's side: opens invites and admits those who prove one. Any thread may call it.
package final class JoinDesk: Sendable {
    private struct State {
        var book: InviteBook
        /// Roots by the invite of an admin that needs them; only in memory.
        var roots: [UInt64: GroupRoot] = [:]
        /// Connections of applicants.
        var serving = 0

        /// A root is held no longer than the invite that needs it.
        mutating func forgetRoots() {
            let open = Set(book.invites.filter { $0.status == .open }.map(\.id))
            roots = roots.filter { open.contains($0.key) }
        }
    }

    /// What became of a join, for the log and for who is connected.
    package enum Outcome: Hashable, Sendable {
        case admitted(NodeID, Role)
        case refused(JoinRefusal)
    }

    private let identity: Identity
    /// Nil where the node is no admin: then it can invite admins alone, for whom the root signs.
    private let admin: GroupAdmin?
    private let membership: Membership
    private let state: Mutex<State>
    private let now: @Sendable () -> Int64
    private let persist: @Sendable ([UInt8]) throws(TransportError) -> Void
    /// Held while the book is changed and written: the book on disk must be the one that was changed last.
    private let changing = Mutex(())

    /// - Parameter book: as it was persisted, empty at first.
    /// - Parameter now: milliseconds since 1970.
    /// - Parameter persist: writes the encoded book; it is on disk when this returns.
    package init(
        identity: Identity, membership: Membership, book: InviteBook, now: @escaping @Sendable () -> Int64,
        persist: @escaping @Sendable ([UInt8]) throws(TransportError) -> Void
    ) {
        self.identity = identity
        admin = identity.admin
        self.membership = membership
        state = Mutex(State(book: book))
        self.now = now
        self.persist = persist
    }

    /// Opens an invite. It is on disk when this returns; the root is only kept in memory.
    /// - Throws: `.identity` when an admin is invited without the root, another by a node that is no admin, or too many invites
    ///   are open.
    package func invite(role: Role, validMilliseconds: Int64, root: GroupRoot? = nil) throws(TransportError)
        -> InviteCode
    {
        if role == .admin {
            guard let root else { throw .identity("an admin's invite needs the root's key (`--root FILE`)") }
            guard root.certificate == identity.trust.root else {
                throw .identity("this is the root's key of another group")
            }
        } else if admin == nil {
            throw .identity("only an admin can invite; this node is a \(identity.role)")
        }
        let code = InviteCode.create(for: identity.trust)
        let id = SecureRandom.number()
        try change { book, now throws(TransportError) in
            try book.open(
                code, id: id, role: role, expiresAt: now.addingReportingOverflow(validMilliseconds).partialValue,
                now: now)
        }
        state.withLock { state in
            if role == .admin { state.roots[id] = root }
            state.forgetRoots()
        }
        return code
    }

    /// Whether the listener should take joins now.
    package var answersJoins: Bool { state.withLock { $0.book.answersJoins(now: now()) } }

    /// The invites that are remembered.
    package var invites: [InviteBook.Invite] { state.withLock { $0.book.invites } }

    /// Serves one connection of an applicant: give the result to the listener as the handler of its events. Nil when too
    /// many are served already.
    package func handler(
        for publicKeyInfo: [UInt8], on connection: any Channel,
        outcome: @escaping @Sendable (Outcome) -> Void = { _ in }
    ) -> ChannelHandler? {
        let mayServe = state.withLock { state in
            guard state.serving < TransportLimits.joinsAtOnce else { return false }
            state.serving += 1
            return true
        }
        guard mayServe else { return nil }
        connection.workQueue.async(afterMilliseconds: TransportLimits.joinServeMilliseconds) { [weak connection] in
            connection?.close()
        }
        let framing = Mutex(JoinFraming())
        return { connection, event in
            switch event {
            case .received(let bytes):
                do throws(TransportError) {
                    let message = try framing.withLock { framing throws(TransportError) in try framing.take(bytes) }
                    guard let message else { return }
                    let answer = self.answer(message, publicKeyInfo: publicKeyInfo, on: connection, outcome: outcome)
                    connection.send(JoinFraming.frame(answer.encoded))
                    connection.finish()
                } catch {
                    connection.close()
                }
            case .finished: connection.finish()
            case .closed: self.state.withLock { $0.serving -= 1 }
            case .opened, .drained, .acknowledged: break
            }
        }
    }

    private func answer(
        _ message: [UInt8], publicKeyInfo: [UInt8], on connection: any Channel, outcome: (Outcome) -> Void
    ) -> JoinAnswer {
        let node = Identity.nodeID(ofPublicKeyInfo: publicKeyInfo)
        do throws(JoinRefusal) {
            let request: JoinRequest
            let exported: [UInt8]
            do throws(TransportError) {
                request = try JoinRequest(encoded: message)
                exported = try connection.exportKey(label: InviteProof.exporterLabel)
            } catch { throw JoinRefusal.malformed }
            let (invite, root) = try redeem(request, exported: exported, node: node)
            let answer = try issue(invite, root: root, request: request, publicKeyInfo: publicKeyInfo, node: node)
            outcome(.admitted(node, invite.role))
            return answer
        } catch {
            outcome(.refused(error))
            return .refused(error)
        }
    }

    /// Uses up the invite, on disk, before anything is signed: a crash may waste an invite and never use it twice.
    private func redeem(
        _ request: JoinRequest, exported: [UInt8], node: NodeID
    ) throws(JoinRefusal) -> (InviteBook.Invite, GroupRoot?) {
        var outcome: Result<InviteBook.Invite, JoinRefusal> = .failure(.unknown)
        do throws(TransportError) {
            try change { book, now throws(TransportError) in
                outcome = Result { () throws(JoinRefusal) in
                    try book.redeem(proof: request.proof, exported: exported, node: node, now: now)
                }
            }
        } catch { throw .storage }
        let invite = try outcome.get()
        return (
            invite,
            state.withLock { state in
                defer { state.forgetRoots() }
                return state.roots[invite.id]
            }
        )
    }

    private func issue(
        _ invite: InviteBook.Invite, root: GroupRoot?, request: JoinRequest, publicKeyInfo: [UInt8], node: NodeID
    ) throws(JoinRefusal) -> JoinAnswer {
        // A certificate for a revoked key would open no door.
        guard membership.member(node)?.revocation == nil else { throw .cannotIssue }
        // A key that was here before comes back with a number above all that were seen of it.
        let number = (membership.highestNumber(of: node) ?? 0).addingReportingOverflow(1).partialValue
        do throws(TransportError) {
            guard invite.role == .admin else {
                guard let admin else { throw TransportError.joinRefused(.cannotIssue) }
                let certificate = try admin.issueNode(publicKeyInfo: publicKeyInfo, role: invite.role, number: number)
                return .node(
                    groupName: identity.groupName, certificate: certificate.der, issuer: admin.certificate.der)
            }
            guard let root else { throw TransportError.joinRefused(.cannotIssue) }
            let certificate = try root.issueAdmin(
                node: node, publicKeyInfo: request.adminPublicKeyInfo, number: number)
            return .admin(groupName: identity.groupName, certificate: certificate.der, number: number)
        } catch { throw .cannotIssue }
    }

    /// Changes a copy of the book and writes it before it counts. Where nothing changed nothing is written.
    private func change(
        _ body: (inout InviteBook, Int64) throws(TransportError) -> Void
    ) throws(TransportError) {
        try changing.withLock { _ throws(TransportError) in
            var book = state.withLock { $0.book }
            let before = book
            try body(&book, now())
            if book != before { try persist(book.encoded) }
            let changed = book
            state.withLock { $0.book = changed }
        }
    }
}
