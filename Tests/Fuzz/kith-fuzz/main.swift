import CLibFuzzer
import Glibc
import KithFuzzing

// kith-fuzz TARGET [libFuzzer's arguments] fuzzes one target; kith-fuzz seeds FOLDER writes the seeds, a folder a target.
let words = CommandLine.arguments
if words.count == 3, words[1] == "seeds" {
    Seeds.write(to: words[2])
    exit(0)
}
guard words.count >= 2, let target = FuzzTarget(rawValue: words[1]) else {
    print("usage: kith-fuzz TARGET [libFuzzer's arguments], or kith-fuzz seeds FOLDER")
    print("targets: \(FuzzTarget.allCases.map(\.rawValue).joined(separator: " "))")
    exit(64)
}
Fuzzed.target = target
var arguments = [words[0], "-max_len=\(target.longestInput)"] + words.dropFirst(2)
var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
var count = CInt(arguments.count)
exit(
    pointers.withUnsafeMutableBufferPointer { buffer in
        var start = buffer.baseAddress
        return LLVMFuzzerRunDriver(&count, &start, fuzz)
    })

/// The function that libFuzzer calls; its library wants this name even where another main drives it.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    Fuzzed.run(UnsafeBufferPointer(start: bytes, count: count))
    return 0
}
