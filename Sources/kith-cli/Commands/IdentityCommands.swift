import KithDocument
import KithNode

/// `identity`: who this node is, and what becomes of a directory that was moved or copied.
enum IdentityCommands {
    static func show(_ invocation: Invocation) async throws(CommandError) -> Int32 {
        let identity = try await NodeCommands.identity(try ControlClient.directory(invocation))
        if invocation.flag("json") {
            Output.write(identity.json)
            Output.line("")
            return ExitStatus.done
        }
        let lines = [
            ("node", identity.name), ("id", identity.id), ("group", identity.group), ("role", identity.role),
            ("fingerprint", "\(identity.fingerprint) (of the group)"), ("machine", machine(identity.machine)),
            ("directory", identity.directory),
        ]
        for (label, text) in lines {
            Output.line(label + String(repeating: " ", count: 13 - label.count) + Shown.line(text, limit: 4_096))
        }
        return ExitStatus.done
    }

    private static func machine(_ state: MachineIdentity.State) -> String {
        switch state {
        case .same: "this one, as before"
        case .changed:
            "another one before, or its record is damaged: moved (kith identity keep) or copied (kith identity reset)?"
        case .unrecorded: "not known yet; the next start writes it down"
        case .unknown: "this machine has no id; nothing is checked"
        }
    }

    static func keep(_ invocation: Invocation) async throws(CommandError) -> Int32 {
        let client = try ControlClient(invocation)
        do throws(CommandError) {
            _ = try client.call("POST", ["identity", "keep"])
            Messages.line("this machine is the node's from now on, and it replicates again")
        } catch {
            guard error.status == ExitStatus.noNode else { throw error }
            try CommandConfiguration(invocation).actAsOwner()
            try await NodeCommands.keepIdentity(client.directory)
            Messages.line("this machine is the node's from now on; next: kith start")
        }
        return ExitStatus.done
    }

    static func recover(_ invocation: Invocation) async throws(CommandError) -> Int32 {
        let configured = try CommandConfiguration(invocation)
        try configured.actAsOwner()
        if invocation.flag("alone"), !invocation.arguments.isEmpty {
            throw .usage("NODE and --alone exclude each other: one is asked, or nobody")
        }
        let recovery = try await NodeCommands.recoverIdentity(
            configured.directory, believing: invocation.arguments.first, isAlone: invocation.flag("alone"))
        if invocation.flag("json") {
            var object = JSONObjectWriter()
            object.add("statements", recovery.statements)
            object.add("complete", recovery.isWhole)
            object.add("awaited", recovery.awaited?.description)
            object.add("kept", recovery.kept)
            Output.write(object.bytes + [UInt8(ascii: "\n")])
            return ExitStatus.done
        }
        let statements = Wording.plural(UInt64(recovery.statements), "statement", "statements")
        Messages.line(
            recovery.isWhole
                ? "all \(statements) of the group came back"
                : "\(statements) of the group came back, and some may be missing")
        if let kept = recovery.kept {
            Messages.line("the damaged file is kept as \(Shown.path(kept)); remove it when all is well")
        }
        if let awaited = recovery.awaited {
            Messages.line("until it has heard from \(awaited.description), this node speaks to nobody else")
        }
        Messages.line("next: kith start")
        return ExitStatus.done
    }

    static func reset(_ invocation: Invocation) async throws(CommandError) -> Int32 {
        let directory = try ControlClient.directory(invocation)
        if !invocation.flag("yes") {
            try Confirmation.require(
                "Remove the key and membership of this copy? The databases stay. [y/N] ",
                otherwise:
                    "kith identity reset removes this node's key and membership; say --yes to do it without asking",
                declined: "nothing was changed")
        }
        try CommandConfiguration(invocation).actAsOwner()
        let keptRoot = try await NodeCommands.resetIdentity(directory)
        Messages.line("this directory is a new node's, which is in no group yet; its databases stay")
        if let keptRoot {
            Messages.line(
                "the group's root key that was here is kept as \(keptRoot): on a copy, remove it; it may be the only one"
            )
        }
        Messages.line("next: kith join CODE")
        return ExitStatus.done
    }
}
