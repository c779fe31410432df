import Foundation

/// A value with a field of each kind.
struct Sample: Codable, Equatable {
    enum Status: String, Codable { case pending, done }
    struct Author: Codable, Equatable {
        var name: String
        var age: UInt8?
    }

    var text = "e\u{301}"
    var flag = true
    var integer = Int64.min
    var natural = UInt64.max
    var wide: Int128 = .max
    var double = 0.1
    var whole = 3.0
    var float: Float = 0.1
    var date = Date(timeIntervalSince1970: 1_764_520_472.123)
    var data = Data([0, 255, 128])
    var link = URL(string: "https://example.org/a?b=c#d")!
    var uuid = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!
    var status = Status.done
    var author = Author(name: "Ada", age: 36)
    var lines = [[1, 2], []]
    var widest: [UInt128] = [.max]
    var absent: String?
    var holes: [Date?] = [nil, Date(timeIntervalSince1970: 0)]
    var counts = ["b": 1, "a": 2]
    var numbered: [Int: String] = [7: "x"]
    var choice = Choice.pair(1, label: "one")
}

extension Sample {
    /// The document of a sample.
    static let text = [
        #"{"author":{"age":36,"name":"Ada"},"choice":{"pair":{"_0":1,"label":"one"}},"counts":{"a":2,"b":1},"#,
        #""data":"AP+A","date":"2025-11-30T16:34:32.123Z","double":0.1,"flag":true,"float":0.1,"#,
        #""holes":[null,"1970-01-01T00:00:00.000Z"],"integer":-9223372036854775808,"lines":[[1,2],[]],"#,
        #""link":"https://example.org/a?b=c#d","natural":18446744073709551615,"numbered":{"7":"x"},"#,
        "\"status\":\"done\",\"text\":\"e\u{301}\",\"uuid\":\"E621E1F8-C36C-495A-93FC-0C247A3E6E5F\",",
        #""whole":3,"wide":170141183460469231731687303715884105727,"#,
        #""widest":[340282366920938463463374607431768211455]}"#,
    ].joined()
}

/// Cases with values, as the compiler codes them.
enum Choice: Codable, Equatable {
    case none
    case pair(Int, label: String)
}

/// A class and what it inherits, coded by hand.
class Animal: Codable {
    var name: String
    init(name: String) { self.name = name }
}

final class Dog: Animal {
    var isGood: Bool

    init(name: String, isGood: Bool) {
        self.isGood = isGood
        super.init(name: name)
    }

    private enum CodingKeys: CodingKey { case isGood }

    required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        isGood = try container.decode(Bool.self, forKey: .isGood)
        try super.init(from: container.superDecoder())
    }

    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(isGood, forKey: .isGood)
        try super.encode(to: container.superEncoder())
    }
}

/// A value within values.
struct Tree: Codable {
    var below: [Tree]

    static func deep(_ levels: Int) -> Tree {
        (0..<levels).reduce(Tree(below: [])) { tree, _ in Tree(below: [tree]) }
    }
}
