/// The bounds of the HTTP server and client.
package enum HTTPLimits {
    /// Connections at a time; more wait in the listening socket's queue. Well below the 1,024 descriptors that a process
    /// has by default, which the databases and peers share.
    package static let connections = 256

    /// Connections taken from the listening socket in a row, for which there is room beyond the bound.
    static let acceptedAtOnce = 32

    /// How long no connection is taken when there is no descriptor for it, or when there are `connections` already.
    static let acceptPauseMilliseconds = 100

    /// Memory of one connection for its request line, headers and read buffer. Large enough for an id of 512 bytes with
    /// every byte escaped and ordinary headers, and a read that makes streaming cheap.
    static let connectionMemoryBytes = 128 * 1024

    /// Connections waiting to be accepted.
    static let backlog: Int32 = 128

    /// Threads that run handlers. Handlers that wait for something give their thread back, so this bounds only those
    /// that compute or read a disk.
    static let handlerThreads = 64

    /// How long a handler thread without work stays.
    static let idleThreadSeconds = 30

    /// Bytes of a request body held for a handler that has not read them yet; the sender waits beyond it.
    static let bufferedRequestBytes = 256 * 1024

    /// Bytes of a response held for a client that has not read them yet; the handler waits beyond it, and goes on when
    /// half is gone.
    static let bufferedResponseBytes = 256 * 1024

    /// Largest part of a streamed response handed to the socket at once.
    static let responseBlockBytes = 64 * 1024

    /// Request body bytes thrown away after a handler answered without reading on: a client that sends more is cut off,
    /// and one that sends a large file still gets its answer.
    static let discardedRequestBytes = 1 << 30

    /// How often sockets of waiting requests are looked at for a client that has gone.
    static let hangupCheckMilliseconds = 250

    /// How long `stop` lets requests under way end before it cuts them off.
    static let stopGraceSeconds = 2

    /// Longest line of a streamed response that the client takes: a document of 20 MiB escaped, and its frame.
    package static let clientLineBytes = 64 * 1024 * 1024

    /// Largest response that the client holds in memory at once.
    package static let clientResponseBytes = 64 * 1024 * 1024

    /// Time for a connection to be made.
    static let connectSeconds = 10
}
