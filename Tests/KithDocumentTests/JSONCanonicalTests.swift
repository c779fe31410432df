import KithDocument
import KithTestSupport
import Testing

@Suite struct JSONCanonicalTests {
    @Test(arguments: [
        (#"{}"#, #"{}"#),
        ("{ }", #"{}"#),
        (" \t\r\n{ \n} \t\r\n", #"{}"#),
        (#"{"a":1}"#, #"{"a":1}"#),
        (#"{"b":1,"a":2}"#, #"{"a":2,"b":1}"#),
        (#"{"b":{"d":1,"c":[{"f":1,"e":2}]},"a":2}"#, #"{"a":2,"b":{"c":[{"e":2,"f":1}],"d":1}}"#),
        (#"{ "b" : [ ] , "a" : { } , "" : null }"#, #"{"":null,"a":{},"b":[]}"#),
        (#"{"aa":1,"a":2,"ab":3}"#, #"{"a":2,"aa":1,"ab":3}"#),
        (#"{"a":[true,false,null,"",0,-1,[],{}]}"#, #"{"a":[true,false,null,"",0,-1,[],{}]}"#),
        (#"{"x":{"b":{"z":1,"y":2},"a":{"z":1,"y":2}},"w":0}"#, #"{"w":0,"x":{"a":{"y":2,"z":1},"b":{"y":2,"z":1}}}"#),
    ])
    func `Members are put in order and space is left out`(text: String, expected: String) {
        #expect(canonical(text) == expected)
        #expect(isCanonical(expected))
        #expect(isCanonical(text) == (text == expected))
    }

    @Test func `Keys are ordered by the bytes of UTF-8, not by UTF-16`() {
        // RFC 8785 would put the second before the first.
        #expect(canonical("{\"\u{1F600}\":1,\"\u{FF61}\":2}") == "{\"\u{FF61}\":2,\"\u{1F600}\":1}")
        // The keys of the example in RFC 8785, section 3.2.3.
        let text = #"""
            {"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",
            "\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}
            """#
        let expected =
            "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u{80}\":\"Control\","
            + "\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\","
            + "\"\u{fb33}\":\"Hebrew Letter Dalet With Dagesh\",\"\u{1F600}\":\"Emoji: Grinning Face\"}"
        #expect(canonical(text) == expected)
        #expect(isCanonical(expected))
    }

    @Test func `Keys are ordered by what they stand for, not by how they are escaped`() {
        // U+000A is written with a backslash (0x5C) and comes before A (0x41) all the same.
        #expect(
            canonical(#"{"A":1,"\n":2,"\u0001":3,"\u0000":4,"":5}"#) == #"{"":5,"\u0000":4,"\u0001":3,"\n":2,"A":1}"#)
        #expect(canonical(#"{"b":1,"\u0061":2}"#) == #"{"a":2,"b":1}"#)
        #expect(canonical(#"{"a\u0000":1,"a":2}"#) == #"{"a":2,"a\u0000":1}"#)
        #expect(canonical(#"{"é":1,"\u00e8":2,"\ud83d\ude00":3,"😁":4}"#) == #"{"è":2,"é":1,"😀":3,"😁":4}"#)
    }

    @Test func `The example of RFC 8785 comes out as printed there`() {
        let text = #"""
            {
              "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
              "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
              "literals": [null, true, false]
            }
            """#
        let expected =
            #"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"#
            + #""string":"€$\u000f\nA'B\"\\\\\"/"}"#
        #expect(canonical(text) == expected)
        #expect(isCanonical(expected))
    }

    @Test(arguments: [
        (#"\""#, #"\""#), (#"\\"#, #"\\"#), (#"\/"#, "/"), (#"\b"#, #"\b"#), (#"\f"#, #"\f"#), (#"\n"#, #"\n"#),
        (#"\r"#, #"\r"#), (#"\t"#, #"\t"#), (#"\u0000"#, #"\u0000"#), (#"\u001f"#, #"\u001f"#),
        (#"\u001F"#, #"\u001f"#), (#"\u0008"#, #"\b"#), (#"\u000c"#, #"\f"#), (#"\u000a"#, #"\n"#),
        (#"\u000A"#, #"\n"#), (#"\u000d"#, #"\r"#), (#"\u0009"#, #"\t"#), (#"\u0022"#, #"\""#), (#"\u005c"#, #"\\"#),
        (#"\u005C"#, #"\\"#), (#"\u002f"#, "/"), (#"\u0041"#, "A"), (#"\u007f"#, "\u{7f}"), (#"\u0080"#, "\u{80}"),
        (#"\u00e9"#, "é"), (#"\u07ff"#, "\u{7ff}"), (#"\u0800"#, "\u{800}"), (#"\u20AC"#, "€"),
        (#"\ud7ff"#, "\u{d7ff}"), (#"\ue000"#, "\u{e000}"), (#"\ufffe"#, "\u{fffe}"), (#"\uFFFF"#, "\u{ffff}"),
        (#"\ud800\udc00"#, "\u{10000}"), (#"\ud83d\ude00"#, "😀"), (#"\uDBFF\uDFFF"#, "\u{10ffff}"),
        ("\u{7f}", "\u{7f}"), ("\u{fffe}\u{ffff}", "\u{fffe}\u{ffff}"), ("\u{feff}", "\u{feff}"),
        (#"ab\u0041cd\u0042ef"#, "abAcdBef"), ("\u{2028}\u{2029}", "\u{2028}\u{2029}"),
    ])
    func `Strings have the shortest escaping`(written: String, expected: String) {
        for padding in ["", "x", "eight by", "and a longer text that fills some words"] {
            #expect(
                canonical("{\"\(padding)\(written)\(padding)\":\"\(padding)\(written)\"}")
                    == "{\"\(padding)\(expected)\(padding)\":\"\(padding)\(expected)\"}")
        }
        #expect(isCanonical("{\"\(expected)\":\"\(expected)\"}"))
        #expect(isCanonical("{\"k\":\"\(written)\"}") == written.utf8.elementsEqual(expected.utf8))
    }

    @Test func `Every control character has one escape and must not stand bare`() {
        for code in UInt8(0)..<0x20 {
            let hex = String(code, radix: 16)
            let escape = "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            let short: [UInt8: String] = [8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r"]
            #expect(canonicalValue("\"\(escape)\"") == "\"\(short[code] ?? escape)\"")
            let bare = Array("{\"a\":\"".utf8) + [code] + Array("\"}".utf8)
            #expect(
                canonical(bytes: bare)
                    == "invalid JSON at line 1, column 7: a control character in a string must be escaped")
        }
    }

    @Test func `Keys in NFC and NFD are two keys`() {
        #expect(canonical("{\"\u{e9}\":1,\"e\u{301}\":2}") == "{\"e\u{301}\":2,\"\u{e9}\":1}")
    }

    @Test func `Any value has a canonical form, and names in it are not reserved`() {
        #expect(canonicalValue(" 1.0 ") == "1")
        #expect(canonicalValue("\"x\"") == "\"x\"")
        #expect(canonicalValue("[ 1 , 2 ]") == "[1,2]")
        #expect(canonicalValue("null") == "null")
        #expect(canonicalValue(#"{"_b":1,"_a":2}"#) == #"{"_a":2,"_b":1}"#)
        #expect(canonicalValue("") == "invalid JSON at line 1, column 1: the text ends too early")
    }

    @Test func `The canonical form of a canonical form is itself`() {
        var generator = SeededText(seed: 20)
        let limits = JSONLimits(allowsReservedNames: true)
        for _ in 0..<2000 {
            let text = generator.object(depth: 4)
            let once = canonical(text, limits)
            if once.hasPrefix("invalid") { continue }  // A key was drawn twice.
            #expect(canonical(once, limits) == once, "seed 20: \(text)")
            #expect(isCanonical(once, limits), "seed 20: \(text)")
        }
    }

    @Test func `The order of members does not matter`() {
        var generator = SeededText(seed: 21)
        let limits = JSONLimits(allowsReservedNames: true)
        for _ in 0..<300 {
            let members = generator.members(count: 12)
            let expected = canonical("{" + members.joined(separator: ",") + "}", limits)
            for _ in 0..<5 {
                let shuffled = generator.random.shuffle(members)
                #expect(canonical("{" + shuffled.joined(separator: " , ") + "}", limits) == expected, "seed 21")
            }
        }
    }
}
