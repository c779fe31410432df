import KithReplication

/// The bounds of a node; docs/limits.md lists them with those of other targets.
package enum NodeLimits {
    /// Up to this many nodes each connects to all others: links are cheap then, and every write goes straight.
    package static let fullMeshNodes = 8
    /// A reader attaches to this many nodes of the ring: one may go and another be slow.
    package static let readerLinks = 3
    /// Links outside the ring, to nodes that are seen and yet not in the presence map, at a time.
    package static let bridgingLinks = 2
    /// How long such a node must be seen first, in milliseconds: presence needs a moment to go round.
    package static let bridgingDelayMilliseconds: UInt64 = 10_000
    package static let bridgingDelayPerNodeMilliseconds: UInt64 = 40

    /// The first wait after a failed dial, doubled with each failure up to the longest; the actual wait is drawn from
    /// the upper half, so that nodes started together do not dial together. The longest is short because a node that
    /// returns is to be in sync within 10 s, and a dial under way at that moment takes its 4 s first.
    package static let firstDialDelayMilliseconds: UInt64 = 500
    package static let longestDialDelayMilliseconds: UInt64 = 5_000
    /// A link that lived this long was no failure when it ends, in milliseconds.
    package static let steadyLinkMilliseconds: UInt64 = 5_000
    /// Failures of a target that is not wanted any more are remembered this long, in milliseconds.
    package static let failuresKeptMilliseconds: UInt64 = 60_000
    /// Nodes dialled at one time: each may race several addresses.
    package static let simultaneousDials = 8
    /// How long one address may take to answer, in milliseconds.
    package static let dialTimeoutMilliseconds: UInt64 = 4_000

    /// A link that was not heard from for this long gives way to a newer one, which is dialled then, in milliseconds: a
    /// living one is pinged every five seconds.
    package static let linkAliveMilliseconds: UInt64 = 6_500
    /// Who reads the status is told of peers that have answered a ping of this time ago, in milliseconds; the others are asked.
    package static let freshMilliseconds: UInt64 = 250
    /// How long a peer that was asked may take to answer before it is not called in sync, in milliseconds: a thousand round
    /// trips of a local network, and with the time above less than a second.
    package static let answerMilliseconds: UInt64 = 700
    /// A peer that was asked and does not answer for this long is dialled anew, beside its link, in milliseconds, unless bytes
    /// passed in that time.
    package static let suspectMilliseconds: UInt64 = 1_500
    /// A link moves when something passed within this time, in milliseconds: two looks at what the peer's machine has taken.
    package static let movingMilliseconds: UInt64 = 1_000
    /// While somebody watches the status, peers are asked this often, in milliseconds.
    package static let watchMilliseconds = 1_000
    /// Where large packets are lost and small ones are used, large ones are tried again after this, in milliseconds, then
    /// after twice as long each time, up to ten minutes: a try that passes the handshake and fails later costs some seconds.
    package static let firstPathRetryMilliseconds: UInt64 = 10_000
    package static let longestPathRetryMilliseconds: UInt64 = 600_000

    /// How long one synchronisation waits for dials that are under way, in milliseconds: one address may take four seconds.
    package static let reachMilliseconds = 5_000
    /// A pair with nothing outstanding that was neither found equal nor different for this long is taken as it is, in
    /// milliseconds: while somebody writes all the time there is no moment to compare.
    package static let quietMilliseconds = 3_000

    /// A machine slept when its clocks differ by this much more than before, in milliseconds.
    package static let sleepMilliseconds: UInt64 = 2_000
    /// A process was stopped when a look at the mesh comes later than it should by this much, in milliseconds.
    package static let stoppedMilliseconds: UInt64 = 5_000
    /// For so long after connections could not be taken for want of descriptors health says so, in milliseconds.
    package static let descriptorsShortMilliseconds: Int64 = 60_000

    /// What is kept of a link before it is in use, in bytes: a hello fits.
    package static let earlyBytes = 64 << 10
    /// How long a goodbye may take to be sent, in milliseconds.
    package static let goodbyeMilliseconds = 2_000

    /// How long links may take to end when the node stops, in milliseconds.
    package static let stopMilliseconds = 3_000

    /// How long a node that stops waits for its announcement to be withdrawn, in milliseconds.
    package static let withdrawalMilliseconds = 2_000

    /// Addresses that one attempt to reach a node tries.
    package static let addressesPerAttempt = 8
    /// The next address of an attempt is tried this much later, in milliseconds, unless the one before fails first.
    package static let dialStaggerMilliseconds = 250
    /// How long a link outside the ring may live before it is given up, in milliseconds.
    package static let spareLinkMilliseconds: Int64 = 10_000
    /// A node that could not be reached this often in a row is skipped in the ring.
    package static let failuresUntilUnreachable = 3
    /// What databases leave for later is done this often, in milliseconds: an hour.
    package static let maintenanceMilliseconds: UInt64 = 3_600_000
    /// The mesh is looked at anew at least this often, in milliseconds.
    package static let evaluationMilliseconds: UInt64 = 5_000

    /// A peer that was not heard from for this long is not called in sync, in milliseconds: two heartbeats and a little.
    package static let exchangeMilliseconds: Int64 = 12_000
    /// Clocks further apart than this are a matter of health, in milliseconds.
    package static let clockSkewMilliseconds: Int64 = 60_000

    /// A clock that shows less than this is wrong whoever else is there, in milliseconds since 1970: the beginning of 2025.
    package static let earliestClockMilliseconds: Int64 = 1_735_689_600_000

    /// A presence record is sent anew after this time, in milliseconds, and forgotten after three of them.
    package static let presenceIntervalMilliseconds: UInt64 = 20_000
    /// Changes of one's own record are sent at most this often, in milliseconds.
    package static let presenceMinimumMilliseconds: UInt64 = 2_000
    package static let presenceLifeMilliseconds: UInt64 = 60_000
    /// In a mesh of many nodes the times between records are longer, by so much for each node, in milliseconds: a thousand
    /// nodes renew theirs once a minute and tell of changes every 20 s, so that a node gets at most 50 records a second. They
    /// are forgotten after three renewals.
    package static let presenceIntervalPerNodeMilliseconds: UInt64 = 60
    package static let presenceMinimumPerNodeMilliseconds: UInt64 = 20
    /// News of others is gathered this long before it is offered, and so much longer for each node, in milliseconds: a
    /// second among a thousand, some seven of whom lie between any two.
    package static let presenceGatherMilliseconds = 50
    package static let presenceGatherPerNodeMicroseconds = 1_000
    /// Who was asked for a record and has not sent it after this, in milliseconds, is given up for others who have it, of whom
    /// so many are remembered.
    package static let presenceAnswerMilliseconds: UInt64 = 2_000
    package static let presenceOffers = 4
    /// Where so many nodes are known, what happens to links is looked at together, this much later, in milliseconds: one look
    /// costs as much as there are nodes.
    package static let manyNodes = 64
    package static let gatheredEvaluationMilliseconds = 250
    /// A large mesh that starts at once is dialled when no node was announced for the first time, in milliseconds, and at the
    /// latest after the second: each would dial other neighbours before all are known.
    package static let announcementsQuietMilliseconds: UInt64 = 700
    package static let announcementsLastMilliseconds: UInt64 = 4_000
    /// Largest presence record in bytes: the two bounds that follow fit with the longest names.
    package static let presenceBytes = ReplicationLimits.presenceBytes
    /// Instances of a node's own earlier processes, and counters of its latest records, that are remembered.
    package static let instances = 8
    /// Identities of which two nodes live, in one presence record and in all: more are a matter for people anyway.
    package static let presenceTwins = 16
    package static let twins = 256
    /// How long it is believed that two nodes live under one identity since it last showed, in milliseconds: longer than
    /// both `twinDialMilliseconds` and a presence record's life.
    package static let twinMilliseconds: UInt64 = 90_000
    /// Who was turned away as a twin dials that peer again after this time, in milliseconds: a person has to act first.
    package static let twinDialMilliseconds: UInt64 = 30_000
    /// Addresses at which somebody announces this node's own id, and which it dials to see who is there.
    package static let announcedAsSelf = 16
    /// Ends of links with this node's own identity that are remembered: more than there are at one time.
    package static let selfEnds = 256
    /// Databases and neighbours that a presence record tells of; who has more tells of the first.
    package static let presenceDatabases = 64
    package static let presenceNeighbours = 256
    /// Addresses that a node may tell of itself, and bytes of one: the longest host name with its port fits.
    package static let presenceAddresses = 8
    package static let presenceAddressBytes = 300
    /// Nodes in the presence map: more than a local network has.
    package static let presenceNodes = 4_096

    /// Databases and peers of which a status in the log tells: a signal is no reason to fill it.
    package static let loggedDatabases = 64
    package static let loggedPeers = 64

    /// A neighbour in a shared subnet that says it is announced and is not heard for this long: multicast is lost between
    /// the two, in milliseconds. An announcement takes one to three seconds.
    package static let silentMulticastMilliseconds: UInt64 = 20_000

    /// Nodes that are announced and were never met, of those that status shows.
    package static let shownStrangers = 32
    /// After a failure of the disk, and where a database can't be opened, it is tried again this often, in milliseconds.
    package static let storageRetryMilliseconds: UInt64 = 10_000
    /// Where nobody writes, a commit that says nothing shows this often that the disk still takes one, in milliseconds:
    /// ten minutes, so that idle disks may rest.
    package static let idleProbeMilliseconds: UInt64 = 600_000
    /// So many bytes must be free before a database goes on after a full disk: what the peers of a small mesh send at
    /// once and the log that it goes to.
    package static let resumeBytes: UInt64 = 8 << 20
    /// Less free than this is a full disk, also while nobody writes: a commit takes a few pages of the log, a small file one.
    package static let fullBytes: UInt64 = 64 << 10
    /// Less free than this, and less than a tenth of the disk, is told before it is full: time to make room.
    package static let lowSpaceBytes: UInt64 = 512 << 20

    /// Nodes and addresses that were refused lately, of those that are remembered; the oldest goes.
    package static let refusals = 32
    /// How long a refusal is remembered after the last time, in milliseconds: an hour.
    package static let refusalMilliseconds: Int64 = 3_600_000
    /// Open databases of one node: each costs a few descriptors and a page cache.
    package static let databases = 256
    /// Reader connections of one database: more than cores would not answer sooner.
    package static let readersPerDatabase = 4
    /// Ways in which a database's queries were run that are counted for a report of trouble.
    package static let plansCounted = 100
    /// Documents in one page of a stream, and handed over at once by an import.
    package static let pageDocuments = 500
    /// Bytes of documents in one page of an export, and handed over at once by an import: it holds up other writes for a
    /// moment only.
    package static let pageBytes = 4 << 20

    /// Names of peers that are kept over a restart, and for how long after they were last heard of, in milliseconds: a
    /// machine that was away for a season is called by its id then.
    package static let rememberedNames = 1_024
    package static let rememberedNameMilliseconds: Int64 = 90 * 86_400_000
    /// Longest such name, in bytes: what a node may be called.
    package static let rememberedNameBytes = ReplicationLimits.nodeNameBytes
    /// How long status shows that a database was put back, in milliseconds: a day, so that whoever looks once a day sees
    /// it. A restart ends it too.
    package static let rollbackShownMilliseconds: Int64 = 86_400_000

    /// Largest small text file that is read, in bytes: far above what is written.
    package static let smallFileBytes = 4 << 20
    /// Largest file of a machine's id that is read, in bytes: it holds 33.
    package static let machineFileBytes = 4_096
    /// Largest file of invites that is read, in bytes: 64 of them take a few kilobytes.
    package static let invitesFileBytes = 1 << 20
    /// Writes that wait for one commit.
    package static let commitGroup = 256

    /// How often a repair looks whether the peers have sent what was left out, in milliseconds.
    static let fetchPollMilliseconds = 250
    /// How long it waits for that unless told otherwise, in milliseconds, and at the most.
    static let fetchMilliseconds: Int64 = 60_000
    static let longestFetchMilliseconds: Int64 = 86_400_000

    /// Largest configuration file in bytes: a thousand peers with comments fit.
    package static let configurationBytes = 64 << 10
    /// Longest line of it in bytes: the longest path fits.
    package static let configurationLineBytes = 4_200
    /// Files of `conf.d` that are read.
    package static let configurationFiles = 64
    /// The service manager hears of a changed status at most this often, in milliseconds.
    package static let serviceStatusMilliseconds = 5_000
    /// While databases are opened the service manager is asked this often, in milliseconds, for three times as much
    /// patience, and for an hour at most: the longest change of a large file to a new version.
    package static let openingStepMilliseconds = 10_000
    package static let openingMilliseconds: UInt64 = 3_600_000
    /// How long a node that was told to stop may take, in milliseconds; then the process ends at once. What was
    /// acknowledged is on disk anyway.
    package static let endMilliseconds = 10_000
    /// Problems of one configuration file that are named: after so many it is another kind of file.
    package static let configurationProblems = 50
    /// How long a document was expired that is left out when digests are compared, in milliseconds: peers may have dropped it.
    static let expiredMilliseconds: Int64 = 24 * 3600 * 1000
    /// Bytes of a copy that are read and handed on at once.
    static let copyPartBytes = 256 << 10
}
