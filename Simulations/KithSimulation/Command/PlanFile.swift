import Glibc
import KithTestSupport

/// Files of plans. Children that are started meanwhile do not have them open.
package enum PlanFile {
    /// - Returns: nil where it can't be read; `errno` says why.
    package static func read(_ path: String) -> String? {
        guard let file = fopen(path == "-" ? "/dev/stdin" : path, "re") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        // What is longer than any plan is no plan.
        while bytes.count < SimulationLimits.planBytes {
            let count = fread(&part, 1, part.count, file)
            if count == 0 { break }
            bytes.append(contentsOf: part[..<count])
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// - Returns: false where it can't be written; `errno` says why.
    package static func write(_ text: String, to path: String) -> Bool {
        guard let file = fopen(path, "we") else { return false }
        let bytes = Array(text.utf8)
        let isWritten = fwrite(bytes, 1, bytes.count, file) == bytes.count
        return fclose(file) == 0 && isWritten
    }

    /// The plans of scenarios: the files of `Simulations/Scenarios` above this program, or above where it was started.
    package static var scenarioDirectory: String? {
        var starts = [ChildRun.ownProgram]
        if let current = getcwd(nil, 0) {
            starts.append(String(cString: current) + "/")
            free(current)
        }
        for start in starts {
            var path = start[...]
            while let slash = path.lastIndex(of: "/") {
                path = path[..<slash]
                let directory = path + "/Simulations/Scenarios"
                if access(String(directory), R_OK) == 0 { return String(directory) }
            }
        }
        return nil
    }

    /// The names of the plans in a folder, sorted.
    package static func names(in directory: String) -> [String] {
        TemporaryDirectory.names(in: directory).filter { $0.hasSuffix(".plan") }.map { String($0.dropLast(5)) }
    }

    /// Whether a plan's comment says `# nightly`: that it takes minutes or hours.
    package static func isLong(_ text: String) -> Bool { text.split(separator: "\n").contains("# nightly") }

    /// The first line of a plan's comment, without its sign.
    package static func title(ofPlan text: String) -> String {
        let comment = text.split(separator: "\n").first { $0.hasPrefix("#") } ?? ""
        return String(comment.drop { $0 == "#" || $0 == " " })
    }
}
