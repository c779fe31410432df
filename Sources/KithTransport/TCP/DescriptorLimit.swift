import Glibc

/// How many descriptors this process may have: each link takes one, each database a few.
package enum DescriptorLimit {
    /// The limit that holds now; nil where there is none.
    package static var current: Int? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return limit.rlim_cur > rlim_t(Int32.max) ? nil : Int(limit.rlim_cur)
    }

    /// How many descriptors are free now; nil where there is no limit, or the system does not tell what is taken.
    /// - Complexity: the number of descriptors that are taken.
    package static var free: Int? {
        guard let limit = current else { return nil }
        guard let directory = opendir("/proc/self/fd") else { return errno == EMFILE ? 0 : nil }
        defer { closedir(directory) }
        // The directory lists itself, and `.` and `..`.
        var taken = -3
        while readdir(directory) != nil { taken += 1 }
        return max(0, limit - taken)
    }

    /// Raises the limit to what the system lets this process have, up to `TransportLimits.descriptors`.
    package static func raise() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        let wanted = min(limit.rlim_max, rlim_t(TransportLimits.descriptors))
        guard wanted > limit.rlim_cur else { return }
        limit.rlim_cur = wanted
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
