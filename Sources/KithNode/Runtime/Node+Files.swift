import Dispatch
import KithSystem
import KithTransport

// The small files of a running node. The node's queue waits for no disk: one that stands still must not hold up dials and
// heartbeats. So they are written on a queue of their own, one after the other in the order in which they were asked for, and
// what has to be on disk before somebody hears of it is told when it is.

extension Node {
    /// What is to stand in a small file, and what to do when it does.
    struct Writing: Sendable {
        let content: [UInt8]
        /// Called on the node's queue: nil when the content is on disk, else why it is not.
        let done: @Sendable (NodeError?) -> Void
    }

    /// Writes a small file of the directory. On the queue; returns at once.
    /// - Parameter plan: asked on the node's queue when it is this file's turn, after those that were asked for before are
    ///   done: so what is written and what is decided from it are always of one moment. Nil where nothing is to be written.
    func keep(_ file: SpareFile, _ plan: @escaping @Sendable () -> Writing?) { keep(file.rawValue, plan) }

    func keep(_ name: String, _ plan: @escaping @Sendable () -> Writing?) {
        let path = configuration.directory.path + "/" + name
        let disk = configuration.machine.files
        files.async {
            guard let writing = self.queue.sync(returning: plan) else { return }
            var failure: NodeError?
            do throws(NodeError) { try SmallFile.write(writing.content, to: path, on: disk) } catch { failure = error }
            self.queue.async { [failure] in writing.done(failure) }
        }
    }

    /// The same for a file that is written as it stands then, whoever asked: one that waits for its turn is enough.
    func keepSoon(_ file: SpareFile, _ plan: @escaping @Sendable () -> Writing?) { keepSoon(file.rawValue, plan) }

    private func keepSoon(_ name: String, _ plan: @escaping @Sendable () -> Writing?) {
        guard waitingFiles.insert(name).inserted else { return }
        keep(name) {
            self.waitingFiles.remove(name)
            return plan()
        }
    }

    // MARK: What is known of the group

    /// Writes what is known of the group, if there is anything new. Kept trying by `evaluate`.
    func keepMembership() {
        guard membership.changeCount != keptMembership else { return }
        keepSoon(IdentityStore.membershipName) {
            let count = self.membership.changeCount
            guard count != self.keptMembership else { return nil }
            return Writing(content: self.membership.encoded) { failure in
                if let failure {
                    self.log(.error, .node, "can't keep what was learnt of the group", ["reason": failure.message])
                } else {
                    self.keptMembership = count
                }
                self.membershipIsKept(failure == nil, upTo: count)
            }
        }
    }

    /// Writes what is known of the group with one more statement, made here, and takes that in once it is on disk, or not at
    /// all: a number that peers have heard of and that a power cut takes from this node would be given a second time.
    /// - Parameters:
    ///   - make: asked on the queue when it is its turn: what was said before has been taken in then.
    ///   - then: called on the queue.
    func keepMembership(
        adding make: @escaping @Sendable () throws(ControlError) -> SignedStatement,
        then: @escaping @Sendable (ControlError?) -> Void
    ) {
        keep(IdentityStore.membershipName) {
            let count = self.membership.changeCount
            let statement: SignedStatement
            do throws(ControlError) { statement = try make() } catch {
                then(error)
                return nil
            }
            guard let content = self.membership.encoded(adding: statement) else {
                then(.saidTooMuch)
                return nil
            }
            return Writing(content: content) { failure in
                if let failure {
                    return then(ControlError(.failed, "nothing was changed: \(failure.message); look at its disk"))
                }
                let changes = self.membership.take(statement)
                // Where nothing else came meanwhile, this is what stands on disk.
                if !changes.isEmpty, self.membership.changeCount == count + 1 {
                    self.keptMembership = count + 1
                    self.membershipIsKept(true, upTo: count + 1)
                }
                self.take(changes)
                then(nil)
            }
        }
    }

    /// Calls back on the queue once all that is known of the group now is on disk, or could not be written.
    package func whenMembershipIsKept(_ completion: @escaping @Sendable (Bool) -> Void) {
        let count = membership.changeCount
        if count == keptMembership { return completion(true) }
        membershipWaiters.append((count, completion))
        keepMembership()
    }

    private func membershipIsKept(_ isKept: Bool, upTo count: UInt64) {
        let waiters = membershipWaiters
        membershipWaiters = waiters.filter { $0.count > count }
        for waiter in waiters where waiter.count <= count { waiter.completion(isKept) }
    }
}
