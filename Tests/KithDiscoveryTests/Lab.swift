import Glibc
import Synchronization
import Testing

@testable import KithDiscovery

/// A LAN of network namespaces, by `Tests/LAN/lab.sh`. It goes with this value, and with the test process.
final class Lab {
    private let shell: LineProcess
    private static let count = Mutex(0)

    private static let script: String = {
        let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(
            separator: "/")
        return "\(folder)/LAN/lab.sh"
    }()

    /// Why there can be no such LAN here; nil when there can.
    static let skipReason: Comment? = {
        do {
            let check = try LineProcess(["bash", "-c", ". '\(script)'; lab_check && echo fine"])
            let line = check.next(until: Deadline(seconds: 30)) ?? "LAN: skipped, no answer from lab.sh"
            return line == "fine" ? nil : Comment(rawValue: line)
        } catch {
            return "LAN: skipped, \(error)"
        }
    }()

    /// Namespaces with one Avahi each.
    init(nodes: Int) throws {
        let number = Self.count.withLock { count in
            count += 1
            return count
        }
        shell = try LineProcess(["env", "LAB_ID=\(getpid())d\(number)", "bash", Self.script])
        try run("lab_up \(nodes)")
    }

    /// Runs a command of the script.
    @discardableResult
    func run(_ command: String) throws -> [String] {
        shell.forget()
        shell.send(command)
        let before = shell.lines.count
        let answer = try shell.wait(seconds: 30, for: "answer to \(command)") { $0.hasPrefix("= ") }
        let output = Array(shell.lines[before...].dropLast())
        guard answer == "= 0" else { throw Failure("\(command): \(answer) \(output)") }
        return output
    }

    /// Runs discovery on one of the nodes.
    func probe(on node: Int, _ arguments: String...) throws -> LineProcess {
        guard let pid = try run("lab_pid \(node)").first else { throw Failure("node \(node) is not up") }
        return try LineProcess(["nsenter", "-t", pid, "-n", "-m", "--", Self.probePath] + arguments)
    }

    /// Runs discovery in namespaces of its own that have a loopback, an empty /run, and no bus.
    static func lonelyProbe(_ arguments: String...) throws -> LineProcess {
        let prepare = "mount -t tmpfs tmpfs /run && ip link set lo up && exec \"$@\""
        return try LineProcess(
            ["unshare", "-n", "-m", "--propagation", "private", "bash", "-c", prepare, "lonely", probePath] + arguments)
    }

    /// The probe is built beside the tests.
    private static let probePath: String = {
        var buffer = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let path = String(decoding: buffer.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        return path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
            + "/kith-discovery-probe"
    }()
}
