import KithNetwork
import KithSystem
import KithTransport

/// Where a node is to listen: as configured, or where it listened last, or at the usual port. It is kept for the next start.
struct ListeningPlace {
    let endpoint: Endpoint
    /// Whether the configuration names it: then no other port will do.
    let isAsked: Bool
    private let last: String?
    private let directory: String
    private let files: any FileSystem

    /// - Parameter isDryRun: whether a damaged file stays where it is.
    init(_ configuration: NodeConfiguration, isDryRun: Bool = false) throws(NodeError) {
        directory = configuration.directory.path
        files = configuration.machine.files
        let kept =
            isDryRun
            ? try SpareFile.listen.look(in: directory, on: files) : try SpareFile.listen.read(in: directory, on: files)
        last = kept.lines.first
        isAsked = configuration.listen != nil
        let asked = configuration.listen ?? last ?? "[::]:\(NodeConfiguration.defaultPort)"
        do throws(AddressError) {
            endpoint = try Endpoint(listening: asked, defaultPort: NodeConfiguration.defaultPort)
        } catch { throw Self.failure(error.message) }
    }

    /// Keeps the port that was taken. On disk when this returns; nothing is written where it is there already.
    func keep(_ port: UInt16) throws(NodeError) {
        let now = Endpoint(host: endpoint.host, port: port).description
        if now != last { try SpareFile.listen.write([now], in: directory, on: files) }
    }

    /// Looks whether it could be listened there now, and listens to nobody.
    func probe() throws(NodeError) {
        do throws(TransportError) { try Listener.probe(endpoint, orNextPort: !isAsked) } catch {
            throw Self.failure(error.message)
        }
    }

    static func failure(_ reason: String) -> NodeError {
        NodeError(code: "address", message: "can't listen: \(reason); choose another with --listen HOST:PORT")
    }
}
