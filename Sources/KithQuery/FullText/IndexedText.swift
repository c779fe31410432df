import KithDocument

/// A full-text index as the translation of a query sees it: a table of FTS5 whose row numbers are those of documents.
package struct IndexedText: Sendable {
    /// The index's name, and that of its table.
    package let name: String
    package let table: String
    /// What its fields are called, in their order.
    package let fields: [String]

    /// What of a value is found: strings, numbers as they are written, and those within arrays and objects, a line each. Nil
    /// where there are none.
    package static func words(of value: JSONValue) -> String? {
        var lines: [String] = []
        collect(value, &lines)
        return lines.isEmpty ? nil : lines.joined(separator: "\n")
    }

    private static func collect(_ value: JSONValue, _ lines: inout [String]) {
        switch value {
        case .null, .bool: break
        case .number(let number): lines.append(number.text)
        case .string(let string): if !string.isEmpty { lines.append(string) }
        case .array(let array): for element in array { collect(element, &lines) }
        case .object(let object): for (_, member) in object { collect(member, &lines) }
        }
    }
}

/// How a full-text index takes words.
package struct TextIndexOptions: Sendable, Hashable {
    /// The languages whose words are found in all their forms.
    package enum Language: String, Sendable, CaseIterable {
        case english = "en"
    }

    package var language: Language?
    /// Whether letters with marks are others than those without.
    package var keepsDiacritics: Bool

    package init(language: Language? = nil, keepsDiacritics: Bool = false) {
        self.language = language
        self.keepsDiacritics = keepsDiacritics
    }

    /// The tokenizer as FTS5 is told of it: `kith` is KithStore's.
    var tokenizer: String { tokenizerArguments.joined(separator: " ") }

    /// Its name and what it is given.
    package var tokenizerArguments: [String] {
        (language == .english ? ["porter"] : []) + ["kith", "remove_diacritics", keepsDiacritics ? "0" : "2"]
    }
}
