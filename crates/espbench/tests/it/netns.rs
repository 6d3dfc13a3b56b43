//! Networks of a test's own: namespaces that end with the command.

use std::process::Command;

/// Returns a shell script in a user, mount and network namespace of its own, where it is root.
/// `ESPBENCH` is the command under test. `peer NAME` makes a further network namespace, `in_peer
/// NAME …` runs a command there, and `link NAME ADDRESS ADDRESS…` joins both with a veth pair, NAME
/// being the name of each end, and two addresses of each version of IP.
pub fn script(text: &str) -> Command {
    let mut command = Command::new("unshare");
    command
        .args(["-r", "-n", "--kill-child", "--fork", "--pid", "--mount-proc", "sh", "-euc"])
        .arg(format!("{PRELUDE}\n{text}"))
        .env("ESPBENCH", env!("CARGO_BIN_EXE_espbench"));
    command
}

const PRELUDE: &str = r#"
PATH=$PATH:/usr/sbin:/sbin
ip link set dev lo up
in_peer() { eval "pid=\$pid_$1"; shift; nsenter -t "$pid" -n "$@"; }
peer() {
    unshare -n sleep 600 &
    eval "pid_$1=$!"
    while [ "$(readlink "/proc/$!/ns/net")" = "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
    in_peer "$1" ip link set dev lo up
}
link() {
    eval "pid=\$pid_$1"
    ip link add name "$1" type veth peer name "$1" netns "$pid"
    for end in "" "in_peer $1"; do
        $end ip link set dev "$1" up
        $end sysctl -qw "net.ipv6.conf.$1.accept_dad=0"
    done
    ip addr add "$2" dev "$1"
    in_peer "$1" ip addr add "$3" dev "$1"
    [ $# -lt 5 ] && return
    ip addr add "$4" dev "$1" nodad
    in_peer "$1" ip addr add "$5" dev "$1" nodad
}
"#;
