import KithHTTPCore

/// The control socket of a running node.
///
/// The caller holds the directory's lock, so a socket that is there already was left behind and is replaced.
package final class ControlServer: Sendable {
    /// The socket's path.
    package let socket: String
    private let server: HTTPServer

    /// Serves at once.
    /// - Throws: `ControlError` with code `failed` where the socket cannot be made.
    package init(
        _ service: any ControlService, directory: NodeDirectory,
        environment: NodeDirectory.Environment = NodeDirectory.processEnvironment
    ) throws(ControlError) {
        socket = directory.socketPath(environment: environment)
        try directory.prepareSocketFolder(environment: environment)
        let router = ControlRouter(service)
        let malformed = ControlRouter.response(to: ControlError(.usage, HTTPError.malformedTarget.message))
        do throws(HTTPError) {
            server = try HTTPServer(
                listener: try .unixSocket(socket), limits: .local, malformedRequest: malformed
            ) { request in await router.respond(to: request) }
        } catch {
            throw ControlError(.failed, "\(error.message); check the directory's permissions")
        }
    }

    /// Ends streams, lets answers under way go out for up to two seconds, and removes the socket. Blocks meanwhile.
    package func stop() { server.stop() }
}
