import Glibc

/// The words that the program was started with, as bytes.
enum ProgramArguments {
    /// Without the program's name.
    static var words: [[UInt8]] {
        let count = Int(CommandLine.argc)
        // The runtime looks for them beside the environment. A preloaded library that changes that hides them, and a
        // command without arguments would be another than the one that was typed.
        guard count > 0 else { return Array(ofKernel.dropFirst()) }
        return (1..<max(1, count)).compactMap { index in
            CommandLine.unsafeArgv[index].map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
        }
    }

    /// What the kernel has of this process, the program's name first; nothing where /proc is not there.
    private static var ofKernel: [[UInt8]] {
        let descriptor = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes.append(contentsOf: buffer[..<count])
        }
        // Each word ends with a NUL.
        return bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast().map { Array($0) }
    }
}
