import KithDocument
import Testing

extension TestNode {
    /// Waits until the running node shows a health check, and looks at it as people and programs do. The codes that are
    /// asked for in this way are those that count as tested.
    /// - Returns: the check of the status.
    @discardableResult
    func reaches(
        _ code: String, level: String = "warning", within seconds: Double = 60,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> JSONValue {
        let appeared = try await eventually(within: seconds) { try await check(code) != nil }
        let status = appeared ? nil : try await status()
        try #require(
            appeared, "\(name) does not show \(code): \(status?["health"]?.description ?? "") \(log.suffix(2_000))",
            sourceLocation: sourceLocation)
        let shown = try #require(try await check(code), sourceLocation: sourceLocation)
        #expect(shown["level"]?.string == level, "\(shown)", sourceLocation: sourceLocation)
        for name in ["summary", "action", "since"] {
            #expect(shown[name]?.string?.isEmpty == false, "\(shown)", sourceLocation: sourceLocation)
        }
        let line = try await run(["check"])
        #expect(line.status == 1 || line.status == 2, sourceLocation: sourceLocation)
        #expect(line.outputText.contains(code), "\(line.outputText)", sourceLocation: sourceLocation)
        #expect(try await run(["help", code]).status == 0, sourceLocation: sourceLocation)
        return shown
    }

    /// Waits until the running node does not show a health check any more.
    func leaves(
        _ code: String, within seconds: Double = 60, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let isGone = try await eventually(within: seconds) { try await check(code) == nil }
        #expect(isGone, "\(name) still shows \(code)", sourceLocation: sourceLocation)
    }

    /// The value of a series of the metrics, named with its labels; nil where there is none.
    func metric(_ series: String) async throws -> Double? {
        let lines = try await kith("metrics").split(separator: "\n")
        return lines.first { $0.hasPrefix(series + " ") }.flatMap { Double($0.dropFirst(series.utf8.count + 1)) }
    }

    /// A check that holds now.
    func check(_ code: String) async throws -> JSONValue? {
        try await status()["health"]?["checks"]?.array?.first { $0["code"]?.string == code }
    }
}
