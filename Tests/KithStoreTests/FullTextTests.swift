import KithDocument
import KithQuery
import KithTestSupport
import Testing

@testable import KithStore

/// Full-text indexes: what is found, in which order, how it is shown, and what is wrong with what was asked.
@Suite struct FullTextTests {
    private static func store(
        _ documents: [String: String], _ options: TextIndexOptions = TextIndexOptions(),
        fields: [String] = ["title", "text"],
        where filter: String? = nil
    ) throws -> TestStore {
        let store = try TestStore()
        try store.store.createIndex(IndexDefinition("words", .text(fields, options), where: filter))
        for (id, body) in documents.sorted(by: { $0.key < $1.key }) { try store.put(id, body) }
        return store
    }

    private static func texts(_ texts: [String], _ options: TextIndexOptions = TextIndexOptions()) throws -> TestStore {
        let bodies = texts.enumerated().map { number, text in
            ("d\(number)", JSONValue.object(["text": .string(text)]).description)
        }
        return try store(Dictionary(uniqueKeysWithValues: bodies), options)
    }

    /// The numbers of the documents that are found.
    private func found(_ words: String, _ store: TestStore) throws -> [String] {
        try values("SELECT RAW META().id FROM _ WHERE MATCH(words, $w) ORDER BY META().id", words, store)
    }

    private func values(_ query: String, _ words: String, _ store: TestStore) throws -> [String] {
        try store.reader.query(query, parameters: ParameterValues(["w": .string(words)])).rows().map {
            $0.value.string ?? $0.value.json?.description ?? "MISSING"
        }
    }

    private func message(_ query: String, _ store: TestStore, _ parameters: JSONObject = [:]) -> String? {
        do {
            _ = try store.reader.query(query, parameters: ParameterValues(parameters)).rows()
            return nil
        } catch { return error.query?.message ?? "\(error)" }
    }

    @Test func `words are found in Chinese, Japanese and Korean, wherever they stand`() throws {
        let store = try Self.texts([
            "今天去买鸡蛋", "鸡蛋糕", "明天去北京大学。", "東京タワーに行きました", "학교에서 공부했다", "我用iPhone手机 test", "买鸡 蛋",
        ])
        for (words, numbers) in [
            ("鸡蛋", ["d0", "d1"]), ("去买鸡蛋", ["d0"]), ("今天去买鸡蛋", ["d0"]), ("蛋糕", ["d1"]), ("鸡", ["d0", "d1", "d6"]),
            ("蛋", ["d0", "d1", "d6"]), ("糕", ["d1"]), ("北京", ["d2"]), ("京大", ["d2"]), ("大学", ["d2"]),
            ("天", ["d0", "d2"]),
            ("タワー", ["d3"]), ("東京", ["d3"]), ("行きました", ["d3"]), ("학교", ["d4"]), ("교에서", ["d4"]), ("공부", ["d4"]),
            ("手机", ["d5"]), ("iphone手机", ["d5"]), ("\"手机 test\"", ["d5"]), ("机 test", ["d5"]), ("买蛋", []),
            ("鸡蛋 NOT 糕", ["d0"]),
            ("去 AND 北京", ["d2"]), ("鸡蛋!", ["d0", "d1"]), ("「鸡蛋」", ["d0", "d1"]), ("大*", ["d2"]),
            ("鸡蛋 OR 手机", ["d0", "d1", "d5"]),
        ] {
            #expect(try found(words, store) == numbers, "\(words)")
        }
    }

    @Test func `words, phrases, beginnings, nearness, fields and signs`() throws {
        let store = try Self.store([
            "a": #"{"title":"Buying milk","text":"Two eggs, some bread and MILK."}"#,
            "b": #"{"title":"Bread","text":"How bread is made: flour and water"}"#,
            "c": #"{"title":"Café","text":"don't e-mail naïve résumés","tags":["x"]}"#,
            "d": #"{"title":"numbers","text":["one", {"k": "two"}, 2024, null, true]}"#,
            "e": #"{"other":"milk"}"#, "f": #"{"title":"","text":{}}"#,
        ])
        for (words, ids) in [
            ("milk", "a"), ("MILK eggs", "a"), ("bread", "a b"), ("bread NOT milk", "b"), ("milk OR flour", "a b"),
            ("bread AND (milk OR flour)", "a b"), ("\"bread is made\"", "b"), ("\"bread made\"", ""), ("mil*", "a"),
            ("\"two egg\" *", "a"), ("NEAR(eggs milk)", "a"), ("NEAR(eggs milk, 2)", ""), ("NEAR(eggs milk, 3)", "a"),
            ("title: milk", "a"), ("text: milk", "a"), ("title: eggs", ""), ("{title text}: bread", "a b"),
            ("- {title}: bread", "a b"), ("-title: buying", ""), ("title: (bread OR café)", "b c"), ("^bread", "b"),
            ("^how", "b"), ("title: ^bread", "b"), ("cafe", "c"), ("CAFÉ", "c"), ("naive", "c"), ("resumes", "c"),
            ("don't", "c"), ("e-mail", "c"), ("one two", "d"), ("2024", "d"), ("true", ""), ("how + bread", "b"),
            ("!!!", ""),
            ("milk !!! ?", "a"), ("", ""), ("   ", ""), ("\"\"", ""), ("bread NOT ...", "a b"), ("... OR flour", "b"),
            ("AND", "?"), ("bread milk flour", ""), ("near", ""), ("NEAR", ""), ("and", "a b"),
        ] where ids != "?" {
            #expect(try found(words, store) == ids.split(separator: " ").map(String.init), "\(words)")
        }
    }

    @Test func `a language finds a word in its forms, and marks can count`() throws {
        let english = try Self.texts(["running dogs", "he runs", "Café"], TextIndexOptions(language: .english))
        #expect(try found("run", english) == ["d0", "d1"] && found("dog", english) == ["d0"])
        #expect(try found("鸡蛋", english) == [] && found("cafe", english) == ["d2"])
        let exact = try Self.texts(["running", "Café", "鸡蛋"], TextIndexOptions(keepsDiacritics: true))
        #expect(try found("run", exact) == [] && found("cafe", exact) == [] && found("CAFÉ", exact) == ["d1"])
        #expect(try found("鸡蛋", exact) == ["d2"])
    }

    @Test func `what fits better comes first, and is shown with marks`() throws {
        let store = try Self.store([
            "a": #"{"title":"x","text":"milk and a lot of other words that have nothing to do with it at all"}"#,
            "b": #"{"title":"milk","text":"milk milk"}"#, "c": #"{"title":"蛋","text":"鸡蛋糕和鸡蛋"}"#,
        ])
        let ranked = "SELECT RAW META().id FROM _ WHERE MATCH(words, $w) ORDER BY RANK(words)"
        #expect(try values(ranked + " DESC", "milk", store) == ["b", "a"])
        #expect(try values(ranked, "milk", store) == ["a", "b"])
        #expect(
            try values("SELECT RAW RANK(words) > 0 FROM _ WHERE MATCH(words, $w) AND RANK(words) > 0", "milk", store)
                == ["true", "true"])
        let shown = "SELECT RAW HIGHLIGHT(words, text, '[', ']') FROM _ WHERE MATCH(words, $w)"
        #expect(
            try values(shown, "\"lot of\" OR do", store) == [
                "milk and a [lot of] other words that have nothing to [do] with it at all"
            ])
        #expect(try values(shown, "鸡蛋 OR 蛋糕", store) == ["[鸡蛋糕]和[鸡蛋]"])
        #expect(try values(shown, "title: 蛋", store) == ["鸡蛋糕和鸡蛋"])
        #expect(
            try values("SELECT RAW HIGHLIGHT(words, 'title') FROM _ WHERE MATCH(words, $w)", "蛋", store) == ["<b>蛋</b>"]
        )
        #expect(
            try values(
                "SELECT RAW HIGHLIGHT(words, title) FROM _ WHERE MATCH(words, $w) ORDER BY title LIMIT 1", "milk", store
            )
                == ["<b>milk</b>"])
    }

    @Test func `a match is a condition like others`() throws {
        let store = try Self.store([
            "a": #"{"title":"milk","n":1}"#, "b": #"{"title":"milk bread","n":2}"#, "c": #"{"title":"bread","n":3}"#,
            "d": #"{"n":4}"#,
        ])
        func ids(_ condition: String) throws -> [String] {
            try values("SELECT RAW META().id FROM _ WHERE \(condition) ORDER BY META().id", "milk", store)
        }
        #expect(try ids("MATCH(words, $w)") == ["a", "b"])
        #expect(try ids("MATCH(words, $w) AND n > 1") == ["b"])
        #expect(try ids("NOT MATCH(words, $w)") == ["c", "d"])
        #expect(try ids("MATCH(words, $w) OR n = 4") == ["a", "b", "d"])
        #expect(try ids("MATCH(words, $w) AND MATCH(words, 'bread')") == ["b"])
        #expect(try ids("MATCH(words, $w) AND (n = 1 OR MATCH(words, $w) AND MATCH('words', 'bread'))") == ["a", "b"])
        #expect(try ids("MATCH(words, NULL) OR NOT MATCH(words, NULL)") == [])
        #expect(try ids("MATCH(words, 'mi' || 'lk')") == ["a", "b"])
        #expect(
            try values("SELECT RAW MATCH(words, $w) FROM _ ORDER BY META().id", "milk", store) == [
                "true", "true", "false", "false",
            ])
        #expect(
            try values("SELECT RAW COUNT(*) FROM _ GROUP BY MATCH(words, $w) ORDER BY MATCH(words, $w)", "milk", store)
                == ["2", "2"])
        #expect(
            try values(
                "SELECT RAW a.n || '' FROM x AS a JOIN x AS b ON a.n < b.n AND MATCH(b.words, 'bread') WHERE MATCH(a.words, $w) ORDER BY a.n, b.n",
                "milk", store
            ).count == 3)
        #expect(try store.reader.explain("SELECT * FROM _ WHERE MATCH(words, 'x')").indexes == ["words"])
        #expect(try store.reader.explain("SELECT * FROM _ WHERE n = 1 OR MATCH(words, 'x')").indexes == ["words"])
    }

    @Test func `what is wrong is said, with its place`() throws {
        let store = try Self.texts(["milk"])
        for (words, message) in [
            (
                "milk AND",
                "at character 9 of the text that MATCH looks for: found the end, expected a word or a phrase between \""
            ),
            ("(milk", "at character 6 of the text that MATCH looks for: found the end, expected )"),
            (
                "milk)",
                "at character 5 of the text that MATCH looks for: found ), expected a word, AND, OR, NOT or the end"
            ),
            ("a \"b", "at character 3 of the text that MATCH looks for: the quote that begins here has no end"),
            (
                "http://x",
                "at character 1 of the text that MATCH looks for: the index has no field http: it has title, text;"
                    + " a : that is meant as such stands between \""
            ),
            (
                "milk -eggs",
                "at character 6 of the text that MATCH looks for: found -eggs, expected a word: what is left out stands"
                    + " behind NOT, as in milk NOT bread"
            ),
            (
                "NEAR(a b, x)",
                "at character 11 of the text that MATCH looks for: found x, expected how many words may stand between,"
                    + " from 0 to 1000"
            ),
            ("OR", "at character 1 of the text that MATCH looks for: found OR, expected a word or a phrase between \""),
            ("-{title text}: a", "at character 1 of the text that MATCH looks for: no field is left to look in"),
            ("*", "at character 1 of the text that MATCH looks for: found *, expected a word or a phrase between \""),
            (
                String(repeating: "(", count: 9) + "a",
                "at character 9 of the text that MATCH looks for: it is nested deeper than 8 levels"
            ),
        ] {
            let error = self.message("SELECT * FROM _ WHERE MATCH(words, $w)", store, ["w": .string(words)])
            #expect(error?.hasSuffix(message) == true, "\(words): \(error ?? "no error")")
            #expect(error?.hasPrefix("line 1, column 36: ") == true, "\(error ?? "")")
        }
        for (query, message) in [
            ("SELECT * FROM _ WHERE MATCH(word, 'x')", "there is no full-text index named word; there are: words"),
            (
                "SELECT * FROM _ WHERE MATCH(words, text)",
                "what MATCH looks for is the same for all rows: expected a string or a parameter"
            ),
            ("SELECT * FROM _ WHERE MATCH(words, 5)", "MATCH looks for a string, and this is of type number"),
            ("SELECT RANK(words) FROM _", "RANK of words needs MATCH(words, ...) of the first source in WHERE"),
            ("SELECT RANK(words) FROM _ WHERE NOT MATCH(words, 'x')", "RANK of words needs MATCH"),
            (
                "SELECT HIGHLIGHT(words, other) FROM _ WHERE MATCH(words, 'x')",
                "the index words has no field other: expected one of title, text"
            ),
            (
                "SELECT DISTINCT HIGHLIGHT(words, text) FROM _ WHERE MATCH(words, 'x')",
                "HIGHLIGHT can't be asked of groups"
            ),
            ("SELECT * FROM x AS a JOIN x AS b ON TRUE WHERE MATCH(words, 'x')", "expected a.words or b.words"),
            ("SELECT MATCH(words, 'x')", "MATCH, RANK and HIGHLIGHT need a source: expected FROM"),
        ] {
            let error = self.message(query, store)
            #expect(error?.contains(message) == true, "\(query): \(error ?? "no error")")
        }
        #expect(throws: QueryError.self) { try IndexDefinition("i", .text([], TextIndexOptions())) }
        #expect(throws: QueryError.self) { try IndexDefinition("i", .text(["a", "a"], TextIndexOptions())) }
        #expect(throws: QueryError.self) { try IndexDefinition("i", .text(["1"], TextIndexOptions())) }
        #expect(throws: QueryError.self) { try IndexDefinition("i", .values(["MATCH(words, 'x')"])) }
    }

    @Test func `nothing of what is looked for is taken for SQL, or for more than words`() throws {
        let store = try Self.store(
            ["a": #"{"title":"milk' OR 1=1 --","te\"xt":"it's \"x\" y"}"#], fields: ["title", "`te\"xt`"])
        #expect(try found("milk' OR 1=1 --", store) == ["a"])
        for words in [
            "x') OR 1=1 --", "\"x\"\" OR \"\"milk\"", "c0: milk", "rank: x", "words: x", "' UNION SELECT 1 --",
            "\u{0}milk*\u{0}",
            "\"\u{0}\"", "*reads", "*id", "{c0}: x", "NEAR(", "^", "+", ":", "{}", "{title", "a:b:c", "((((((((((",
            "\u{FFFD}\u{202E}",
        ] {
            // Whatever it finds, it ends with a result or an error that says where.
            let error = message("SELECT RAW META().id FROM _ WHERE MATCH(words, $w)", store, ["w": .string(words)])
            #expect(error == nil || error!.contains("of the text that MATCH looks for"), "\(words): \(error ?? "")")
        }
        #expect(try found("\"te\"\"xt\": it's", store) == ["a"])
        #expect(
            try values(#"SELECT RAW HIGHLIGHT(words, `te"xt`, "'", '"') FROM _ WHERE MATCH(words, $w)"#, "x", store)
                == [#"it's "'x"" y"#])
        let long = String(repeating: "word ", count: 250)
        #expect(
            message("SELECT * FROM _ WHERE MATCH(words, $w)", store, ["w": .string(long)])?.contains(
                "more than 200 words") == true)
    }

    @Test func `an index is kept with each write of a group, and not with one that fails`() throws {
        let store = try Self.texts([])
        let body = try TestStore.canonical(#"{"text":"milk"}"#)
        func work(_ id: String, fails: Bool = false) -> (WriteTransaction) throws(StoreError) -> Void {
            { (transaction) throws(StoreError) in
                _ = try transaction.put(DocumentID(unchecked: id), body)
                if fails { throw StoreError(.conflict, id, "no") }
            }
        }
        let results = store.store.commit([work("d0"), work("d1"), work("d2", fails: true), work("d3"), work("d4")])
        #expect(results.map { (try? $0.get()) != nil } == [true, true, false, true, true])
        #expect(try found("milk", store) == ["d0", "d1", "d3", "d4"])
        #expect(try store.findings() == [])
        try store.put("d0", #"{"text":"bread"}"#)
        try store.delete("d1")
        try store.purge("d3")
        try store.put("d4", #"{"n":1,"text":"milk"}"#)
        #expect(try found("milk", store) == ["d4"] && found("bread", store) == ["d0"])
        #expect(try store.findings() == [])
    }

    @Test func `only documents of its condition are in a partial one`() throws {
        let store = try Self.store(
            ["a": #"{"text":"milk","type":"x"}"#, "b": #"{"text":"milk","type":"y"}"#], where: "type = 'x'")
        #expect(try found("milk", store) == ["a"])
        try store.put("b", #"{"text":"milk","type":"x"}"#)
        try store.put("a", #"{"text":"milk","type":"y"}"#)
        #expect(try found("milk", store) == ["b"])
        #expect(try store.findings() == [])
    }

    @Test func `it is made of what is there, with its progress, and says its size`() throws {
        let store = try TestStore()
        try store.store.write { (transaction) throws(StoreError) in
            for number in 0..<3_500 {
                let body = JSONValue.object(["text": .string("word\(number % 7) and more of them \(number)")])
                    .canonicalBytes
                _ = try transaction.put(DocumentID(unchecked: "d\(number)"), body)
            }
        }
        var last: (UInt64, UInt64) = (0, 0)
        try store.store.createIndex(
            IndexDefinition("words", .text(["text"], TextIndexOptions(language: .english)))
        ) { done, total in
            last = (done, total)
            return true
        }
        #expect(last == (3_500, 3_500))
        #expect(try found("word3", store).count == 500)
        let listing = try #require(try store.reader.indexes().first)
        #expect((listing.bytes ?? 0) > 4_096 && listing.definition.json.object?["language"]?.string == "en")
        #expect(try IndexDefinition(json: listing.definition.json) == listing.definition)
        #expect(throws: StoreError.self) {
            try store.store.createIndex(IndexDefinition("other", .text(["text"], TextIndexOptions()))) { _, _ in false }
        }
        #expect(try store.reader.indexes().map(\.definition.name) == ["words"])
        try store.check()
    }

    @Test func `a damaged index is found`() throws {
        let store = try Self.texts(["milk and bread", "鸡蛋"])
        #expect(try store.findings() == [])
        let connection = try Connection(path: store.file.path, subject: "test", access: .write)
        try connection.run("INSERT INTO words_1(words_1, rowid, c1) VALUES ('delete', 1, 'milk')")
        #expect(try store.findings().contains { $0.message.contains("the index words is not that of the documents") })
        try store.repair()
        #expect(try store.findings() == [])
        #expect(try found("milk", store) == ["d0"])
    }

    @Test(arguments: 1...5)
    func `random searches find what a plain search finds`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let words = ["milk", "bread", "egg", "eggs", "鸡蛋", "蛋糕", "鸡", "去买", "e", "ab"]
        let texts = (0..<60).map { _ in
            (0..<Int.random(in: 0...6, using: &random)).map { _ in words.randomElement(using: &random)! }
                .joined(separator: ["", " ", ", "].randomElement(using: &random)!)
        }
        let store = try Self.texts(texts)
        for _ in 0..<300 {
            let search = Search.random(depth: 3, words, &random)
            let expected = texts.indices.filter { search.finds(texts[$0]) }.map { "d\($0)" }.sorted()
            #expect(try found(search.text, store) == expected, "seed \(seed): \(search.text)")
        }
    }
}

/// A search, as it is written and as a plain look at a text.
private indirect enum Search {
    case word(String, isPrefix: Bool)
    case both(Search, Search)
    case either(Search, Search)
    case without(Search, Search)

    static func random(depth: Int, _ words: [String], _ random: inout SeededGenerator) -> Search {
        switch depth == 0 ? 0 : Int.random(in: 0..<5, using: &random) {
        case 1: .both(.random(depth: depth - 1, words, &random), .random(depth: depth - 1, words, &random))
        case 2: .either(.random(depth: depth - 1, words, &random), .random(depth: depth - 1, words, &random))
        case 3: .without(.random(depth: depth - 1, words, &random), .random(depth: depth - 1, words, &random))
        default: .word(words.randomElement(using: &random)!, isPrefix: Int.random(in: 0..<4, using: &random) == 0)
        }
    }

    var text: String {
        switch self {
        case .word(let word, let isPrefix): word + (isPrefix ? "*" : "")
        case .both(let one, let other): "(\(one.text) AND \(other.text))"
        case .either(let one, let other): "(\(one.text) OR \(other.text))"
        case .without(let one, let other): "(\(one.text) NOT \(other.text))"
        }
    }

    func finds(_ text: String) -> Bool {
        switch self {
        case .both(let one, let other): return one.finds(text) && other.finds(text)
        case .either(let one, let other): return one.finds(text) || other.finds(text)
        case .without(let one, let other): return one.finds(text) && !other.finds(text)
        case .word(let word, let isPrefix):
            // Letters make words up to where another kind of character stands; others are found wherever they are.
            if WideScripts.contains(word.unicodeScalars.first!.value) { return text.contains(word) }
            let runs = text.unicodeScalars.split { $0.value > 0x7F || !$0.properties.isAlphabetic }.map { String($0) }
            return runs.contains { isPrefix ? $0.hasPrefix(word) : $0 == word }
        }
    }
}
