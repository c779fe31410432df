import KithCrypto

/// The text of `identity.pem`: lines `word: value`, then PEM blocks in a fixed order, so that the usual tools read it too.
///
///     kith-identity: 1
///     group: NAME
///     node: NAME
///     -----BEGIN PRIVATE KEY-----      the node's key
///     -----BEGIN CERTIFICATE-----      the node's, the admin's, the root's
///     -----BEGIN PRIVATE KEY-----      an admin's second key
///
/// After a node has left its group: `kith-identity: 1` and `left: yes`, nothing else.
enum IdentityFile {
    static let left = "kith-identity: 1\nleft: yes\n"

    enum Content {
        case left
        case identity(Identity)
    }

    static func text(of identity: Identity) throws(TransportError) -> String {
        try crypto { () throws(CryptoError) in
            var text = "kith-identity: 1\ngroup: \(identity.groupName)\nnode: \(identity.nodeName)\n"
            text += try identity.key.pem()
            for certificate in identity.chain { text += try certificate.pem() }
            if let admin = identity.admin { text += try admin.key.pem() }
            return text
        }
    }

    /// - Throws: `.malformed` or `.identity` when the text is not whole.
    static func read(_ bytes: [UInt8]) throws(TransportError) -> Content {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .malformed("it is not text") }
        if text == left { return .left }
        let (words, blocks) = split(text)
        guard words["kith-identity"] == "1" else {
            throw .malformed("it does not begin as an identity of this version")
        }
        guard let group = words["group"], let node = words["node"] else { throw .malformed("a name is missing") }
        let keys = blocks.filter { $0.label == "PRIVATE KEY" }
        let certificates = blocks.filter { $0.label == "CERTIFICATE" }
        guard (1...2).contains(keys.count), certificates.count == 3 else {
            throw .malformed("a key or certificate is missing")
        }
        let parts = try crypto { () throws(CryptoError) in
            (
                key: try PrivateKey(pem: keys[0].text),
                node: try Certificate(pem: certificates[0].text),
                issuer: try Certificate(pem: certificates[1].text),
                root: try Certificate(pem: certificates[2].text),
                admin: keys.count == 2 ? try PrivateKey(pem: keys[1].text) : nil
            )
        }
        return .identity(
            try Identity(
                groupName: group, nodeName: node, key: parts.key, certificate: parts.node, issuer: parts.issuer,
                root: parts.root, adminKey: parts.admin))
    }

    /// The text of a root's file: its key and its certificate.
    static func text(of root: GroupRoot) throws(TransportError) -> String {
        try crypto { () throws(CryptoError) in try root.key.pem() + root.certificate.pem() }
    }

    /// Reads a root's file.
    static func readRoot(_ bytes: [UInt8]) throws(TransportError) -> GroupRoot {
        let blocks = split(String(decoding: bytes, as: UTF8.self)).blocks
        guard let key = blocks.first(where: { $0.label == "PRIVATE KEY" }),
            let certificate = blocks.first(where: { $0.label == "CERTIFICATE" })
        else { throw .malformed("it does not hold a root's key and certificate") }
        let parts = try crypto { () throws(CryptoError) in
            (try PrivateKey(pem: key.text), try Certificate(pem: certificate.text))
        }
        return try GroupRoot(certificate: parts.1, key: parts.0)
    }

    private static func split(_ text: String) -> (words: [String: String], blocks: [(label: String, text: String)]) {
        var words: [String: String] = [:]
        var blocks: [(label: String, text: String)] = []
        var open: (label: String, text: String)?
        for line in text.split(separator: "\n", omittingEmptySubsequences: true) {
            if var block = open {
                block.text += line + "\n"
                open = block
                if line == "-----END \(block.label)-----" {
                    blocks.append(block)
                    open = nil
                }
            } else if line.hasPrefix("-----BEGIN "), line.hasSuffix("-----") {
                open = (String(line.dropFirst(11).dropLast(5)), line + "\n")
            } else if let colon = line.firstIndex(of: ":") {
                words[String(line[..<colon])] = String(line[line.index(after: colon)...].drop { $0 == " " })
            }
        }
        return (words, blocks)
    }
}
