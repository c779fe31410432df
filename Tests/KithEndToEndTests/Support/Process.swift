import Glibc
import Testing

/// What the system tells of a process.
enum ProcessFacts {
    /// Bytes of memory that are in use.
    static func residentBytes(_ pid: Int32) -> Int {
        let words = String(decoding: Files.read("/proc/\(pid)/statm"), as: UTF8.self).split(separator: " ")
        return words.count > 1 ? (Int(words[1]) ?? 0) * Int(getpagesize()) : 0
    }

    /// Begins anew to note the most memory that is in use at one time.
    static func resetPeak(_ pid: Int32) throws { try Files.write(Array("5".utf8), to: "/proc/\(pid)/clear_refs") }

    /// The most bytes of memory that were in use at one time since then, as the kernel noted them.
    static func peakBytes(_ pid: Int32) -> Int {
        let lines = String(decoding: Files.read("/proc/\(pid)/status"), as: UTF8.self).split(separator: "\n")
        let line = lines.first { $0.hasPrefix("VmHWM:") }
        return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first).flatMap { Int($0) }.map { $0 << 10 } ?? 0
    }

    /// Open descriptors.
    static func descriptors(_ pid: Int32) -> Int {
        guard let directory = opendir("/proc/\(pid)/fd") else { return 0 }
        defer { closedir(directory) }
        var count = -2
        while readdir(directory) != nil { count += 1 }
        return max(0, count)
    }

    /// Seconds of processor time used so far.
    static func processorSeconds(_ pid: Int32) -> Double {
        let text = String(decoding: Files.read("/proc/\(pid)/stat"), as: UTF8.self)
        let words = text.split(separator: ")").last?.split(separator: " ") ?? []
        guard words.count > 12, let user = Double(words[11]), let system = Double(words[12]) else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// Bounds the descriptors that a process may have from now on.
    static func setDescriptorLimit(_ pid: Int32, _ limit: Int, in folder: String) async throws {
        let program = try ChildProgram(
            ["--pid", "\(pid)", "--nofile=\(limit):"], of: "/usr/bin/prlimit", in: folder)
        let result = try await program.finish(within: 20)
        try #require(result.status == 0, "prlimit: \(result.errorText)")
    }
}

/// A TCP connection on loopback that does what a test says.
final class PlainSocket {
    private let descriptor: Int32

    /// Nil when it can't be made.
    init?(to address: String) {
        guard let made = Loopback.connect(to: address) else { return nil }
        descriptor = made
    }

    deinit { close(descriptor) }

    /// Whether the other side took it.
    func send(_ bytes: [UInt8]) -> Bool {
        Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Whether the other side has closed by now.
    var isClosed: Bool {
        var look = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&look, 1, 0) == 1 else { return false }
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) <= 0
    }
}
