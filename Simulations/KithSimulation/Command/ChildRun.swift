import Glibc
import KithTestSupport

/// Runs plans, each in a process of its own: a trap there is a result here, and hash seeds are others each time.
package struct ChildRun: Sendable {
    private let program: String
    private let options: [String]
    /// After so many seconds a run is ended, as one without an end.
    package var seconds: Int

    /// - Parameters:
    ///   - program: `kith-sim`.
    ///   - options: beside the plan.
    package init(program: String, options: [String] = [], seconds: Int = 1_800) {
        self.program = program
        self.options = options
        self.seconds = seconds
    }

    /// The file of this process's own program.
    package static var ownProgram: String {
        guard let path = realpath("/proc/self/exe", nil) else { return "kith-sim" }
        defer { free(path) }
        return String(cString: path)
    }

    /// Runs a plan to its end.
    package func run(_ plan: Plan) -> RunReport {
        let directory = TemporaryDirectory()
        let file = directory.path + "/plan"
        guard PlanFile.write(plan.text, to: file) else {
            return RunReport(failure: Failure(.trap, "can't write \(file)"))
        }
        return run(["--here", "--quiet", "--plan", file])
    }

    /// Runs a plan twice; that the traces are different is a failure of its own.
    package func runTwice(_ plan: Plan) -> RunReport {
        let first = run(plan)
        if let failure = first.failure, failure.kind == .trap || failure.kind == .budget { return first }
        let second = run(plan)
        if first.traceHash == second.traceHash { return first }
        var report = first
        report.failure = Failure(
            .nondeterminism,
            "one run has the trace \(RunReport.hex(first.traceHash)), another \(RunReport.hex(second.traceHash))")
        return report
    }

    /// How a process of the program ended.
    enum Ending {
        case unstarted(String)
        /// It was ended when its time was up.
        case late
        /// With the status that `waitpid` gives, and what it said.
        case ended(Int32, String)
    }

    private func run(_ arguments: [String]) -> RunReport {
        switch end(of: arguments) {
        case .unstarted(let why): return Self.unstarted(why)
        case .late: return RunReport(failure: Failure(.budget, "no end after \(seconds) s"))
        case .ended(let status, let output):
            if status & 0x7f != 0 { return RunReport(failure: Self.trap(status & 0x7f, output)) }
            guard let report = RunReport(text: output) else {
                return Self.unstarted("the run ended with \(status >> 8 & 0xff) and said: \(output.suffix(300))")
            }
            return report
        }
    }

    /// Runs the program with these arguments and the options to its end.
    func end(of arguments: [String]) -> Ending {
        // Sockets and not pipes: they can be made close-on-exec in one step, and other threads start children too.
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return .unstarted("no pair of sockets") }
        defer { close(ends[0]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO)
        var words = ([program] + arguments + options).map { strdup($0) } + [nil]
        // A trap is to end it at once, and not after a picture of all threads.
        var environment = Self.environment.map { strdup($0) } + [strdup("SWIFT_BACKTRACE=enable=no"), nil]
        defer { for word in words + environment { free(word) } }
        var child = pid_t()
        let code = posix_spawn(&child, program, &actions, nil, &words, &environment)
        close(ends[1])
        guard code == 0 else { return .unstarted("\(program): \(String(cString: strerror(code)))") }
        let output = read(ends[0])
        if output == nil { kill(child, SIGKILL) }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        return output.map { .ended(status, $0) } ?? .late
    }

    /// What the process writes until it ends; nil when the time is up.
    private func read(_ descriptor: Int32) -> String? {
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(seconds)
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while true {
            let remaining = clock.now.duration(to: deadline).components
            guard remaining.seconds >= 0, remaining.attoseconds >= 0 else { return nil }
            var readiness = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let milliseconds = Int32(
                min(remaining.seconds, 60) * 1_000 + 1 + remaining.attoseconds / 1_000_000_000_000_000)
            if poll(&readiness, 1, milliseconds) < 1 { continue }
            let count = Glibc.read(descriptor, &part, part.count)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return String(decoding: bytes, as: UTF8.self) }
            // What is longer than any report is of no use.
            if bytes.count < 4 << 20 { bytes.append(contentsOf: part[..<count]) }
        }
    }

    /// The name of a trap has its place in the source, so that shrinking keeps to one of two.
    private static func trap(_ signal: Int32, _ output: String) -> Failure {
        let lines = output.split(separator: "\n")
        let line = lines.first { $0.contains("Fatal error") } ?? lines.last ?? ""
        let place = line.split(separator: ":").prefix(2).joined(separator: ":")
        let isPlace = place.contains(".swift:") && !place.contains(" ")
        return Failure(.trap, name: isPlace ? "trap-\(place)" : "trap", "ended by signal \(signal): \(line)")
    }

    private static func unstarted(_ message: String) -> RunReport { RunReport(failure: Failure(.trap, message)) }

    private static var environment: [String] {
        var result: [String] = []
        var next = environ
        while let entry = next.pointee {
            let text = String(cString: entry)
            if !text.hasPrefix("SWIFT_BACKTRACE=") { result.append(text) }
            next += 1
        }
        return result
    }
}
