import KithSystem
import KithTestSupport

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A list of calls on files, which gives the same results on every file system.
struct FileScript {
    /// Open files have a number, names are below one directory.
    enum Step {
        case open(Int, String, FileAccess)
        case close(Int)
        case read(Int, Int, at: Int)
        case write(Int, Int, at: Int)
        case synchronize(Int)
        case lock(Int)
        case remove(String)
        case rename(String, String)
        case link(String, String)
        case makeDirectory(String)
        case synchronizeNames(String)
        case list(String)
        case size(String)
        case isSame(String, String)
    }

    var steps: [Step]

    /// Runs the calls in a directory.
    /// - Returns: what each gave, in words.
    func run(on files: any FileSystem, in directory: String) -> [String] {
        var opened: [Int: any OpenFile] = [:]
        func path(_ name: String) -> String { name.isEmpty ? directory : "\(directory)/\(name)" }
        return steps.enumerated().map { number, step in
            let result = Self.result { () throws(SystemError) in
                switch step {
                case .open(let slot, let name, let access):
                    // Closed first, so that nothing depends on when.
                    opened[slot] = nil
                    opened[slot] = try files.open(path(name), access)
                case .close(let slot): opened[slot] = nil
                case .read(let slot, let count, let offset):
                    return "\(try opened[slot]?.read(count, at: offset) ?? [])"
                case .write(let slot, let count, let offset):
                    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: number &* 31 &+ $0) }
                    try opened[slot]?.write(bytes, at: offset)
                case .synchronize(let slot): try opened[slot]?.synchronize()
                case .lock(let slot): return "\(try opened[slot]?.lock() ?? false)"
                case .remove(let name): try files.remove(path(name))
                case .rename(let name, let other): try files.rename(path(name), to: path(other))
                case .link(let name, let other): try files.link(path(name), to: path(other))
                case .makeDirectory(let name): try files.makeDirectory(path(name))
                case .synchronizeNames(let name): try files.synchronize(directory: path(name))
                case .list(let name): return "\(try files.list(path(name)).sorted())"
                case .size(let name):
                    guard let stamp = files.stamp(of: path(name)) else { return "none" }
                    // How large a directory is only its file system knows.
                    return (try? files.list(path(name))) != nil ? "directory" : "\(stamp.size)"
                case .isSame(let name, let other):
                    let identity = files.stamp(of: path(name))?.identity
                    return "\(identity != nil && identity == files.stamp(of: path(other))?.identity)"
                }
                return "done"
            }
            return "\(number) \(step): \(result)"
        }
    }

    private static func result(_ body: () throws(SystemError) -> String) -> String {
        do throws(SystemError) { return try body() } catch {
            return "error \(error.number) \(String(cString: strerror(error.number)))"
        }
    }

    private static let names = [
        "a", "b", "c", "d", "e", "d/a", "d/b", "d/e", "e/a", "e/d", "d/e/a", "a/x", "missing/x", "",
        String(repeating: "n", count: 255), String(repeating: "n", count: 256),
        "missing/" + String(repeating: "n", count: 256),
    ]

    /// Calls drawn by the generator, mostly on the first few names.
    static func random(_ count: Int, _ generator: inout SeededGenerator) -> FileScript {
        FileScript(steps: (0..<count).map { _ in step(&generator) })
    }

    private static func step(_ generator: inout SeededGenerator) -> Step {
        func name() -> String { names[generator.below(generator.chance(3, in: 4) ? 11 : names.count)] }
        /// The directory itself has no other name, and systems differ in how they say so.
        func inner() -> String {
            let name = name()
            return name.isEmpty ? "a" : name
        }
        func place() -> Int { generator.pick([0, 1, 10, 511, 512, 4_095, 4_096, 5_000]) }
        let slot = generator.below(5)
        return switch generator.below(20) {
        case 0...3: .open(slot, inner(), generator.pick([.read, .write, .create, .createNew]))
        case 4: .close(slot)
        case 5, 6: .read(slot, 1 + generator.below(12), at: place())
        case 7, 8: .write(slot, generator.below(12), at: place())
        case 9: .synchronize(slot)
        case 10: .lock(slot)
        case 11: .remove(inner())
        case 12, 13: .rename(inner(), inner())
        case 14: .link(inner(), inner())
        case 15, 16: .makeDirectory(inner())
        case 17: generator.chance(1, in: 3) ? .synchronizeNames(name()) : .isSame(name(), name())
        case 18: .list(name())
        default: .size(name())
        }
    }
}
