import Dispatch
import KithDiscovery
import KithNetwork
import KithSystem

/// What reading the configuration again did.
package struct ControlReload: Hashable, Sendable {
    /// The keys whose new values hold now.
    package var changed: [String] = []
    /// The keys whose new values hold after a restart.
    package var needsRestart: [String] = []
    /// Unknown keys and the like, each with its place.
    package var warnings: [String] = []

    package init() {}

    package var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("changed", strings: changed)
        object.add("needs_restart", strings: needsRestart)
        object.add("warnings", strings: warnings)
        return object.bytes
    }

    /// For people and the log.
    package var text: String {
        var parts: [String] = []
        if !changed.isEmpty { parts.append("changed now: \(changed.joined(separator: ", "))") }
        if !needsRestart.isEmpty { parts.append("changed after a restart: \(needsRestart.joined(separator: ", "))") }
        return parts.isEmpty ? "nothing has changed" : parts.joined(separator: "; ")
    }
}

/// Where a node's configuration comes from, and what of it holds.
struct ConfigurationState {
    /// Reads all sources anew; nil where a node was not started from any.
    var read: (@Sendable () -> Configuration)?
    /// Whether unknown keys are wrong.
    var isStrict = false
    /// The file that the node was told to read; nil where it was found by itself.
    var namedFile: String?
    /// The values that hold.
    var values: [ConfigurationKey: [String]] = [:]
    /// Why the last reading is not what holds.
    var problem: String?
    /// Discovery was told to end and has not yet.
    var isDiscoveryEnding = false
}

extension Node {
    /// Says how the configuration with which the node was made is read again. Before `start`.
    /// - Parameter namedFile: the file that it was told to read; nil where it was found by itself.
    package func follow(
        _ configuration: Configuration, isStrict: Bool, namedFile: String? = nil,
        read: @escaping @Sendable () -> Configuration
    ) {
        configured.read = read
        configured.namedFile = namedFile
        configured.isStrict = isStrict
        for key in ConfigurationKey.allCases { configured.values[key] = configuration.values(key) }
    }

    /// Reads the configuration again. What can change in a running node changes; a configuration that is wrong leaves all as
    /// it is, and health says so until a right one is read.
    package func reload(completion: @escaping @Sendable (Result<ControlReload, ControlError>) -> Void) {
        queue.async {
            guard self.isRunning else {
                return completion(.failure(ControlError(.unavailable, "the node is stopping")))
            }
            guard let read = self.configured.read else {
                let message = "this node was not started from a configuration; start it with kith start"
                return completion(.failure(ControlError(.invalid, message)))
            }
            self.supervisor?.reloading()
            // One after the other, so that the last reading is the last that is applied; off the queue, as it reads files.
            self.reloads.async {
                let configuration = read()
                self.queue.async {
                    let result = self.take(configuration)
                    self.supervisor?.reloaded()
                    self.changed()
                    completion(result)
                }
            }
        }
    }

    private func take(_ configuration: Configuration) -> Result<ControlReload, ControlError> {
        guard configuration.isUsable(strict: configured.isStrict) else {
            let wrong = configuration.problems.filter { configured.isStrict || !$0.isWarning }
            for problem in wrong { log(.error, .node, "the configuration is not taken over: \(problem.text)") }
            let more = wrong.count > 1 ? " (and \(wrong.count - 1) more)" : ""
            configured.problem = (wrong.first?.text ?? "") + more
            return .failure(
                ControlError(.invalid, "\(wrong.first?.text ?? "")\(more); the node goes on with what held before"))
        }
        var reload = ControlReload()
        for problem in configuration.problems {
            log(.warning, .node, problem.text)
            reload.warnings.append(problem.text)
        }
        configured.problem = nil
        for key in ConfigurationKey.allCases where configured.values[key] != configuration.values(key) {
            guard key.changesLive, apply(key, configuration) else {
                reload.needsRestart.append(key.name)
                continue
            }
            configured.values[key] = configuration.values(key)
            reload.changed.append(key.name)
        }
        log(.info, .node, "read the configuration again: \(reload.text)")
        evaluate()
        return .success(reload)
    }

    /// Takes one key over.
    /// - Returns: false where a restart is needed after all.
    private func apply(_ key: ConfigurationKey, _ configuration: Configuration) -> Bool {
        switch key {
        case .data, .listen, .logFormat: return false
        case .peer:
            staticPeers = (try? Self.endpoints(configuration.values(.peer))) ?? []
            book.setStatic(staticPeers + announcedAsSelf)
        case .advertise:
            let addresses = (try? Self.endpoints(configuration.values(.advertise)).map(\.description)) ?? []
            guard addresses.count <= NodeLimits.presenceAddresses else { return false }
            advertised = addresses
        case .interface:
            guard let patterns = try? InterfacePatterns(configuration.values(.interface)) else { return false }
            interfaces = patterns
            setDiscovery(configuration.value(.discovery) != "off", anew: true)
        case .discovery: setDiscovery(configuration.value(.discovery) != "off")
        case .log: log.replace(with: configuration.values(.log).compactMap { Log.Setting($0) })
        }
        return true
    }

    /// - Parameter anew: whether it ends first where it runs.
    private func setDiscovery(_ isOn: Bool, anew: Bool = false) {
        usesDiscovery = isOn
        // What ends still holds this node's name: the new one waits for that.
        if configured.isDiscoveryEnding { return }
        guard let discovery, anew || !isOn else { return startDiscovery() }
        self.discovery = nil
        book.setDiscovered([])
        configured.isDiscoveryEnding = true
        discovery.stop { [weak self] in
            guard let self else { return }
            self.queue.async {
                self.configured.isDiscoveryEnding = false
                self.startDiscovery()
                self.changed()
            }
        }
    }
}
