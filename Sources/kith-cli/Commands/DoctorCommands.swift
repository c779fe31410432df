import KithDocument
import KithNode

/// `doctor`: why no other node is seen.
enum DoctorCommands {
    static func doctor(_ invocation: Invocation) throws(CommandError) -> Int32 {
        let terminal = try Terminal(colourChoice: invocation.value("color"))
        let report = try report(invocation)
        if invocation.flag("json") {
            Output.write(report.json)
            Output.line("")
        } else {
            let renderer = DoctorRenderer(report, width: terminal.width, colour: terminal.colour)
            for line in renderer.lines() { Output.line(line) }
        }
        return report.isTrouble ? ExitStatus.failed : ExitStatus.done
    }

    /// What it finds, as it is printed into a file.
    static func lines(_ invocation: Invocation) throws(CommandError) -> [String] {
        DoctorRenderer(try report(invocation), width: nil, colour: false).lines()
    }

    private static func report(_ invocation: Invocation) throws(CommandError) -> DoctorReport {
        let directory = try ControlClient.directory(invocation)
        var status: JSONValue?
        var failure: String?
        do throws(CommandError) { status = try ControlClient(directory).json("GET", ["status"], within: 5) } catch {
            failure = error.message
        }
        let doctor: Doctor
        do throws(NodeError) {
            doctor = try Doctor(
                directory: directory, status: status, nodeFailure: failure, interfaces: invocation.values("interface"),
                peers: invocation.values("peer"),
                configured: CommandConfiguration.reader(invocation).read().values(.peer))
        } catch { throw .usage(error.message) }
        return Diagnosis.report(doctor.run())
    }
}
