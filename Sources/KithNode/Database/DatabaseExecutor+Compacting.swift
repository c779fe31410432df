import KithStore

extension DatabaseExecutor {
    /// Gives back the space that is no longer used, while the database is read and written. Writes and readings wait only
    /// while the copy without it takes the place of the file.
    /// - Parameter isCancelled: asked now and then; true ends it, with the database as it was.
    /// - Returns: what the file and its log took in bytes, before and after.
    package func compact(
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) async throws(StoreError) -> (before: Int, after: Int) {
        let before = file.sizes
        while try await write({ transaction throws(StoreError) in try transaction.maintain(dropsExpired: false) }) {}
        let result = await ControlStream.onThread { [self] in
            Result { () throws(StoreError) in
                defer { Compaction.discard(file) }
                try Compaction.write(file, isCancelled: isCancelled)
                try takeCompactCopy()
            }
        }
        try result.get()
        let after = file.sizes
        return (before.file + before.log, after.file + after.log)
    }
}
