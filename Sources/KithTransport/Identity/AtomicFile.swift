import Glibc
import KithSystem

/// Files that are either as they were or as they should be, whatever happens in between: written aside, synced, renamed,
/// the directory synced.
package enum AtomicFile {
    /// Replaces or makes the file, readable by its owner only. On disk when this returns.
    package static func write(
        _ bytes: [UInt8], to path: String, on files: any FileSystem
    ) throws(TransportError) {
        let aside = path + ".new"
        files.discard(aside)
        try create(bytes, at: aside, on: files)
        do throws(SystemError) { try files.rename(aside, to: path) } catch {
            files.discard(aside)
            throw .system("renaming \(aside)", error.number)
        }
        try syncDirectory(of: path, on: files)
    }

    /// Makes a file that must not be there yet. On disk when this returns.
    package static func create(
        _ bytes: [UInt8], at path: String, on files: any FileSystem
    ) throws(TransportError) {
        let file: any OpenFile
        do throws(SystemError) { file = try files.open(path, .createNew) } catch {
            throw .system("making \(path)", error.number)
        }
        do throws(SystemError) {
            try file.write(bytes, at: 0)
            #if KITH_MUTANTS
            if Mutant.isActive(.skipsFileSync) { return }
            #endif
            try file.synchronize()
        } catch {
            files.discard(path)
            throw .system("writing \(path)", error.number)
        }
    }

    /// The content; nil when there is no such file.
    /// - Throws: `.system`, `.malformed` when the file is longer than the limit.
    package static func read(
        _ path: String, atMost limit: Int, on files: any FileSystem
    ) throws(TransportError) -> [UInt8]? {
        let file: any OpenFile
        do throws(SystemError) { file = try files.open(path, .read) } catch {
            if error.number == ENOENT { return nil }
            throw .system("opening \(path)", error.number)
        }
        var bytes: [UInt8] = []
        while true {
            let part: [UInt8]
            do throws(SystemError) { part = try file.read(partBytes, at: bytes.count) } catch {
                // What has no places to read at.
                if error.number == ESPIPE { throw .malformed("\(path) is a pipe and no file") }
                throw .system("reading \(path)", error.number)
            }
            guard bytes.count + part.count <= limit else { throw .malformed("\(path) is longer than \(limit) bytes") }
            bytes += part
            if part.count < partBytes { return bytes }
        }
    }

    /// Bytes that are read at once: nearly all files are shorter.
    private static let partBytes = 64 * 1024

    /// Removes the file if it is there. On disk when this returns.
    package static func remove(_ path: String, on files: any FileSystem) throws(TransportError) {
        do throws(SystemError) { try files.remove(path) } catch {
            if error.number == ENOENT { return }
            throw .system("removing \(path)", error.number)
        }
        try syncDirectory(of: path, on: files)
    }

    private static func syncDirectory(of path: String, on files: any FileSystem) throws(TransportError) {
        #if KITH_MUTANTS
        if Mutant.isActive(.skipsDirectorySync) { return }
        #endif
        let directory = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        do throws(SystemError) { try files.synchronize(directory: directory) } catch {
            throw .system("syncing \(directory)", error.number)
        }
    }
}
