import KithSystem
import KithTransport

/// Small text files of the node's directory: replaced as a whole, on disk when a write returns.
enum SmallFile {
    /// The lines; none where there is no file.
    static func lines(of path: String, on files: any FileSystem) throws(NodeError) -> [String] {
        do throws(TransportError) {
            let bytes = try AtomicFile.read(path, atMost: NodeLimits.smallFileBytes, on: files) ?? []
            return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        } catch {
            throw NodeError(code: "directory", message: "can't read \(path): \(error.message)")
        }
    }

    static func write(_ content: [UInt8], to path: String, on files: any FileSystem) throws(NodeError) {
        do throws(TransportError) { try AtomicFile.write(content, to: path, on: files) } catch {
            throw NodeError(code: "directory", message: "can't write \(path): \(error.message)")
        }
    }

    static func content(_ lines: [String]) -> [UInt8] { Array(lines.map { $0 + "\n" }.joined().utf8) }
}
