import KithCrypto
import KithDocument
import KithSystem
import KithTransport

/// Who a node is, as its directory says: what `kith identity show` prints.
package struct NodeIdentity: Hashable, Sendable {
    package let id: String
    package let name: String
    package let group: String
    package let role: String
    /// Of the group's root, in hex: the same on every node of the group.
    package let fingerprint: String
    package let machine: MachineIdentity.State
    package let directory: String

    package init(
        id: String, name: String, group: String, role: String, fingerprint: String, machine: MachineIdentity.State,
        directory: String
    ) {
        self.id = id
        self.name = name
        self.group = group
        self.role = role
        self.fingerprint = fingerprint
        self.machine = machine
        self.directory = directory
    }
}

extension NodeSetup {
    /// Reads who a node is, whether it runs or not.
    package static func identity(
        of directory: NodeDirectory, machineIDFile: String, on files: any FileSystem = LocalFileSystem()
    ) throws(NodeError) -> NodeIdentity {
        let identity = try Node.transport { () throws(TransportError) in
            try IdentityStore(directory: directory.path, on: files).load()
        }
        return NodeIdentity(
            id: identity.nodeID.description, name: identity.nodeName, group: identity.groupName,
            role: identity.role.description, fingerprint: Hex.encode(identity.trust.root.fingerprint),
            machine: try MachineIdentity.state(of: directory.path, file: machineIDFile, on: files),
            directory: directory.path)
    }

    /// Says that a directory was moved to this machine, for a node that does not run. On disk when this returns.
    package static func keep(
        _ directory: NodeDirectory, machineIDFile: String, on files: any FileSystem = LocalFileSystem()
    ) throws(NodeError) {
        let lock = try DirectoryLock(directory: directory.path, on: files)
        defer { withExtendedLifetime(lock) {} }
        _ = try Node.transport { () throws(TransportError) in
            try IdentityStore(directory: directory.path, on: files).load()
        }
        try MachineIdentity.record(in: directory.path, file: machineIDFile, on: files)
    }

    /// Makes a copy of a node a new node, to be joined anew; for a node that does not run. The databases stay, and each
    /// begins a new timeline with its next write. On disk when this returns.
    /// - Returns: where a root's key is kept, if there was one.
    package static func reset(
        _ directory: NodeDirectory, on files: any FileSystem = LocalFileSystem()
    ) throws(NodeError) -> String? {
        let lock = try DirectoryLock(directory: directory.path, on: files)
        defer { withExtendedLifetime(lock) {} }
        return try Node.transport { () throws(TransportError) in
            try IdentityStore(directory: directory.path, on: files).reset()
        }
    }
}
