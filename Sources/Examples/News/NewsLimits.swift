/// What is bounded, and why there.
enum NewsLimits {
    /// An answer of the source. A page of a hundred articles has about 100 KB; what is larger is no page.
    static let pageBytes = 1 << 20
    /// Articles of a page, so that what is written at once stays small.
    static let pageArticles = 200
    /// Without a byte from the source for so long it counts as not reached: a person waits no longer.
    static let silenceSeconds = 10.0
    /// An answer is there after so long, or the source counts as not reached: one that trickles holds nobody up.
    static let answerSeconds = 30.0
    /// News is as of now for an hour.
    static let refreshSeconds = 3_600.0
    /// After a failure it is tried again this soon: networks come back within minutes.
    static let retrySeconds = 60.0
    /// An article is kept for thirty days from its publication.
    static let lifetimeSeconds = 30.0 * 86_400
}
