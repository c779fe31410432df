import Dispatch
import Glibc
import KithNode
import KithSystem
import Synchronization

/// `kith demo`: the main job on one machine, as a client of real nodes sees it.
enum Demo {
    static let dataSet = "/usr/share/iso-codes/json/iso_639-3.json"

    static func run(_ invocation: Invocation) throws(CommandError) -> Int32 {
        let count = try invocation.value("nodes").map { text throws(CommandError) in
            try Values.number(text, 2...8, option: "--nodes")
        }
        let file = invocation.value("file") ?? dataSet
        guard access(file, R_OK) == 0 else {
            throw CommandError("cannot read \(Shown.path(file)); install the package iso-codes, or give --file FILE")
        }
        let interruption = Interruption()
        let sources = interruption.watch()
        defer { for source in sources { source.cancel() } }
        do throws(CommandError) {
            let workshop = try Workshop(nodes: Int(count ?? 3), keepsFolder: invocation.flag("keep"))
            defer { workshop.close() }
            interruption.closes(workshop)
            let failed = try Scenario(workshop, file: file, showsProgress: try Terminal().showsProgress).play()
            Output.line(failed == 0 ? "all ok" : "\(failed) FAILED")
            return failed == 0 ? ExitStatus.done : ExitStatus.failed
        } catch {
            // What fails after ctrl-C fails because of it.
            if interruption.happened { return ExitStatus.interrupted }
            throw error
        }
    }

    /// Ctrl-C and the like: they end the run, and everything is cleaned up all the same.
    private final class Interruption: Sendable {
        private struct State {
            var happened = false
            var workshop: Workshop?
        }

        private let state = Mutex(State())

        var happened: Bool { state.withLock { $0.happened } }

        /// Begins to look for signals, as long as the sources are there.
        func watch() -> [any DispatchSourceSignal] {
            [SIGINT, SIGTERM, SIGHUP].map { number in
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
                source.setEventHandler { self.happen() }
                source.resume()
                return source
            }
        }

        /// From now on an interruption closes this workshop; at once where there was one before.
        func closes(_ workshop: Workshop) {
            let happened = state.withLock { state in
                state.workshop = workshop
                return state.happened
            }
            if happened { workshop.close() }
        }

        private func happen() {
            let workshop = state.withLock { state in
                state.happened = true
                return state.workshop
            }
            workshop?.close()
        }
    }

    /// The folder, the nodes and the discovery of one run, and how all of it goes away again.
    final class Workshop: Sendable {
        let folder: String
        let nodes: [DemoNode]
        let discovery: DemoDiscovery
        private let keepsFolder: Bool
        private let isClosed = Mutex(false)

        private static let names = ["one", "two", "three", "four", "five", "six", "seven", "eight"]

        init(nodes count: Int, keepsFolder: Bool) throws(CommandError) {
            let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
            // The path stays short, for the sockets in it.
            var template = Array("\(base.utf8.count < 60 ? base : "/tmp")/kith-demo-XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else {
                throw CommandError("cannot make a temporary folder in \(base): \(String(cString: strerror(errno)))")
            }
            let folder = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
            self.folder = folder
            self.keepsFolder = keepsFolder
            let discovery = DemoDiscovery(folder: folder)
            self.discovery = discovery
            nodes = try Self.names.prefix(count).map { name throws(CommandError) in
                try DemoNode(name: name, folder: folder, environment: discovery.environment)
            }
        }

        /// Ends and removes everything, once; whoever else calls it waits until that is done, which is why the mutex is
        /// held meanwhile.
        func close() {
            isClosed.withLock { isClosed in
                guard !isClosed else { return }
                isClosed = true
                for node in nodes { node.stop() }
                discovery.stop()
                if keepsFolder {
                    Messages.line("the nodes' directories and logs are in \(folder)")
                } else {
                    LocalFileSystem.removeFolder(folder)
                }
            }
        }
    }
}
