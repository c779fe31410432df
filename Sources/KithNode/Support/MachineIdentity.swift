import KithCrypto
import KithDocument
import KithSystem
import KithTransport

/// On which machine a node lives: the machine's id, kept beside the identity, so that a directory that was copied to
/// another machine is noticed before two nodes run under one identity.
///
/// The id itself (machine-id(5)) is never stored or shown, as its manual demands: kept is the HMAC-SHA256 of a constant of
/// Kith's own, keyed by it.
package enum MachineIdentity {
    /// Where the machine's id is read, unless `KITH_MACHINE_ID_FILE` says otherwise.
    package static let systemFile = "/etc/machine-id"
    /// The file in the node's directory.
    static let fileName = IdentityStore.machineName
    private static let application = Array("kith machine 1\0".utf8)

    /// What a node's directory says of the machine.
    package enum State: String, Sendable {
        /// The directory was used on this machine before.
        case same
        /// It was used on another one: it was moved, or is a copy.
        case changed
        /// It does not say; written at the next start.
        case unrecorded
        /// This machine has no id, as in some containers: nothing is checked.
        case unknown
    }

    /// The file that the environment names, or the system's.
    package static func file(_ environment: NodeDirectory.Environment = NodeDirectory.processEnvironment) -> String {
        environment("KITH_MACHINE_ID_FILE") ?? systemFile
    }

    /// What stands for the machine, in hex; nil where it has no id.
    /// - Throws: `NodeError` `machine` where the file is another than the system's and holds none: somebody has named it,
    ///   and without it a copied directory would not be noticed.
    static func current(file: String, on files: any FileSystem) throws(NodeError) -> String? {
        if file.isEmpty { return nil }
        var problem = "there is no such file"
        do throws(TransportError) {
            if let bytes = try AtomicFile.read(file, atMost: NodeLimits.machineFileBytes, on: files) {
                let text = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace).first ?? ""
                if text.utf8.count == 32, let id = Hex.decode(text.utf8), id.contains(where: { $0 != 0 }) {
                    return Hex.encode(HMACSHA256.code(for: application, key: id))
                }
                problem = "it does not begin with 32 hex digits that are not all 0"
            }
        } catch { problem = error.message }
        if file == systemFile { return nil }
        throw NodeError(
            code: "machine",
            message:
                "KITH_MACHINE_ID_FILE names \(Shown.path(file)), which holds no machine's id (\(problem)): mend it, or "
                + "set the variable to nothing where no machine is to be told from another")
    }

    /// How a directory and this machine belong together. A record that can't be read says as little as one of another
    /// machine.
    static func state(
        of directory: String, file: String, on files: any FileSystem
    ) throws(NodeError) -> State {
        guard let current = try current(file: file, on: files) else { return .unknown }
        let path = "\(directory)/\(fileName)"
        do throws(TransportError) {
            guard let bytes = try AtomicFile.read(path, atMost: NodeLimits.machineFileBytes, on: files) else {
                return .unrecorded
            }
            return bytes == Array("\(current)\n".utf8) ? .same : .changed
        } catch {
            _ = try SpareFile.reason(of: error, at: path)
            return .changed
        }
    }

    /// Says from now on that the directory is used on this machine. On disk when this returns.
    static func record(in directory: String, file: String, on files: any FileSystem) throws(NodeError) {
        guard let current = try current(file: file, on: files) else { return }
        try SmallFile.write(SmallFile.content([current]), to: "\(directory)/\(fileName)", on: files)
    }
}
