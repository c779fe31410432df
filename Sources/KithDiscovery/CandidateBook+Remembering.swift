import KithDocument
import KithNetwork

/// Addresses that worked before, over a restart.
extension CandidateBook {
    /// A node that answered at an address.
    struct Remembered: Hashable {
        let node: NodeID
        let address: Endpoint
    }

    private static let header = "kith addresses 1"

    /// Puts an entry first; the oldest of the node and the oldest of all make room.
    mutating func remember(_ entry: Remembered) {
        remembered.removeAll { $0 == entry }
        remembered.insert(entry, at: 0)
        let ofNode = remembered.indices.filter { remembered[$0].node == entry.node }
        if ofNode.count > Limits.rememberedPerNode { remembered.remove(at: ofNode[Limits.rememberedPerNode]) }
        if remembered.count > Limits.remembered { remembered.removeLast() }
    }

    /// Forgets the addresses of a node: it was revoked.
    package mutating func forget(_ node: NodeID) {
        remembered.removeAll { $0.node == node }
        advertised[node] = nil
        staticNodes = staticNodes.filter { $0.value != node }
    }

    /// The remembered addresses as text for a file: a header, then a line `NODE ADDRESS` each, the latest first.
    /// Link-local addresses are left out: the interface they belong to may have another number after a restart.
    package var rememberedText: String {
        var text = Self.header + "\n"
        for entry in remembered {
            if case .numeric(let address) = entry.address, address.scope != 0 { continue }
            text += "\(entry.node) \(entry.address)\n"
        }
        return text
    }

    /// Takes remembered addresses out of such text. Lines that can't be read are passed over, and text of another
    /// header as a whole: they are hints, and the peers are found again without them.
    package mutating func readRemembered(_ text: String) {
        let lines = String(decoding: text.utf8.prefix(Limits.rememberedBytes), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: true)
        guard let first = lines.first, first == Self.header else { return }
        for line in lines.dropFirst().prefix(Limits.remembered).reversed() {
            let words = line.split(separator: " ")
            guard words.count == 2, let node = NodeID(String(words[0])),
                let address = try? Endpoint(peer: String(words[1]))
            else { continue }
            remember(Remembered(node: node, address: address))
        }
    }
}
