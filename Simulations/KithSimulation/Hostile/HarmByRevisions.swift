import KithDocument
import KithReplication
import KithTestSupport

/// Offers revisions whose body has another hash, of its own documents and of others'.
final class WrongHash: Harm {
    private var claimed = 0

    func round(_ number: Int, of member: HostileMember) {
        let ids = [HostileMember.prefix + "hash\(number)"] + [member.drawVictim()?.document.string].compactMap(\.self)
        for id in ids {
            let revision = member.edit("{\"honest\":1}")
            member.offer(id, revision.with(body: Array("{\"honest\":2}".utf8)))
            member.offer(id, member.edit("{}").with(id: member.drawID(1)))
        }
        // Another body for each revision that it has heard of, for those who have not got it yet; and no body, and the like.
        for change in member.heard.dropFirst(claimed) {
            guard let leaf = change.leaves.first else { continue }
            let body = member.random.pick(["{\"other\":1}", "no JSON", ""])
            member.offer(change.document.string, member.edit(body).with(id: leaf.id))
        }
        claimed = member.heard.count
        member.announceOffers()
    }
}

/// Grafts revisions on any parent: on what they never saw, on what comes after them, on themselves.
final class ForgedAncestry: Harm {
    func round(_ number: Int, of member: HostileMember) {
        let id = HostileMember.prefix + "graft\(number)"
        let root = member.edit("{\"root\":\(number)}")
        member.offer(id, root)
        // Its parent is nothing that anybody knows, above that stands the root, of which its version knows nothing.
        let parent = member.drawID(2)
        let graft = member.edit("{\"graft\":\(number)}", parent: parent)
        member.offer(id, [graft.item(under: [parent, root.id])])
        // Its parent is the root, and it says of itself that it has not seen it.
        member.offer(id, [member.edit("{\"child\":\(number)}", parent: root.id).item(under: [root.id])])
        // What can't be: an ancestor of itself, one that comes later, one that comes twice, one of another generation.
        for ancestors in [[graft.id], [parent, graft.id], [parent, parent], [member.drawID(7), root.id]] {
            let wrong = member.edit("{\"wrong\":\(member.random.next())}", parent: parent)
            member.offer(id, [wrong.item(under: ancestors)])
            if let victim = member.drawVictim() {
                let forged = member.edit("{\"wrong\":1}", parent: parent)
                member.offer(
                    victim.document.string,
                    [forged.item(under: [member.drawID(9)] + victim.leaves.map(\.id) + ancestors)])
            }
        }
        member.announceOffers()
    }
}

/// Tells one peer what it wrote, and the others something else under the same id, as a revision of which nobody checks what
/// it holds.
final class ForeignCopy: Harm {
    func round(_ number: Int, of member: HostileMember) {
        let written = member.edit("{\"copy\":false}")
        let copy = written.with(body: Array("{\"copy\":true}".utf8), isForeign: true)
        for (index, peer) in member.peers.enumerated() {
            member.offer(HostileMember.prefix + "copy\(number)", index == 0 ? written : copy, to: peer)
        }
        member.announceOffers()
    }
}

/// Offers revisions of generations that no history reaches. The highest that is allowed comes as two leaves of one
/// document, one for each half of the peers: whoever merges them, or replaces them, is beyond it.
final class HugeGeneration: Harm {
    func round(_ number: Int, of member: HostileMember) {
        let highest = RevisionID.maximumGeneration
        let own = HostileMember.prefix + "generation\(number)"
        for generation in [highest, highest - 1] {
            for (index, peer) in member.peers.enumerated() {
                let leaf = member.edit("{\"leaf\":\(index)}").with(id: member.drawID(generation), isForeign: true)
                member.offer("\(own)-\(generation == highest ? "top" : "below")", leaf, to: peer)
            }
        }
        // What is beyond ends the link, so that nothing behind it is heard.
        guard number > 8 else { return member.announceOffers() }
        for generation in [highest + 1, 1 << 62, 1 << 63, .max, 0] {
            let ids = [own] + [member.drawVictim()?.document.string].compactMap(\.self)
            for id in ids {
                member.offer(id, member.edit().with(id: member.drawID(generation), isForeign: true))
                member.offer(
                    id, [member.edit(parent: member.drawID(max(1, min(generation, 1 << 60)))).item()])
            }
        }
        member.announceOffers()
    }
}
