import Glibc

/// The threads that run handlers: as many as are busy at once, up to a limit, so that a handler that blocks holds up
/// nobody else and the event loop never runs one.
///
/// `@unchecked Sendable`: everything mutable is read and written with `mutex` held.
package final class HTTPWorkers: TaskExecutor, @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let wake: UnsafeMutablePointer<pthread_cond_t>
    private var jobs: [UnownedJob] = []
    /// The first of `jobs` that nobody took.
    private var nextJob = 0
    private var threads = 0
    private var idle = 0
    private var isStopped = false

    package init() {
        mutex = .allocate(capacity: 1)
        wake = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(wake, nil)
    }

    deinit {
        // A thread holds the object, so there is none left here.
        pthread_cond_destroy(wake)
        pthread_mutex_destroy(mutex)
        wake.deallocate()
        mutex.deallocate()
    }

    /// Starts the thread that stays until `stop`, so that there is one for every job, whatever the system has left.
    /// - Throws: `HTTPError.cannotListen` where the system gives none.
    func start(for address: String) throws(HTTPError) {
        pthread_mutex_lock(mutex)
        threads += 1
        pthread_mutex_unlock(mutex)
        let result = startThread()
        if result != 0 { throw HTTPError.cannotListen(address, reason: systemReason(result)) }
    }

    /// Lets the threads go when there is nothing to do; a job that comes later gets a new one.
    func stop() {
        pthread_mutex_lock(mutex)
        isStopped = true
        pthread_cond_broadcast(wake)
        pthread_mutex_unlock(mutex)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        pthread_mutex_lock(mutex)
        jobs.append(UnownedJob(job))
        let starts = idle < jobs.count - nextJob && threads < HTTPLimits.handlerThreads
        if starts { threads += 1 } else { pthread_cond_signal(wake) }
        pthread_mutex_unlock(mutex)
        if starts { _ = startThread() }
    }

    /// Starts a thread that was counted already; returns 0, or why there is none.
    private func startThread() -> Int32 {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self).toOpaque()
        let result = pthread_create(
            &thread, nil,
            { context in
                let workers = Unmanaged<HTTPWorkers>.fromOpaque(context!).takeRetainedValue()
                workers.run()
                return nil
            }, context)
        if result == 0 {
            pthread_detach(thread)
            return 0
        }
        // Out of threads: those that run take the job when they are free.
        Unmanaged<HTTPWorkers>.fromOpaque(context).release()
        pthread_mutex_lock(mutex)
        threads -= 1
        pthread_mutex_unlock(mutex)
        return result
    }

    private func run() {
        pthread_mutex_lock(mutex)
        while let job = takeJob() {
            pthread_mutex_unlock(mutex)
            job.runSynchronously(on: asUnownedTaskExecutor())
            pthread_mutex_lock(mutex)
        }
        threads -= 1
        pthread_mutex_unlock(mutex)
    }

    /// Waits for a job with the mutex held; nil after a time without one, where another thread stays.
    private func takeJob() -> UnownedJob? {
        while nextJob == jobs.count {
            if isStopped { return nil }
            var until = timespec()
            clock_gettime(CLOCK_REALTIME, &until)
            until.tv_sec += HTTPLimits.idleThreadSeconds
            idle += 1
            let result = pthread_cond_timedwait(wake, mutex, &until)
            idle -= 1
            if result == ETIMEDOUT, nextJob == jobs.count, threads > 1 { return nil }
        }
        let job = jobs[nextJob]
        nextJob += 1
        if nextJob == jobs.count {
            jobs.removeAll(keepingCapacity: true)
            nextJob = 0
        } else if nextJob > 256, nextJob > jobs.count / 2 {
            jobs.removeFirst(nextJob)
            nextJob = 0
        }
        return job
    }
}
