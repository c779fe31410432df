import Dispatch
import Glibc
import Synchronization

extension Connection {
    /// What is between the outbox and the kernel.
    struct FlushState {
        /// Chunks taken from the outbox, the first ones done.
        var chunks: [[UInt8]] = []
        var chunk = 0
        var offset = 0
        /// Bytes of plaintext in the ciphertext that waits in the engine.
        var encrypted = 0

        var hasPlaintext: Bool { chunk < chunks.count }
    }

    /// Encrypts and sends until nothing waits or the socket is full. One batch at a time is encrypted, so that what waits
    /// is held once.
    func continueFlush() {
        dispatchPrecondition(condition: .onQueue(queue))
        // Before `opened` the outbox waits; opening flushes it.
        guard state == .open else { return }
        do throws(TransportError) {
            while true {
                guard try sendOutput() else { return updateWriteSource(wanted: true) }
                settle()
                // `drained` may have closed the connection.
                guard state == .open else { return }
                guard flush.hasPlaintext || takeFromOutbox() else { break }
                try encryptBatch()
            }
            updateWriteSource(wanted: false)
            try finishSending()
        } catch { fail(error) }
    }

    /// Sends ciphertext.
    /// - Returns: whether none is left.
    func sendOutput() throws(TransportError) -> Bool {
        while engine.outputCount > 0 {
            var isFull = false
            try engine.takeOutput { output throws(TransportError) in
                switch try Socket.send(descriptor, output) {
                case .bytes(let count):
                    sent.add(UInt64(count), ordering: .relaxed)
                    return count
                case .wouldBlock, .end:
                    isFull = true
                    return 0
                }
            }
            if isFull { return false }
        }
        return true
    }

    /// Counts a batch as sent, and says so to an owner who waits for it.
    private func settle() {
        guard flush.encrypted > 0 else { return }
        let sentBytes = flush.encrypted
        flush.encrypted = 0
        let drained = outbox.withLock { outbox -> Bool in
            outbox.buffered -= sentBytes
            guard outbox.owesDrained, outbox.buffered <= TransportLimits.drainedBytes else { return false }
            outbox.owesDrained = false
            return true
        }
        if drained { deliver(.drained) }
    }

    private func takeFromOutbox() -> Bool {
        let chunks = outbox.withLock { outbox -> [[UInt8]] in
            if outbox.chunks.isEmpty { outbox.scheduled = false }
            defer { outbox.chunks = [] }
            return outbox.chunks
        }
        flush.chunks = chunks
        flush.chunk = 0
        flush.offset = 0
        return !chunks.isEmpty
    }

    /// Gathers small chunks into one batch, so that they share records and one call of the system.
    private func encryptBatch() throws(TransportError) {
        let batch = buffers.batch
        var count = 0
        while count < batch.count, flush.hasPlaintext {
            let chunk = flush.chunks[flush.chunk]
            let part = min(batch.count - count, chunk.count - flush.offset)
            chunk.withUnsafeBytes { bytes in
                UnsafeMutableRawBufferPointer(rebasing: batch[count..<count + part])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[flush.offset..<flush.offset + part]))
            }
            count += part
            flush.offset += part
            if flush.offset == chunk.count {
                // Give the memory back at once, not when all chunks are done.
                flush.chunks[flush.chunk] = []
                flush.chunk += 1
                flush.offset = 0
            }
        }
        flush.encrypted = count
        if count > TransportLimits.smallPacketBytes { watchPath() }
        try engine.write(UnsafeRawBufferPointer(rebasing: batch[..<count]))
    }

    /// Sends the closing message when all else is out and `finish` was called.
    private func finishSending() throws(TransportError) {
        guard !closedSending, outbox.withLock({ $0.finishing && $0.chunks.isEmpty }) else { return }
        if !sentFinish {
            sentFinish = true
            engine.finish()
            // It may have to wait for room; the next flush comes back to here.
            guard try sendOutput() else { return updateWriteSource(wanted: true) }
        }
        closedSending = true
        shutdown(descriptor, Int32(SHUT_WR))
        if receivedFinish { end(.complete) }
    }

    /// The socket has room.
    func becameWritable() {
        switch state {
        case .connecting: connectionDecided()
        case .handshake: continueHandshake()
        case .open: continueFlush()
        case .lingering, .closed: break
        }
    }
}
