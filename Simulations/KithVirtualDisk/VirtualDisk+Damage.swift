// What happens to files behind everybody's back. All of it is on the disk at once, and no call that could fail.

extension VirtualDisk {
    /// Changes bytes of a file.
    package func rot(_ path: String, _ range: Range<Int>, _ change: (inout UInt8) -> Void) {
        damage(path) { content in content.rot(range) { _, byte in change(&byte) } }
    }

    /// Turns one bit of a file, counted from its beginning.
    package func flip(_ path: String, bit: Int) { rot(path, bit / 8..<bit / 8 + 1) { $0 ^= 1 << UInt8(bit % 8) } }

    /// Makes bytes of a file zeros, as of a page that was never written.
    package func zero(_ path: String, _ range: Range<Int>) { rot(path, range) { $0 = 0 } }

    /// Puts back what stood at a place of a file on an earlier copy of the disk: a page in an older version.
    package func makeStale(_ path: String, _ range: Range<Int>, from earlier: VirtualDisk) {
        let old = earlier.content(of: earlier.directory + path.dropFirst(directory.count)) ?? []
        damage(path) { content in
            content.rot(range.clamped(to: 0..<old.count)) { place, byte in byte = old[place] }
        }
    }

    /// Cuts a file.
    /// - Returns: whether it was longer.
    @discardableResult package func truncate(_ path: String, to size: Int) -> Bool {
        guard let bytes = content(of: path), bytes.count > size else { return false }
        damage(path) { content in content.replace(Array(bytes.prefix(size))) }
        return true
    }

    /// Puts a file of an earlier copy of the disk in the place of the one that is there; none where there was none.
    package func replace(_ path: String, from earlier: VirtualDisk) {
        guard let old = earlier.content(of: earlier.directory + path.dropFirst(directory.count)) else {
            lose(path)
            return
        }
        put(path, old)
    }

    private func damage(_ path: String, _ body: (inout FileContent) -> Void) {
        locked {
            guard let file = names[path]?.file else { return }
            body(&file.content)
            file.version += 1
        }
    }
}
