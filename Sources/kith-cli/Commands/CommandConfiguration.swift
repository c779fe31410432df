import Glibc
import KithNode

/// What is configured for a command line.
struct CommandConfiguration: Sendable {
    let reader: ConfigurationReader
    let configuration: Configuration
    let directory: NodeDirectory

    /// Reads the configuration as far as the command needs it: problems that do not concern the directory are no matter of
    /// most commands.
    init(_ invocation: Invocation) throws(CommandError) {
        let reader = Self.reader(invocation)
        self.reader = reader
        let configuration = reader.read()
        self.configuration = configuration
        do throws(ControlError) { directory = try reader.directory(configuration) } catch {
            throw CommandError(error.message, status: Int32(error.exitStatus))
        }
    }

    static func reader(_ invocation: Invocation) -> ConfigurationReader {
        var reader = ConfigurationReader()
        reader.file = invocation.value("config")
        let keys = ["start", "config"].contains(invocation.command) ? ConfigurationKey.allCases : [.data]
        for key in keys where invocation.flag(key.name) { reader.options[key] = invocation.values(key.name) }
        if invocation.flag("no-discovery") { reader.options[.discovery] = ["off"] }
        return reader
    }

    /// Fails where the configuration can't be used; says on standard error what is unknown.
    func requireUsable(strict: Bool) throws(CommandError) {
        if configuration.isUsable(strict: strict) {
            for problem in configuration.problems { Messages.line("kith: warning: \(problem.text)") }
            return
        }
        let wrong = configuration.problems.filter { strict || !$0.isWarning }
        for problem in wrong.dropFirst() { Messages.line("kith: \(problem.text)") }
        throw .usage(wrong.first?.text ?? "")
    }

    /// For commands that read or write the directory themselves: makes sure that they may, and as root becomes the user to
    /// whom it belongs, so that the node can read what they write. Options that name other files are read and written as that
    /// user too.
    /// - Returns: whether this process was root's and is not any more.
    @discardableResult
    func actAsOwner() throws(CommandError) -> Bool {
        var status = stat()
        guard stat(directory.path, &status) == 0 else { return false }
        if geteuid() == 0, status.st_uid != 0 {
            try Self.become(status.st_uid, status.st_gid)
            return true
        }
        if geteuid() != 0, configuration.isSystemFile, access(directory.path, W_OK) != 0 {
            let file = Shown.path(configuration.files.first ?? "")
            throw CommandError(
                "\(Shown.path(directory.path)) is the directory of this machine's node (\(file)): use sudo, or name a "
                    + "directory of your own with --data DIR")
        }
        return false
    }

    /// The same for a process that stays: it begins anew as the owner, because the first thread, which waits for the end,
    /// goes on as root otherwise. Nothing may have been read or written yet.
    func continueAsOwner() throws(CommandError) {
        guard try actAsOwner() else { return }
        // What holds for root by its own rules is named, so that it holds for the owner too.
        if configuration.isSystemFile {
            setenv("KITH_CONFIG", reader.systemFile, 1)
        } else {
            if reader.file == nil { setenv("KITH_CONFIG", configuration.files.first ?? "/dev/null", 1) }
            if reader.options[.data] == nil { setenv("KITH_DATA", directory.path, 1) }
        }
        // This thread hears no signals; the process is to.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        execv("/proc/self/exe", CommandLine.unsafeArgv)
        throw CommandError(
            "can't go on as the owner of \(Shown.path(directory.path)): \(String(cString: strerror(errno)))")
    }

    private static func become(_ user: uid_t, _ group: gid_t) throws(CommandError) {
        var done: Int32
        if let entry = getpwuid(user) {
            done = initgroups(entry.pointee.pw_name, entry.pointee.pw_gid)
            if done == 0 { done = setgid(entry.pointee.pw_gid) }
        } else {
            done = setgroups(0, nil)
            if done == 0 { done = setgid(group) }
        }
        guard done == 0, setuid(user) == 0 else {
            throw CommandError(
                "can't become user \(user), to whom the node's directory belongs: \(String(cString: strerror(errno)))")
        }
    }
}
