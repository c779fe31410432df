/// Why the bench can't go on: what happened, to what, and what to do.
struct BenchError: Error {
    let message: String

    init(_ message: String) { self.message = message }
}
