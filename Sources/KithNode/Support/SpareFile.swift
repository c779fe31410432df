import Glibc
import KithCrypto
import KithDocument
import KithNetwork
import KithStore
import KithSystem
import KithTransport

/// The small files of a node's directory without which a node can go on, as far as they can be read.
///
/// One that is damaged is set aside, as `NAME.damaged`, and what could be read of it is written anew: nothing that is
/// there is thrown away, and the start does not fail for a port number. Health tells of it until a person has looked and
/// removed what was set aside. All but `invites` are lines of text, the last with the SHA-256 of those before it, so that a
/// digit that the disk has changed makes no other number. The identity and what is known of the group's members are no such
/// files: without them somebody might get in who does not belong, so they stop the start.
package enum SpareFile: String, CaseIterable, Sendable {
    case invites, paused, replication, muted, damage, carried, dropped, peers, listen, instances

    /// What becomes of a file's damage.
    package struct Reading: Hashable, Sendable {
        /// The lines that could be read.
        package fileprivate(set) var lines: [String] = []
        /// What is wrong with the file; nil where nothing is.
        package fileprivate(set) var damage: String?
    }

    package func path(in directory: String) -> String { "\(directory)/\(rawValue)" }

    /// Where it is set aside.
    package func aside(in directory: String) -> String { path(in: directory) + IdentityStore.asideEnding }

    /// What a person should know when it was damaged: a sentence that goes on after a colon.
    package var loss: String {
        switch self {
        case .invites: "codes of kith invite that were open are void"
        case .paused: "replication stays paused with all peers until kith resume, as its pauses could not all be read"
        case .replication:
            "databases of which no setting could be read are paused until kith sync DB --resume, or kith resume for all"
        case .muted: "checks that were muted may be heard of again"
        case .damage: "what checks of databases had found may be forgotten; kith verify looks again"
        case .carried: "a database whose file is gone may not be missed, and come back from peers without a word"
        case .dropped: "databases whose copy was dropped here may come back from peers; kith db delete drops them again"
        case .peers: "peers that are away may be known by their ids alone until they are met again"
        case .listen: "the node may listen at another port than before; kith status has it"
        case .instances: "for two minutes after the start this node may be taken for a copy of itself"
        }
    }

    /// Reads the lines, and changes nothing.
    /// - Throws: `NodeError` where the file may be whole and this process can't read it.
    package func look(in directory: String, on files: any FileSystem = LocalFileSystem()) throws(NodeError) -> Reading {
        var reading = Reading()
        do throws(TransportError) {
            let path = path(in: directory)
            guard let bytes = try AtomicFile.read(path, atMost: NodeLimits.smallFileBytes, on: files) else {
                return reading
            }
            let (content, isSound) = Self.withoutChecksum(bytes)
            let lines = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true)
            let texts = lines.map { String(validating: $0, as: UTF8.self) }
            reading.lines = texts.compactMap(\.self).filter(accepts)
            let bad = lines.count - reading.lines.count
            if bad > 0 {
                reading.damage = "\(bad) of its \(lines.count) lines can't be read"
            } else if !isSound {
                reading.damage = bytes.isEmpty ? "it is empty" : "its checksum is another"
            }
        } catch {
            reading.damage = try Self.reason(of: error, at: path(in: directory))
        }
        return reading
    }

    /// What stands in a file of these lines.
    package static func content(_ lines: [String]) -> [UInt8] {
        let bytes = SmallFile.content(lines)
        return bytes + checksum(of: bytes)
    }

    /// Replaces the file. On disk when this returns.
    package func write(
        _ lines: [String], in directory: String, on files: any FileSystem = LocalFileSystem()
    ) throws(NodeError) {
        try SmallFile.write(Self.content(lines), to: path(in: directory), on: files)
    }

    /// No line of any of the files begins with it.
    private static let checksumWord = "# sha256 "

    private static func checksum(of bytes: some Sequence<UInt8>) -> [UInt8] {
        SmallFile.content([checksumWord + Hex.encode(SHA256.hash(Array(bytes)).bytes)])
    }

    /// What stands before the checksum, and whether that is the one of it. The first files had none; an empty one was never
    /// written.
    private static func withoutChecksum(_ bytes: [UInt8]) -> (content: ArraySlice<UInt8>, isSound: Bool) {
        let newline = UInt8(ascii: "\n")
        let place = bytes.dropLast().lastIndex(of: newline).map { $0 + 1 } ?? 0
        guard bytes[place...].starts(with: checksumWord.utf8) else {
            return (bytes[...], !bytes.isEmpty && bytes.firstRange(of: Array(checksumWord.utf8)) == nil)
        }
        return (bytes[..<place], Array(bytes[place...]) == checksum(of: bytes[..<place]))
    }

    /// Reads the lines; sets a damaged file aside and writes what could be read. The caller holds the directory's lock.
    /// - Throws: as `look`.
    package func read(
        in directory: String, on files: any FileSystem = LocalFileSystem()
    ) throws(NodeError) -> Reading {
        let reading = try look(in: directory, on: files)
        guard reading.damage != nil else { return reading }
        setAside(in: directory, leaving: reading.lines, on: files)
        return reading
    }

    /// Keeps a damaged file beside its place, instead of one that was set aside before, and writes the lines that are to
    /// hold from now on. Where the disk takes nothing, all stays as it was, and the next start finds it so.
    package func setAside(
        in directory: String, leaving lines: [String] = [], on files: any FileSystem = LocalFileSystem()
    ) {
        let path = path(in: directory)
        guard (try? Self.keepAside(path, on: files)) != nil else { return }
        if lines.isEmpty {
            try? AtomicFile.remove(path, on: files)
        } else {
            try? write(lines, in: directory, on: files)
        }
    }

    /// Gives a damaged file its second name, instead of one that was kept before. The first name stays until it is written
    /// anew: at no moment is there neither the file nor what it held.
    /// - Throws: `SystemError` why it is not kept.
    package static func keepAside(
        _ path: String, on files: any FileSystem = LocalFileSystem()
    ) throws(SystemError) {
        let aside = path + IdentityStore.asideEnding
        let next = aside + ".new"
        files.discard(next)
        guard (try? files.link(path, to: next)) != nil else { return try move(path, to: aside, files) }
        // It is still there afterwards where both were names of the one file before.
        defer { files.discard(next) }
        try files.rename(next, to: aside)
    }

    /// For a folder in the place of a file, or a disk without second names.
    private static func move(_ path: String, to aside: String, _ files: any FileSystem) throws(SystemError) {
        do throws(SystemError) { try files.rename(path, to: aside) } catch {
            guard error.number == ENOTDIR else { throw error }
            try files.remove(aside)
            try files.rename(path, to: aside)
        }
    }

    /// - Returns: what is wrong with a file that can't be read for what it is.
    /// - Throws: `NodeError` where it can't be read for another reason.
    package static func reason(of error: TransportError, at path: String) throws(NodeError) -> String {
        switch error {
        case .malformed(let reason): return reason
        case .system(_, EIO), .system(_, EISDIR), .system(_, ELOOP), .system(_, ENXIO): return error.message
        default:
            throw NodeError(
                code: "directory", message: "can't read \(path): \(error.message); look at its owner and mode")
        }
    }

    /// Whether a line is one that this program writes.
    private func accepts(_ line: String) -> Bool {
        switch self {
        case .invites: false
        case .paused: PauseList(lines: [line]).pauses.count == 1
        case .replication: ReplicationBook(lines: [line]) != ReplicationBook()
        case .muted: MuteList(lines: [line]).mutes.count == 1
        case .damage: DamageBook.entry(line) != nil
        case .carried, .dropped: (try? DatabaseName(line)) != nil
        // Hints, and names as others gave them.
        case .peers: true
        case .listen: (try? Endpoint(listening: line)) != nil
        case .instances: UInt64(line, radix: 16) != nil
        }
    }
}
