extension HealthPage {
    static let discoveryDown = HealthPage(
        meaning: [
            "This node can't find others, nor be found: a piece that DNS-SD needs is missing, and the check says which: the "
                + "system bus, avahi-daemon, or avahi-daemon's place on the bus. It is looked for all the time, and used as "
                + "soon as it is there. Links that are up stay, and known peers still replicate."
        ],
        shows: ["`kith status` says `discovery  unavailable` with the reason."],
        actions: [
            "Start what is missing: `systemctl status dbus avahi-daemon`.",
            "In a container, mount the host's `/run/dbus`.",
            "Without Avahi, name the peers: `kith start --peer HOST:PORT`. Where no discovery is wanted: `--no-discovery`.",
            "`kith doctor` looks at every piece.",
        ],
        ends: "When Avahi answers. The node tries again by itself, at most every half a minute.")

    static let notAnnounced = HealthPage(
        meaning: [
            "This node sees others, and Avahi does not announce it: others find it only where it dials them. The check says "
                + "what Avahi answered. It is tried again all the time, under another name where the name may be the reason."
        ],
        shows: [
            "`kith status` says `discovery  searching` with the reason; `kith doctor` here does not see its own service."
        ],
        actions: [
            "Look into Avahi's log: `journalctl -u avahi-daemon`.",
            "Look for disable-publishing=yes in `/etc/avahi/avahi-daemon.conf`.",
            "Restart it: `systemctl restart avahi-daemon`.",
        ],
        ends: "When Avahi announces the node.")

    static let multicastLost = HealthPage(
        meaning: [
            "Peers in this machine's own subnet, with links that work, say that they are announced, and nothing of it is "
                + "heard here: multicast does not get through. Known peers still replicate; new nodes are not found, and a "
                + "peer that gets another address is not either."
        ],
        shows: ["`avahi-browse -rt _kith._tcp` lists this node and not the peers that the check names."],
        actions: [
            "Let UDP port 5353 through the firewall of both machines.",
            "On a switch with IGMP snooping, turn on its querier, or turn snooping off; on a wireless network, turn off "
                + "client isolation.", "Else name the peers: `kith start --peer HOST:PORT`.",
            "`kith doctor` tells on which side packets go.",
        ],
        ends: "When the peers are heard, or not linked any more.")
}
