import KithDiscovery
import KithSystem

/// Rules of the system's firewalls that may be in Kith's way, out of what their tools print: a hint, no judgement, because
/// only a packet that does not come proves anything.
package enum FirewallReading {
    /// What `iptables -S` or `ip6tables -S` prints of the chain INPUT: its policy, and the rules that drop or refuse.
    package static func iptables(_ text: String, tool: String, port: UInt16) -> [FirewallHint] {
        var hints: [FirewallHint] = []
        var chains: Set<Substring> = ["INPUT"]
        let lines = text.split(separator: "\n").map { $0.split(separator: " ") }
        // Chains that INPUT goes on to, as ufw and firewalld make them.
        for _ in 0..<4 {
            for words in lines where words.count > 3 && words[0] == "-A" && chains.contains(words[1]) {
                if let target = value(of: "-j", in: words) ?? value(of: "-g", in: words) { chains.insert(target) }
            }
        }
        for words in lines where words.count >= 3 {
            if words[0] == "-P", words[1] == "INPUT", words[2] != "ACCEPT" {
                hints.append(FirewallHint(tool: tool, concern: .everything, text: words.joined(separator: " ")))
            }
            guard words[0] == "-A", chains.contains(words[1]), let target = value(of: "-j", in: words),
                target == "DROP" || target == "REJECT", let concern = concern(words, port: port)
            else { continue }
            hints.append(FirewallHint(tool: tool, concern: concern, text: words.joined(separator: " ")))
        }
        return Array(hints.prefix(DoctorLimits.hints))
    }

    /// What a rule that drops is about; nil where it can't be about Kith.
    private static func concern(_ words: [Substring], port: UInt16) -> FirewallHint.Concern? {
        // Rules for what is malformed, for a source, for the loopback, or for a share of the packets stand everywhere.
        if words.contains("INVALID") || words.contains("lo") { return nil }
        let transport = value(of: "-p", in: words)
        if let ports = value(of: "--dport", in: words) ?? value(of: "--dports", in: words) {
            if transport != "tcp", contains(ports, 5_353) { return .multicast }
            if transport != "udp", contains(ports, port) { return .port }
            return nil
        }
        switch transport {
        case nil: return .everything
        case "tcp": return .port
        case "udp": return .multicast
        default: return nil
        }
    }

    /// `5353`, `5000:6000`, `22,5353`.
    private static func contains(_ ports: Substring, _ port: UInt16) -> Bool {
        ports.split(separator: ",").contains { part in
            let bounds = part.split(separator: ":").compactMap { UInt16($0) }
            return bounds.count == 2 ? bounds[0] <= port && port <= bounds[1] : bounds.first == port
        }
    }

    private static func value(of option: String, in words: [Substring]) -> Substring? {
        guard let index = words.firstIndex(where: { $0 == option }), index + 1 < words.count else { return nil }
        return words[index + 1]
    }

    /// What `nft list ruleset` prints: chains on the hook `input` that drop by default or have rules that drop or reject.
    package static func nftables(_ text: String, port: UInt16) -> [FirewallHint] {
        var hints: [FirewallHint] = []
        var table = ""
        var isInput = false
        for line in text.split(separator: "\n") {
            let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
            if words.first == "table" { table = words.dropFirst().prefix(2).joined(separator: " ") }
            if words.first == "chain" || words.first == "table" { isInput = false }
            if words.contains("hook") {
                isInput = words.contains("input")
                if isInput, let index = words.firstIndex(of: "policy"), index + 1 < words.count,
                    words[index + 1].hasPrefix("drop")
                {
                    hints.append(
                        FirewallHint(tool: "nft", concern: .everything, text: "table \(table): policy drop on input"))
                }
                continue
            }
            guard isInput, words.contains("drop") || words.contains("reject"), !words.contains("invalid") else {
                continue
            }
            let rule = words.joined(separator: " ")
            let named = rule.contains("dport")
            let concern: FirewallHint.Concern? =
                rule.contains("dport 5353") || rule.contains("mdns")
                ? .multicast : rule.contains("dport \(port)") ? .port : named ? nil : .everything
            if let concern {
                hints.append(FirewallHint(tool: "nft", concern: concern, text: "table \(table): \(rule)"))
            }
        }
        return Array(hints.prefix(DoctorLimits.hints))
    }

    /// Reads what can be read as this user. Changes nothing; blocks for a few seconds at most.
    static func read(port: UInt16, isRoot: Bool, hasFirewallDaemon: Bool) -> DoctorFacts.Firewall {
        var firewall = DoctorFacts.Firewall()
        if let lines = try? SmallFile.lines(of: "/etc/ufw/ufw.conf", on: LocalFileSystem()), !lines.isEmpty {
            firewall.read.append("ufw")
            if lines.contains("ENABLED=yes") {
                firewall.hints.append(
                    FirewallHint(tool: "ufw", concern: .everything, text: "it is on; allow Kith: ufw allow \(port)/tcp")
                )
            }
        }
        if hasFirewallDaemon {
            firewall.hints.append(
                FirewallHint(
                    tool: "firewalld", concern: .everything,
                    text: "it runs; see firewall-cmd --list-all, services mdns and port \(port)/tcp"))
        }
        guard isRoot else {
            firewall.unread.append("the rules of iptables and nftables can be read by root only")
            return firewall
        }
        for tool in ["iptables", "ip6tables"] {
            switch CommandOutput.of(tool, ["-S"], milliseconds: DoctorLimits.programMilliseconds) {
            case .notInstalled: continue
            case .failed(let reason): firewall.unread.append("\(tool): \(reason)")
            case .printed(let text):
                firewall.read.append(tool)
                firewall.hints += iptables(text, tool: tool, port: port)
            }
        }
        switch CommandOutput.of("nft", ["list", "ruleset"], milliseconds: DoctorLimits.programMilliseconds) {
        case .notInstalled: break
        case .failed(let reason): firewall.unread.append("nft: \(reason)")
        case .printed(let text):
            firewall.read.append("nft")
            // Rules of iptables show there too; they are told once.
            if firewall.hints.isEmpty { firewall.hints += nftables(text, port: port) }
        }
        return firewall
    }
}
