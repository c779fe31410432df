#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

// What is made of a file system's calls, the same on each.

extension FileSystem {
    /// Whether there is something of that name.
    package func exists(_ path: String) -> Bool { stamp(of: path) != nil }

    /// Removes a file that may not be there; whether it is gone.
    @discardableResult
    package func discard(_ path: String) -> Bool {
        do throws(SystemError) { try remove(path) } catch { return error.number == ENOENT }
        return true
    }

    /// Makes a directory and what is missing above it, for this user alone; one that is there stays as it is.
    /// - Throws: `SystemError`; `ENOTDIR` where something else has the name.
    package func makeDirectories(_ path: String) throws(SystemError) {
        do throws(SystemError) { try makeDirectory(path) } catch {
            guard error.number == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
                throw error
            }
            try makeDirectories(String(path[..<slash]))
            try makeDirectory(path)
        }
        guard stamp(of: path)?.isDirectory == true else { throw SystemError(ENOTDIR) }
    }
}

extension SystemError {
    /// The system's words for it.
    package var reason: String { String(cString: strerror(number)) }
}
