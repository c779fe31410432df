import Glibc
import KithNetwork

/// What the kernel knows of other machines' hardware addresses, and of the router.
package enum NeighbourReading {
    /// IPv4 addresses of which ARP was asked, and whether it was answered, out of `/proc/net/arp`.
    package static func arp(_ text: String) -> [String: Bool] {
        var found: [String: Bool] = [:]
        for line in text.split(separator: "\n").dropFirst() {
            let words = line.split(separator: " ")
            guard words.count >= 4, words[2].hasPrefix("0x"), let flags = UInt32(words[2].dropFirst(2), radix: 16)
            else {
                continue
            }
            found[String(words[0])] = flags & 2 != 0
        }
        return found
    }

    /// The router of the default way, out of `/proc/net/route`; nil where there is none.
    package static func router(_ text: String) -> NetworkAddress? {
        for line in text.split(separator: "\n").dropFirst() {
            let words = line.split(separator: "\t")
            guard words.count > 3, words[1] == "00000000", let number = UInt32(words[2], radix: 16),
                let flags = UInt32(words[3], radix: 16), flags & 2 != 0
            else { continue }
            let bytes = withUnsafeBytes(of: number.littleEndian) { Array($0) }
            return NetworkAddress(ip: bytes, interface: 0, port: 9)
        }
        return nil
    }

    static var arpNow: [String: Bool] { arp(text(of: "/proc/net/arp")) }

    /// The router now; asking for its hardware address is begun by a packet to a port where nobody listens.
    static func askRouter() -> NetworkAddress? {
        guard let router = router(text(of: "/proc/net/route")) else { return nil }
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return router }
        defer { close(descriptor) }
        _ = router.withSystemAddress { sendto(descriptor, [0], 1, Int32(MSG_DONTWAIT), $0, $1) }
        return router
    }

    /// A file of the kernel, which has no size that could be asked.
    private static func text(of path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while bytes.count < 1 << 20 {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            guard count > 0 else { break }
            bytes += chunk.prefix(count)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
