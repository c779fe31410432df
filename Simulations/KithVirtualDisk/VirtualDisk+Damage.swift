// What happens to files behind everybody's back. All of it is on the disk at once, and no call that could fail. Each says
// whether programs read something else now.

extension VirtualDisk {
    /// Changes bytes of a file.
    @discardableResult package func rot(_ path: String, _ range: Range<Int>, _ change: (inout UInt8) -> Void) -> Bool {
        damage(path) { content in content.rot(range) { _, byte in change(&byte) } }
    }

    /// Turns one bit of a file, counted from its beginning.
    @discardableResult package func flip(_ path: String, bit: Int) -> Bool {
        rot(path, bit / 8..<bit / 8 + 1) { $0 ^= 1 << UInt8(bit % 8) }
    }

    /// Makes bytes of a file zeros, as of a page that was never written.
    @discardableResult package func zero(_ path: String, _ range: Range<Int>) -> Bool {
        rot(path, range) { $0 = 0 }
    }

    /// Puts back what stood at a place of a file on an earlier copy of the disk: a page in an older version.
    @discardableResult package func makeStale(
        _ path: String, _ range: Range<Int>, from earlier: VirtualDisk
    ) -> Bool {
        let old = earlier.content(of: earlier.directory + path.dropFirst(directory.count)) ?? []
        return damage(path) { content in
            content.rot(range.clamped(to: 0..<old.count)) { place, byte in byte = old[place] }
        }
    }

    /// Cuts a file.
    @discardableResult package func truncate(_ path: String, to size: Int) -> Bool {
        damage(path) { content in content.replace(Array(content.bytes.prefix(size))) }
    }

    /// Puts a file of an earlier copy of the disk in the place of the one that is there; none where there was none.
    package func replace(_ path: String, from earlier: VirtualDisk) {
        guard let old = earlier.content(of: earlier.directory + path.dropFirst(directory.count)) else {
            lose(path)
            return
        }
        put(path, old)
    }

    private func damage(_ path: String, _ body: (inout FileContent) -> Void) -> Bool {
        locked {
            guard let file = names[path]?.file else { return false }
            let before = file.content.bytes
            body(&file.content)
            file.version += 1
            return file.content.bytes != before
        }
    }
}
