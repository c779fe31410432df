import Kith
import KithNode
import KithSystem
import KithVirtualDisk

extension Database {
    /// A database in memory, for tests: the real store on a disk that is gone with the database.
    public static func inMemory(_ name: String = "test") throws(KithError) -> Database {
        let local = Machine.local
        let disk = VirtualDisk()
        let machine = Machine(clock: local.clock, files: disk.files, random: local.random, queue: local.queue)
        return try Database(name, in: DatabaseFolder(disk.directory + "/kith", on: machine), DatabaseOptions())
    }
}
