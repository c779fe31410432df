import CLibrary
import Glibc

/// The heaps that glibc gives to threads so that they do not wait for each other: by default up to eight for each processor,
/// and each keeps what its threads once needed. The queues of a node run on whatever thread is free, so every heap would come
/// to hold what the busiest queue needs.
enum MemoryArenas {
    /// Where there are fewer processors: a thread that stores and one that sends do not wait for each other.
    private static let fewest = 2

    /// Gives the process as many heaps as it has processors. To be called before there are other threads.
    static func limit() {
        let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
        _ = mallopt(M_ARENA_MAX, Int32(clamping: max(fewest, processors)))
    }
}
