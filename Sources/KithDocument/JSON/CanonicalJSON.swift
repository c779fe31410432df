#if KITH_MUTANTS
import KithSystem
#endif

/// The canonical form of JSON in which documents are stored, hashed and sent.
///
/// Keys in UTF-8 byte order, no space between tokens, strings in the shortest escaping, integers of any size exactly as
/// written (`-0` as `0`), all other numbers as the shortest text that reads back as the same double, laid out as in
/// RFC 8785. What can't be kept is an error and never repaired: docs/limits.md lists it.
package enum CanonicalJSON {
    /// The canonical bytes of a document.
    /// - Parameter text: RFC 8259 in UTF-8; must be one object.
    /// - Throws: `DocumentError.invalidJSON` with the place.
    /// - Complexity: O(n), and O(m log m) in the members of objects that are not in order.
    package static func object(
        from text: UnsafeRawBufferPointer, limits: JSONLimits = JSONLimits()
    ) throws(DocumentError) -> [UInt8] {
        try read(text, limits: limits, requiringObject: true, checksOnly: false)
    }

    package static func object(from text: [UInt8], limits: JSONLimits = JSONLimits()) throws(DocumentError) -> [UInt8] {
        try text.withUnsafeBufferPointer { bytes throws(DocumentError) in
            try object(from: UnsafeRawBufferPointer(bytes), limits: limits)
        }
    }

    /// The canonical bytes of any JSON value. No name is reserved in it.
    /// - Throws: `DocumentError.invalidJSON` with the place.
    package static func value(
        from text: UnsafeRawBufferPointer, limits: JSONLimits = JSONLimits()
    ) throws(DocumentError) -> [UInt8] {
        var limits = limits
        limits.allowsReservedNames = true
        return try read(text, limits: limits, requiringObject: false, checksOnly: false)
    }

    package static func value(from text: [UInt8], limits: JSONLimits = JSONLimits()) throws(DocumentError) -> [UInt8] {
        try text.withUnsafeBufferPointer { bytes throws(DocumentError) in
            try value(from: UnsafeRawBufferPointer(bytes), limits: limits)
        }
    }

    /// Checks that bytes from outside are a document in canonical form, byte for byte.
    /// - Throws: `DocumentError.invalidJSON` with the first place that is not.
    /// - Complexity: O(n); nothing is copied.
    package static func checkObject(
        _ bytes: UnsafeRawBufferPointer, limits: JSONLimits = JSONLimits()
    ) throws(DocumentError) {
        _ = try read(bytes, limits: limits, requiringObject: true, checksOnly: true)
    }

    /// Whether bytes are a document in canonical form, byte for byte.
    package static func isCanonicalObject(
        _ bytes: UnsafeRawBufferPointer, limits: JSONLimits = JSONLimits()
    ) -> Bool {
        do throws(DocumentError) {
            try checkObject(bytes, limits: limits)
            return true
        } catch {
            return false
        }
    }

    /// Whether bytes are any JSON value in canonical form.
    package static func isCanonicalValue(
        _ bytes: UnsafeRawBufferPointer, limits: JSONLimits = JSONLimits()
    ) -> Bool {
        var limits = limits
        limits.allowsReservedNames = true
        do throws(DocumentError) {
            _ = try read(bytes, limits: limits, requiringObject: false, checksOnly: true)
            return true
        } catch {
            return false
        }
    }

    private static func read(
        _ text: UnsafeRawBufferPointer, limits: JSONLimits, requiringObject: Bool, checksOnly: Bool
    ) throws(DocumentError) -> [UInt8] {
        guard let base = text.baseAddress else {
            throw JSONFault(.truncated, at: 0).error(in: text, limits: limits)
        }
        do throws(JSONFault) {
            return try withUnsafeTemporaryAllocation(
                of: JSONReader.Container.self, capacity: JSONReader.lentElements
            ) { containers throws(JSONFault) in
                try withUnsafeTemporaryAllocation(
                    of: JSONReader.Member.self, capacity: JSONReader.lentElements
                ) { members throws(JSONFault) in
                    var reader = JSONReader(
                        text: base.assumingMemoryBound(to: UInt8.self), end: text.count, limits: limits,
                        checksOnly: checksOnly, containers: ScratchStack(in: containers),
                        members: ScratchStack(in: members), sorted: ScratchStack(), unordered: ScratchStack())
                    try reader.read(requiringObject: requiringObject)
                    #if KITH_MUTANTS
                    if Mutant.isActive(.composesKeys), !checksOnly { return Mutant.composed(reader.result()) }
                    #endif
                    return checksOnly ? [] : reader.result()
                }
            }
        } catch {
            throw error.error(in: text, limits: limits)
        }
    }
}
