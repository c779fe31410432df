import Glibc
import KithSystem

/// A directory with a short path, for the sockets in it. It goes with the value, and all that is in it.
package final class TemporaryDirectory: Sendable {
    package let path: String

    /// Traps when none can be made: no test could go on.
    package init() {
        var template = Array("/tmp/kith-test-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else {
            fatalError("no temporary directory: \(String(cString: strerror(errno)))")
        }
        path = String(cString: made)
    }

    deinit { Self.remove(path) }

    /// The names in the directory, sorted.
    package var names: [String] { Self.names(in: path) }

    /// The names in a directory, sorted; none where there is no directory.
    package static func names(in path: String) -> [String] {
        ((try? LocalFileSystem().list(path)) ?? []).sorted()
    }

    /// Removes a directory with all that is in it. Symbolic links are removed and not followed.
    package static func remove(_ path: String) {
        LocalFileSystem.removeFolder(path)
    }
}
