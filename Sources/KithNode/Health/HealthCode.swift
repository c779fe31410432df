/// A check of a node's health, by its stable code. The table of all that can be wrong: status names these,
/// `kith help CODE` has a page for each, and docs/troubleshooting.md is made from the same pages.
package enum HealthCode: String, CaseIterable, Sendable {
    // Discovery.
    case discoveryDown = "DISCOVERY_DOWN"
    case notAnnounced = "NOT_ANNOUNCED"
    case multicastLost = "MULTICAST_LOST"
    // Storage.
    case storageFull = "STORAGE_FULL"
    case storageLow = "STORAGE_LOW"
    case storageFailed = "STORAGE_FAILED"
    case databaseDamaged = "DATABASE_DAMAGED"
    case databaseNewer = "DATABASE_NEWER"
    case databaseMoved = "DATABASE_MOVED"
    case databaseMissing = "DATABASE_MISSING"
    case databaseUnusable = "DATABASE_UNUSABLE"
    case logLost = "LOG_LOST"
    case rollbackDetected = "ROLLBACK_DETECTED"
    case fileDamaged = "FILE_DAMAGED"
    // Documents.
    case conflicts = "CONFLICTS"
    case documentsRefused = "DOCUMENTS_REFUSED"
    // Peers.
    case peerBlocked = "PEER_BLOCKED"
    case paused = "PAUSED"
    case clockSkew = "CLOCK_SKEW"
    // Service.
    case configurationInvalid = "CONFIG_INVALID"
    case staticPeerFailed = "STATIC_PEER_FAILED"
    // Links.
    case pathMTU = "PATH_MTU"
    case descriptorsLow = "DESCRIPTORS_LOW"
    // Membership.
    case identityDuplicate = "IDENTITY_DUPLICATE"
    case revoked = "REVOKED"
    case singleAdmin = "SINGLE_ADMIN"
    case machineChanged = "MACHINE_CHANGED"

    /// What the check means and what to do.
    package var page: HealthPage {
        switch self {
        case .discoveryDown: .discoveryDown
        case .notAnnounced: .notAnnounced
        case .multicastLost: .multicastLost
        case .storageFull: .storageFull
        case .storageLow: .storageLow
        case .storageFailed: .storageFailed
        case .databaseDamaged: .databaseDamaged
        case .databaseNewer: .databaseNewer
        case .databaseMoved: .databaseMoved
        case .databaseMissing: .databaseMissing
        case .databaseUnusable: .databaseUnusable
        case .logLost: .logLost
        case .rollbackDetected: .rollbackDetected
        case .fileDamaged: .fileDamaged
        case .conflicts: .conflicts
        case .documentsRefused: .documentsRefused
        case .peerBlocked: .peerBlocked
        case .paused: .paused
        case .clockSkew: .clockSkew
        case .configurationInvalid: .configurationInvalid
        case .staticPeerFailed: .staticPeerFailed
        case .pathMTU: .pathMTU
        case .descriptorsLow: .descriptorsLow
        case .identityDuplicate: .identityDuplicate
        case .revoked: .revoked
        case .singleAdmin: .singleAdmin
        case .machineChanged: .machineChanged
        }
    }

    /// The name of its page of help: the code in lower case with hyphens.
    package var topic: String { String(rawValue.lowercased().map { $0 == "_" ? "-" : $0 }) }

    /// The check that a person names: `STORAGE_FULL`, `storage-full` or `storage_full`.
    package init?(named name: String) {
        self.init(rawValue: String(name.uppercased().map { $0 == "-" ? "_" : $0 }))
    }
}
