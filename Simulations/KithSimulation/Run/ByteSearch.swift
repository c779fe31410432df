#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension [UInt8] {
    /// Whether a word of ASCII is among the bytes. Every line of every log is looked through, so it is done by the C library.
    func holds(_ word: StaticString) -> Bool {
        withUnsafeBytes { bytes in
            word.withUTF8Buffer { word in
                guard var place = bytes.baseAddress, let first = word.baseAddress else { return false }
                var left = bytes.count - word.count + 1
                while left > 0, let found = memchr(place, Int32(first.pointee), left) {
                    if memcmp(found, first, word.count) == 0 { return true }
                    left -= UnsafeRawPointer(found) - place + 1
                    place = UnsafeRawPointer(found) + 1
                }
                return false
            }
        }
    }
}
