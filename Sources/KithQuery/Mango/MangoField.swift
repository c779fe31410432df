/// The name of a field in a selector: names separated by points; a backslash before a point, a `$` or a backslash takes
/// its meaning from it.
struct MangoField {
    let names: [String]

    /// - Throws: `QueryError.selector` where a name is empty.
    init(_ text: String, at path: String) throws(QueryError) {
        var names: [String] = []
        var name = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in text.unicodeScalars {
            if isEscaped {
                if scalar != ".", scalar != "$", scalar != "\\" { name.append("\\") }
                name.append(scalar)
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else if scalar == "." {
                names.append(String(name))
                name = String.UnicodeScalarView()
            } else {
                name.append(scalar)
            }
        }
        if isEscaped { name.append("\\") }
        names.append(String(name))
        if names.contains(where: \.isEmpty) { throw .selector("the name of a field is empty", path: path) }
        if names.count > QueryLimits.selectorDepth {
            throw .selector("a field is nested deeper than \(QueryLimits.selectorDepth) levels", path: path)
        }
        self.names = names
    }
}
