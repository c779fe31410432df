import KithSystem

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

// What is done with names.

extension VirtualDisk {
    // MARK: From outside, without a call that could fail

    package func exists(_ path: String) -> Bool { locked { names[path] != nil } }

    /// The content of a file as programs see it; nil where there is none.
    package func content(of path: String) -> [UInt8]? { locked { names[path]?.file?.content.bytes } }

    /// Makes a file with that content, durably and in the place of what was there: a new file under that name. Its
    /// directory must be there.
    package func put(_ path: String, _ bytes: [UInt8]) {
        locked {
            guard let place = try? names.place(path).get() else { preconditionFailure("no directory for \(path)") }
            names.give(place, .file(DiskFile(number: nextFileNumber(), content: FileContent(durable: bytes))))
            names.synchronize(place.directory)
        }
    }

    /// Removes a name durably.
    /// - Returns: whether it was there.
    @discardableResult package func lose(_ path: String) -> Bool {
        locked {
            guard let place = try? names.place(path).get(), place.entry != nil else { return false }
            names.give(place, nil)
            names.synchronize(place.directory)
            return true
        }
    }

    /// The names in a directory, or in that at the top, in byte order; none where it is not there.
    package func list(_ path: String? = nil) -> [String] {
        locked {
            let directory = path.map { names[$0]?.directory } ?? names.root
            return (directory?.current.keys.map(\.self) ?? []).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        }
    }

    // MARK: Calls

    /// The number of what a name stands for, its size and how often it was changed; the error where there is nothing.
    func status(
        of path: String
    ) -> Result<(number: UInt64, size: Int, version: UInt64, isDirectory: Bool), SystemError> {
        locked {
            names.find(path).map { entry in
                (
                    entry.number, entry.file?.content.bytes.count ?? Self.directoryBytes, entry.file?.version ?? 0,
                    entry.file == nil
                )
            }
        }
    }

    /// What file systems say of a small directory's size.
    private static let directoryBytes = 4_096

    func listed(_ path: String) -> Result<[String], SystemError> {
        locked {
            names.find(path).flatMap { entry in
                guard let directory = entry.directory else { return .failure(SystemError(ENOTDIR)) }
                // In an order that is the same each time and that nobody may count on.
                return .success(directory.current.keys.sorted { $1.utf8.lexicographicallyPrecedes($0.utf8) })
            }
        }
    }

    func taken(_ path: String, by process: DiskProcess) -> SystemError? {
        change(process, .remove, path) {
            names.place(path).error { place in
                guard let entry = place.entry else { return SystemError(ENOENT) }
                guard entry.directory == nil else { return SystemError(EISDIR) }
                names.give(place, nil)
                return nil
            }
        }
    }

    func moved(_ path: String, to other: String, by process: DiskProcess) -> SystemError? {
        change(process, .rename, path) {
            names.places(path, other).error { place, target in
                guard let entry = place.entry else { return SystemError(ENOENT) }
                if let directory = entry.directory, Self.holds(directory, target.directory) {
                    return SystemError(EINVAL)
                }
                if let above = target.entry?.directory, Self.holds(above, place.directory) {
                    return SystemError(ENOTEMPTY)
                }
                // Two names of one file: nothing is done, and both stay.
                if target.entry?.number == entry.number { return nil }
                switch (entry, target.entry) {
                case (.directory, .file): return SystemError(ENOTDIR)
                case (.file, .directory): return SystemError(EISDIR)
                case (.directory, .directory(let there)) where !there.current.isEmpty:
                    return SystemError(ENOTEMPTY)
                default:
                    names.move(place, to: target)
                    return nil
                }
            }
        }
    }

    /// Whether a directory is another one, or above it.
    private static func holds(_ directory: DiskDirectory, _ other: DiskDirectory) -> Bool {
        directory === other || directory.current.values.contains { $0.directory.map { holds($0, other) } ?? false }
    }

    func linked(_ path: String, to other: String, by process: DiskProcess) -> SystemError? {
        change(process, .link, path) {
            names.find(path).error { entry in
                names.place(other).error { target in
                    guard target.entry == nil else { return SystemError(EEXIST) }
                    guard entry.directory == nil else { return SystemError(EPERM) }
                    names.give(target, entry)
                    return nil
                }
            }
        }
    }

    /// Makes a directory, unless the name is taken already.
    func made(_ path: String, by process: DiskProcess) -> SystemError? {
        if locked({ names[path] != nil }) { return nil }
        return change(process, .makeDirectory, path) {
            names.place(path).error { place in
                names.give(place, .directory(DiskDirectory(number: nextFileNumber())))
                return nil
            }
        }
    }

    func synchronizedNames(_ path: String, by process: DiskProcess) -> SystemError? {
        change(process, .synchronizeDirectory, path) {
            names.find(path).error { entry in
                switch entry {
                case .directory(let directory): names.synchronize(directory)
                case .file(let file): file.content.synchronize()
                }
                return nil
            }
        }
    }

    private func change(
        _ process: DiskProcess, _ operation: DiskCall.Operation, _ path: String, _ body: () -> SystemError?
    ) -> SystemError? {
        switch ask(process, operation, path) {
        case nil: SystemError(EIO)
        case .failed(let error): SystemError(error)
        case .pretended: nil
        case .done, .delayed, .powerGoes, .misdirected: locked(body)
        }
    }

    /// The directory that a path is in.
    static func parent(of path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? path
    }
}

extension Result where Failure == SystemError {
    /// The error, or that of what is done with the value.
    fileprivate func error(_ body: (Success) -> SystemError?) -> SystemError? {
        switch self {
        case .success(let value): body(value)
        case .failure(let error): error
        }
    }
}
