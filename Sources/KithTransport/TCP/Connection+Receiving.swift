import Dispatch
import Glibc
import Synchronization

extension Connection {
    /// Memory for one batch each way, made at the first use.
    final class Buffers {
        lazy var ciphertext = UnsafeMutableRawBufferPointer.allocate(
            byteCount: TransportLimits.receiveBytes, alignment: 16)
        lazy var plaintext = UnsafeMutableRawBufferPointer.allocate(
            byteCount: TransportLimits.receiveBytes, alignment: 16)
        lazy var batch = UnsafeMutableRawBufferPointer.allocate(byteCount: TransportLimits.batchBytes, alignment: 16)

        deinit {
            ciphertext.deallocate()
            plaintext.deallocate()
            batch.deallocate()
        }
    }

    /// The socket has bytes, or its end. It is read until it is dry: on Linux, Dispatch tells of a connection that both
    /// sides have shut only once, however much is left to read.
    func becameReadable() {
        for _ in 0..<TransportLimits.readsInARow {
            guard wantsToRead else { return }
            do throws(TransportError) {
                switch try Socket.receive(descriptor, into: buffers.ciphertext) {
                case .wouldBlock: return
                case .end: return receivedEnd()
                case .bytes(let count):
                    received.add(UInt64(count), ordering: .relaxed)
                    guard state != .lingering else {
                        discard(count)
                        continue
                    }
                    engine.feed(UnsafeRawBufferPointer(rebasing: buffers.ciphertext[..<count]))
                    process()
                }
            } catch { return state == .lingering ? release() : fail(error) }
        }
        // Other events of this connection get their turn first.
        queue.async { self.becameReadable() }
    }

    /// A peer that goes on sending to a closed connection is not listened to for long.
    private func discard(_ count: Int) {
        lingered += count
        if lingered > 8 * TransportLimits.receiveBytes { release() }
    }

    /// Works through what the engine was fed.
    private func process() {
        if state == .handshake { continueHandshake() }
        guard state == .open else { return }
        do throws(TransportError) {
            while state == .open, !receivedFinish {
                switch try engine.read(into: buffers.plaintext) {
                case .needsInput: return try sendAnswers()
                case .finished: return peerFinished()
                case .bytes(let count):
                    deliver(.received(UnsafeRawBufferPointer(rebasing: buffers.plaintext[..<count])))
                }
            }
        } catch { fail(error) }
    }

    /// Reading may make TLS answer by itself (a new key).
    private func sendAnswers() throws(TransportError) {
        guard engine.outputCount > 0, flush.encrypted == 0 else { return }
        if try !sendOutput() { updateWriteSource(wanted: true) }
    }

    private func peerFinished() {
        receivedFinish = true
        updateReadSource()
        if closedSending { return end(.complete) }
        deliver(.finished)
    }

    /// The stream of TCP ended, after TLS said so or without a word.
    private func receivedEnd() {
        switch state {
        case .handshake: fail(.closedInHandshake)
        case .open: fail(.truncated)
        case .connecting, .lingering, .closed: release()
        }
    }

    /// Goes on with the handshake; opens the connection at its end.
    func continueHandshake() {
        do throws(TransportError) {
            let complete = try engine.handshake()
            let isSent = try sendOutput()
            updateWriteSource(wanted: !isSent)
            guard complete, let peer = engine.peer else { return }
            clearTimer()
            state = .open
            deliver(.opened(peer))
            // What was sent before now goes out.
            if state == .open, outbox.withLock({ $0.scheduled }) { continueFlush() }
        } catch { fail(error) }
    }
}
