import KithCrypto
import KithDocument

/// The rules by which a chain of certificates makes a peer a member: pure, of the root's certificate alone.
package struct GroupTrust: Sendable, Hashable {
    package let root: Certificate

    package init(root: Certificate) { self.root = root }

    /// The first 128 bits of the root's fingerprint: what an invite code holds.
    package var shortFingerprint: [UInt8] { Array(root.fingerprint.prefix(16)) }

    /// The group's public tag, 16 hex digits.
    package var tag: String { Self.tag(shortFingerprint: shortFingerprint) }

    /// The public tag by which the nodes of a group find each other. It follows from what an invite code holds, so that
    /// one who joins can look for the group.
    package static func tag(shortFingerprint: [UInt8]) -> String {
        Hex.encode(SHA256.hash(Array("kith group tag 1\0".utf8) + shortFingerprint).bytes.prefix(8))
    }

    /// Who shows these certificates, the leaf first. The chain must be node, admin, root; dates are not judged.
    package func verify(_ shown: [Certificate]) throws(Refusal) -> PeerIdentity {
        guard let leaf = shown.first else { throw .noCertificate }
        let chain: [Certificate]
        do throws(CryptoError) {
            chain = try Certificate.verifiedChain(shown, root: root, intermediates: 1)
        } catch { throw .notInGroup(error.reason.isEmpty ? error.what : error.reason) }
        guard chain.count == 3, chain[2] == root, !leaf.isAuthority else {
            throw .malformedCertificate("the chain is not node, admin, root")
        }
        let claims: (leaf: Claims, admin: Claims)
        do throws(TransportError) {
            claims = (try Claims(of: leaf), try Claims(of: chain[1]))
        } catch { throw .malformedCertificate(error.message) }
        guard case .node(let role, let number) = claims.leaf, case .admin(let admin, _) = claims.admin,
            let nodeID = NodeID(bytes: leaf.publicKeyHash)
        else { throw .malformedCertificate("the chain is not node, admin, root") }
        guard role < .admin || admin == nodeID else { throw .roleNotGranted }
        return PeerIdentity(nodeID: nodeID, role: role, number: number, admittedBy: admin)
    }

    /// The admin whose intermediate certificate this is.
    package func verifyAdmin(_ certificate: Certificate) throws(Refusal) -> NodeID {
        let chain: [Certificate]
        do throws(CryptoError) {
            chain = try Certificate.verifiedChain([certificate], root: root, intermediates: 0)
        } catch { throw .notInGroup(error.reason.isEmpty ? error.what : error.reason) }
        guard chain.count == 2, certificate.isAuthority else { throw .malformedCertificate("not an admin's") }
        guard let claims = try? Claims(of: certificate), case .admin(let node, _) = claims else {
            throw .malformedCertificate("not an admin's")
        }
        return node
    }
}
