extension Node {
    private static let mutesName = "muted"

    /// Takes the mutes of the last run.
    func readMutes() throws(NodeError) {
        mutes = MuteList(lines: try SmallFile.lines(of: configuration.directory.path + "/" + Self.mutesName))
        keptMutes = mutes
    }

    /// Mutes a check at the level it has now, or as a warning where it does not hold. Calls back when it is on disk.
    func mute(_ code: HealthCode, until: Int64, then: @escaping @Sendable (ControlError?) -> Void) {
        let levels = health(now: SystemClock.wallMilliseconds).filter { $0.code == code.rawValue }.map(\.level)
        let worst = levels.max { $0.rank < $1.rank } ?? .warning
        mutes.set(MuteList.Mute(code: code, until: until, level: worst))
        log(
            .info, .node, "a health check is muted",
            ["code": code.rawValue, "until": Timestamp.text(ofMilliseconds: until)])
        keepMutes(then)
    }

    /// Ends the mute of one check, or of all. Calls back when it is on disk.
    func unmute(_ code: HealthCode?, then: @escaping @Sendable (ControlError?) -> Void) {
        mutes.clear(code)
        keepMutes(then)
    }

    /// Writes which mutes have ended by themselves, if any has.
    func noteEndedMutes() {
        guard mutes != keptMutes else { return }
        changed()
        keepSoon(Self.mutesName) {
            self.writing { [log = self.log] failure in
                if let failure {
                    log(.warning, .node, "can't keep which checks are muted", ["reason": failure.message])
                }
            }
        }
    }

    private func keepMutes(_ then: @escaping @Sendable (ControlError?) -> Void) {
        changed()
        keep(Self.mutesName) {
            self.writing { failure in then(failure.map { ControlError(.failed, $0.message) }) }
        }
    }

    /// The mutes as they stand now; where they stand on disk already it is done.
    private func writing(_ done: @escaping @Sendable (NodeError?) -> Void) -> Writing? {
        let mutes = mutes
        guard mutes != keptMutes else {
            done(nil)
            return nil
        }
        return Writing(content: SmallFile.content(mutes.lines)) { failure in
            if failure == nil { self.keptMutes = mutes }
            done(failure)
        }
    }
}
