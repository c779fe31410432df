import KithSystem

extension Node {
    /// Takes the mutes of the last run.
    func readMutes() throws(NodeError) {
        let (directory, disk) = (configuration.directory.path, configuration.machine.files)
        mutes = MuteList(lines: try SpareFile.muted.read(in: directory, on: disk).lines)
        keptMutes = mutes
    }

    /// Mutes a check at the level it has now, or as a warning where it does not hold. Calls back when it is on disk; where
    /// it can't be written nothing is muted.
    func mute(_ code: HealthCode, until: Int64, then: @escaping @Sendable (ControlError?) -> Void) {
        let levels = health(now: SystemClock().wallMilliseconds).filter { $0.code == code.rawValue }.map(\.level)
        let worst = levels.max { $0.rank < $1.rank } ?? .warning
        keepMutes {
            $0.set(MuteList.Mute(code: code, until: until, level: worst))
        } then: { [log] failure in
            if failure == nil {
                log(
                    .info, .node, "a health check is muted",
                    ["code": code.rawValue, "until": Timestamp.text(ofMilliseconds: until)])
            }
            then(failure)
        }
    }

    /// Ends the mute of one check, or of all. Calls back when it is on disk; where it can't be written all stays as it was.
    func unmute(_ code: HealthCode?, then: @escaping @Sendable (ControlError?) -> Void) {
        keepMutes {
            $0.clear(code)
        } then: {
            then($0)
        }
    }

    /// Writes which mutes have ended by themselves, if any has.
    func noteEndedMutes() {
        guard mutes != keptMutes else { return }
        changed()
        keepSoon(.muted) {
            guard self.mutes != self.keptMutes else { return nil }
            return self.writing(self.mutes) { [log = self.log] failure in
                guard let failure else { return }
                log(.warning, .node, "can't keep which checks are muted", ["reason": failure.message])
            }
        }
    }

    /// Mutes hold once they are on disk, or not at all.
    private func keepMutes(
        _ change: @escaping @Sendable (inout MuteList) -> Void, then: @escaping @Sendable (ControlError?) -> Void
    ) {
        keep(.muted) {
            var wanted = self.mutes
            change(&wanted)
            return self.writing(wanted) { failure in then(failure.map { ControlError(.failed, $0.message) }) }
        }
    }

    private func writing(_ wanted: MuteList, _ done: @escaping @Sendable (NodeError?) -> Void) -> Writing {
        Writing(content: SpareFile.content(wanted.lines)) { failure in
            if failure == nil {
                self.mutes = wanted
                self.keptMutes = wanted
                self.changed()
            }
            done(failure)
        }
    }
}
