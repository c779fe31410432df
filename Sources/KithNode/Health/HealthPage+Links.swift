extension HealthPage {
    static let pathMTU = HealthPage(
        meaning: [
            "On the way to a peer large packets are lost and small ones arrive: something between the two, often a tunnel, a "
                + "VPN or a switch, passes only smaller packets than it says, and its word about it is filtered.",
            "Kith noticed, and uses small packets to that peer. All is replicated, somewhat slower.",
        ],
        shows: [
            "Other programs between the two machines connect and then hang: `ssh` after the password, for instance."
        ],
        actions: [
            "Find the largest packet that passes: `ping -M do -s 1472 HOST`, and smaller until it answers.",
            "Lower the MTU of the interface to that size and 28 bytes: `ip link set dev IFACE mtu N`.",
            "On a router clamp the segment size of TCP: `iptables -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN "
                + "-j TCPMSS --clamp-mss-to-pmtu`.",
            "Let ICMP type 3 code 4, and ICMPv6 type 2, pass the firewalls between the two.",
        ],
        ends:
            "When large packets pass: they are tried again after ten seconds, then after twice as long each time up to ten "
            + "minutes, and when the network changes.")

    static let descriptorsLow = HealthPage(
        meaning: [
            "The process may have only so many open files and connections, and has almost as many. New connections of peers are "
                + "turned away until some are free; links, databases and commands go on."
        ],
        shows: ["`kith status --json` counts `strangers`: connections of others than peers take descriptors too."],
        actions: [
            "Raise the limit: `LimitNOFILE=` in the unit of the service, or `ulimit -n` before `kith start`.",
            "See who connects: `ss -tnp` lists the connections of the process.",
        ],
        ends: "Some time after the last connection that was turned away.")
}
