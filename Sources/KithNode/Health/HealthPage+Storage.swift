extension HealthPage {
    static let storageFull = HealthPage(
        meaning: [
            "The disk of the node's directory is full: writes fail and leave the databases as they were, and nothing is pulled "
                + "from peers; a write that was answered as done is on disk. Reading goes on, and peers still get what is here.",
            "It is told as soon as less than 64 KiB are free, also while nobody writes.",
        ],
        shows: [
            "Commands that write fail with `unavailable` and name the database.",
            "The links stay; peers show this node as `blocked`, with the reason.",
        ],
        actions: [
            "See what takes the room: `df -h DIR`, `du -xh --max-depth=1 DIR`, with the directory that the check names.",
            "Make room on that disk, or give it more.",
            "A database that is not needed here makes room by `kith db delete DB`, also on a full disk.",
        ],
        ends: "When there is room: the node looks every 10 seconds and goes on by itself.")

    static let storageLow = HealthPage(
        meaning: [
            "Less than a tenth and less than 512 MiB of the disk of the node's directory is free. Nothing fails yet.",
            "A database needs room beside its documents: its log, up to 64 MiB and sometimes more, and as much again as its "
                + "file for `kith compact` and for an upgrade that changes the format.",
        ],
        shows: ["`kith status` has the size of each database and its log."],
        actions: [
            "See what takes the room: `df -h DIR`, `du -xh --max-depth=1 DIR`.",
            "Make room on that disk, or move the directory to a larger one.",
        ],
        ends: "When there is more room.")

    static let storageFailed = HealthPage(
        meaning: [
            "The disk of the node's directory failed or can't be written: an error of the device, a file system that was "
                + "mounted read-only, a file whose owner changed. Writes fail and leave the databases as they were, and nothing "
                + "is pulled from peers. Reading goes on as far as it can."
        ],
        shows: ["Commands that write fail with `unavailable`; the check names the database and the failure."],
        actions: [
            "Look at what the kernel says of the disk: `dmesg -T | tail`.",
            "See that the directory is mounted for writing, and belongs to the user who runs the node: `findmnt -T DIR`, "
                + "`ls -ld DIR`.",
            "A file system that the kernel itself made read-only after an error stays so until it is unmounted: stop the node, "
                + "check the file system, mount it and start the node.",
            "When the device is at fault, replace it; what peers have comes back from them.",
        ],
        ends:
            "With the first commit that succeeds. One is tried every 10 seconds, and where nobody writes every ten minutes."
    )

    static let databaseDamaged = HealthPage(
        meaning: [
            "A database's file holds what no database can hold, or lacks a part: the disk, another program or a copy that was "
                + "taken while the node ran damaged it. The other databases go on. Where the file itself is damaged nothing is "
                + "written to it any more; what can be read of it is.",
            "After a node was not stopped in order, the pages of its databases are checked while it runs.",
        ],
        shows: ["Reading some documents fails, and peers show the database as `blocked`."],
        actions: [
            "Look at the disk first, and at what the kernel says of it: `dmesg -T | tail`. What it damaged once it damages "
                + "again.",
            "List what is damaged: `kith verify DB`.",
            "Make a new file of what is sound, and fetch the rest from peers: `kith repair DB`. The old file stays beside it; "
                + "of several the newest three.",
            "A file that is empty, or gone while its log is there, holds nothing to repair; a log that is another file's "
                + "has to be moved away first. The check says so.",
            "Else put a backup back: `kith restore DB FILE`. What peers have comes back by itself.",
            "Without a backup, `kith db delete DB` removes this node's copy, and `kith db create DB` takes it from the peers "
                + "again. What only this node had is lost then.",
        ],
        ends: "With a repair, or with a `kith verify` that finds nothing.")

    static let databaseNewer = HealthPage(
        meaning: [
            "A newer Kith has changed the format of a database's file, which this one can't read. The file is left as it is, "
                + "and the other databases go on."
        ],
        shows: ["`kith --version` on the nodes that work says more than here."],
        actions: [
            "Upgrade this node to that version.",
            "Or go back: beside the file stands a copy from before the change, `NAME.sqlite3.before-N`. Stop the node, move "
                + "`NAME.sqlite3` with its `-wal` and its `.lock` away, and give the copy that name. What was written since "
                + "comes back from peers.",
        ],
        ends: "When the file can be opened.")

    static let databaseMoved = HealthPage(
        meaning: [
            "A database's file, or its log, was replaced, moved or removed while the node had it open. What would be written "
                + "now would be lost when the node stops, so writes are refused. Reading goes on, from the file that was opened.",
            "SQLite files are not to be touched while a node has them open: `kith backup` and `kith restore` are for that.",
        ],
        shows: ["Commands that write fail and name the file."],
        actions: [
            "Save what is open first: `kith export DB > FILE`. A backup is made of the file in its place, and has not got it.",
            "If only the log was removed, stop the node: what it held is written into the file then.",
            "Otherwise stop the node, put the right file back, and start it. A database without a file is missed then: see "
                + "`kith help database-missing`.",
        ],
        ends: "When the file is back in its place, and with the next start of the node.")

    static let databaseMissing = HealthPage(
        meaning: [
            "A database that this node had is not in its directory any more: its file was moved or removed while the node did "
                + "not run, or a disk is not mounted. The other databases go on.",
            "None is made in its place by itself: an empty one would look like a database to which nobody has written, and "
                + "what only this node had would be missed by nobody.",
        ],
        shows: [
            "Commands for the database fail and name the file, and what peers have of it is not taken.",
            "The file `carried` in the node's directory has the names of the databases that should be there.",
        ],
        actions: [
            "Look whether the disk is mounted and where the file went; put it back, with its `-wal` if there is one: the node "
                + "goes on by itself.",
            "Or put a copy back: `kith restore DB FILE`. What peers have comes back by itself.",
            "Or give this node's copy up: `kith db delete DB`. To take it from the peers then: `kith db create DB`. What only "
                + "this node had is lost.",
        ],
        ends: "When the file is there again, or with `kith db delete`.")

    static let databaseUnusable = HealthPage(
        meaning: [
            "A database is here and can't be opened: its file is another program's, is open in another process, or lies on a "
                + "network file system. The check says which. The other databases go on."
        ],
        shows: ["Commands for the database fail with the reason, and peers show it as `blocked`."],
        actions: [
            "See who has it open: `fuser -v FILE`; stop that process.",
            "Move away what is no database of Kith; move the directory to a disk of this machine.",
        ],
        ends: "When the file can be opened: the node tries again by itself.")

    static let logLost = HealthPage(
        meaning: [
            "The write-ahead log of a database (`NAME.sqlite3-wal`) was removed, cut or damaged while the node did not run. "
                + "Writes that had been acknowledged were in it. The rest of the file was checked and is whole."
        ],
        shows: ["The newest writes of this node are missing where no peer had them."],
        actions: [
            "If the log was moved, stop the node and put it back beside the file before anything is written.",
            "Otherwise nothing is to be done: what peers have of the missing writes comes back by itself.",
            "Copy a database with `kith backup`, never file by file while the node runs.",
        ],
        ends: "With the next start of the node.")

    static let rollbackDetected = HealthPage(
        meaning: [
            "A peer has changes of a database of this node that are not in it any more: an older copy of the file was put back, "
                + "a power cut took the last commits, or the machine was put back to a snapshot while the node ran.",
            "Nothing needs mending: a new timeline is begun, so that nothing is taken for what it is not, and what peers have "
                + "comes back from them. What only this node had is lost.",
        ],
        shows: ["The check and the log name the database, and what showed it."],
        actions: [
            "If nobody put anything back, look at the disk: a disk that forgets what it was told to keep will do so again: "
                + "`dmesg -T | tail`.",
            "Look whether a copy of the node's directory runs elsewhere, and end it: see `kith help identity-duplicate`.",
        ],
        ends: "A day after it was found, or when the node is restarted.")

    static let fileDamaged = HealthPage(
        meaning: [
            "A small file of the node's directory could not be read for what it is: the disk has damaged it, or something else "
                + "than Kith has written there. What could be read of it holds; the damaged file is kept beside it, as "
                + "NAME.damaged. The check says what may be lost: open codes of invitations are void, pauses hold with all "
                + "peers until `kith resume`, databases that were dropped here may come back.",
            "A damaged `membership` stops the start, because it says who was revoked. `kith identity recover` takes every signed "
                + "statement out of it. Where some may be missing, the node then lets in one node alone, that of the admin who let "
                + "it in or the one that you name, until that one has told what it knows; meanwhile the check is critical.",
        ],
        shows: [
            "The log of the start names the file and where it is kept. A damaged key of the group's root (`root.pem`) stays in its "
                + "place: a copy of it is the only remedy."
        ],
        actions: [
            "Look at the disk: what damaged this file may damage a database. `kith verify` reads them all.",
            "Make good what the check names: `kith invite`, `kith pause`, `kith mute` or `kith db delete` again.",
            "Then remove the file `NAME.damaged`.",
        ],
        ends: "When the file that was kept is removed, and the node that was awaited has been heard.")
}
