extension HealthPage {
    static let discoveryDown = HealthPage(
        meaning: [
            "The node can't talk to avahi-daemon, which announces it on the network and finds the others. Machines that "
                + "join or get a new address are not found meanwhile.",
            "Nodes that were known before go on replicating: their addresses are remembered, and those given with "
                + "--peer are dialled as ever.",
        ],
        shows: [
            "`kith status` says `discovery  unavailable` with the reason: no bus, no daemon, or a daemon that does not answer."
        ],
        actions: [
            "See whether the daemon runs: `systemctl status avahi-daemon`. Start it: `systemctl enable --now avahi-daemon`.",
            "In a container, give it the machine's bus: mount `/run/dbus/system_bus_socket`.",
            "Without Avahi, name the peers and switch discovery off: `kith start --no-discovery --peer HOST:PORT`.",
        ],
        ends: "When Avahi answers. The node tries again by itself, at most every half a minute.")
}
