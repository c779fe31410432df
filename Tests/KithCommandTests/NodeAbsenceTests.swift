import Glibc
import KithNode
import KithTestSupport
import Testing

@testable import kith

/// What a person is told when nobody answers on the control socket.
@Suite struct NodeAbsenceTests {
    private let folder = TemporaryDirectory()

    private func message(_ reason: String) throws -> String {
        let directory = try NodeDirectory(option: folder.path)
        let error = NodeAbsence(directory: directory, socket: folder.path + "/kith.sock", reason: reason).error
        #expect(error.status == 69 && error.message.count <= 200)
        return error.message
    }

    @Test func whereThereIsNoNodeItSaysHowToMakeOne() throws {
        let text = try message("No such file or directory")
        #expect(text.hasPrefix("kith is not running (socket \(folder.path)/kith.sock: No such file or directory)"))
        #expect(text.contains("kith init") && text.contains("kith join") && text.contains("--data"))
    }

    @Test func whereThereIsANodeItSaysHowToStartIt() throws {
        // What is there is not looked at closely: that is for the start to do.
        try Command.write("something", to: folder.path + "/identity.pem")
        #expect(try message("Connection refused").hasSuffix("start it with: kith start"))
    }

    @Test(.enabled(if: geteuid() == 0, "needs root, to give a directory away"))
    func whereItIsForbiddenItNamesTheOwner() throws {
        #expect(chown(folder.path, 1, 1) == 0)
        let text = try message("Permission denied")
        #expect(text.hasPrefix("cannot talk to kith") && text.contains("it belongs to daemon"), "\(text)")
        #expect(chown(folder.path, 65_533, 65_533) == 0)
        #expect(try message("Permission denied").contains("it belongs to #65533"))
    }
}
