#if KITH_MUTANTS
import KithSystem
#endif

extension JSONReader {
    /// Reads a number. Integers stay as they are written, of any size; of all others the double counts.
    @inline(__always)
    mutating func readNumber() throws(JSONFault) {
        let start = position
        var at = start
        if text[at] == .minus { at += 1 }
        let digits = at
        while at < end, text[at].isDigit { at += 1 }
        guard at > digits else { throw JSONFault(at == end ? .truncated : .expectedDigit, at: at) }
        if text[digits] == .zero && at > digits + 1 { throw JSONFault(.leadingZero, at: digits) }
        position = at
        #if KITH_MUTANTS
        if Mutant.isActive(.integersAsDoubles), at - digits > 15, at < end { return try readRestOfNumber(from: start) }
        #endif
        if at < end, text[at] == .point || text[at].isExponentMark {
            try readRestOfNumber(from: start)
        } else if text[digits] == .zero && digits > start {
            try leaveOut(from: start)
            append("0")
        }
    }

    /// Reads fraction and exponent of a number and puts the canonical text of the whole in its place.
    @inline(never)
    private mutating func readRestOfNumber(from start: Int) throws(JSONFault) {
        var number = DecimalNumber()
        number.isNegative = text[start] == .minus
        var digits = DigitCollector()
        for index in (number.isNegative ? start + 1 : start)..<position { digits.take(text[index] - .zero) }
        if text[position] == .point {
            digits.pointFound()
            position += 1
            let first = position
            while position < end, text[position].isDigit {
                digits.take(text[position] - .zero)
                position += 1
            }
            try requireDigits(since: first)
        }
        digits.finish(exponent: try readExponent(), into: &number)
        if number.count > 0, digits.isCut || !number.isShortest {
            guard let shortest = shortest(number, isCut: digits.isCut, text: start..<position) else {
                throw JSONFault(.beyondDouble, at: start)
            }
            number = shortest
        }
        try replace(from: start, with: NumberText(number))
    }

    private func requireDigits(since first: Int) throws(JSONFault) {
        if position == first { throw JSONFault(position == end ? .truncated : .expectedDigit, at: position) }
    }

    /// Reads an exponent, if there is one. Beyond a million it says no more than that.
    private mutating func readExponent() throws(JSONFault) -> Int {
        guard position < end, text[position].isExponentMark else { return 0 }
        position += 1
        var isNegative = false
        if position < end, text[position] == .minus || text[position] == UInt8(ascii: "+") {
            isNegative = text[position] == .minus
            position += 1
        }
        let first = position
        var exponent = 0
        while position < end, text[position].isDigit {
            exponent = min(exponent * 10 + Int(text[position] - .zero), 1 << 40)
            position += 1
        }
        try requireDigits(since: first)
        return isNegative ? -exponent : exponent
    }

    /// The shortest decimal that reads back as the same double; nil beyond the range of a double.
    private func shortest(_ number: DecimalNumber, isCut: Bool, text range: Range<Int>) -> DecimalNumber? {
        // 10^309 is above every double, 10^-330 below half of the least one.
        if number.point > 309 { return nil }
        if number.point < -330 { return DecimalNumber() }
        if !isCut, let double = number.exactDouble { return DecimalNumber(shortest: double) }
        let digits = isCut || range.count > 40 ? significant(number, range) : string(range)
        guard let double = Double(digits), double.isFinite else { return nil }
        return DecimalNumber(shortest: double)
    }

    /// The number as a text for the standard library's parser, bounded in length: what decides how a decimal is rounded
    /// to a double are its first 768 digits and whether any other follows.
    private func significant(_ number: DecimalNumber, _ range: Range<Int>) -> String {
        var bytes: [UInt8] = number.isNegative ? [.minus, .zero, .point] : [.zero, .point]
        let most = bytes.count + 768
        var hasBegun = false
        for index in range {
            let byte = text[index]
            if byte.isExponentMark { break }
            guard byte.isDigit, hasBegun || byte != .zero else { continue }
            hasBegun = true
            if bytes.count < most {
                bytes.append(byte)
            } else if byte != .zero {
                bytes.append(UInt8(ascii: "1"))
                break
            }
        }
        return "\(String(decoding: bytes, as: UTF8.self))e\(number.point)"
    }

    private func string(_ range: Range<Int>) -> String {
        String(decoding: UnsafeBufferPointer(start: text + range.lowerBound, count: range.count), as: UTF8.self)
    }

    private mutating func replace(from start: Int, with number: NumberText) throws(JSONFault) {
        let end = position
        let text = text
        try number.withBytes { bytes throws(JSONFault) in
            if bytes.count == end - start {
                var index = 0
                while index < bytes.count, bytes[index] == text[start + index] { index += 1 }
                if index == bytes.count { return }
            }
            try leaveOut(from: start)
            output.append(contentsOf: bytes)
            shift = output.count - position
        }
    }

    private mutating func append(_ string: StaticString) {
        output.append(contentsOf: UnsafeBufferPointer(start: string.utf8Start, count: string.utf8CodeUnitCount))
        shift = output.count - position
    }
}
