package import KithDocument

extension MergePolicies {
    /// The policy that a statement describes:
    /// `{"default":"latest","paths":{"/count":"max"},"together":[["/status","/completedAt"]]}`.
    /// - Returns: the policy, and the name by which it is kept beside the statement.
    /// - Throws: `DocumentError.malformed` with the first thing that is not understood, and with its path.
    package static func described(by json: [UInt8]) throws(DocumentError) -> (name: String, policy: any MergePolicy) {
        var reader = PolicyReader()
        let value = try JSONValue(parsing: json)
        if value.object?["default"]?.string?.utf8.elementsEqual(ResolverPolicy.name.utf8) == true {
            _ = try resolver(of: value)
            return (ResolverPolicy.name, ManualPolicy())
        }
        let name = try reader.readDefault(of: value)
        if reader.paths.isEmpty, let policy = named(name) { return (name, policy) }
        guard name.utf8.elementsEqual(LatestPolicy.name.utf8) else {
            throw .malformed("with the default \"\(name)\" no path merges: leave out \"paths\" and \"together\"")
        }
        return (PathPolicy.name, PathPolicy(rules: reader.rules, groups: reader.groups))
    }

    /// The name of the policy that a statement describes.
    /// - Returns: a name of which there is no policy when this node does not understand all of the statement, which makes
    ///   the database leave conflicts alone.
    package static func name(ofPolicy json: [UInt8]) -> String { (try? described(by: json))?.name ?? "unknown" }

    /// The canonical form of a policy as somebody wrote it, if this node understands all of it.
    /// - Throws: `DocumentError` with what is not understood, or what the JSON breaks.
    package static func validated(_ json: [UInt8]) throws(DocumentError) -> [UInt8] {
        let canonical = try CanonicalJSON.object(from: json)
        _ = try described(by: canonical)
        return canonical
    }
}

/// Reads the members of a policy.
private struct PolicyReader {
    private(set) var rules: [(path: FieldPath, rule: any ValueRule)] = []
    private(set) var groups: [FieldGroup] = []
    /// All that are named so far.
    private(set) var paths: [FieldPath] = []

    /// Reads all members, and returns the name of the default.
    mutating func readDefault(of policy: JSONValue) throws(DocumentError) -> String {
        guard let members = policy.object, let name = members["default"]?.string,
            MergePolicies.named(name) != nil
        else {
            let names = MergePolicies.names.joined(separator: ", ")
            throw .malformed("a policy is {\"default\":NAME} with NAME one of \(names)")
        }
        for (key, value) in members {
            switch key {
            case "default": break
            case "paths": try readRules(value)
            case "together": try readGroups(value)
            default:
                throw .malformed(
                    "a policy has \"default\", \"paths\" and \"together\"; \(Self.quoted(key)) is none of them")
            }
        }
        try checkOverlap()
        return name
    }

    private mutating func readRules(_ value: JSONValue) throws(DocumentError) {
        guard let members = value.object else {
            throw .malformed("\"paths\" is an object: {\"/count\":\"max\",\"/tags\":\"union\"}")
        }
        for (pointer, value) in members {
            guard let rule = value.string.flatMap({ ValueRules.named($0) }) else {
                let names = ValueRules.names.joined(separator: ", ")
                throw .malformed("the policy of a path is one of \(names); of \(Self.quoted(pointer)) it is none")
            }
            rules.append((try take(pointer), rule))
        }
    }

    private mutating func readGroups(_ value: JSONValue) throws(DocumentError) {
        guard let groups = value.array else { throw Self.groupsExpected }
        for group in groups {
            guard let members = group.array, !members.isEmpty else { throw Self.groupsExpected }
            var taken: [FieldPath] = []
            for member in members {
                guard let pointer = member.string else { throw Self.groupsExpected }
                taken.append(try take(pointer))
            }
            self.groups.append(FieldGroup(paths: taken))
        }
    }

    private static let groupsExpected = DocumentError.malformed(
        "\"together\" is a list of lists of paths: [[\"/status\",\"/completedAt\"]]")

    private mutating func take(_ pointer: String) throws(DocumentError) -> FieldPath {
        let encoded: [UInt8]
        do throws(DocumentError) { encoded = try FieldPathCoding.encode(pointer: pointer) } catch {
            throw .malformed("\(error.message); a policy has the path \(Self.quoted(pointer))")
        }
        guard let path = FieldPath(validating: encoded) else {
            throw .malformed("a policy is for fields, as /count; \(Self.quoted(pointer)) is the path of none")
        }
        guard encoded.first != UInt8(ascii: "_") else {
            throw .malformed(
                "top-level names that begin with _ are reserved; \(Self.quoted(pointer)) can't have a policy")
        }
        guard paths.count < MergeLimits.policyPaths else {
            throw .malformed(
                "a policy names at most \(MergeLimits.policyPaths) paths; \(Self.quoted(pointer)) is one more")
        }
        paths.append(path)
        return path
    }

    /// What is under a path follows it at once.
    private func checkOverlap() throws(DocumentError) {
        let sorted = paths.sorted()
        for (above, path) in zip(sorted, sorted.dropFirst()) where path.isAtOrUnder(above) {
            if path == above { throw .malformed("a policy names the path \(Self.quoted(path.pointer)) twice") }
            throw .malformed(
                "the paths of a policy must not overlap; \(Self.quoted(path.pointer)) is under "
                    + Self.quoted(above.pointer))
        }
    }

    /// A path as it may stand in a message: in one line.
    private static func quoted(_ text: String) -> String { JSONValue.string(text).description }
}
