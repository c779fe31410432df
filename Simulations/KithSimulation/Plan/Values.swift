/// Values at the edges of what JSON can say, as a client writes them and as they must come back, written by hand.
enum Values {
    static let edges: [(written: String, stored: String)] = [
        ("0", "0"), ("-0", "0"), ("1", "1"), ("1.0", "1"), ("100e-2", "1"), ("1e16", "10000000000000000"),
        ("1e21", "1e+21"), ("0.000001", "0.000001"), ("1e-7", "1e-7"), ("9223372036854775807", "9223372036854775807"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("0.1", "0.1"), ("5e-324", "5e-324"), ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ("true", "true"), ("false", "false"), ("null", "null"), ("\"\"", "\"\""), ("[]", "[]"),
        ("[1,[2,{\"z\":1,\"a\":2}]]", "[1,[2,{\"a\":2,\"z\":1}]]"), ("\"\\u00e9\"", "\"\u{e9}\""),
        ("\"e\u{301}\"", "\"e\u{301}\""), ("\"\\/\"", "\"/\""), ("\"\\u001f\"", "\"\\u001f\""), ("\"\\n\"", "\"\\n\""),
        ("\"\\ud83d\\ude00\"", "\"\u{1F600}\""), ("\"\u{2028}\"", "\"\u{2028}\""),
    ]

    /// What a value must be once it is stored.
    static func stored(_ written: String) -> String {
        edges.first { $0.written.utf8.elementsEqual(written.utf8) }?.stored ?? written
    }
}
