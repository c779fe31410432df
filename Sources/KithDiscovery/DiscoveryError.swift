/// What can go wrong in discovery. Nothing here ends the node: it goes on with static and remembered addresses.
package enum DiscoveryError: Error, Hashable, Sendable {
    /// An advertisement, a tag or an address as given breaks a rule; the text says which.
    case invalid(String)
    /// A piece that discovery needs is missing; the text says which and what to do.
    case unavailable(String)
    /// A call of the DNS-SD library failed: what was tried, and the library's number.
    case library(String, code: Int32)
    /// A service or a name did not resolve within the time limit.
    case unresolved(String)
    /// Discovery was stopped, or never started.
    case stopped
    /// A daemon for this machine alone could not be started; the text says why.
    case daemon(String)

    /// One sentence for people.
    package var message: String {
        switch self {
        case .invalid(let reason), .unavailable(let reason), .daemon(let reason): reason
        case .library(let what, let code): "\(what) failed: \(Self.words(for: code)) (\(code))"
        case .unresolved(let name): "\(name) did not answer with an address"
        case .stopped: "discovery is off"
        }
    }

    /// The numbers of dns_sd.h in words. Avahi's header lacks some of the names, so they are matched by number.
    static func words(for code: Int32) -> String {
        switch code {
        case -65537: "Avahi or the system bus is gone"
        case -65538: "no such name"
        case -65539: "out of memory"
        case -65540: "a name or text that Avahi does not take"
        case -65544: "not supported by this DNS-SD library"
        case -65548: "the name is taken on this machine"
        case -65552: "no such network interface"
        case -65553: "refused by Avahi or the system bus, whose limits may be reached"
        case -65563: "the DNS-SD service does not run"
        case -65568: "time-out"
        default: "error of the DNS-SD library"
        }
    }
}

/// What the library calls a name that another process on this machine has.
let nameConflict: Int32 = -65548
