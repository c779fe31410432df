import KithDocument

// Paths here are names of members and, in arrays, numbers of elements.
extension JSONValue {
    func value(at path: ArraySlice<String>) -> JSONValue? {
        guard let name = path.first else { return self }
        let child = array == nil ? self[name] : Int(name).flatMap { self[$0] }
        return child?.value(at: path.dropFirst())
    }

    /// The same with another value at a path; itself where the path leads nowhere.
    func replacing(_ path: ArraySlice<String>, with value: JSONValue) -> JSONValue {
        guard let name = path.first else { return value }
        switch self {
        case .object(var object):
            let child = object[name] ?? .object(JSONObject())
            object[name] = child.replacing(path.dropFirst(), with: value)
            return .object(object)
        case .array(var array):
            guard let index = Int(name), array.indices.contains(index) else { return self }
            array[index] = array[index].replacing(path.dropFirst(), with: value)
            return .array(array)
        default: return self
        }
    }

    /// The paths of all scalars, and of arrays and objects without any.
    var leafPaths: [[String]] {
        switch self {
        case .object(let object) where !object.isEmpty:
            object.flatMap { key, value in value.leafPaths.map { [key] + $0 } }
        case .array(let array) where !array.isEmpty:
            array.enumerated().flatMap { index, value in value.leafPaths.map { [String(index)] + $0 } }
        default: [[]]
        }
    }

    /// The paths of all members of objects, arrays as they are.
    var memberPaths: [[String]] {
        guard case .object(let object) = self else { return [] }
        return object.flatMap { key, value in [[key]] + value.memberPaths.map { [key] + $0 } }
    }
}
