import KithDocument
import KithNode

extension LocalNode {
    /// What somebody who helps should see, as `kith diagnose` writes it of a running node: versions, status, mesh, members, the
    /// schema of each database with its indexes and how queries were run, metrics, and the last 256 KiB of the log. Text of
    /// sections, each with a head that begins with `==`.
    ///
    /// Nothing of a document is in it, no key and no code; names of fields in the definitions of indexes are covered. It has names
    /// of nodes and databases, and addresses: let the user read it before it is sent.
    /// - Throws: `KithError` `closed` for a node that was stopped.
    public func supportReport() async throws(KithError) -> String {
        try requireNotStopped()
        do throws(ControlError) { return String(decoding: try await node.service.supportReport(), as: UTF8.self) } catch
        {
            throw KithError(error, of: node.id.description)
        }
    }
}
