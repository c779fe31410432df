import Dispatch
import KithSystem
import Synchronization

/// The lines of a log in a file, which begins anew when it is full: `NAME`, and before it `NAME.1`, `NAME.2` and so on, of
/// which the oldest goes. Only their owner reads them.
///
/// Whoever logs waits for no disk: lines wait in memory, up to a bound, and a queue of the file's own writes them. They are
/// not synchronised: a power cut may take the last ones.
package final class LogFile: Sendable {
    private struct State {
        var waiting: [UInt8] = []
        var isWriting = false
    }

    private struct Open {
        var file: (any OpenFile)?
        var size = 0
        /// Lines that the disk did not take, since one told of them.
        var lost = 0
    }

    private let path: String
    private let most: Int
    private let kept: Int
    private let files: any FileSystem
    private let queue = DispatchQueue(label: "kith.log")
    private let state = Mutex(State())
    /// Used on `queue`, but for the first opening.
    private let open = Mutex(Open())

    /// Opens the file, to go on at its end.
    /// - Parameters:
    ///   - most: bytes of a file; at least `LogLimits.leastFileBytes`.
    ///   - kept: files before the present one that stay.
    /// - Throws: `NodeError` where it can't be written.
    package init(
        _ path: String, most: Int, kept: Int, on files: any FileSystem = LocalFileSystem()
    ) throws(NodeError) {
        self.path = path
        self.most = max(LogLimits.leastFileBytes, most)
        self.kept = max(0, kept)
        self.files = files
        let failure = open.withLock { open -> SystemError? in
            do throws(SystemError) { try reopen(&open) } catch { return error }
            return nil
        }
        guard let failure else { return }
        throw NodeError(code: "log_file", message: "can't write the log \(Shown.path(path)): \(failure.reason)")
    }

    /// Takes a line with its end.
    /// - Returns: false where too many wait already.
    package func write(_ line: [UInt8]) -> Bool {
        let (isTaken, isFirst) = state.withLock { state in
            guard state.waiting.count + line.count <= LogLimits.waitingFileBytes else { return (false, false) }
            state.waiting += line
            defer { state.isWriting = true }
            return (true, !state.isWriting)
        }
        if isFirst { queue.async { self.writeWaiting() } }
        return isTaken
    }

    /// Returns when what was told before is in the file.
    package func flush() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }

    private func writeWaiting() {
        while true {
            let lines = state.withLock { state -> [UInt8] in
                defer { state.waiting = [] }
                if state.waiting.isEmpty { state.isWriting = false }
                return state.waiting
            }
            if lines.isEmpty { return }
            open.withLock { open in append(lines, &open) }
        }
    }

    /// Writes whole lines, in as many files as they take.
    private func append(_ lines: [UInt8], _ open: inout Open) {
        var rest = lines[...]
        while !rest.isEmpty {
            let part = part(of: rest, room: most - open.size)
            do throws(SystemError) {
                if part.isEmpty || open.file == nil {
                    if part.isEmpty, open.size > 0 { try rotate(&open) } else { try reopen(&open) }
                    try tellOfLost(&open)
                    continue
                }
                try write(part, &open)
                rest = rest[part.endIndex...]
            } catch {
                // What can't be written is lost: the next lines are tried again.
                open.file = nil
                open.lost += rest.count { $0 == UInt8(ascii: "\n") }
                return
            }
        }
    }

    /// The lines at the beginning that fit; one that fits in no file is taken alone.
    private func part(of lines: ArraySlice<UInt8>, room: Int) -> ArraySlice<UInt8> {
        if lines.count <= room { return lines }
        let fitting = lines.prefix(max(0, room))
        if let end = fitting.lastIndex(of: UInt8(ascii: "\n")) { return lines[...end] }
        guard room >= most, let end = lines.firstIndex(of: UInt8(ascii: "\n")) else { return fitting.prefix(0) }
        return lines[...end]
    }

    private func write(_ bytes: some Collection<UInt8>, _ open: inout Open) throws(SystemError) {
        guard let file = open.file else { return }
        try file.write(Array(bytes), at: open.size)
        open.size += bytes.count
    }

    private func tellOfLost(_ open: inout Open) throws(SystemError) {
        guard open.lost > 0 else { return }
        let event = LogEvent(
            level: .warning, area: .node, sentence: "lines were lost: the disk did not take them",
            fields: [("lines", "\(open.lost)")])
        try write(LogFormat.text.line(event, time: SystemClock().wallMilliseconds), &open)
        open.lost = 0
    }

    private func reopen(_ open: inout Open) throws(SystemError) {
        open.file = nil
        open.file = try files.open(path, .create)
        open.size = Int(files.stamp(of: path)?.size ?? 0)
    }

    private func rotate(_ open: inout Open) throws(SystemError) {
        open.file = nil
        if kept == 0 {
            try files.remove(path)
        } else {
            for number in stride(from: kept - 1, through: 1, by: -1) where files.exists("\(path).\(number)") {
                try files.rename("\(path).\(number)", to: "\(path).\(number + 1)")
            }
            try files.rename(path, to: "\(path).1")
        }
        try reopen(&open)
    }
}
