import KithDocument
import Testing

@testable import KithQuery

@Suite struct NameCoverTests {
    @Test(arguments: [
        ("title", "f1"), ("a.b[0].c", "f1.f2[0].f3"), ("LOWER(title)", "LOWER(f1)"),
        ("kind = 'secret' AND n > 1234", "f1 = '?' AND f2 > 0"), ("a.b.a", "f1.f2.f1"),
        ("ANY x IN tags SATISFIES x.name = 'me' END", "ANY f2 IN f1 SATISFIES f2.f3 = '?' END"),
        ("{'secret': a}", "{'f2': f1}"), ("title COLLATE NOCASE", "f1 COLLATE (NOCASE DIAC)"),
        ("a IS NOT MISSING OR b = NULL OR c = TRUE", "f1 IS NOT MISSING OR f2 = NULL OR f3 = TRUE"),
        ("META().id", "META().id"), ("a +", "?"),
    ]) func namesAndValuesAreCoveredAndTheShapeStays(text: String, expected: String) {
        var cover = NameCover()
        #expect(cover.cover(text) == expected)
    }

    @Test func oneNameHasOneNumberThroughout() throws {
        var cover = NameCover()
        let one = cover.cover(try IndexDefinition("one", .values(["type", "due"]), where: "done = FALSE"))
        let two = cover.cover(try IndexDefinition("two", .elements(of: "items", path: "due"), where: "type = 'x'"))
        #expect(
            JSONValue.object(one).description
                == #"{"expressions":["f1","f2"],"kind":"values","name":"one","where":"f3 = FALSE"}"#)
        #expect(JSONValue.object(two)["path"] == JSONValue.object(one)["expressions"]?[1])
        #expect(JSONValue.object(two)["name"] == "two" && JSONValue.object(two)["kind"] == "elements")
    }
}
