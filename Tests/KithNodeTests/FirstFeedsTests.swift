import Testing

@testable import KithNode

@Suite struct FirstFeedsTests {
    @Test func oneLinkFillsAnEmptyDatabaseUntilItIsDone() {
        var feeds = FirstFeeds()
        let begun = [1, 2, 1].map { feeds.begin("notes", link: $0) }
        #expect(begun == [true, false, true])
        let done = [2, 1, 1].map { feeds.done("notes", link: $0) }
        #expect(done == [false, true, false])
        let next = feeds.begin("notes", link: 2)
        #expect(next)
    }

    @Test func theEndOfALinkFreesWhatItFilled() {
        var feeds = FirstFeeds()
        for name in ["b", "a", "c"] { _ = feeds.begin(name, link: name == "c" ? 2 : 1) }
        let freed = feeds.ended(1)
        #expect(freed == ["a", "b"])
        let isFree = feeds.begin("a", link: 3)
        #expect(isFree)
        let isHeld = feeds.begin("c", link: 3)
        #expect(!isHeld)
    }

    @Test func aDatabaseThatIsGoneIsForgotten() {
        var feeds = FirstFeeds()
        _ = feeds.begin("notes", link: 1)
        feeds.forget("notes")
        let isFree = feeds.begin("notes", link: 2)
        #expect(isFree)
    }
}
