import CCurl
import CMicroHTTPD

/// The libraries under the server and the client.
package enum HTTPLibraries {
    /// Their names and versions.
    package static var versions: [String] {
        ["libmicrohttpd \(String(cString: MHD_get_version()))", String(cString: curl_version())]
    }
}
