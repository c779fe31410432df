/// A plan that can't be read.
package struct PlanError: Error, Sendable, CustomStringConvertible {
    package let line: Int
    package let message: String
    package var description: String { "plan line \(line): \(message)" }
}

/// The `name=value` parts of a line of a plan; `fields` is the last and goes to the line's end.
struct PlanFields {
    private var fields: [(name: String, value: String)] = []
    let line: Int

    init(_ text: Substring, line: Int) throws(PlanError) {
        self.line = line
        var rest = text.drop { $0 == " " }
        while !rest.isEmpty {
            guard let equals = rest.firstIndex(of: "=") else {
                throw PlanError(line: line, message: "\"\(rest)\" is no name=value")
            }
            let name = String(rest[..<equals])
            let value = rest[rest.index(after: equals)...]
            let end = name == "fields" ? value.endIndex : value.firstIndex(of: " ") ?? value.endIndex
            guard self[name] == nil else { throw PlanError(line: line, message: "\(name)= is there twice") }
            fields.append((name, String(value[..<end])))
            rest = value[end...].drop { $0 == " " }
        }
    }

    subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    /// - Throws: where the line has a part that it can't have.
    func requireOnly(_ names: [String]) throws(PlanError) {
        for (name, _) in fields where !names.contains(name) {
            throw PlanError(line: line, message: "\(name)= says nothing here")
        }
    }

    func string(_ name: String) throws(PlanError) -> String {
        guard let value = self[name], !value.isEmpty else {
            throw PlanError(line: line, message: "\(name)= is missing")
        }
        return value
    }

    func number(_ name: String, in range: ClosedRange<Int>, or fallback: Int? = nil) throws(PlanError) -> Int {
        if let fallback, self[name] == nil { return fallback }
        guard let number = Int(try string(name)), range.contains(number) else {
            throw PlanError(line: line, message: "\(name)= must be from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Empty where the line has none.
    func nodes(_ name: String) throws(PlanError) -> NodeList {
        guard let text = self[name] else { return NodeList() }
        guard let list = NodeList(text: text) else {
            throw PlanError(line: line, message: "\(name)= must be a list of nodes, as 0-3,7")
        }
        return list
    }
}
