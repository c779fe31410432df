import KithNode

/// Every entry has a value that is one for its key, every problem fits on a line, and what was read can be written and read
/// again as itself.
enum ConfigurationFuzzing {
    static let seeds = [
        "# den\ndata = /var/lib/kith\nlisten = [::]:5484\npeer = 192.168.1.7\npeer = [fe80::1%eth0]:1\ndiscovery = off\n",
        "log = info\nlog = mesh=debug\nlisen = x\nlisten = nowhere\n[section]\npeer\r\n", "\u{feff}data=/d",
        "peer = a # b",
    ]

    static func run(_ bytes: [UInt8]) throws(FuzzFailure) {
        let file = ConfigurationFile.parse(bytes, name: "f")
        for problem in file.problems {
            let isPlain = !problem.text.unicodeScalars.contains { $0.value < 32 || $0.value == 127 }
            try FuzzFailure.require(isPlain && problem.text.utf8.count < 5_000, "a problem is no line of text")
        }
        var text = ""
        for entry in file.entries {
            let complaint = entry.key.complaint(entry.value, inFile: true)
            try FuzzFailure.require(complaint == nil, "a wrong value of \(entry.key.name) was taken")
            text += "\(entry.key.name) = \(entry.value)\n"
        }
        let again = ConfigurationFile.parse(Array(text.utf8), name: "f")
        try FuzzFailure.require(
            again.problems.isEmpty && again.entries.map(\.value) == file.entries.map(\.value),
            "a configuration changes when it is written and read again")
    }
}
