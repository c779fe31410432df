import Glibc
import KithTestSupport
import Testing

@testable import KithSystem

@Suite struct DirectoryTests {
    @Test func `a directory is listed without itself and the one above`() throws {
        let directory = TemporaryDirectory()
        for name in ["a", ".hidden", String(repeating: "n", count: 255)] {
            let file = try #require(fopen(directory.path + "/" + name, "w"))
            fclose(file)
        }
        let names = try LocalFileSystem().list(directory.path)
        #expect(names.sorted() == [".hidden", "a", String(repeating: "n", count: 255)])
        #expect(throws: SystemError.self) { try LocalFileSystem().list(directory.path + "/missing") }
    }

    @Test func `a directory is removed with all in it, and what a link leads to stays`() throws {
        let (directory, other) = (TemporaryDirectory(), TemporaryDirectory())
        let folder = directory.path + "/folder"
        for path in [folder, folder + "/deeper", folder + "/empty"] { try #require(mkdir(path, 0o700) == 0) }
        for path in [folder + "/a", folder + "/deeper/b", other.path + "/kept"] {
            #expect(TestFile.write("x", to: path))
        }
        try #require(symlink(other.path, folder + "/link") == 0)
        LocalFileSystem.removeFolder(folder)
        #expect(directory.names == [] && other.names == ["kept"])
    }

    /// The C library's buffer of a directory may lie at the end of the memory that there is.
    @Test func `no byte behind an entry is read`() throws {
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        let memory = try #require(
            mmap(nil, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), "no memory")
        defer { munmap(memory, 2 * page) }
        try #require(mprotect(memory + page, page, PROT_NONE) == 0)
        // 24 bytes: the head, the name, its zero.
        let entry = (memory + page - 24).assumingMemoryBound(to: dirent.self)
        let name = UnsafeMutableRawPointer(entry) + MemoryLayout<dirent>.offset(of: \.d_name)!
        name.copyMemory(from: "1357", byteCount: 5)
        #expect(LocalFileSystem.name(of: entry) == "1357")
    }
}
