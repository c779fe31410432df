/// The file system that a node's directory lies on: all that a node and its stores ask of it beside what SQLite does by its
/// own layer for files.
///
/// Paths are absolute or of the process. Any thread may call; two openings of one file are two.
package protocol FileSystem: Sendable {
    /// The name of SQLite's layer for the files; nil for the process's default one.
    var layer: String? { get }

    /// A file or directory as it stands; nil where there is none.
    func stamp(of path: String) -> FileStamp?

    /// Opens a file.
    /// - Throws: `SystemError`: `ENOENT` and `EEXIST` by what is there and the access, and what the disk gives.
    func open(_ path: String, _ access: FileAccess) throws(SystemError) -> any OpenFile

    /// Takes a name away; the file goes with its last name, once nobody has it open.
    func remove(_ path: String) throws(SystemError)

    /// Gives a file another name, in the place of what had it.
    func rename(_ path: String, to other: String) throws(SystemError)

    /// Gives a file a second name, which nothing may have.
    func link(_ path: String, to other: String) throws(SystemError)

    /// Makes a directory that its owner only may use; nothing happens where the name is taken.
    func makeDirectory(_ path: String) throws(SystemError)

    /// Makes the names in a directory durable.
    func synchronize(directory: String) throws(SystemError)

    /// The names in a directory, in no order.
    func list(_ directory: String) throws(SystemError) -> [String]

    /// The room that there is; nil where that is not known.
    func space(of directory: String) -> StorageSpace?

    /// The name of the network file system that a directory is on; nil for a local one, or where that is not known.
    func networkName(of directory: String) -> String?

    /// Takes from all others what they may do with a directory.
    func closeToOthers(_ directory: String) throws(SystemError)

    /// Looks whether files can be made in a directory, as far as that shows without making one.
    /// - Throws: `SystemError`: why they can't.
    func requireWritable(_ directory: String) throws(SystemError)
}

/// What a file is opened for. Files that are made are readable by their owner only.
package enum FileAccess: Sendable {
    case read
    case write
    /// To write; made where it is not there.
    case create
    /// To write; it must not be there.
    case createNew
}

/// An open file, for one thread at a time. It is closed with the object, and its lock ends with that.
package protocol OpenFile: AnyObject, Sendable {
    /// So many bytes from a place; fewer at the end of the file only.
    func read(_ count: Int, at offset: Int) throws(SystemError) -> [UInt8]

    /// Writes all of the bytes, in one piece where the system takes them so.
    func write(_ bytes: [UInt8], at offset: Int) throws(SystemError)

    /// What was written is on disk when this returns.
    func synchronize() throws(SystemError)

    /// Takes the lock of the whole file without waiting. It ends with the process, however that ends.
    /// - Returns: false while another opening has it, of this process or of another one.
    func lock() throws(SystemError) -> Bool
}

/// An error that the system gave for a call on a file.
package struct SystemError: Error, Hashable {
    /// `errno`.
    package let number: Int32

    package init(_ number: Int32) { self.number = number }
}

/// Names a file as long as it is there, whatever it is called.
package struct FileIdentity: Hashable, Sendable {
    package let device: UInt64
    package let number: UInt64

    package init(device: UInt64, number: UInt64) {
        self.device = device
        self.number = number
    }
}

/// A file or directory as it stands at a moment.
package struct FileStamp: Hashable, Sendable {
    package let identity: FileIdentity
    /// In bytes.
    package let size: Int64
    /// When it was last written, since 1970.
    package let seconds: Int
    package let nanoseconds: Int
    package let isDirectory: Bool
    /// Who may do what with it: the lower bits of its mode (`chmod(2)`).
    package let permissions: UInt32

    /// - Parameter permissions: those of a file of its owner's alone, where none are given.
    package init(
        identity: FileIdentity, size: Int64, seconds: Int, nanoseconds: Int, isDirectory: Bool = false,
        permissions: UInt32 = 0o600
    ) {
        self.identity = identity
        self.size = size
        self.seconds = seconds
        self.nanoseconds = nanoseconds
        self.isDirectory = isDirectory
        self.permissions = permissions
    }

    /// Whether others than the owner may do anything with it.
    package var isOpenToOthers: Bool { permissions & 0o077 != 0 }
}

/// The room on the file system of a directory, in bytes.
package struct StorageSpace: Hashable, Sendable {
    /// What a user without privileges can still write.
    package let free: UInt64
    package let total: UInt64

    package init(free: UInt64, total: UInt64) {
        self.free = free
        self.total = total
    }
}
