import KithDocument

/// The canonical form of a text, or the reason why it has none.
func canonical(_ text: String, _ limits: JSONLimits = JSONLimits()) -> String {
    canonical(bytes: Array(text.utf8), limits)
}

func canonical(bytes: [UInt8], _ limits: JSONLimits = JSONLimits()) -> String {
    do throws(DocumentError) {
        return String(decoding: try CanonicalJSON.object(from: bytes, limits: limits), as: UTF8.self)
    } catch {
        return error.message
    }
}

/// The canonical form of any value.
func canonicalValue(_ text: String) -> String {
    do throws(DocumentError) {
        return String(decoding: try CanonicalJSON.value(from: Array(text.utf8)), as: UTF8.self)
    } catch {
        return error.message
    }
}

func isCanonical(_ text: String, _ limits: JSONLimits = JSONLimits()) -> Bool {
    isCanonical(Array(text.utf8), limits)
}

func isCanonical(_ bytes: [UInt8], _ limits: JSONLimits = JSONLimits()) -> Bool {
    bytes.withUnsafeBytes { CanonicalJSON.isCanonicalObject($0, limits: limits) }
}
