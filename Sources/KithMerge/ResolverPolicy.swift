internal import KithDocument

/// Merges by code of the application.
///
/// What the code says is written over the join of the fields (`latest`): where it says the same, the stamps stay; what it says
/// otherwise has the highest stamp that any leaf has. So no stamp is made, and the merge is a function of the leaves.
///
/// The code is asked twice, with the leaves in their order and in the reverse one. Who answers otherwise the second time is no
/// function of the leaves, and would not answer on another node as here.
struct ResolverPolicy: MergePolicy {
    static let name = "resolver"

    private let code: ConflictResolver
    private let report: @Sendable (ResolverFailure) -> Void

    init(_ code: ConflictResolver, report: @escaping @Sendable (ResolverFailure) -> Void) {
        self.code = code
        self.report = report
    }

    var resolver: String { code.mark }

    func merge(_ leaves: [MergeLeaf]) -> Fields? {
        let seen = leaves.enumerated().map { ResolverLeaf($1, isWinner: $0 == leaves.count - 1) }
        switch (ask(seen), ask(seen.reversed())) {
        case (.leave, .leave): return nil
        case (.body(let body), .body(let again)) where body == again: return fields(body, leaves)
        case (.wrong(let reason), .wrong(let again)) where reason == again: return fail(reason)
        default: return fail("it answers otherwise when it is asked again with the versions in another order")
        }
    }

    private enum Answer {
        case leave
        /// Canonical.
        case body([UInt8])
        case wrong(String)
    }

    private func ask(_ leaves: [ResolverLeaf]) -> Answer {
        let answer: JSONValue?
        // What its error says may hold a part of a document.
        do { answer = try code.body(leaves) } catch {
            return .wrong("it fails with an error of type \(type(of: error))")
        }
        guard let answer else { return .leave }
        guard answer.object != nil else { return .wrong("its answer is no object") }
        let bytes = answer.canonicalBytes
        guard bytes.count <= DocumentLimits.documentBytes else {
            return .wrong("its answer has \(bytes.count) bytes; \(DocumentLimits.documentBytes) are the most")
        }
        guard let body = try? CanonicalJSON.object(from: bytes) else {
            return .wrong("its answer is no document: a name begins with _, or it is nested too deep")
        }
        return .body(body)
    }

    private func fields(_ body: [UInt8], _ leaves: [MergeLeaf]) -> Fields? {
        guard let latest = LatestPolicy().merge(leaves) else { return nil }
        // Where no leaf has a field nothing outranks what the code adds.
        let highest = leaves.flatMap { $0.fields.entries.map(\.stamp) }.max() ?? .zero
        return latest.edited(to: body, stamp: highest, absentLimit: DocumentLimits.maximumEntries) ?? latest
    }

    private func fail(_ reason: String) -> Fields? {
        report(ResolverFailure(resolver: code.mark, reason: reason))
        return nil
    }
}

extension MergePolicies {
    /// Name and version of the resolver that a policy names: `{"default":"resolver","resolver":"invoices","version":2}`.
    static func resolver(of policy: JSONValue) throws(DocumentError) -> String {
        guard let members = policy.object, members.count == 3,
            members["default"]?.string?.utf8.elementsEqual(ResolverPolicy.name.utf8) == true,
            let name = members["resolver"]?.string,
            let version = members["version"]?.integer.flatMap(Int.init(exactly:)),
            ConflictResolver.isValid(name: name, version: version)
        else {
            throw .malformed(
                "a policy by a resolver is {\"default\":\"resolver\",\"resolver\":NAME,\"version\":NUMBER}, the name of lower-case "
                    + "letters, digits, -, _ and ., the number from 1 on")
        }
        return "\(name)/\(version)"
    }
}
