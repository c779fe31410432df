import Glibc
import KithSystem

/// A program that this one started and will end.
///
/// Sendable unchecked: nothing in it changes; that it is ended once is `LocalAvahi`'s care.
struct ChildProcess: @unchecked Sendable {
    let pid: pid_t

    /// Starts a program with these arguments and this environment; its output goes to a file, its input is empty, and it
    /// gets no other descriptor of ours. Throws `daemon`.
    init(_ path: String, arguments: [String], environment: [String], output: String) throws(DiscoveryError) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        for descriptor in Self.inheritedDescriptors() { posix_spawn_file_actions_addclose(&actions, descriptor) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // A group of its own, so that an interrupt typed at the terminal reaches us, who will end it, and not it; and
        // no signals blocked or ignored that we block or ignore.
        var defaults = sigset_t()
        sigfillset(&defaults)
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var argumentPointers = ([path] + arguments).map { strdup($0) } + [nil]
        var environmentPointers = environment.map { strdup($0) } + [nil]
        defer { for pointer in argumentPointers + environmentPointers { free(pointer) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, path, &actions, &attributes, &argumentPointers, &environmentPointers)
        guard code == 0 else { throw .daemon("\(path) does not start: \(String(cString: strerror(code)))") }
        self.pid = pid
    }

    /// The descriptors above standard error that a child would get: those of libraries that do not mark theirs.
    private static func inheritedDescriptors() -> [Int32] {
        let names = (try? LocalFileSystem().list("/proc/self/fd")) ?? []
        return names.compactMap { Int32($0) }.filter { descriptor in
            let flags = fcntl(descriptor, F_GETFD)
            return descriptor > 2 && flags >= 0 && flags & FD_CLOEXEC == 0
        }
    }

    /// The path of a program, from `PATH` and the places where daemons are; nil where it is not installed.
    static func find(_ name: String) -> String? {
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        let folders = path.split(separator: ":").map(String.init) + ["/usr/sbin", "/usr/bin", "/sbin", "/bin"]
        return folders.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// Whether it still runs. Once this was false the process is reaped, and its number may be another's.
    func isRunning() -> Bool {
        var status: Int32 = 0
        return waitpid(pid, &status, WNOHANG) == 0
    }

    /// Ends it: politely, and after the time limit for certain. It is gone when this returns.
    func end(timeoutMilliseconds: UInt64) {
        guard isRunning() else { return }
        kill(pid, SIGTERM)
        if ChildProcess.wait(timeoutMilliseconds, until: { !isRunning() }) { return }
        kill(pid, SIGKILL)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    }

    /// Asks every few milliseconds until the condition holds; false when the time is up.
    static func wait(_ milliseconds: UInt64, until condition: () -> Bool) -> Bool {
        let deadline = Clock.monotonic() + milliseconds
        while !condition() {
            guard Clock.monotonic() < deadline else { return false }
            usleep(10_000)
        }
        return true
    }
}
