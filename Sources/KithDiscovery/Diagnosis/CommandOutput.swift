import Glibc

/// What a program of the system prints, for a diagnosis: it is run with these arguments and must end in time.
package enum CommandOutput {
    case notInstalled
    /// It could not be run, did not end, or failed; with what it said.
    case failed(String)
    case printed(String)

    /// Runs a program that is found as a shell finds it, or where daemons are. Blocks at most that long and a little.
    package static func of(_ program: String, _ arguments: [String], milliseconds: UInt64) -> CommandOutput {
        guard let path = ChildProcess.find(program) else { return .notInstalled }
        var template = Array("/tmp/kith-doctor.XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { return .failed("no temporary file: \(String(cString: strerror(errno)))") }
        let file = String(decoding: template.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        defer {
            unlink(file)
            close(descriptor)
        }
        let child: ChildProcess
        do throws(DiscoveryError) {
            child = try ChildProcess(
                path, arguments: arguments, environment: ["LC_ALL=C", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"],
                output: file)
        } catch { return .failed(error.message) }
        var status: Int32 = 0
        let hasEnded = ChildProcess.wait(milliseconds) { waitpid(child.pid, &status, WNOHANG) != 0 }
        guard hasEnded else {
            kill(child.pid, SIGKILL)
            while waitpid(child.pid, &status, 0) < 0, errno == EINTR {}
            return .failed("\(program) did not end in time")
        }
        var bytes = [UInt8](repeating: 0, count: Limits.diagnosisOutputBytes)
        let count = max(0, pread(descriptor, &bytes, bytes.count, 0))
        let text = String(decoding: bytes.prefix(count), as: UTF8.self)
        return status == 0 ? .printed(text) : .failed(String(text.split(separator: "\n").first ?? "no reason given"))
    }
}
