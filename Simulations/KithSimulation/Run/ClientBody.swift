import KithDocument

/// A document as a client has it in hand: fields by path, with the text that it writes and what that must be stored as.
struct ClientBody {
    private(set) var fields: [(path: String, written: String)] = []

    /// - Parameter pairs: `PATH=VALUE` with one space between.
    init(pairs: String) {
        for pair in pairs.split(separator: " ") {
            guard let equals = pair.firstIndex(of: "=") else { continue }
            set(String(pair[..<equals]), String(pair[pair.index(after: equals)...]))
        }
    }

    /// A body that was read; empty for none.
    init(stored body: [UInt8]) {
        if body.isEmpty { return }
        for (path, value) in Fields.leaves(of: body) {
            let text = String(decoding: value, as: UTF8.self)
            if !text.utf8.elementsEqual("{}".utf8) { fields.append((path.pointer, text)) }
        }
    }

    /// Writes one field; what it takes the place of goes.
    mutating func set(_ path: String, _ written: String) {
        fields.removeAll { field in
            field.path.utf8.elementsEqual(path.utf8) || field.path.utf8.starts(with: (path + "/").utf8)
                || path.utf8.starts(with: (field.path + "/").utf8)
        }
        fields.append((path, written))
    }

    mutating func remove(_ path: String) {
        fields.removeAll { $0.path.utf8.elementsEqual(path.utf8) || $0.path.utf8.starts(with: (path + "/").utf8) }
    }

    /// What each field must be once it is stored.
    var stored: [(path: String, value: String)] { fields.map { ($0.path, Values.stored($0.written)) } }

    /// The text that the client sends: keys in the order in which they came, with space between.
    var text: [UInt8] {
        var members: [(key: String, text: String)] = []
        for (path, written) in fields {
            let keys = path.split(separator: "/").map(String.init)
            guard keys.count > 1 else {
                members.append((keys.first ?? "", written))
                continue
            }
            let inner = "\"\(keys[1])\" : \(written)"
            if let index = members.firstIndex(where: { $0.key.utf8.elementsEqual(keys[0].utf8) }) {
                members[index].text = members[index].text.dropLast(2) + ", " + inner + " }"
            } else {
                members.append((keys[0], "{ " + inner + " }"))
            }
        }
        return Array(("{ " + members.map { "\"\($0.key)\": \($0.text)" }.joined(separator: " , ") + " }").utf8)
    }
}
