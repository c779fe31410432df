import CCurl
import Glibc

/// One exchange of libcurl, from making the handle to freeing it, on one thread.
final class CurlTransfer {
    private let endpoint: HTTPEndpoint
    private let request: HTTPClientRequest
    private let receive: (HTTPResponseHead, UnsafeRawBufferPointer) -> Bool
    private var head = HTTPResponseHead(status: 0, headers: [:])
    /// What is left to send of a body at hand.
    private var remaining: ArraySlice<UInt8> = []
    /// The receiver wanted no more: the break is no error.
    private var stopped = false

    /// libcurl wants to be set up once in a process, before any other thread uses it.
    private static let isReady: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    init(
        _ endpoint: HTTPEndpoint, _ request: HTTPClientRequest,
        _ receive: @escaping (HTTPResponseHead, UnsafeRawBufferPointer) -> Bool
    ) {
        self.endpoint = endpoint
        self.request = request
        self.receive = receive
    }

    func run() throws(HTTPError) -> HTTPResponseHead {
        guard Self.isReady, let handle = curl_easy_init() else {
            throw HTTPError.cannotConnect(endpoint.description, reason: "libcurl cannot be set up")
        }
        defer { curl_easy_cleanup(handle) }
        setUp(handle)
        var headers: UnsafeMutablePointer<curl_slist>?
        for field in request.headers.fields { headers = curl_slist_append(headers, "\(field.name): \(field.value)") }
        defer { curl_slist_free_all(headers) }
        _ = kith_curl_set_pointer(handle, CURLOPT_HTTPHEADER, headers)
        let result = curl_easy_perform(handle)
        if result == CURLE_OK || stopped { return head }
        throw error(result, handle)
    }

    private func setUp(_ handle: UnsafeMutableRawPointer) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        switch endpoint {
        case .unixSocket(let path):
            _ = kith_curl_set_string(handle, CURLOPT_UNIX_SOCKET_PATH, path)
            _ = kith_curl_set_string(handle, CURLOPT_URL, "http://localhost\(request.target)")
        case .tcp(let address): _ = kith_curl_set_string(handle, CURLOPT_URL, "http://\(address)\(request.target)")
        }
        // The target is sent as it is, nothing goes by a proxy, and no signal is used for time-outs.
        _ = kith_curl_set_long(handle, CURLOPT_PATH_AS_IS, 1)
        _ = kith_curl_set_string(handle, CURLOPT_NOPROXY, "*")
        _ = kith_curl_set_long(handle, CURLOPT_NOSIGNAL, 1)
        _ = kith_curl_set_long(handle, CURLOPT_CONNECTTIMEOUT, HTTPLimits.connectSeconds)
        if let seconds = request.seconds { _ = kith_curl_set_long(handle, CURLOPT_TIMEOUT, seconds) }
        _ = kith_curl_set_long(handle, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        _ = kith_curl_set_string(handle, CURLOPT_CUSTOMREQUEST, request.method)
        if request.method == "HEAD" { _ = kith_curl_set_long(handle, CURLOPT_NOBODY, 1) }
        _ = kith_curl_set_pointer(handle, CURLOPT_WRITEDATA, context)
        _ = kith_curl_set_transfer(handle, CURLOPT_WRITEFUNCTION) { bytes, _, count, context in
            CurlTransfer.from(context).received(UnsafeRawBufferPointer(start: bytes, count: count))
        }
        _ = kith_curl_set_pointer(handle, CURLOPT_HEADERDATA, context)
        _ = kith_curl_set_transfer(handle, CURLOPT_HEADERFUNCTION) { bytes, _, count, context in
            CurlTransfer.from(context).receivedHeader(UnsafeRawBufferPointer(start: bytes, count: count))
            return count
        }
        switch request.body {
        case .none: return
        case .bytes(let bytes):
            remaining = bytes[...]
            setUpUpload(handle, length: bytes.count, context)
        case .stream(let length, _): setUpUpload(handle, length: length, context)
        }
    }

    private func setUpUpload(_ handle: UnsafeMutableRawPointer, length: Int?, _ context: UnsafeMutableRawPointer) {
        _ = kith_curl_set_long(handle, CURLOPT_UPLOAD, 1)
        if let length { _ = kith_curl_set_offset(handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(length)) }
        _ = kith_curl_set_long(handle, CURLOPT_UPLOAD_BUFFERSIZE, 256 * 1024)
        _ = kith_curl_set_pointer(handle, CURLOPT_READDATA, context)
        _ = kith_curl_set_transfer(handle, CURLOPT_READFUNCTION) { buffer, size, count, context in
            CurlTransfer.from(context).supply(UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
        }
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> CurlTransfer {
        Unmanaged<CurlTransfer>.fromOpaque(context!).takeUnretainedValue()
    }

    private func received(_ bytes: UnsafeRawBufferPointer) -> Int {
        if bytes.isEmpty || receive(head, bytes) { return bytes.count }
        stopped = true
        return 0
    }

    private func receivedHeader(_ line: UnsafeRawBufferPointer) {
        let text = String(decoding: line, as: UTF8.self).trimmingEnd()
        if text.hasPrefix("HTTP/") {
            // A status line: of the response, or of a "100 Continue" before it.
            head = HTTPResponseHead(status: Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0, headers: [:])
        } else if let colon = text.firstIndex(of: ":") {
            let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            head.headers.add(String(text[..<colon]), String(value))
        }
    }

    private func supply(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        switch request.body {
        case .none: return 0
        case .bytes:
            let part = remaining.prefix(buffer.count)
            buffer.copyBytes(from: part)
            remaining = remaining.dropFirst(part.count)
            return part.count
        case .stream(_, let read): return read(buffer) ?? Int(CURL_READFUNC_ABORT)
        }
    }

    private func error(_ result: CURLcode, _ handle: UnsafeMutableRawPointer) -> HTTPError {
        let words = String(cString: curl_easy_strerror(result))
        switch result {
        case CURLE_OPERATION_TIMEDOUT where request.seconds != nil: return .noAnswer(seconds: request.seconds ?? 0)
        case CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_HOST:
            var code = 0
            _ = kith_curl_get_long(handle, CURLINFO_OS_ERRNO, &code)
            return .cannotConnect(endpoint.description, reason: code == 0 ? words : systemReason(Int32(code)))
        default: return .interrupted(words)
        }
    }
}

extension String {
    fileprivate func trimmingEnd() -> String {
        var view = self[...].utf8
        while let last = view.last, last == 13 || last == 10 || last == 32 { view.removeLast() }
        return String(Substring(view))
    }
}
