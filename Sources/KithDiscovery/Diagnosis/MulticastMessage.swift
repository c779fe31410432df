import KithDocument

/// As much of a multicast DNS message (RFC 6762, RFC 1035) as a diagnosis needs: a question that any machine with Kith or
/// another service answers, and the services of Kith in an answer. Anything may have sent what is read: every length is
/// looked at, and what can't be read is passed over.
enum MulticastMessage {
    /// A service of Kith that an answer names.
    struct Sighting: Hashable {
        /// The instance name, as far as it is text.
        let instance: String
        var text: ServiceText?
        /// The group tags under whose subtype it was named.
        var tags: Set<String> = []
    }

    private enum RecordType: UInt16 {
        case pointer = 12
        case text = 16
    }

    /// Asks for the nodes of the group, for those of all groups, and for services of any kind, by which machines without
    /// Kith are heard too.
    /// - Parameter instances: services whose text is asked for besides; those past the first 16 are left out.
    static func question(tag: String?, instances: [String] = []) -> [UInt8] {
        var questions: [(labels: [String], type: RecordType)] = [
            (service, .pointer), (["_services", "_dns-sd", "_udp", "local"], .pointer),
        ]
        if let tag { questions.append((["_\(tag)", "_sub"] + service, .pointer)) }
        for instance in instances.prefix(16) where (1...Limits.labelBytes).contains(instance.utf8.count) {
            questions.append(([instance] + service, .text))
        }
        var bytes: [UInt8] = [0, 0, 0, 0, 0, UInt8(questions.count), 0, 0, 0, 0, 0, 0]
        for question in questions {
            for label in question.labels {
                bytes.append(UInt8(label.utf8.count))
                bytes += label.utf8
            }
            bytes += [0, 0, UInt8(question.type.rawValue), 0, 1]
        }
        return bytes
    }

    /// The services of Kith in an answer; none in a question or in what can't be read.
    /// - Complexity: O(bytes · names), with the jumps of a name bounded.
    static func sightings(in message: [UInt8]) -> [Sighting] {
        guard message.count >= 12, message[2] & 0x80 != 0 else { return [] }
        var at = 12
        func number(_ index: Int) -> Int { Int(message[index]) << 8 | Int(message[index + 1]) }
        for _ in 0..<min(number(4), Limits.diagnosedRecords) {
            guard let name = name(in: message, at: at), name.end + 4 <= message.count else { return [] }
            at = name.end + 4
        }
        var found: [[String]: Sighting] = [:]
        let count = min(number(6) + number(8) + number(10), Limits.diagnosedRecords)
        for _ in 0..<count {
            guard let owner = name(in: message, at: at), owner.end + 10 <= message.count else { break }
            let data = owner.end + 10
            let length = number(owner.end + 8)
            guard data + length <= message.count else { break }
            at = data + length
            // A life time of zero is a goodbye.
            let isGone = message[owner.end + 4..<owner.end + 8].allSatisfy { $0 == 0 }
            if !isGone, let type = RecordType(rawValue: UInt16(number(owner.end))) {
                take(type, owner.labels, message, data..<data + length, &found)
            }
        }
        return found.keys.sorted { $0.lexicographicallyPrecedes($1) }.compactMap { found[$0] }
    }

    private static let service = ["_kith", "_tcp", "local"]

    private static func take(
        _ type: RecordType, _ owner: [String], _ message: [UInt8], _ data: Range<Int>,
        _ found: inout [[String]: Sighting]
    ) {
        switch type {
        case .pointer:
            let lower = owner.map { $0.lowercased() }
            let isSubtype = lower.count == 5 && lower[1] == "_sub" && Array(lower[2...]) == service
            guard lower == service || isSubtype, let instance = name(in: message, at: data.lowerBound)?.labels,
                isInstance(instance)
            else { return }
            var sighting = found[instance] ?? Sighting(instance: instance[0])
            if isSubtype { sighting.tags.insert(String(lower[0].dropFirst())) }
            found[instance] = sighting
        case .text:
            guard isInstance(owner) else { return }
            var sighting = found[owner] ?? Sighting(instance: owner[0])
            sighting.text = ServiceText(decoding: message[data])
            found[owner] = sighting
        }
    }

    private static func isInstance(_ labels: [String]) -> Bool {
        labels.count == 4 && labels.dropFirst().map { $0.lowercased() } == service
    }

    /// A name, with what it points to; nil when it is none.
    private static func name(in message: [UInt8], at start: Int) -> (labels: [String], end: Int)? {
        var labels: [String] = []
        var at = start
        var end: Int?
        var jumps = 0
        while at < message.count {
            let length = Int(message[at])
            switch length & 0xc0 {
            case 0 where length == 0: return (labels, end ?? at + 1)
            case 0:
                guard at + 1 + length <= message.count, labels.count < 128 else { return nil }
                labels.append(String(decoding: message[at + 1..<at + 1 + length], as: UTF8.self))
                at += 1 + length
            case 0xc0:
                guard at + 1 < message.count, jumps < Limits.diagnosedJumps else { return nil }
                if end == nil { end = at + 2 }
                jumps += 1
                at = (length & 0x3f) << 8 | Int(message[at + 1])
            default: return nil
            }
        }
        return nil
    }
}
