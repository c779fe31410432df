import KithSystem
import KithTestSupport
import Synchronization

/// A file system of its own: what is below `root` lies in a temporary directory, and the system's files know nothing of
/// it. What else is asked for is the system's, and noted.
final class MovedFileSystem: FileSystem {
    let root: String
    let place = TemporaryDirectory()
    private let system = LocalFileSystem()
    private let seen = Mutex<Set<String>>([])

    init(root: String) { self.root = root }

    var layer: String? { nil }

    /// The paths elsewhere that were asked for.
    var elsewhere: [String] { seen.withLock { $0.sorted() } }

    /// Where something lies in truth.
    func moved(_ path: String) -> String {
        if path == root || path.hasPrefix(root + "/") { return place.path + path.dropFirst(root.count) }
        seen.withLock { _ = $0.insert(path) }
        return path
    }

    func stamp(of path: String) -> FileStamp? { system.stamp(of: moved(path)) }
    func open(_ path: String, _ access: FileAccess) throws(SystemError) -> any OpenFile {
        try system.open(moved(path), access)
    }
    func remove(_ path: String) throws(SystemError) { try system.remove(moved(path)) }
    func rename(_ path: String, to other: String) throws(SystemError) {
        try system.rename(moved(path), to: moved(other))
    }
    func link(_ path: String, to other: String) throws(SystemError) { try system.link(moved(path), to: moved(other)) }
    func makeDirectory(_ path: String) throws(SystemError) { try system.makeDirectory(moved(path)) }
    func closeToOthers(_ directory: String) throws(SystemError) { try system.closeToOthers(moved(directory)) }
    func requireWritable(_ directory: String) throws(SystemError) { try system.requireWritable(moved(directory)) }
    func synchronize(directory: String) throws(SystemError) { try system.synchronize(directory: moved(directory)) }
    func list(_ directory: String) throws(SystemError) -> [String] { try system.list(moved(directory)) }
    func space(of directory: String) -> StorageSpace? { system.space(of: moved(directory)) }
    func networkName(of directory: String) -> String? { system.networkName(of: moved(directory)) }
}
