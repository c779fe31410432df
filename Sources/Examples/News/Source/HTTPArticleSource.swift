import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Pages of a web server: `page-1.json`, `page-2.json` ... below an address. Files are enough.
package struct HTTPArticleSource: ArticleSource {
    private let address: URL
    private let silenceSeconds: Double

    /// - Parameters:
    ///   - address: what the pages are below.
    ///   - silenceSeconds: without a byte for so long the source counts as not reached.
    package init(_ address: URL, silenceSeconds: Double? = nil) {
        self.address = address
        self.silenceSeconds = silenceSeconds ?? NewsLimits.silenceSeconds
    }

    package func page(_ number: Int) async throws -> ArticlePage {
        let download = PageDownload(address.appending(path: "page-\(number).json"), silenceSeconds)
        let json = try await withTaskCancellationHandler {
            try await download.data()
        } onCancel: {
            download.end(with: .failure(CancellationError()))
        }
        return try ArticlePage(json: json)
    }
}

/// One request. Ends as soon as the answer is known to be no page, and takes no more of it.
private final class PageDownload: NSObject, URLSessionDataDelegate {
    private struct State {
        var received = Data()
        var result: Result<Data, any Error>?
        var waiting: CheckedContinuation<Data, any Error>?
        var session: URLSession?
    }

    private let state = Mutex(State())
    private let address: URL
    private let silenceSeconds: Double

    init(_ address: URL, _ silenceSeconds: Double) {
        self.address = address
        self.silenceSeconds = silenceSeconds
    }

    func data() async throws -> Data {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = silenceSeconds
        configuration.timeoutIntervalForResource = NewsLimits.answerSeconds
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        // Made before the session may be ended by somebody else.
        let task = session.dataTask(with: address)
        return try await withCheckedThrowingContinuation { continuation in
            // Cancelled before it began.
            let early = state.withLock { state in
                (state.waiting, state.session) = (continuation, session)
                return state.result
            }
            if let early { return end(with: early) }
            task.resume()
        }
    }

    /// The first result counts.
    func end(with result: Result<Data, any Error>) {
        let (waiting, session) = state.withLock { state in
            defer { (state.waiting, state.session) = (nil, nil) }
            if state.result == nil { state.result = result }
            return (state.waiting, state.session)
        }
        session?.invalidateAndCancel()
        waiting?.resume(with: result)
    }

    private func fail(_ error: ArticleSourceError) { end(with: .failure(error)) }

    // MARK: The session

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // Not followed; it comes as a response.
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let refusal = Self.refusal(of: response)
        completionHandler(refusal == nil ? .allow : .cancel)
        if let refusal { fail(refusal) }
    }

    private static func refusal(of response: URLResponse) -> ArticleSourceError? {
        guard let response = response as? HTTPURLResponse else { return .status(0) }
        if (300..<400).contains(response.statusCode), let address = response.value(forHTTPHeaderField: "Location") {
            return .moved(to: address)
        }
        if response.statusCode != 200 { return .status(response.statusCode) }
        return response.expectedContentLength > NewsLimits.pageBytes ? .tooLarge : nil
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let count = state.withLock { state in
            if state.received.count <= NewsLimits.pageBytes { state.received += data }
            return state.received.count
        }
        if count > NewsLimits.pageBytes { fail(.tooLarge) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let error else { return end(with: .success(state.withLock { $0.received })) }
        let reason = (error as NSError).localizedDescription
        fail(task.response == nil ? .unreachable(reason) : .interrupted(reason))
    }
}
