import KithDocument
import Synchronization

/// An object as canonical bytes and as a tree: whichever was not given is made once, when it is asked for. A value.
struct DocumentBody: Sendable {
    private final class Box: Sendable {
        let forms: Mutex<(bytes: [UInt8]?, object: JSONObject?)>

        init(bytes: [UInt8]?, object: JSONObject?) { forms = Mutex((bytes, object)) }
    }

    private let box: Box
    /// Whether it was made of an object, as any that may be saved.
    var isObject = true

    static let empty = DocumentBody(object: JSONObject())

    /// - Parameter bytes: canonical.
    init(bytes: [UInt8]) { box = Box(bytes: bytes.isEmpty ? Array("{}".utf8) : bytes, object: nil) }

    init(object: JSONObject) { box = Box(bytes: nil, object: object) }

    /// Of what a program gives: empty and not to be saved where it is no object.
    init(value: JSONValue) {
        self.init(object: value.tree.object ?? JSONObject())
        isObject = value.tree.object != nil
    }

    var object: JSONObject {
        box.forms.withLock { forms in
            if let object = forms.object { return object }
            let object = forms.bytes.flatMap { KithDocument.JSONValue(canonical: $0).object } ?? JSONObject()
            forms.object = object
            return object
        }
    }

    /// Canonical, where the object may be stored at all.
    var bytes: [UInt8] {
        box.forms.withLock { forms in
            if let bytes = forms.bytes { return bytes }
            let bytes = KithDocument.JSONValue.object(forms.object ?? JSONObject()).canonicalBytes
            forms.bytes = bytes
            return bytes
        }
    }
}
