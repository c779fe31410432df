import KithVirtualDisk

extension Fault {
    /// The kinds of fault, by area. `ms` is how long it lasts where nothing else is said; it ends by itself, or with healing.
    package enum Kind: String, Sendable, CaseIterable {
        // Network. `node` and `other` are the ends of a directed link.

        /// From now on bytes from `node` to `other` take `low` to `high` microseconds and go in parts of at most `size`.
        case pace
        /// From now on `size` bytes a second go from `node` to `other`; 0 for as many as there are.
        case rate
        /// Cuts `node` off from all others.
        case isolate
        /// Cuts `nodes` from the rest.
        case halves
        /// The same, but `node` reaches both sides.
        case bridge
        /// Each node reaches a majority only: the nodes stand in a ring, and each sees those nearest to it.
        case majorities
        /// Only the links of `node` are left.
        case star
        /// Nothing arrives at `other` from `node`.
        case oneway
        /// Cuts `node` and `other` apart and joins them again every `size` milliseconds.
        case flap
        /// `nodes` are cut off one by one in the first half of the time, and joined again in another order in the second.
        case swizzle
        /// Ends the connections of `node` and `other` as a router that forgot them does.
        case reset
        /// The stream from `node` to `other` ends somewhere in what is under way.
        case truncate
        /// `other` forgets its connections with `node` without a word, so `node` writes into nothing.
        case halfopen
        /// One bit of what is under way from `node` to `other`, or of the next that is, flips below the sealed channel.
        case corrupt
        /// Holds what goes from `node` to `other` over connections, and then lets all of it go at once; dials and
        /// announcements get through.
        case clog
        /// `node` and `other` dial each other at once.
        case dial
        /// Who connects to `node` is not answered, as with a full accept queue; nor turned away.
        case hang
        /// `node` has another address from now on; its old connections go silent.
        case readdress
        /// `other` has the address from now on that `node` had, and `node` another one.
        case takeover

        // Discovery.

        /// What `node` announces is lost.
        case unheard
        /// `node` hears no announcements.
        case deaf
        /// What `node` announces is announced under a second name too, for 30 s.
        case duplicate
        /// A false goodbye is heard for `node`.
        case goodbye
        /// The instance of `node` gets another name, as after a collision.
        case rename
        /// The daemon of `node` is away for `ms`, and starts again knowing nothing.
        case daemon
        /// A record of `node` points at the address of `other`.
        case impostor
        /// `count` records of nobody appear.
        case flood
        /// Announcements between `nodes` and the rest are lost, though connections work.
        case split

        // Processes and their machines. They are back after `ms`.

        /// `node` stops: links close, stores close.
        case stop
        /// The process of `node` dies, its kernel closes the connections.
        case kill
        /// `node` loses power: its peers hear nothing.
        case power
        /// `node` does nothing, and then all that it missed.
        case pause
        /// The machine of `node` sleeps: as a pause, and its clock of time spans stands still while the wall clock goes on.
        case suspend
        /// The power of `node` goes at the `count`-th call of its disk from now.
        case crash

        // Disks.

        /// No room is left but `size` bytes.
        case full
        /// Calls fail: the next `count` of them, or all for `ms`. Which ones, `text` says; reads where it says nothing.
        case failread
        /// The same of calls that change something; writes.
        case failwrite
        /// The same of synchronisations: what waited for them may never be durable.
        case failsync
        /// The file system can only be read.
        case readonly
        /// Each synchronisation takes `low` to `high` microseconds.
        case slow
        /// Synchronisations are done in words only. A power cut after that may take anything.
        case pretend
        /// `count` bits of the files flip.
        case rot
        /// `count` pages are again what they were before they were last written.
        case stalepage
        /// The next `count` writes go to another place of their file.
        case misdirect
        /// The process dies, and of the log of each database only the first `size` bytes are there when it starts again.
        case cutlog
        /// The process dies, and the logs are gone when it starts again.
        case loselog

        // Identity.

        /// An image of the disk of `node` is taken, as it is.
        case backup
        /// `node` ends, gets its last image back, and starts after `ms`. Without an image nothing happens.
        case restore
        /// Machine `other` gets a copy of the disk of `node` and starts. The machines from the number of nodes on are spare;
        /// once there is a copy, they can be named as nodes are. With `count=1` it has the machine id of `node`, too, as of a
        /// virtual machine that was copied whole.
        case clone
        /// The disk of `node` is in another machine from now on: another address, another machine id. The node is held until
        /// somebody says which it is.
        case move
        /// Somebody says that `node` is the one to keep; a copy of it elsewhere ends.
        case keep
        /// The disk of `node` is emptied; it joins anew under another identity after `ms`.
        case wipe

        // Membership.

        /// `node` starts only now, and joins.
        case join
        /// `node` leaves the group.
        case leave
        /// An admin revokes `node`.
        case revoke
        /// The role of `node` is `text` from now on: reader or writer. An admin is made by an invitation only.
        case role

        // Clocks.

        /// The wall clock of `node` is `ms` off from now on.
        case skew
        /// The clocks of `node` go `size` parts in a million too fast from now on.
        case drift

        // Peers.

        /// `node` is a hostile member from now on, of the kind `text`.
        case hostile
        /// `node` speaks the protocol's version that is `text`: older, newer, or apart for one that nobody else speaks.
        case version
    }
}

extension Fault.Kind {
    package var area: Area {
        switch self {
        case .pace, .rate, .isolate, .halves, .bridge, .majorities, .star, .oneway, .flap, .swizzle, .reset, .truncate,
            .halfopen, .corrupt, .clog, .dial, .hang, .readdress, .takeover:
            .network
        case .unheard, .deaf, .duplicate, .goodbye, .rename, .daemon, .impostor, .flood, .split: .discovery
        case .stop, .kill, .power, .pause, .suspend, .crash: .node
        case .full, .failread, .failwrite, .failsync, .readonly, .slow, .pretend, .rot, .stalepage, .misdirect, .cutlog,
            .loselog:
            .disk
        case .backup, .restore, .clone, .move, .keep, .wipe: .identity
        case .join, .leave, .revoke, .role: .membership
        case .skew, .drift: .clock
        case .hostile, .version: .peer
        }
    }

    /// What it may take from its node; the rest of the mesh keeps what it has.
    package var destroys: Destruction {
        switch self {
        case .pretend: .diskAtPowerCut
        case .rot, .stalepage, .misdirect, .cutlog, .loselog: .disk
        case .restore, .wipe, .leave: .unshared
        case .revoke, .hostile: .membership
        default: .nothing
        }
    }

    package var scope: Scope {
        switch self {
        case .pace, .rate, .oneway, .reset, .truncate, .halfopen, .corrupt, .clog: .links
        case .flap, .dial, .takeover, .impostor, .clone: .pair
        case .halves, .split, .swizzle: .side
        case .bridge: .hub
        case .majorities, .flood: .mesh
        default: .each
        }
    }

    package var parameters: [Parameter] {
        switch self {
        case .pace: [.low, .high, .size]
        case .rate, .drift: [.size]
        case .flap, .full, .cutlog: [.ms, .size]
        case .slow: [.ms, .low, .high]
        case .failread, .failwrite, .failsync: [.ms, .count, .text]
        case .crash, .flood: [.ms, .count]
        case .rot, .stalepage, .misdirect, .clone: [.count]
        case .role, .hostile, .version: [.text]
        case .reset, .truncate, .halfopen, .corrupt, .dial, .readdress, .takeover, .duplicate, .goodbye, .rename,
            .backup, .move, .keep, .join, .leave, .revoke:
            []
        default: [.ms]
        }
    }

    /// The calls of a disk that it may be about: the first, where `text` names none.
    var failingCalls: [DiskCall.Operation] {
        switch self {
        case .failread: [.read, .open]
        case .failwrite: [.write, .create, .resize, .remove, .rename, .link, .makeDirectory]
        case .failsync: [.synchronize, .synchronizeDirectory]
        default: []
        }
    }

    /// The words that `text` may be; nil where it has none.
    package var words: [String]? {
        switch self {
        case .failread, .failwrite, .failsync: failingCalls.map(\.rawValue)
        case .role: ["reader", "writer"]
        case .hostile: HostileKind.allCases.map(\.rawValue)
        case .version: ["older", "newer", "apart"]
        default: nil
        }
    }
}
