import KithSystem

/// A file that a repair or a restore has put aside: what a database was before. People remove it when they need it no more.
package struct KeptFile: Hashable, Sendable {
    package let path: String
    /// With its log.
    package let bytes: UInt64

    /// Why a file was put aside; the beginning of its ending.
    enum Reason: String, CaseIterable {
        case damaged
        case replaced

        /// How many of them stay, the newest. A repair may find less than the one before, so the files of several stay;
        /// what a restore replaced was whole, and is as large as the database.
        var most: Int {
            switch self {
            case .damaged: Limits.damagedFilesKept
            case .replaced: 1
            }
        }
    }

    /// All in a directory, whatever became of their databases, ascending by path.
    package static func all(
        in directory: String, on fileSystem: any FileSystem = LocalFileSystem()
    ) throws(StoreError) -> [KeptFile] {
        let marks = Reason.allCases.map { Array("\(DatabaseFile.suffix).\($0.rawValue)-".utf8) }
        return try all(in: directory, fileSystem) { name in marks.contains { name.utf8.firstRange(of: $0) != nil } }
    }

    /// Those of one database, ascending by path.
    package static func all(of file: DatabaseFile) throws(StoreError) -> [KeptFile] {
        let starts = Reason.allCases.map { file.asideName($0.rawValue + "-") }
        return try all(in: file.directory, file.fileSystem) { name in starts.contains(where: name.hasPrefix) }
    }

    /// A log may stand alone: that of a database whose file was gone.
    private static func all(
        in directory: String, _ fileSystem: any FileSystem, _ isKept: (String) -> Bool
    ) throws(StoreError) -> [KeptFile] {
        var kept: [KeptFile] = []
        for name in try fileSystem.names(in: directory) where isKept(name) {
            let path = directory + "/" + (name.hasSuffix(logEnding) ? String(name.dropLast(logEnding.count)) : name)
            if kept.last?.path != path { kept.append(KeptFile(path, fileSystem)) }
        }
        return kept
    }

    /// Removes the oldest of a database, so that no more stay than may.
    /// - Parameter newest: the one that was put aside last, whatever the clock said.
    /// - Returns: what was removed.
    static func trim(_ file: DatabaseFile, _ reason: Reason, newest: String?) throws(StoreError) -> [String] {
        let start = file.directory + "/" + file.asideName(reason.rawValue + "-")
        let older = try all(of: file).map(\.path).filter { $0.hasPrefix(start) && $0 != newest }
        let removed = older.dropLast(max(0, reason.most - (newest == nil ? 0 : 1)))
        for path in removed {
            for path in [path, path + logEnding] { try file.fileSystem.requireRemoved(path) }
        }
        return Array(removed)
    }

    private static let logEnding = "-wal"

    private init(_ path: String, _ fileSystem: any FileSystem) {
        self.path = path
        bytes = UInt64(fileSystem.size(of: path) + fileSystem.size(of: path + Self.logEnding))
    }
}
