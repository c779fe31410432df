import Glibc

/// Runs a closure on a thread with a stack of 512 KiB, the least that any thread of ours has.
package func onSmallStack(_ body: @escaping @Sendable () -> Void) {
    let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
    defer { attributes.deallocate() }
    precondition(pthread_attr_init(attributes) == 0, "no attributes of a thread")
    defer { pthread_attr_destroy(attributes) }
    precondition(pthread_attr_setstacksize(attributes, 512 << 10) == 0, "no stack of 512 KiB")
    let box = Unmanaged.passRetained(ThreadBody(body))
    var thread: pthread_t = 0
    let code = pthread_create(
        &thread, attributes,
        { pointer in
            Unmanaged<ThreadBody>.fromOpaque(pointer!).takeRetainedValue().body()
            return nil
        }, box.toOpaque())
    precondition(code == 0, "no thread")
    pthread_join(thread, nil)
}

private final class ThreadBody: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
