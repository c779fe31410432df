package import KithDocument

extension MergePolicies {
    /// The name of the policy that a statement describes: `{"default":"latest"}`.
    /// - Returns: a name of which there is no policy when this node does not understand all of the statement, which makes
    ///   the database leave conflicts alone.
    package static func name(ofPolicy json: [UInt8]) -> String {
        guard let value = try? JSONValue(parsing: json), let object = value.object,
            object.count == 1, let name = value["default"]?.string
        else { return "unknown" }
        return name
    }

    /// The canonical form of a policy as somebody wrote it, if this node understands all of it.
    /// - Throws: `DocumentError.malformed` with what is not understood, or what the JSON breaks.
    package static func validated(_ json: [UInt8]) throws(DocumentError) -> [UInt8] {
        let canonical = try CanonicalJSON.object(from: json)
        let name = name(ofPolicy: canonical)
        guard named(name) != nil else {
            throw .malformed("a policy is {\"default\":NAME} with NAME one of \(names.joined(separator: ", "))")
        }
        return canonical
    }
}
