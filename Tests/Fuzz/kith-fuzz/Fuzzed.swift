import Glibc
import KithFuzzing

/// What this process fuzzes.
enum Fuzzed {
    // Written once, before the fuzzer runs.
    nonisolated(unsafe) static var target = FuzzTarget.frames

    /// Ends the process, for the fuzzer to keep the input, when something does not hold.
    static func run(_ bytes: UnsafeBufferPointer<UInt8>) {
        do throws(FuzzFailure) { try target.run(Array(bytes)) } catch {
            print("\(target.rawValue): \(error.description)")
            fflush(nil)
            abort()
        }
    }
}

/// Valid inputs, as files.
enum Seeds {
    static func write(to folder: String) {
        mkdir(folder, 0o755)
        for target in FuzzTarget.allCases {
            mkdir("\(folder)/\(target.rawValue)", 0o755)
            for (index, seed) in target.seeds.enumerated() {
                guard let file = fopen("\(folder)/\(target.rawValue)/seed-\(index)", "wb") else {
                    perror(folder)
                    exit(1)
                }
                fwrite(seed, 1, seed.count, file)
                fclose(file)
            }
        }
    }
}
