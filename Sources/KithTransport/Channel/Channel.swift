import KithSystem

/// A connection on which both ends know who the other is: TLS over TCP (`Connection`), or what a simulation has instead.
///
/// It is made by a `Transport`, ends once, and is never used again. Events are delivered on its queue, one at a time, and
/// may call any method. `send`, `finish`, `close` and the counters may be used from any thread.
package protocol Channel: AnyObject, Sendable {
    /// Where its events are delivered.
    var workQueue: any WorkQueue { get }

    /// Who opened it.
    var direction: Connection.Direction { get }

    /// The peer's address and port as text, `[fe80::1%eth0]:5484`; the endpoint as given until a connection is made.
    var remote: String { get }

    /// Bytes given to the network, with those of the encryption.
    var sentBytes: UInt64 { get }

    /// Bytes taken from the network, with those of the encryption.
    var receivedBytes: UInt64 { get }

    /// Bytes that wait to be sent.
    var bufferedBytes: Int { get }

    /// The largest segment to be agreed on, in bytes; nil for what the interface gives.
    var segmentBytes: Int? { get }

    /// Sends the bytes after all that was given before, and returns at once; on a channel that ended they are thrown away.
    /// - Returns: how many bytes wait now. A caller that stops above some count and goes on at `drained` bounds the memory.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Int

    /// Sends what waits, then says that no more comes. Receiving goes on.
    func finish()

    /// Ends it now; what waits to be sent is thrown away.
    func close()

    /// Stops or goes on taking bytes from the network, for an owner who can't keep up. On the queue only.
    func setReading(_ reading: Bool)

    /// Replaces who gets the events. On the queue only.
    func setHandler(_ handler: @escaping ChannelHandler)

    /// 32 bytes that only both ends know (RFC 8446, 7.5). On the queue, after `opened`.
    func exportKey(label: String) throws(TransportError) -> [UInt8]
}

/// Gets the events of a channel, on its queue.
package typealias ChannelHandler = @Sendable (any Channel, Connection.Event) -> Void

extension Channel {
    /// A number that both ends know and that nobody chose; 0 where the encryption gives none. On the queue, after `opened`.
    package var tieBreak: UInt64 {
        let key = (try? exportKey(label: "EXPORTER-kith-link")) ?? []
        return key.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension Connection: Channel {
    package var workQueue: any WorkQueue { serial }

    package func setHandler(_ handler: @escaping ChannelHandler) {
        let plain: Handler = { handler($0, $1) }
        setHandler(plain)
    }
}
