import Glibc

/// A child process that is spoken to in lines, with an upper limit on every wait.
package final class LineProcess {
    package let pid: pid_t
    private let input: Int32
    private let output: Int32
    private var buffer: [UInt8] = []
    private var isReaped = false
    /// All lines read so far.
    package private(set) var lines: [String] = []
    private var mark = 0

    /// Starts a program, which is looked for in the path; its standard error is ours.
    package init(_ arguments: [String]) throws {
        var toChild: [Int32] = [0, 0]
        var fromChild: [Int32] = [0, 0]
        // Sockets and not pipes, because they can be made close-on-exec in one step: a child that another test starts at
        // this moment must not hold our end open.
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &toChild) == 0, socketpair(AF_UNIX, kind, 0, &fromChild) == 0 else {
            throw Failure("no pair of sockets")
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, toChild[0], 0)
        posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1)
        var pointers = arguments.map { strdup($0) } + [nil]
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, arguments[0], &actions, nil, &pointers, environ)
        for pointer in pointers { free(pointer) }
        posix_spawn_file_actions_destroy(&actions)
        close(toChild[0])
        close(fromChild[1])
        guard code == 0 else { throw Failure("\(arguments[0]): \(String(cString: strerror(code)))") }
        self.pid = pid
        input = toChild[1]
        output = fromChild[0]
    }

    deinit { end() }

    package func send(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        signal(SIGPIPE, SIG_IGN)
        _ = write(input, bytes, bytes.count)
    }

    /// The next line; nil when the time is up or the child has closed its output.
    package func next(until deadline: Deadline) -> String? {
        while true {
            if let end = buffer.firstIndex(of: 10) {
                let line = String(decoding: buffer[..<end], as: UTF8.self)
                buffer.removeSubrange(...end)
                lines.append(line)
                return line
            }
            let remaining = deadline.remaining
            var readiness = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            guard remaining > 0, poll(&readiness, 1, remaining) == 1 else { return nil }
            var chunk = [UInt8](repeating: 0, count: 4_096)
            let count = read(output, &chunk, chunk.count)
            guard count > 0 else { return nil }
            buffer += chunk.prefix(count)
        }
    }

    /// From now on only lines that are not read yet count for `wait`.
    package func forget() { mark = lines.count }

    /// The first line that fits, of those since the last `forget`; reads on to it where it has not come yet.
    package func wait(seconds: Int, for what: String, where fits: (String) -> Bool) throws -> String {
        if let line = lines[mark...].first(where: fits) { return line }
        let deadline = Deadline(seconds: seconds)
        while let line = next(until: deadline) {
            if fits(line) { return line }
        }
        throw Failure("no \(what) within \(seconds) s; last: \(lines.suffix(12))")
    }

    /// As a crash ends it.
    package func kill() {
        Glibc.kill(pid, SIGKILL)
        end()
    }

    /// Asks it to end, and waits for that as `end` does.
    @discardableResult
    package func terminate() -> Int32? {
        if !isReaped { Glibc.kill(pid, SIGTERM) }
        return end()
    }

    /// Closes its input and waits for its end, which is made certain after so many seconds. Its output is read to the end.
    /// - Returns: its exit status; nil when a signal ended it.
    @discardableResult
    package func end(seconds: Int = 10) -> Int32? {
        guard !isReaped else { return nil }
        close(input)
        let deadline = Deadline(seconds: seconds)
        while next(until: deadline) != nil {}
        var status: Int32 = 0
        while waitpid(pid, &status, WNOHANG) == 0 {
            if deadline.remaining == 0 { Glibc.kill(pid, SIGKILL) }
            usleep(5_000)
        }
        close(output)
        isReaped = true
        return status & 0x7f == 0 ? status >> 8 & 0xff : nil
    }
}

/// What went wrong in a test's own machinery, or what did not come in time.
package struct Failure: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
