extension Node {
    /// Takes the mutes of the last run.
    func readMutes() throws(NodeError) {
        mutes = MuteList(lines: try SpareFile.muted.read(in: configuration.directory.path).lines)
        keptMutes = mutes
    }

    /// Mutes a check at the level it has now, or as a warning where it does not hold. On disk when this returns; where it
    /// can't be written nothing is muted.
    func mute(_ code: HealthCode, until: Int64) throws(ControlError) {
        let levels = health(now: SystemClock.wallMilliseconds).filter { $0.code == code.rawValue }.map(\.level)
        let worst = levels.max { $0.rank < $1.rank } ?? .warning
        var wanted = mutes
        wanted.set(MuteList.Mute(code: code, until: until, level: worst))
        try take(wanted)
        log(
            .info, .node, "a health check is muted",
            ["code": code.rawValue, "until": Timestamp.text(ofMilliseconds: until)])
    }

    /// Ends the mute of one check, or of all. On disk when this returns; where it can't be written all stays as it was.
    func unmute(_ code: HealthCode?) throws(ControlError) {
        var wanted = mutes
        wanted.clear(code)
        try take(wanted)
    }

    /// Writes which mutes have ended by themselves, if any has.
    func noteEndedMutes() {
        do throws(ControlError) { try take(mutes) } catch {
            log(.warning, .node, "can't keep which checks are muted", ["reason": error.message])
        }
    }

    /// Mutes hold once they are on disk, or not at all.
    private func take(_ wanted: MuteList) throws(ControlError) {
        guard wanted != keptMutes || wanted != mutes else { return }
        do throws(NodeError) {
            try SmallFile.write(wanted.lines, to: SpareFile.muted.path(in: configuration.directory.path))
        } catch { throw ControlError(.failed, error.message) }
        mutes = wanted
        keptMutes = wanted
        changed()
    }
}
