import KithDiscovery

/// How the nodes of the demonstration find each other: by Avahi, started for the while where nobody runs it, or, where
/// that cannot be, by addresses given.
struct DemoDiscovery: Sendable {
    /// `NAME=VALUE` for the nodes.
    let environment: [String]
    let usesAvahi: Bool
    /// What was done, for people.
    let sentence: String
    private let avahi: LocalAvahi?

    /// - Parameter folder: for the files of what is started.
    init(folder: String) {
        do throws(DiscoveryError) {
            let started = try LocalAvahi.start(in: folder)
            avahi = started
            environment = started.environment
            usesAvahi = true
            sentence = started.summary
        } catch {
            avahi = nil
            environment = []
            usesAvahi = false
            sentence = "no Avahi here (\(error.message)): the nodes are given each other's addresses"
        }
    }

    func stop() { avahi?.stop() }
}
