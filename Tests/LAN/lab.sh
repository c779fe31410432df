#!/bin/bash
# A LAN on one machine, for tests: network namespaces on a bridge, each with a /run, a system bus and an avahi-daemon of
# its own. Needs root. What it makes has the process id in its name, so that runs side by side do not meet, and goes
# when the shell ends, however it ends.
#
# Sourced by a script:   . Tests/LAN/lab.sh; lab_check || exit 0; lab_up 3; on 1 avahi-browse -at
# Driven by a program:   bash Tests/LAN/lab.sh    reads commands from standard input, a line each, and answers each with
#                        what it prints and the line `= STATUS`; the end of input takes the LAN down.
#
#   lab_check          0, or 1 and the reason why there can be no LAN here
#   lab_up N           starts nodes 1 to N (10.77.0.I on eth0) and waits until each Avahi is ready
#   lab_node I         starts one more
#   lab_pid I          a process id inside node I, for nsenter -t PID -n -m
#   on I COMMAND...    runs a command inside node I
#   lab_cut I          pulls the cable of node I;  lab_heal I puts it back
#   lab_part I         takes node I off the bridge while its own cable stays in;  lab_join I puts it back
#   lab_avahi_stop I [SIGNAL]    ends node I's avahi-daemon (TERM, or KILL for a crash);  lab_avahi_start I starts it
#   lab_bus_stop I     ends node I's bus, and its avahi-daemon with it;  lab_bus_start I starts the bus
#   lab_isolate I      keeps node I apart from the other isolated ones, as a switch or access point does;  lab_unisolate I
#   lab_wall I RULE... adds a rule to node I's firewall, as iptables and ip6tables take it (-A INPUT ...);  lab_unwall I
#   lab_second I...    a second bridge with node I's eth1 on it, 10.78.0.I
#   lab_down           takes everything down (also at exit)

LAB_ID=${LAB_ID:-$$}
LAB_NET=${LAB_NET:-10.77.0}
LAB_BRIDGE=kb$LAB_ID
LAB_DIR=

lab_check() {
  local reason= tool
  if [ "$(uname -s)" != Linux ]; then reason="network namespaces need Linux"
  elif [ "$(id -u)" != 0 ]; then reason="not root"
  else
    for tool in ip:iproute2 unshare:util-linux nsenter:util-linux mount:mount dbus-daemon:dbus dbus-send:dbus-bin \
        avahi-daemon:avahi-daemon avahi-publish:avahi-utils; do
      command -v "${tool%%:*}" >/dev/null || { reason="${tool%%:*} is missing (apt install ${tool##*:})"; break; }
    done
  fi
  if [ -z "$reason" ]; then
    local probe=kp$LAB_ID
    if ! ip netns add "$probe" 2>/dev/null; then reason="network namespaces are not allowed here"
    elif ! ip link add "kq$LAB_ID" type bridge 2>/dev/null; then reason="the kernel makes no bridge"
    elif ! ip link add "kr$LAB_ID" type veth peer name eth0 netns "$probe" 2>/dev/null; then reason="the kernel makes no veth"
    elif ! ip netns exec "$probe" unshare -m --propagation private mount -t tmpfs tmpfs /run 2>/dev/null; then
      reason="mount namespaces are not allowed here"
    fi
    ip link del "kr$LAB_ID" 2>/dev/null
    ip link del "kq$LAB_ID" 2>/dev/null
    ip netns del "$probe" 2>/dev/null
  fi
  [ -z "$reason" ] || { echo "$reason"; return 1; }
}

lab_up() {
  local count=${1:-2} i
  LAB_DIR=$(mktemp -d "${TMPDIR:-/tmp}/kith-lan.XXXXXX") || return 1
  trap lab_down EXIT
  trap 'exit 130' INT TERM HUP
  ip link add "$LAB_BRIDGE" type bridge || return 1
  # A bridge that listens to IGMP and has no querier stops multicast after minutes.
  ip link set "$LAB_BRIDGE" type bridge mcast_snooping 0 2>/dev/null
  ip link set "$LAB_BRIDGE" up || return 1
  for ((i = 1; i <= count; i++)); do lab_node "$i" || return 1; done
  for ((i = 1; i <= count; i++)); do lab_ready "$i" || return 1; done
}

lab_node() {
  local i=$1 space=k$LAB_ID-$1 cable=kv$LAB_ID-$1
  ip netns add "$space" || return 1
  ip link add "$cable" type veth peer name eth0 netns "$space" || return 1
  ip link set "$cable" master "$LAB_BRIDGE" up
  ip -n "$space" link set lo up
  ip -n "$space" addr add "$LAB_NET.$i/24" dev eth0
  ip -n "$space" link set eth0 up
  printf '[server]\nhost-name=node%s\nuse-ipv4=yes\nuse-ipv6=yes\n[publish]\npublish-workstation=no\n' "$i" \
    > "$LAB_DIR/avahi$i.conf"
  # A process that holds the namespaces, whatever else of the node ends.
  ip netns exec "$space" unshare -m --propagation private bash -c '
    mount -t tmpfs tmpfs /run && mkdir -p /run/dbus /run/avahi-daemon || exit 1
    echo $$ > "$1.new" && mv "$1.new" "$1"
    exec sleep infinity' lab "$LAB_DIR/pid$i" > "$LAB_DIR/dbus$i.log" 2>&1 < /dev/null &
  disown
  lab_wait 100 test -s "$LAB_DIR/pid$i" && lab_bus_start "$i" || {
    echo "node $i: no bus: $(tail -n 1 "$LAB_DIR/dbus$i.log")"
    return 1
  }
  lab_avahi_start "$i"
}

# Asks every 0.05 s, up to so many times, until the command succeeds.
lab_wait() {
  local count=$1
  shift
  until "$@" > /dev/null 2>&1; do
    ((count-- > 0)) || return 1
    sleep 0.05
  done
}

lab_pid() { cat "$LAB_DIR/pid$1"; }

on() {
  local i=$1
  shift
  nsenter -t "$(cat "$LAB_DIR/pid$i")" -n -m -- "$@"
}

# On the bus, and done with probing its host name: an address that goes before that leaves Avahi 0.8 unready for ever.
lab_ready() {
  lab_wait 100 lab_on_bus "$1" && lab_wait 100 grep -q 'Server startup complete' "$LAB_DIR/avahi$1.log" || { echo "node $1: no Avahi: $(tail -n 1 "$LAB_DIR/avahi$1.log")"; return 1; }
}

lab_on_bus() {
  on "$1" dbus-send --system --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.NameHasOwner \
    string:org.freedesktop.Avahi | grep -q 'boolean true'
}

lab_avahi_start() {
  local i=$1
  on "$i" bash -c 'echo $$ > "$1"; exec avahi-daemon --no-drop-root --no-chroot --no-rlimits -f "$2"' lab \
    "$LAB_DIR/avahipid$i" "$LAB_DIR/avahi$i.conf" >> "$LAB_DIR/avahi$i.log" 2>&1 < /dev/null &
  disown
  lab_wait 100 test -s "$LAB_DIR/avahipid$i"
}

lab_avahi_stop() {
  local pid
  pid=$(cat "$LAB_DIR/avahipid$1") || return 1
  kill "-${2:-TERM}" "$pid" || return 1
  lab_wait 100 lab_gone "$pid" || return 1
  rm -f "$LAB_DIR/avahipid$1"
}

lab_gone() { ! kill -0 "$1" 2>/dev/null || grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null; }

lab_cut() { ip link set "kv$LAB_ID-$1" down; }

lab_heal() { ip link set "kv$LAB_ID-$1" up; }

lab_part() { ip link set "kv$LAB_ID-$1" nomaster; }

lab_join() { ip link set "kv$LAB_ID-$1" master "$LAB_BRIDGE"; }

lab_bus_start() {
  on "$1" bash -c 'echo $$ > "$1"; exec dbus-daemon --system --nofork --nopidfile --nosyslog' lab "$LAB_DIR/buspid$1" \
    >> "$LAB_DIR/dbus$1.log" 2>&1 < /dev/null &
  disown
  lab_wait 100 lab_bus_answers "$1"
}

lab_bus_answers() {
  on "$1" dbus-send --system --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.GetId > /dev/null
}

# Avahi ends by itself when its bus does.
lab_bus_stop() {
  local pid
  pid=$(cat "$LAB_DIR/buspid$1") && kill -KILL "$pid" && lab_wait 100 lab_gone "$pid" || return 1
  on "$1" rm -f /run/dbus/system_bus_socket
  pid=$(cat "$LAB_DIR/avahipid$1" 2>/dev/null) && { lab_wait 40 lab_gone "$pid" || kill -KILL "$pid"; lab_wait 40 lab_gone "$pid"; }
  rm -f "$LAB_DIR/buspid$1" "$LAB_DIR/avahipid$1"
}

lab_isolate() { bridge link set dev "kv$LAB_ID-$1" isolated on; }

lab_unisolate() { bridge link set dev "kv$LAB_ID-$1" isolated off; }

lab_wall() {
  local i=$1
  shift
  on "$i" iptables -w "$@" && on "$i" ip6tables -w "$@"
}

lab_unwall() { on "$1" iptables -w -F && on "$1" ip6tables -w -F; }

lab_second() {
  local i
  if ! ip link show "kc$LAB_ID" > /dev/null 2>&1; then
    ip link add "kc$LAB_ID" type bridge && ip link set "kc$LAB_ID" type bridge mcast_snooping 0 && ip link set "kc$LAB_ID" up || return 1
  fi
  for i in "$@"; do
    ip link add "kw$LAB_ID-$i" type veth peer name eth1 netns "k$LAB_ID-$i" || return 1
    ip link set "kw$LAB_ID-$i" master "kc$LAB_ID" up
    ip -n "k$LAB_ID-$i" addr add "10.78.0.$i/24" dev eth1
    ip -n "k$LAB_ID-$i" link set eth1 up
  done
}

lab_down() {
  local file i pid
  trap - EXIT
  [ -n "$LAB_DIR" ] || return 0
  for file in "$LAB_DIR"/avahi*.conf; do
    [ -e "$file" ] || continue
    i=${file##*/avahi}
    i=${i%.conf}
    # Whatever runs in a namespace of this run was started by this run.
    for pid in $(ip netns pids "k$LAB_ID-$i" 2>/dev/null); do kill -9 "$pid" 2>/dev/null; done
    ip link del "kv$LAB_ID-$i" 2>/dev/null
    ip link del "kw$LAB_ID-$i" 2>/dev/null
    ip netns del "k$LAB_ID-$i" 2>/dev/null
  done
  ip link del "$LAB_BRIDGE" 2>/dev/null
  ip link del "kc$LAB_ID" 2>/dev/null
  rm -rf "$LAB_DIR"
  LAB_DIR=
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  while IFS= read -r line; do
    eval "$line" < /dev/null
    echo "= $?"
  done
fi
