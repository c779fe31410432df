import KithDocument
import KithStore
import KithSystem
import KithTransport

/// Whether a node could start: what a start looks at, looked at without starting. Writes nothing.
package struct StartCheck: Sendable {
    /// What would keep the node from starting, each a sentence.
    package private(set) var problems: [String] = []
    /// What a start would go on from and health would tell of.
    package private(set) var warnings: [String] = []

    /// - Parameter configuration: usable, as a start takes it.
    package init(_ configuration: NodeConfiguration) {
        let directory = configuration.directory
        let files = configuration.machine.files
        let identities = IdentityStore(directory: directory.path, on: files)
        let identity = attempt { () throws(NodeError) in
            try Node.transport { () throws(TransportError) in try identities.load() }
        }
        // Without one the rest says nothing.
        guard let identity else { return }
        let isFree = attempt { () throws(NodeError) in try DirectoryLock.requireFree(directory.path, on: files) } != nil
        attempt { () throws(NodeError) in try Self.requireWritable(directory.path, files) }
        attempt { () throws(NodeError) in _ = try identities.membership(of: identity) }
        if let problem = identities.rootProblem(of: identity) {
            warnings.append("the group's root key could not be used: \(problem)")
        }
        lookAtMachine(configuration)
        lookAtSmallFiles(identities)
        attempt { () throws(NodeError) in try Self.require(configuration) }
        // Who runs has the address.
        if isFree {
            attempt { () throws(NodeError) in try ListeningPlace(configuration, isDryRun: true).probe() }
        }
        attempt { () throws(NodeError) in try Self.requireSocket(directory) }
        lookAtDatabases(directory.path, files)
    }

    @discardableResult
    private mutating func attempt<Value>(_ body: () throws(NodeError) -> Value) -> Value? {
        do throws(NodeError) { return try body() } catch {
            problems.append(error.message)
            return nil
        }
    }

    /// A start writes at once: its process id, its instance, the socket.
    private static func requireWritable(_ path: String, _ files: any FileSystem) throws(NodeError) {
        do throws(StoreError) { try Store.requireLocal(path, on: files) } catch {
            throw NodeError(code: error.code.rawValue, message: error.message)
        }
        for place in [path, path + "/databases"] where files.exists(place) {
            do throws(SystemError) { try files.requireWritable(place) } catch {
                throw NodeError(
                    code: "directory",
                    message: "\(place) can't be written: \(error.reason); look at its disk, owner and mode")
            }
        }
    }

    private mutating func lookAtMachine(_ configuration: NodeConfiguration) {
        let state = attempt { () throws(NodeError) in
            try MachineIdentity.state(
                of: configuration.directory.path, file: configuration.machineIDFile, on: configuration.machine.files)
        }
        if state == .changed {
            warnings.append(
                "the directory was used on another machine before: the node would replicate with nobody until kith identity "
                    + "keep or reset")
        }
    }

    private mutating func lookAtSmallFiles(_ identities: IdentityStore) {
        for file in SpareFile.allCases {
            let path = file.path(in: identities.directory)
            let damage = attempt { () throws(NodeError) -> String? in
                guard file == .invites else {
                    return try file.look(in: identities.directory, on: identities.files).damage
                }
                do throws(TransportError) {
                    _ = try identities.invites()
                    return nil
                } catch { return try SpareFile.reason(of: error, at: path) }
            }
            if let damage, let damage {
                warnings.append("\(path) is damaged (\(damage)) and would be set aside: \(file.loss)")
            }
        }
    }

    private static func require(_ configuration: NodeConfiguration) throws(NodeError) {
        _ = try Node.endpoints(configuration.peers)
        _ = try Node.endpoints(configuration.advertise)
        try ConfigurationKey.advertise.require(configuration.advertise)
        try ConfigurationKey.interface.require(configuration.interfaces)
    }

    private static func requireSocket(_ directory: NodeDirectory) throws(NodeError) {
        do throws(ControlError) { try directory.requireSocketFolder() } catch {
            throw NodeError(code: error.code.rawValue, message: error.message)
        }
    }

    /// A database that can't be used does not keep the node from starting.
    private mutating func lookAtDatabases(_ nodeDirectory: String, _ files: any FileSystem) {
        let directory = nodeDirectory + "/databases"
        // Those of which there is no file.
        var missed = DatabaseNames.look(.carried, in: nodeDirectory, on: files)
        missed.subtract(DatabaseNames.look(.dropped, in: nodeDirectory, on: files))
        do throws(StoreError) {
            for name in try files.exists(directory) ? Store.names(in: directory, on: files) : [] {
                do throws(StoreError) { try DatabaseFile(name, in: directory, on: files).look() } catch {
                    if error.code == .notFound { continue }
                    warnings.append("database \(name) could not be used: \(error.message)")
                }
                missed.remove(name)
            }
        } catch { problems.append(error.message) }
        for name in missed.sorted() {
            let file = DatabaseFile(name, in: directory, on: files)
            warnings.append("database \(name) could not be used: \(file.missing.message)")
        }
    }
}
