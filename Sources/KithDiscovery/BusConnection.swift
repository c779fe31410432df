import Glibc
import KithDocument

/// Just enough of D-Bus to ask a bus who is on it, and Avahi how it is (specification 0.42: "Authentication Protocol" and "Message
/// Protocol"): the DNS-SD library can't say, and a library more for one question is too many.
final class BusConnection {
    /// Why there is no connection.
    enum Failure: Error {
        /// Nobody listens at the path.
        case noListener
        /// Somebody does, and gives no answer in time, or none that a bus gives.
        case noAnswer
    }

    private let descriptor: Int32
    private let deadline: UInt64
    private var lastSerial: UInt32 = 1

    /// Connects, proves by the socket's credentials who we are, and says hello. All that is asked over the connection must
    /// be answered within the time limit.
    init(path: String, timeoutMilliseconds: UInt64) throws(Failure) {
        deadline = Clock.monotonic() + timeoutMilliseconds
        guard let descriptor = UnixSocket.connect(path) else { throw .noListener }
        self.descriptor = descriptor
        let user = Hex.encode(Array(String(geteuid()).utf8))
        guard send(Array("\0AUTH EXTERNAL \(user)\r\n".utf8)), let line = readLine(), line.hasPrefix("OK "),
            send(Array("BEGIN\r\n".utf8)), send(Self.call(.bus, member: "Hello", argument: nil, serial: 1)),
            reply(to: 1) != nil
        else { throw .noAnswer }
    }

    deinit { close(descriptor) }

    /// Whether somebody owns the name; false as well when the bus does not answer in time.
    func hasOwner(_ name: String) -> Bool {
        guard let body = ask(.bus, "NameHasOwner", name) else { return false }
        return body.count == 4 && body[0] == 1
    }

    /// Avahi's state by its own number (2 is running, 3 that its host name collided); nil when it does not answer in time.
    func avahiState() -> Int32? {
        guard let body = ask(.avahi, "GetState"), body.count == 4 else { return nil }
        return Int32(bitPattern: Self.number(body, at: 0))
    }

    /// A text that Avahi has a call for without arguments: `GetVersionString`, `GetHostNameFqdn`.
    func avahiText(_ member: String) -> String? {
        guard let body = ask(.avahi, member), body.count >= 5 else { return nil }
        let count = Int(Self.number(body, at: 0))
        guard count <= body.count - 5 else { return nil }
        return String(decoding: body[4..<4 + count], as: UTF8.self)
    }

    private func ask(_ whom: Service, _ member: String, _ argument: String? = nil) -> [UInt8]? {
        lastSerial += 1
        guard send(Self.call(whom, member: member, argument: argument, serial: lastSerial)) else { return nil }
        return reply(to: lastSerial)
    }

    // MARK: Messages, little-endian

    /// Whom a call goes to.
    private struct Service {
        let name: String
        let path: String
        let interface: String

        static let bus = Service(
            name: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus")
        static let avahi = Service(
            name: "org.freedesktop.Avahi", path: "/", interface: "org.freedesktop.Avahi.Server")
    }

    /// A method call with one text or nothing.
    private static func call(_ whom: Service, member: String, argument: String?, serial: UInt32) -> [UInt8] {
        var body: [UInt8] = []
        if let argument { append(string: argument, to: &body) }
        var fields: [UInt8] = []
        func field(_ code: UInt8, _ type: Character, _ value: String) {
            align(&fields, to: 8)
            fields += [code, 1, type.asciiValue!, 0]
            append(string: value, to: &fields)
        }
        field(1, "o", whom.path)
        field(2, "s", whom.interface)
        field(3, "s", member)
        field(6, "s", whom.name)
        if argument != nil {
            align(&fields, to: 8)
            fields += [8, 1, UInt8(ascii: "g"), 0, 1, UInt8(ascii: "s"), 0]
        }
        var message: [UInt8] = [UInt8(ascii: "l"), 1, 0, 1]
        append(UInt32(body.count), to: &message)
        append(serial, to: &message)
        append(UInt32(fields.count), to: &message)
        message += fields
        align(&message, to: 8)
        return message + body
    }

    /// The body of the method return to a serial; nil for an error. Passes over what else the bus sends.
    private func reply(to serial: UInt32) -> [UInt8]? {
        while true {
            guard let head = read(16), head[0] == UInt8(ascii: "l") else { return nil }
            let bodyCount = Int(Self.number(head, at: 4))
            let fieldCount = Int(Self.number(head, at: 12))
            guard bodyCount <= 65_536, fieldCount <= 65_536, let fields = read((fieldCount + 7) & ~7),
                let body = read(bodyCount)
            else { return nil }
            guard Self.replySerial(fields, count: fieldCount) == serial else { continue }
            return head[1] == 2 ? body : nil
        }
    }

    /// Header field 5, REPLY_SERIAL, of the fields of a message; other fields are strings, object paths, signatures or
    /// numbers.
    private static func replySerial(_ fields: [UInt8], count: Int) -> UInt32? {
        var at = 0
        while at + 4 <= count {
            let code = fields[at]
            let type = fields[at + 2]
            at += 4
            switch type {
            case UInt8(ascii: "u"):
                guard at + 4 <= count else { return nil }
                if code == 5 { return number(fields, at: at) }
                at += 4
            case UInt8(ascii: "s"), UInt8(ascii: "o"):
                guard at + 4 <= count else { return nil }
                let length = Int(number(fields, at: at))
                guard length <= count else { return nil }
                at += 4 + length + 1
            case UInt8(ascii: "g"):
                guard at < count else { return nil }
                at += 1 + Int(fields[at]) + 1
            default: return nil
            }
            at = (at + 7) & ~7
        }
        return nil
    }

    private static func append(string: String, to bytes: inout [UInt8]) {
        align(&bytes, to: 4)
        append(UInt32(string.utf8.count), to: &bytes)
        bytes += Array(string.utf8) + [0]
    }

    private static func append(_ number: UInt32, to bytes: inout [UInt8]) {
        for shift: UInt32 in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    private static func align(_ bytes: inout [UInt8], to boundary: Int) {
        while !bytes.count.isMultiple(of: boundary) { bytes.append(0) }
    }

    private static func number(_ bytes: [UInt8], at index: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(bytes[index + $1]) << UInt32(8 * $1) }
    }

    // MARK: Bytes

    private func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                guard errno == EAGAIN, UnixSocket.wait(descriptor, for: POLLOUT, until: deadline) else { return false }
            }
        }
        return true
    }

    private func read(_ count: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < count {
            var chunk = [UInt8](repeating: 0, count: count - bytes.count)
            let got = recv(descriptor, &chunk, chunk.count, 0)
            if got > 0 {
                bytes += chunk.prefix(got)
            } else {
                guard got < 0, errno == EAGAIN || errno == EINTR,
                    UnixSocket.wait(descriptor, for: POLLIN, until: deadline)
                else { return nil }
            }
        }
        return bytes
    }

    private func readLine() -> String? {
        var line: [UInt8] = []
        while line.count < 256 {
            guard let byte = read(1)?.first else { return nil }
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        return nil
    }
}
