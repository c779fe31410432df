import KithDocument
import KithHTTPCore

/// A request as the router reads it: what it must not have is an error, never ignored.
struct ControlCall {
    let request: HTTPRequest

    init(_ request: HTTPRequest) { self.request = request }

    var method: String { request.method }
    var segments: [String] { request.target.segments }

    var unknownPath: ControlError {
        ControlError(
            .usage, "there is no operation at \(Shown.name(request.target.rawPath)); docs/control.md lists them")
    }

    /// Checks the method and that every parameter is one of those.
    func require(_ methods: String..., parameters: [String] = []) throws(ControlError) {
        guard methods.contains(method) else {
            throw ControlError(
                .methodNotAllowed,
                "\(Shown.name(request.target.rawPath)) takes \(methods.joined(separator: " or ")), not \(Shown.name(method))"
            )
        }
        for (index, item) in request.target.query.enumerated() {
            guard parameters.contains(item.name) else {
                let known = parameters.isEmpty ? "it takes none" : "it takes \(parameters.joined(separator: ", "))"
                throw ControlError(.usage, "unknown parameter \(Shown.name(item.name)): \(known)")
            }
            if request.target.query[..<index].contains(where: { $0.name == item.name }) {
                throw ControlError(.usage, "the parameter \(Shown.name(item.name)) is given twice")
            }
        }
    }

    /// A parameter's text; nil where it is absent or empty.
    func value(_ name: String) -> String? {
        guard let value = request.target.value(of: name), !value.isEmpty else { return nil }
        return value
    }

    /// A parameter that is `true` or `false`; false where it is absent.
    func flag(_ name: String) throws(ControlError) -> Bool {
        switch request.target.value(of: name) {
        case nil, "false": return false
        case "true": return true
        default: throw ControlError(.usage, "the parameter \(name) is true or false")
        }
    }

    /// A parameter that is a whole number within a range.
    func integer<Number: FixedWidthInteger>(_ name: String, _ range: ClosedRange<Number>)
        throws(ControlError) -> Number?
    {
        guard let text = request.target.value(of: name) else { return nil }
        guard let number = Number(text), range.contains(number) else {
            throw ControlError(
                .usage,
                "the parameter \(name) is a number from \(range.lowerBound) to \(range.upperBound), not \(Shown.name(text))"
            )
        }
        return number
    }

    /// A parameter that is a revision id.
    func revision(_ name: String) throws(ControlError) -> RevisionID? {
        guard let text = request.target.value(of: name) else { return nil }
        guard let revision = RevisionID(text) else {
            throw ControlError(
                .usage,
                "\(Shown.name(text)) is no revision id; one is a number, a dash and 32 hex digits, as get --meta shows")
        }
        return revision
    }

    /// A segment of the path that is the id of a document.
    func documentID(at index: Int) throws(ControlError) -> DocumentID {
        do throws(DocumentError) { return try DocumentID(segments[index]) } catch {
            throw ControlError(error, document: segments[index])
        }
    }

    /// The whole body.
    func body(limit: Int, of what: String) async throws(ControlError) -> [UInt8] {
        do throws(HTTPError) { return try await request.body.collect(limit: limit) } catch {
            switch error {
            case .tooLarge: throw ControlError(.tooLarge, "\(what) is larger than \(limit) bytes; make it smaller")
            default: throw ControlError(.failed, "\(what) did not arrive whole: \(error.message)")
            }
        }
    }
}
