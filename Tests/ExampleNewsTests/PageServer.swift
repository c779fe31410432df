import Foundation
import Glibc
import Synchronization

/// A web server on loopback that answers byte for byte as a test says, at a port that the system chooses.
final class PageServer: Sendable {
    /// What the pages are below.
    let address: URL
    private let listening: Int32
    private let kind: Kind
    private let answers = Mutex<[String: String]>([:])
    private let asked = Mutex<[String]>([])

    enum Kind {
        /// As it is told.
        case answers
        /// Never, once one has connected.
        case silent
        /// The port is taken, and nobody can connect.
        case refuses
    }

    init(_ kind: Kind = .answers) throws {
        // No program that another test starts at this moment may hold it.
        let listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        self.listening = listening
        self.kind = kind
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let isThere = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listening, pointer, length) == 0 && (kind == .refuses || listen(listening, 16) == 0)
                    && getsockname(listening, pointer, &length) == 0
            }
        }
        guard isThere, let address = URL(string: "http://127.0.0.1:\(UInt16(bigEndian: name.sin_port))/news")
        else { throw POSIXError(.EADDRNOTAVAIL) }
        self.address = address
        guard kind == .answers else { return }
        // A thread of its own from the beginning: those that run the tests may all be busy.
        let answer: @Sendable (String) -> String? = { [weak self] in self?.answer(to: $0) }
        Thread.detachNewThread { Self.serve(listening, answer) }
    }

    /// Answers no more. Who made it calls it at the end, so that it is there until then.
    func stop() {
        // The thread closes what it accepts from.
        if kind == .answers { shutdown(listening, Int32(SHUT_RDWR)) } else { close(listening) }
    }

    /// The paths that were asked for, in their order.
    var requests: [String] { asked.withLock { $0 } }

    /// A page as it should be.
    func serve(_ number: Int, _ json: String) {
        answer(number, "HTTP/1.1 200 OK\r\nContent-Length: \(json.utf8.count)\r\nConnection: close\r\n\r\n\(json)")
    }

    /// A whole answer, whatever it is; the connection ends behind it.
    func answer(_ number: Int, _ answer: String) { answers.withLock { $0["/news/page-\(number).json"] = answer } }

    private func answer(to path: String) -> String {
        asked.withLock { $0.append(path) }
        return answers.withLock { $0[path] }
            ?? "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    }

    private static func serve(_ listening: Int32, _ answer: (String) -> String?) {
        while case let connection = accept(listening, nil, nil), connection >= 0 {
            _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
            defer { close(connection) }
            var (request, buffer) = ("", [UInt8](repeating: 0, count: 4_096))
            while !request.hasSuffix("\r\n\r\n"), case let count = recv(connection, &buffer, buffer.count, 0), count > 0
            {
                request += String(decoding: buffer.prefix(count), as: UTF8.self)
            }
            let words = request.split(separator: " ", maxSplits: 2)
            guard words.count == 3, let bytes = answer(String(words[1])).map({ Array($0.utf8) }) else { continue }
            var sent = 0
            while sent < bytes.count,
                case let count = bytes.withUnsafeBytes({
                    send(connection, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
                }), count > 0
            { sent += count }
        }
        close(listening)
    }
}
