// Runs discovery alone and tells what it sees, a line each: for the tests that run it inside a network namespace, and
// for people who wonder what Avahi does.
//
//     kith-discovery-probe [--local-avahi DIRECTORY] TAG [NAME ID PORT]
//
// With --local-avahi it makes sure of a bus and an avahi-daemon first, with their files in the directory.
// Standard input takes `resolve INSTANCE` and `quit`; its end ends the probe.

import Dispatch
import Glibc
import KithDiscovery
import KithDocument
import KithNetwork

/// Writes a whole line at once, so that lines of different threads stay apart.
@Sendable func say(_ line: String) {
    var rest = Array((line + "\n").utf8)[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
        guard count > 0 else { exit(1) }
        rest = rest.dropFirst(count)
    }
}

func fail(_ reason: String) -> Never {
    say("error \(reason)")
    exit(64)
}

var arguments = CommandLine.arguments
var localAvahi: LocalAvahi?
if arguments.count > 2, arguments[1] == "--local-avahi" {
    do {
        let started = try LocalAvahi.start(in: arguments[2])
        say("local \(started.summary)")
        for entry in started.environment {
            let parts = entry.split(separator: "=", maxSplits: 1).map(String.init)
            setenv(parts[0], parts[1], 1)
        }
        localAvahi = started
    } catch {
        fail(error.message)
    }
    arguments.removeSubrange(1...2)
}
guard arguments.count == 2 || arguments.count == 5 else { fail("usage: kith-discovery-probe TAG [NAME ID PORT]") }

var advertisement: Advertisement?
if arguments.count == 5 {
    guard let id = NodeID(arguments[3]), let port = UInt16(arguments[4]) else {
        fail("ID is 64 hex digits, PORT a number")
    }
    advertisement = Advertisement(nodeName: arguments[2], nodeID: id, port: port, protocolVersion: 1)
}

signal(SIGPIPE, SIG_IGN)
let discovery = AvahiDiscovery()
do {
    try discovery.start(tag: arguments[1], advertising: advertisement) { services in
        for service in services {
            let addresses = service.addresses.map(\.address.description).joined(separator: ",")
            say(
                "service \(service.isPresent ? "present" : "stale") \(service.nodeID?.short ?? "-") "
                    + "[\(addresses)] \(service.name)")
        }
        say("services \(services.filter(\.isPresent).count) of \(services.count)")
    } onStateChanged: { state in
        say(
            "state \(state.phase.rawValue) foreign=\(state.foreignGroups) name=\(state.instanceName ?? "-") "
                + "error=\(state.lastError ?? "-")")
    }
} catch {
    fail(error.message)
}

@MainActor func finish() -> Never {
    let started = localAvahi
    discovery.stop {
        started?.stop()
        say("stopped")
        exit(0)
    }
    dispatchMain()
}

while let line = readLine() {
    let words = line.split(separator: " ", maxSplits: 1)
    switch words.first {
    case "resolve" where words.count == 2:
        discovery.resolve(InstanceName(String(words[1]))) { answer in
            switch answer {
            case .success(let resolution):
                let addresses = resolution.addresses.map { "\($0.address)\($0.sharesSubnet ? "" : "!")" }
                say("resolved \(resolution.text.nodeID?.short ?? "-") [\(addresses.joined(separator: ","))]")
            case .failure(let error): say("unresolved \(error.message)")
            }
        }
    case "quit": finish()
    default: say("error unknown command")
    }
}
finish()
