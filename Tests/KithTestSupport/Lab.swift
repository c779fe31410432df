import Glibc
import Synchronization

/// A LAN of network namespaces, by `Tests/LAN/lab.sh`. It goes with this value, and with the test process, however that
/// ends.
package final class Lab {
    /// A folder for the files of this LAN; it goes with it.
    package private(set) var folder = ""
    private let shell: LineProcess
    private static let count = Mutex(0)

    private static let script: String = {
        let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(
            separator: "/")
        return "\(folder)/LAN/lab.sh"
    }()

    /// Why there can be no such LAN here; nil when there can. Asking for it means that tests on a LAN were chosen: what
    /// became of them is told when the process ends.
    package static let skipReason: String? = {
        let reason: String?
        do {
            let check = try LineProcess(["bash", "-c", ". '\(script)'; lab_check && echo fine"])
            let line = check.next(until: Deadline(seconds: 30)) ?? "no answer from lab.sh"
            reason = line == "fine" ? nil : line
        } catch {
            reason = "\(error)"
        }
        LANReport.begin(skipReason: reason)
        return reason
    }()

    /// Whether the longer forms of tests were asked for.
    package static var isLong: Bool { getenv("KITH_LONG_TESTS") != nil }

    /// Namespaces with one Avahi each.
    package init(nodes: Int) throws {
        let number = Self.count.withLock { count in
            count += 1
            return count
        }
        shell = try LineProcess(["env", "LAB_ID=\(getpid())d\(number)", "bash", Self.script])
        try run("lab_up \(nodes)")
        folder = try run("echo $LAB_DIR").first ?? ""
    }

    /// Runs a command of the script.
    @discardableResult
    package func run(_ command: String) throws -> [String] {
        shell.forget()
        shell.send(command)
        let before = shell.lines.count
        let answer = try shell.wait(seconds: 30, for: "answer to \(command)") { $0.hasPrefix("= ") }
        let output = Array(shell.lines[before...].dropLast())
        guard answer == "= 0" else { throw Failure("\(command): \(answer) \(output)") }
        return output
    }

    /// What runs a program inside one of the nodes: the program's own path and arguments are to follow.
    package func inside(_ node: Int) throws -> [String] {
        guard let pid = try run("lab_pid \(node)").first else { throw Failure("node \(node) is not up") }
        return ["nsenter", "-t", pid, "-n", "-m", "--"]
    }
}

/// Tells once, when the test process ends, how many tests ran on a LAN, or why none could.
package enum LANReport {
    private static let state = Mutex<(reason: String?, count: Int)>((nil, 0))

    /// A test runs.
    package static func count() { state.withLock { $0.count += 1 } }

    fileprivate static func begin(skipReason: String?) {
        state.withLock { $0.reason = skipReason }
        atexit {
            let (reason, count) = LANReport.state.withLock { $0 }
            print(reason.map { "LAN: skipped, \($0)" } ?? "LAN: \(count) run")
            fflush(nil)
        }
    }
}
