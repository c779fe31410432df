import Glibc
import KithNode
import KithStore
import KithTestSupport
import Testing

@Suite struct ControlDirectoryTests {
    private func directory(_ option: String?, _ variables: [String: String]) throws -> String {
        try NodeDirectory(option: option) { variables[$0] }.path
    }

    @Test func theOptionIsBeforeTheEnvironment() throws {
        let variables = ["KITH_DATA": "/k", "XDG_DATA_HOME": "/x", "HOME": "/h"]
        #expect(try directory("/none/o", variables) == "/none/o")
        #expect(try directory(nil, variables) == "/k")
        #expect(try directory(nil, variables.filter { $0.key != "KITH_DATA" }) == "/x/kith")
        #expect(try directory(nil, ["HOME": "/h"]) == "/h/.local/share/kith")
    }

    @Test func emptyAndRelativeVariablesAreIgnored() throws {
        #expect(
            try directory(nil, ["KITH_DATA": "", "XDG_DATA_HOME": "relative", "HOME": "/h"]) == "/h/.local/share/kith")
        #expect(throws: ControlError.self) { try directory(nil, [:]) }
        #expect(throws: ControlError.self) { try directory("", ["HOME": "/h"]) }
    }

    @Test func pathsBecomeAbsoluteAndPlain() throws {
        let current = getcwd(nil, 0)!
        defer { free(current) }
        #expect(try directory("none-such/d", [:]) == String(cString: current) + "/none-such/d")
        #expect(try directory("/a//b/./c/../d/", [:]) == "/a/b/d")
        #expect(try directory("/../..", [:]) == "/")
    }

    @Test func linksToADirectoryAreTheDirectory() throws {
        let temporary = TemporaryDirectory()
        let real = temporary.path + "/real"
        let link = temporary.path + "/link"
        mkdir(real, 0o700)
        symlink(real, link)
        #expect(try directory(link, [:]) == directory(real, [:]))
    }

    @Test func theSocketIsInTheDirectoryWhereItsPathFits() throws {
        let short = try NodeDirectory(option: "/d") { _ in nil }
        #expect(short.socketPath() == "/d/kith.sock")
        // "/" + name + "/kith.sock" of exactly 103 bytes, and one more.
        let fits = try NodeDirectory(option: "/" + String(repeating: "n", count: 92)) { _ in nil }
        #expect(fits.socketPath().utf8.count == 103 && fits.socketPath().hasSuffix("/kith.sock"))
        let long = try NodeDirectory(option: "/" + String(repeating: "n", count: 93)) { _ in nil }
        let socket = long.socketPath { $0 == "XDG_RUNTIME_DIR" ? "/run/u" : nil }
        #expect(socket.hasPrefix("/run/u/kith/") && socket.hasSuffix(".sock") && socket.utf8.count < 104)
        let other = try NodeDirectory(option: "/" + String(repeating: "m", count: 93)) { _ in nil }
        #expect(other.socketPath { $0 == "XDG_RUNTIME_DIR" ? "/run/u" : nil } != socket)
        #expect(long.socketPath { _ in nil }.utf8.count < 104)
    }

    @Test func theFolderOfASocketElsewhereIsForThisUserAlone() throws {
        let temporary = TemporaryDirectory()
        let base = temporary.path
        let folder = base + "/kith"
        let directory = try NodeDirectory(option: "/" + String(repeating: "n", count: 93)) { _ in nil }
        let environment: NodeDirectory.Environment = { $0 == "XDG_RUNTIME_DIR" ? base : nil }
        try directory.prepareSocketFolder(environment: environment)
        var status = stat()
        #expect(stat(folder, &status) == 0 && status.st_mode & 0o777 == 0o700)
        try directory.prepareSocketFolder(environment: environment)
        chmod(folder, 0o755)
        #expect(throws: ControlError.self) { try directory.prepareSocketFolder(environment: environment) }
    }

    @Test(arguments: ["a", "notes", "a0_$()+-", String(repeating: "a", count: 238)])
    func databaseNamesMayHaveSuchLetters(name: String) { #expect(DatabaseName.isValid(name)) }

    @Test(arguments: ["", "A", "0a", "_a", "a.b", "a/b", "ä", "a b", String(repeating: "a", count: 239)])
    func otherNamesAreRefused(name: String) { #expect(!DatabaseName.isValid(name)) }
}
