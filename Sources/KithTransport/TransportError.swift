import Glibc
import KithCrypto
import KithDocument

/// Why a peer is refused.
package enum Refusal: Error, Hashable, Sendable {
    /// It showed no certificate.
    case noCertificate
    /// Its certificates don't lead to this group's root; the text is OpenSSL's reason.
    case notInGroup(String)
    /// Its certificate is of the group's root and still not one that Kith makes.
    case malformedCertificate(String)
    /// It says that it is an admin, which only the root can make it.
    case roleNotGranted
    /// The group has ended the membership of this node. Who shows its certificate need not be the node itself.
    case revoked(NodeID)
    /// What this node knew of its group was damaged, and it hears first from the one node that it was told to believe.
    case notHeardYet
    /// Another node answers there than the one that was dialled.
    case wrongNode(NodeID)
    /// It wants to speak another protocol over TLS, or none.
    case wrongProtocol
    /// A join, and no invite is open here.
    case noInviteOpen
    /// Its group is not the one of the invite code.
    case wrongGroup

    /// One sentence for people.
    package var message: String {
        switch self {
        case .noCertificate: "it shows no certificate"
        case .notInGroup(let reason): "it is not in this group (\(reason))"
        case .malformedCertificate(let reason): "its certificate is not one that Kith makes: \(reason)"
        case .roleNotGranted: "it calls itself an admin and the group's root has not made it one"
        case .revoked: "its membership was revoked"
        case .notHeardYet:
            "this node waits for the word of another first, since what it knew of the group was damaged"
        case .wrongNode(let node): "node \(node.short) answers there, another one was expected"
        case .wrongProtocol: "it does not speak Kith's protocol"
        case .noInviteOpen: "no invite is open"
        case .wrongGroup: "the node there is of another group than the invite code"
        }
    }
}

/// Why a join was turned down by the inviter.
package enum JoinRefusal: UInt8, Error, Hashable, Sendable, CaseIterable {
    case unknown = 1
    case used = 2
    case expired = 3
    case burnt = 4
    /// The inviter could not make the certificate: for an admin, it does not have the root's key any more.
    case cannotIssue = 5
    /// The inviter could not write that the code is used, so it did not use it.
    case storage = 6
    /// The request itself was not understood.
    case malformed = 7

    /// One sentence for people.
    package var message: String {
        switch self {
        case .unknown: "the inviter does not know this code: was it typed right, and made on that node?"
        case .used: "the code was used already; ask for a new one (`kith invite`)"
        case .expired: "the code has expired; ask for a new one (`kith invite`)"
        case .burnt: "the code was burnt after five wrong tries; ask for a new one (`kith invite`)"
        case .cannotIssue: "the inviter can't sign for this role; an admin's invite needs the root's key"
        case .storage: "the inviter could not write to its disk; look at its status"
        case .malformed: "the inviter did not understand the request: are both of the same version?"
        }
    }
}

/// What went wrong in this target. No case carries a key, a secret or data of the application.
package enum TransportError: Error, Hashable, Sendable {
    case crypto(CryptoError)
    /// A call of the system failed: which, on what, with which `errno`.
    case system(String, Int32)
    /// TLS broke down: OpenSSL's reason.
    case tls(String)
    /// We refuse the peer.
    case refused(Refusal)
    /// The peer refuses us, by an alert of TLS (RFC 8446, 6).
    case refusedByPeer(alert: Int)
    /// The connection ended without TLS's closing message: something may be missing.
    case truncated
    /// The peer closed during the handshake.
    case closedInHandshake
    /// No time left: for what.
    case timedOut(String)
    /// Large packets are lost on the way to the peer, or from it, while small ones pass.
    case largePacketsLost
    /// A host name or an address could not be used.
    case address(String)
    /// The inviter turned the join down.
    case joinRefused(JoinRefusal)
    /// An invite code as typed is wrong; the text says where, if it can be known.
    case inviteCode(String)
    /// Bytes from a peer or from a file break the format; the text says which rule.
    case malformed(String)
    /// The node's directory is not in the state that the step needs; the text says what to do.
    case identity(String)
    /// A name of a group, a node or a database breaks a rule.
    case invalidName(String)

    /// Whether a connection came up and the handshake had no end.
    package var isSilentHandshake: Bool {
        if case .timedOut(let what) = self { what.hasPrefix("the handshake") } else { false }
    }

    /// One sentence for people: what happened, and what to do where something can be done.
    package var message: String {
        switch self {
        case .crypto(let error): error.description
        case .system(let what, let code): "\(what): \(String(cString: strerror(code)))"
        case .tls(let reason): "TLS failed: \(reason)"
        case .refused(let refusal): "the peer was refused: \(refusal.message)"
        case .refusedByPeer(let alert): "the peer refused this node: \(Self.meaning(ofAlert: alert))"
        case .truncated: "the connection was cut"
        case .closedInHandshake: "the peer closed the connection during the handshake"
        case .timedOut(let what): "no answer in time: \(what)"
        case .largePacketsLost: "large packets are lost on the way, small ones arrive"
        case .address(let reason): reason
        case .joinRefused(let refusal): refusal.message
        case .inviteCode(let reason): reason
        case .malformed(let reason): reason
        case .identity(let reason): reason
        case .invalidName(let reason): reason
        }
    }

    /// TLS's word for a certificate that was revoked (RFC 8446, 6.2).
    package static let revokedAlert = 44

    private static func meaning(ofAlert alert: Int) -> String {
        switch alert {
        case 42: "it takes this node's certificate for a bad one"
        case revokedAlert: "this node's membership was revoked"
        case 48: "this node is not in its group"
        case 116: "it wants a certificate"
        case 120: "it does not accept this protocol now"
        default: "TLS alert \(alert)"
        }
    }
}

/// Runs a step of KithCrypto inside this target's errors.
func crypto<Result>(_ body: () throws(CryptoError) -> Result) throws(TransportError) -> Result {
    do throws(CryptoError) { return try body() } catch { throw .crypto(error) }
}
