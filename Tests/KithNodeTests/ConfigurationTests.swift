import Glibc
import KithNode
import KithTestSupport
import Testing

/// Which sources hold, and whence each value comes.
@Suite struct ConfigurationTests {
    private let folder = TemporaryDirectory()

    private func write(_ text: String, to name: String) -> String {
        let path = "\(folder.path)/\(name)"
        var made = ""
        for part in path.split(separator: "/").dropLast() {
            made += "/\(part)"
            mkdir(made, 0o755)
        }
        let file = fopen(path, "w")!
        fputs(text, file)
        fclose(file)
        return path
    }

    private func reader(_ variables: [String: String] = [:], isRoot: Bool = false) -> ConfigurationReader {
        var reader = ConfigurationReader()
        let home = folder.path
        reader.environment = { variables[$0] ?? ($0 == "HOME" ? home : nil) }
        reader.systemFile = "\(home)/etc/kith.conf"
        reader.isRoot = isRoot
        return reader
    }

    @Test func optionsHoldBeforeVariablesThoseBeforeFilesAndThoseBeforeDefaults() {
        let path = write("listen = [::]:1\npeer = file:1\npeer = file:2\nlog = debug\n", to: "a.conf")
        var reader = reader(["KITH_PEER": "variable:1  variable:2", "KITH_LOG": ""])
        reader.file = path
        reader.options[.log] = ["error", "mesh=trace"]
        let configuration = reader.read()
        #expect(configuration.problems == [])
        #expect(configuration[.listen] == [.init(value: "[::]:1", origin: .file(path, line: 1))])
        #expect(configuration.values(.peer) == ["variable:1", "variable:2"])
        #expect(configuration[.peer].first?.origin == .variable("KITH_PEER"))
        #expect(configuration[.log].map(\.origin) == [.option, .option])
        #expect(configuration[.discovery] == [.init(value: "on", origin: .standard)])
        #expect(configuration[.data] == [])
    }

    @Test func everyKeyHasAVariableAndItsValuesAreChecked() {
        for key in ConfigurationKey.allCases where key != .data {
            let problems = reader([key.variable: "\u{7f} !"]).read().problems
            #expect(problems.count == 1 && problems[0].place == key.variable, "\(key)")
        }
        #expect(ConfigurationKey.data.variable == "KITH_DATA")
    }

    @Test func theUsersFileIsBeforeTheSystemsAndOneThatIsNamedBeforeBoth() throws {
        let system = write("data = /system\n", to: "etc/kith.conf")
        #expect(reader().read().files == [system])
        let own = write("data = /own\n", to: ".config/kith/kith.conf")
        #expect(reader().read().files == [own])
        #expect(try reader().directory(reader().read()).path == "/own")
        let other = write("data = /other\n", to: "xdg/kith/kith.conf")
        #expect(reader(["XDG_CONFIG_HOME": "\(folder.path)/xdg"]).read().files == [other])
        #expect(reader(["XDG_CONFIG_HOME": "xdg"]).read().files == [own])
        let named = write("", to: "named.conf")
        #expect(reader(["KITH_CONFIG": named]).read().files == [named])
        var explicit = reader(["KITH_CONFIG": "/nothing"])
        explicit.file = named
        #expect(explicit.read().files == [named])
        // For root the machine's node is the first.
        #expect(reader(isRoot: true).read().files == [system])
    }

    @Test func theSystemsFileIsForTheNodeThatItNamesAlone() throws {
        let system = write("data = /srv/kith\nlisten = [::]:1\n", to: "etc/kith.conf")
        let configuration = reader().read()
        #expect(configuration.isSystemFile && configuration.files == [system])
        #expect(try reader().directory(configuration).path == "/srv/kith")
        #expect(reader(["KITH_DATA": "/elsewhere"]).read().files == [])
        #expect(reader(["KITH_DATA": "/srv/kith/"]).read().files == [system])
        var named = reader(isRoot: true)
        named.options[.data] = ["/elsewhere"]
        #expect(named.read().files == [])
        // Who has a directory has a node of their own.
        _ = write("", to: ".local/share/kith/lock")
        #expect(reader().read().files == [])
        #expect(try reader().directory(reader().read()).path == "\(folder.path)/.local/share/kith")
        #expect(reader(isRoot: true).read().files == [system])
    }

    @Test func theFilesOfConfDAreReadInTheOrderOfTheirNamesAndLaterOnesHold() {
        let system = write("data = /d\nlisten = [::]:1\npeer = a\n", to: "etc/kith.conf")
        let second = write("listen = [::]:3\npeer = c\n", to: "etc/conf.d/20-b.conf")
        let first = write("listen = [::]:2\npeer = b\n", to: "etc/conf.d/10-a.conf")
        _ = write("nonsense", to: "etc/conf.d/30-c.conf.old")
        _ = write("nonsense", to: "etc/conf.d/.40-d.conf")
        let configuration = reader().read()
        #expect(configuration.problems == [])
        #expect(configuration.files == [system, first, second])
        #expect(configuration[.listen] == [.init(value: "[::]:3", origin: .file(second, line: 1))])
        #expect(configuration.values(.peer) == ["a", "b", "c"])
    }

    @Test func aNamedFileThatCanNotBeReadIsAProblemThatHidesTheDirectory() {
        let folderPath = folder.path
        mkfifo("\(folderPath)/fifo", 0o600)
        for (path, words) in [
            ("/nothing/x.conf", "No such file"), (folderPath, "it is no file"), ("\(folderPath)/fifo", "it is no file"),
        ] {
            let reader = reader(["KITH_CONFIG": path])
            let configuration = reader.read()
            #expect(!configuration.isUsable(strict: false))
            #expect(configuration.problems.first?.text.hasPrefix("\(path): can't be read: ") == true)
            #expect(configuration.problems.first?.text.contains(words) == true)
            #expect(throws: ControlError.self) { try reader.directory(configuration) }
            var named = reader
            named.options[.data] = ["/d"]
            #expect((try? named.directory(configuration))?.path == "/d")
        }
        #expect(reader(["KITH_CONFIG": "/dev/null"]).read().problems == [])
    }

    @Test func aWrongDirectoryStopsCommandsAndOtherProblemsDoNot() throws {
        let wrong = write("data = here\n", to: "wrong.conf")
        let reader = reader(["KITH_CONFIG": wrong])
        #expect(throws: ControlError.self) { try reader.directory(reader.read()) }
        let odd = write("data = /d\nlisten = x y\nnothing = 1\n", to: "odd.conf")
        let other = self.reader(["KITH_CONFIG": odd])
        #expect(try other.directory(other.read()).path == "/d")
        #expect(!other.read().isUsable(strict: false))
    }

    @Test func unknownKeysAreLetPassUnlessStrictnessIsAskedFor() {
        let path = write("nothing = 1\n", to: "a.conf")
        let configuration = reader(["KITH_CONFIG": path]).read()
        #expect(configuration.isUsable(strict: false))
        #expect(!configuration.isUsable(strict: true))
    }
}
