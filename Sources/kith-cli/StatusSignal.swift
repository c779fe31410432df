import Dispatch
import Glibc

/// SIGUSR1: the node writes its status to the log, as avahi-daemon does with its own.
struct StatusSignal {
    private let source: any DispatchSourceSignal

    /// Handles the signal from now on, for as long as the value lives.
    init(_ handle: @escaping @Sendable () -> Void) {
        signal(SIGUSR1, SIG_IGN)
        source = DispatchSource.makeSignalSource(signal: SIGUSR1, queue: .global())
        source.setEventHandler(handler: handle)
        source.resume()
    }
}
