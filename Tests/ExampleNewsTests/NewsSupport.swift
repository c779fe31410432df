import ExampleNews
import Foundation
import KithTestSupport
import Synchronization

/// A clock that stands still until a test moves it, and knows who waits for it.
final class TestClock: NewsClock {
    private struct State {
        var now = Date(timeIntervalSince1970: 1_796_000_000)
        var sleepers: [Int: (until: Date, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var count = 0
    }

    private let state = Mutex(State())

    var now: Date { state.withLock { $0.now } }

    /// When the next one wakes; nil where nobody sleeps.
    var nextWaking: Date? { state.withLock { $0.sleepers.values.map(\.until).min() } }

    func sleep(until time: Date) async throws {
        let id = state.withLock { state in
            state.count += 1
            return state.count
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isAsleep = state.withLock { state in
                    let isAsleep = time > state.now && !Task.isCancelled
                    if isAsleep { state.sleepers[id] = (time, continuation) }
                    return isAsleep
                }
                if !isAsleep { continuation.resume(with: Result { try Task.checkCancellation() }) }
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: id) }?.continuation.resume(throwing: CancellationError())
        }
    }

    func advance(by seconds: Double) {
        let woken = state.withLock { state in
            state.now += seconds
            let now = state.now
            let woken = state.sleepers.filter { $0.value.until <= now }
            for id in woken.keys { state.sleepers[id] = nil }
            return woken.values.map(\.continuation)
        }
        for continuation in woken { continuation.resume() }
    }

    /// Waits until somebody sleeps until then.
    func isAwaited(at time: Date) async -> Bool { await eventually { nextWaking == time } }
}

/// A source that answers as a test says, and counts.
final class TestSource: ArticleSource {
    private let pages = Mutex<[Int: Result<ArticlePage, any Error>]>([:])
    private let asked = Mutex<[Int]>([])
    private let gate = Mutex<(isShut: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

    /// The numbers of the pages that were asked for, in their order.
    var requests: [Int] { asked.withLock { $0 } }

    func set(_ number: Int, _ result: Result<ArticlePage, any Error>) { pages.withLock { $0[number] = result } }

    /// Lets requests wait until it is opened.
    func shut() { gate.withLock { $0.isShut = true } }

    func open() {
        let waiting = gate.withLock { gate in
            defer { gate = (false, []) }
            return gate.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func page(_ number: Int) async throws -> ArticlePage {
        asked.withLock { $0.append(number) }
        await withCheckedContinuation { continuation in
            let waits = gate.withLock { gate in
                if gate.isShut { gate.waiting.append(continuation) }
                return gate.isShut
            }
            if !waits { continuation.resume() }
        }
        return try pages.withLock { $0[number] ?? .success(ArticlePage(articles: [])) }.get()
    }
}

extension Article {
    /// One of a series: the higher its number, the newer.
    static func test(_ number: Int, title: String? = nil, at start: Date = TestClock().now) -> Article {
        Article(
            id: "a\(number)", title: title ?? "Title \(number)", author: Author(name: "Ada"),
            images: number == 0 ? nil : [URL(string: "https://example.org/\(number).png")!],
            publishedAt: start - 86_400 + Double(number))
    }
}
