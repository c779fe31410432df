import CSQLite

/// `kith_highlight(table, field, before, after)`: the text of a field with marks before and after what was found.
///
/// FTS5's own function is at a loss where words overlap, as pairs of characters do.
enum Highlight {
    typealias Api = UnsafePointer<Fts5ExtensionApi>

    static func run(
        _ api: Api?, _ row: OpaquePointer?, _ context: OpaquePointer?, _ count: Int32,
        _ values: UnsafeMutablePointer<OpaquePointer?>?
    ) {
        guard let api, let row, let context, count == 3, let values else {
            return sqlite3_result_error(context, "wrong arguments of kith_highlight", -1)
        }
        let field = sqlite3_value_int(values[0])
        var (start, length): (UnsafePointer<CChar>?, Int32) = (nil, 0)
        var code = api.pointee.xColumnText(row, field, &start, &length)
        guard code == SQLITE_OK else { return sqlite3_result_error_code(context, code) }
        guard let start, length > 0 else { return sqlite3_result_null(context) }
        let text = UnsafeRawBufferPointer(start: start, count: Int(length))
        var found: [ClosedRange<Int>] = []
        code = places(api, row, field, &found)
        var words = Words()
        if code == SQLITE_OK, !found.isEmpty {
            code = withUnsafeMutablePointer(to: &words) { words in
                api.pointee.xTokenize(row, start, length, words) { words, flags, _, _, start, end in
                    if flags & FTS5_TOKEN_COLOCATED == 0 {
                        words!.assumingMemoryBound(to: Words.self).pointee.ranges.append((Int(start), Int(end)))
                    }
                    return SQLITE_OK
                }
            }
        }
        guard code == SQLITE_OK else { return sqlite3_result_error_code(context, code) }
        let marked = mark(text, ranges(of: found, words.ranges), bytes(values[1]), bytes(values[2]))
        marked.withUnsafeBytes { kith_result_text_copy(context, $0.baseAddress, Int32($0.count)) }
    }

    private struct Words {
        var ranges: [(start: Int, end: Int)] = []
    }

    /// The words of the field that were found, by their numbers.
    private static func places(
        _ api: Api, _ row: OpaquePointer, _ field: Int32, _ found: inout [ClosedRange<Int>]
    ) -> Int32 {
        var count: Int32 = 0
        let code = api.pointee.xInstCount(row, &count)
        if code != SQLITE_OK { return code }
        for index in 0..<count {
            var (phrase, column, first): (Int32, Int32, Int32) = (0, 0, 0)
            let code = api.pointee.xInst(row, index, &phrase, &column, &first)
            if code != SQLITE_OK { return code }
            let size = api.pointee.xPhraseSize(row, phrase)
            if column == field, size > 0 { found.append(Int(first)...Int(first + size - 1)) }
        }
        return SQLITE_OK
    }

    /// Where they stand in the text, ascending, those joined that overlap or touch.
    private static func ranges(
        of found: [ClosedRange<Int>], _ words: [(start: Int, end: Int)]
    ) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        for places in found.sorted(by: { $0.lowerBound < $1.lowerBound }) where places.upperBound < words.count {
            let range = words[places.lowerBound].start..<words[places.upperBound].end
            if let last = ranges.last, range.lowerBound <= last.upperBound {
                ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                ranges.append(range)
            }
        }
        return ranges
    }

    private static func mark(
        _ text: UnsafeRawBufferPointer, _ ranges: [Range<Int>], _ before: [UInt8], _ after: [UInt8]
    ) -> [UInt8] {
        var marked: [UInt8] = []
        marked.reserveCapacity(text.count + ranges.count * (before.count + after.count))
        var end = 0
        for range in ranges where range.lowerBound >= end && range.upperBound <= text.count {
            marked += text[end..<range.lowerBound]
            marked += before
            marked += text[range]
            marked += after
            end = range.upperBound
        }
        marked += text[end...]
        return marked
    }

    private static func bytes(_ value: OpaquePointer?) -> [UInt8] {
        guard let start = sqlite3_value_blob(value) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value))))
    }
}
