internal import KithDocument

/// The bounds of the changes protocol; docs/protocol.md names them where they apply.
package enum ReplicationLimits {
    // Frames.

    /// Largest payload of a frame that carries documents, changes or a hello: 1 MiB, so that no frame holds up the link
    /// for more than 10 ms at 1 Gbit/s.
    package static let frameBytes = 1 << 20
    /// Largest payload of any other frame: 64 KiB.
    package static let smallFrameBytes = 64 << 10
    /// Deepest nesting of a CBOR value that is skipped because its key is unknown.
    package static let skippedDepth = 16
    /// Part of a large document in one frame: 256 KiB.
    package static let chunkBytes = 256 << 10
    /// Largest delivery of one document: the largest body with its stamps, and 1 MiB for versions and ancestry.
    package static let deliveryBytes = DocumentLimits.revisionBytes + (1 << 20)
    /// A delivery above this travels in chunks, so that a frame has room for it whatever else it carries: 512 KiB.
    package static let inlineDeliveryBytes = 512 << 10

    // Hello and what follows it.

    /// Longest name of a node in bytes of UTF-8.
    package static let nodeNameBytes = 128
    /// Longest name of a capability and longest software version.
    package static let wordBytes = 64
    /// Most capability names in a hello.
    package static let capabilities = 64
    /// Most databases that one side of a link carries, and most sessions in the life of a link.
    package static let databases = 1024
    /// Most group statements in one message, their total size and the size of each: a group of thousands with hundreds
    /// of revocations fits.
    package static let statements = 4096
    package static let statementsBytes = 512 << 10
    package static let statementBytes = 16 << 10
    /// Largest presence record.
    package static let presenceBytes = 32 << 10
    /// Presence records that one message offers, and those that it wants: 20 and 16 kB, so that a small frame has both.
    package static let gossipRecords = 512
    /// Longest text for people in a goodbye, a refusal or the end of a feed.
    package static let textBytes = 512

    // Feeds.

    /// Changes in one page: about 50 kB of small ids, and one transaction at the puller.
    package static let changesPerPage = 512
    /// Pages that a source sends before the first of them is acknowledged: while one transaction's worth of them is
    /// stored, two more are on their way. 16,384 changes are about 2 MB of small ids.
    package static let pagesInFlight = 32
    /// Wants in one message, as many as a page has changes.
    package static let wantsPerRequest = 512
    /// Bytes of wants after which a new message is begun.
    package static let wantBytes = 256 << 10
    /// Unanswered `Want` messages of one feed.
    package static let requestsInFlight = 32
    /// Leaves of one change and revisions of one want: what fits a frame with its document id.
    package static let leavesPerChange = 16 << 10
    /// Documents in one refusal message.
    package static let refusalsPerMessage = 64
    /// Documents that one side leaves out of a comparison: with ids of 512 bytes they fit a frame.
    package static let exclusions = 1024
    /// Leaves of the peer that a session remembers at most in order not to offer them back: about 2 MB.
    package static let echoedLeaves = 16 << 10

    // Filters.

    /// Largest filter of a feed: 32 KiB, so that the small frame of an `Open` has room for it; some thousand ids.
    package static let filterBytes = 32 << 10
    /// A source reads all bodies for a selector, to compare, at most as often as this, in milliseconds.
    package static let filteredScanMilliseconds: UInt64 = 2_000
    /// And rests this many times as long as the last such reading took, so that it is at that for a tenth of the time.
    package static let filteredScanRest: UInt64 = 10

    // Ranges.

    /// First bytes asked about in one query: 16 × 256 ranges of 45 bytes are 180 kB.
    package static let firstBytesPerQuery = 16
    /// Ranges listed in one query.
    package static let rangesPerList = 256
    /// Documents that one list of ranges should bring: two pages' work.
    package static let documentsPerList = 1024
    /// Digests in one frame: 16 first bytes in full.
    package static let rangesPerFrame = 4096
    /// A database with fewer documents is listed rather than compared: a scan and its round trips cost as much.
    package static let fewDocuments: UInt64 = 1000

    // Flow.

    /// Credit that a side grants at the start: what may be under way to it on the whole link. 4 MiB fill 1 Gbit/s at
    /// 30 ms.
    package static let windowBytes = 4 << 20
    /// Most credit that a source lets itself be granted.
    package static let maximumWindowBytes = 64 << 20
    /// Credit is returned in steps of at least this: 256 KiB.
    package static let creditStepBytes = 256 << 10
    /// Bytes waiting to be sent above which the store is not read for this link: 1 MiB.
    package static let sendBufferBytes = 1 << 20
    /// Frames that wait for the peer's credit. What is read from the store is bounded in bytes; this bounds the short answers to
    /// questions that a peer may ask without end: four for each of the most databases that a link carries, and the parts of
    /// the largest documents.
    package static let queuedFrames = 8_192
    /// What one read of documents takes from the store: 512 KiB.
    package static let readBytes = 512 << 10
    /// What a read of changes is taken to bring, before its size is known: 64 KiB.
    package static let changesReadBytes = 64 << 10
    /// Bytes of documents stored in one transaction, if so many wait: 2 MiB.
    package static let applyBytes = 2 << 20
    /// Bytes that may come before the statements of the peer are judged: the window, a frame and small messages.
    package static let heldBytes = 8 << 20

    // Times in milliseconds.

    /// A link on which nothing was received, or nothing was sent, is pinged after this.
    package static let pingMilliseconds: UInt64 = 5_000
    /// A link on which nothing was received is dropped after this: two pongs are missed.
    package static let silenceMilliseconds: UInt64 = 15_000
    /// A link whose oldest ping has no answer for this long, and that moves less than `movingBytes` in that time, is dropped
    /// although bytes come.
    package static let answerMilliseconds: UInt64 = 60_000
    /// So many bytes, one way or the other, show that a link moves what a ping or its answer waits behind: a packet or three.
    package static let movingBytes = 4 << 10
    /// Pings without an answer of which the round trip is measured: more are asked for only while the answers are slow.
    package static let openPings = 16
    /// A link is pinged at most as often as this, whoever wants to know.
    package static let probeMilliseconds: UInt64 = 100
    /// A busy link is pinged as often as this, to know its round trip.
    package static let measureMilliseconds: UInt64 = 30_000
    /// From the opening of the connection to the peer's hello.
    package static let helloMilliseconds: UInt64 = 10_000
    /// Checkpoints of pages that brought nothing are written together after this.
    package static let checkpointMilliseconds: UInt64 = 1_000
    /// Pages that say nothing but how far the feed is are sent at most this often.
    package static let emptyPageMilliseconds: UInt64 = 100
    /// Digests that differ while all is acknowledged are looked at again after this.
    package static let settleMilliseconds: UInt64 = 500
    /// After a fruitless reconciliation the next waits this long, then twice as long, up to the maximum.
    package static let reconcileMilliseconds: UInt64 = 5_000
    package static let maximumReconcileMilliseconds: UInt64 = 600_000
    /// After a failure of the store a session is opened again after this, then twice as long, up to the maximum.
    package static let retryMilliseconds: UInt64 = 1_000
    package static let maximumRetryMilliseconds: UInt64 = 60_000
    /// After one that does not pass by itself, this long: a person may have mended it, and nobody is to restart for that.
    package static let mendedRetryMilliseconds: UInt64 = 60_000
    /// A claim on a document ends when its holder is quiet for this long.
    package static let claimMilliseconds: UInt64 = 5_000
    /// A document that its holder keeps for so long may be asked of another all the same, in milliseconds: a peer that sends a
    /// byte now and then must not keep it from those that have it. On a link that needs longer it may come twice.
    package static let longestClaimMilliseconds: UInt64 = 60_000
    /// How long who waits for a document comes before others: it looks again after `claimMilliseconds`.
    package static let waiterMilliseconds: UInt64 = 6_000
    /// So many documents that were released last are remembered, and up to as many before them: more than links release while
    /// one of them looks what it lacks.
    package static let releasedDocuments = 2_048
    /// Documents that another link was asked for are looked at again after a commit, at most this often.
    package static let deferredMilliseconds: UInt64 = 50
    /// A scan is kept for further questions about it for this long.
    package static let scanMilliseconds: UInt64 = 60_000
}
