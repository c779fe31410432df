import KithDocument

/// What the wall clock has said over the last day of running, so that a clock that is ahead for an hour drops nothing.
///
/// Counted is the time that the store was open, by the clock that only goes forward; a pause says nothing of how long it
/// was. Where the wall clock goes back, what it said before was ahead and counts as what it says now.
struct ExpiryWatch: Equatable {
    private struct Reading: Equatable {
        let watched: UInt64
        var wall: Int64
    }

    /// How long was watched in all, in milliseconds.
    private var watched: UInt64 = 0
    /// Ascending, about one an hour; the first is the newest of those that are a day old.
    private var readings: [Reading] = []

    /// Takes a reading of the wall clock.
    /// - Parameter elapsed: milliseconds since the last one.
    mutating func note(wall: Int64, elapsed: UInt64) {
        watched += elapsed
        for index in readings.indices where readings[index].wall > wall { readings[index].wall = wall }
        if let last = readings.last, watched - last.watched < Limits.expiryReadingMilliseconds { return }
        readings.append(Reading(watched: watched, wall: wall))
        while readings.count > 1, watched - readings[1].watched >= Limits.expiryDayMilliseconds {
            readings.removeFirst()
        }
    }

    /// What the wall clock said a day of running ago, as far as it has not gone back since; nil before there was one.
    var certain: Int64? {
        guard let first = readings.first, watched - first.watched >= Limits.expiryDayMilliseconds else { return nil }
        return first.wall
    }

    init() {}

    static func read(_ connection: Connection) throws(StoreError) -> ExpiryWatch {
        guard let bytes = try Setting.read(.expiry, connection) else { return ExpiryWatch() }
        var watch = ExpiryWatch()
        do {
            var reader = ByteReader(bytes)
            watch.watched = try reader.bigEndian()
            let count: UInt64 = try reader.bigEndian()
            for _ in 0..<min(count, 100) {
                let watched: UInt64 = try reader.bigEndian()
                watch.readings.append(Reading(watched: watched, wall: Int64(bitPattern: try reader.bigEndian())))
            }
        } catch {
            throw StoreError.damaged(connection.subject, error)
        }
        return watch
    }

    func write(_ connection: Connection) throws(StoreError) {
        var writer = ByteWriter()
        writer.append(bigEndian: watched)
        writer.append(bigEndian: UInt64(readings.count))
        for reading in readings {
            writer.append(bigEndian: reading.watched)
            writer.append(bigEndian: UInt64(bitPattern: reading.wall))
        }
        try Setting.write(.expiry, writer.bytes, connection)
    }
}
