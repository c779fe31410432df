extension Node {
    private var mutesPath: String { configuration.directory.path + "/muted" }

    /// Takes the mutes of the last run.
    func readMutes() throws(NodeError) {
        mutes = MuteList(lines: try SmallFile.lines(of: mutesPath))
        keptMutes = mutes
    }

    /// Mutes a check at the level it has now, or as a warning where it does not hold. On disk when this returns.
    func mute(_ code: HealthCode, until: Int64) throws(ControlError) {
        let levels = health(now: SystemClock.wallMilliseconds).filter { $0.code == code.rawValue }.map(\.level)
        let worst = levels.max { $0.rank < $1.rank } ?? .warning
        mutes.set(MuteList.Mute(code: code, until: until, level: worst))
        log(
            .info, .node, "a health check is muted",
            ["code": code.rawValue, "until": Timestamp.text(ofMilliseconds: until)])
        try keepMutes()
    }

    /// Ends the mute of one check, or of all. On disk when this returns.
    func unmute(_ code: HealthCode?) throws(ControlError) {
        mutes.clear(code)
        try keepMutes()
    }

    /// Writes which mutes have ended by themselves, if any has.
    func noteEndedMutes() {
        do throws(ControlError) { try keepMutes() } catch {
            log(.warning, .node, "can't keep which checks are muted", ["reason": error.message])
        }
    }

    private func keepMutes() throws(ControlError) {
        guard mutes != keptMutes else { return }
        changed()
        do throws(NodeError) { try SmallFile.write(mutes.lines, to: mutesPath) } catch {
            throw ControlError(.failed, error.message)
        }
        keptMutes = mutes
    }
}
