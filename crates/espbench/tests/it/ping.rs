//! ICMP round trips: the command beside iputils' ping, what routers say, and hostile replies.

use crate::netns::script;
use crate::util::{Ran, TestDir, peer};
use serde_json::Value;

/// Runs a script in networks of its own, with the bench's store and folder.
fn ran(bench: &TestDir, text: &str) -> Ran {
    let mut command = script(text);
    command.current_dir(bench.dir.path()).env("ESPBENCH_STORE", bench.store());
    Ran::of(&mut command)
}

fn read(bench: &TestDir, name: &str) -> String {
    std::fs::read_to_string(bench.path(name)).unwrap()
}

fn report(bench: &TestDir, name: &str) -> Value {
    serde_json::from_str(&read(bench, name)).unwrap()
}

/// Returns the value of a metric at a size.
#[track_caller]
fn metric(report: &Value, name: &str, size: u64) -> f64 {
    let cells = report["cells"].as_array().unwrap();
    let found = cells.iter().find(|c| c["metric"] == name && c["payload_bytes"] == size);
    found.and_then(|c| c["value"].as_f64()).unwrap_or_else(|| panic!("no {name} of {size} B"))
}

/// Unprivileged sockets are for the group 0 of the namespace, which is ours; by default for nobody.
const UNPRIVILEGED: &str = "echo 0 0 > /proc/sys/net/ipv4/ping_group_range";

#[test]
fn counts_are_those_of_ping_over_both_versions_and_sockets() {
    if !peer("unshare") || !peer("ping") {
        return;
    }
    let bench = TestDir::new();
    let text = r#"
        peer b
        link b 10.9.0.1/24 10.9.0.2/24 2001:db8::1/64 2001:db8::2/64
        n=0
        for socket in raw unprivileged; do
            [ $socket = raw ] || UNPRIVILEGED
            for host in 127.0.0.1 ::1 10.9.0.2 2001:db8::2; do
                n=$((n + 1))
                ping -q -c 20 -i 0.01 -s 56 $host > ping-$n.txt
                $ESPBENCH ping $host -c 20 -i 0.01 -s 56 --format json -o ours-$n.txt > ours-$n.json
            done
        done
    "#;
    ran(&bench, &text.replace("UNPRIVILEGED", UNPRIVILEGED)).ok();
    for n in 1..=8 {
        let theirs = read(&bench, &format!("ping-{n}.txt"));
        assert!(theirs.contains("20 packets transmitted, 20 received"), "{theirs}");
        let ours = report(&bench, &format!("ours-{n}.json"));
        assert_eq!(metric(&ours, "loss", 56), 0.0);
        for nothing in ["probes_late", "probes_duplicate", "probes_corrupt"] {
            assert_eq!(metric(&ours, nothing, 56), 0.0);
        }
        let of = |name: &str| metric(&ours, name, 56);
        let (min, p50, max) = (of("rtt_min"), of("rtt_p50"), of("rtt_max"));
        assert!(0.0 < min && min <= p50 && p50 <= max, "{min} {p50} {max}");
        assert!(of("rtt_kernel_p50") <= max && of("response_min") >= min);
        let text = read(&bench, &format!("ours-{n}.txt"));
        let socket = if n <= 4 { "raw (CAP_NET_RAW)" } else { "unprivileged" };
        assert!(text.contains(socket), "{text}");
        if cfg!(target_os = "linux") {
            assert!(text.contains("kernel (SO_TIMESTAMPNS)"), "{text}");
        }
        // Both name their figures alike, so that they can be read side by side.
        assert!(theirs.contains("rtt min/avg/max/mdev"), "{theirs}");
    }
}

/// Packets of 1442 bytes through a bucket of 1 Mbit/s: when the last can have left is known.
#[test]
fn a_slow_link_shows_in_the_times_from_the_due_time_on() {
    if !peer("unshare") {
        return;
    }
    let bench = TestDir::new();
    let text = r#"
        peer b
        link b 10.9.0.1/24 10.9.0.2/24
        tc qdisc add dev b root tbf rate 1mbit burst 1600 limit 1mb
        $ESPBENCH ping 10.9.0.2 -c 20 -i 0.001 -s 1400 -W 60 --format json > ours.json
    "#;
    ran(&bench, text).ok();
    let ours = report(&bench, "ours.json");
    assert_eq!(metric(&ours, "loss", 1400), 0.0);
    // 20 packets less the bucket, at 1 Mbit/s, after the first was due; the last was due 19 ms later.
    let least_ms = f64::from(20 * 1442 - 1600) * 8.0 / 1e3 - 19.0;
    let most = metric(&ours, "response_max", 1400);
    assert!(most >= least_ms, "{most} ms, which is less than {least_ms} ms");
}

#[test]
fn what_routers_say_is_the_cause_of_a_loss() {
    if !peer("unshare") {
        return;
    }
    let bench = TestDir::new();
    let text = r#"
        peer r
        link r 10.9.0.1/24 10.9.0.2/24 2001:db8::1/64 2001:db8::2/64
        in_peer r sysctl -qw net.ipv4.ip_forward=1 net.ipv4.icmp_ratelimit=0 \
            net.ipv6.conf.all.forwarding=1 net.ipv6.icmp.ratelimit=0
        ip route add 10.0.0.0/8 via 10.9.0.2
        in_peer r ip route add unreachable 10.3.0.0/24
        in_peer r ip route add prohibit 10.4.0.0/24
        in_peer r ip route add 10.5.0.0/24 via 10.9.0.1
        ip -6 route add 2001:db8:1::/48 via 2001:db8::2
        in_peer r ip -6 route add prohibit 2001:db8:1:4::/64
        in_peer r ip -6 route add 2001:db8:1:5::/64 via 2001:db8::1
        try() {
            status=0
            $ESPBENCH ping -i 0.01 -c "$@" --format json > $n.json 2>> errors.txt || status=$?
            [ $status = 2 ]
            n=$((n + 1))
        }
        n=0
        # A Linux router tells a host only a few times in a row that there is no way: one each, first.
        try 1 10.3.0.1
        try 1 10.4.0.1
        for socket in raw unprivileged; do
            [ $socket = raw ] || UNPRIVILEGED
            try 5 10.5.0.1 --ttl 1
            try 5 2001:db8:1:4::1
            try 5 2001:db8:1:5::1 --ttl 1
        done
    "#;
    ran(&bench, &text.replace("UNPRIVILEGED", UNPRIVILEGED)).ok();
    let each = [(5, "hop-limit"), (5, "prohibited"), (5, "hop-limit")];
    let causes = [&[(1, "host-unreachable"), (1, "prohibited")][..], &each, &each].concat();
    for (n, (count, cause)) in causes.iter().enumerate() {
        let ours = report(&bench, &format!("{n}.json"));
        assert_eq!(ours["losses"][0]["causes"][cause], *count, "{n}: {}", ours["losses"]);
        let failure = ours["failures"][0].to_string();
        let told = format!("no reply at all ({count} probes sent, {count} lost: {cause})");
        assert!(failure.contains(&told), "{failure}");
    }
}

/// Answers in the place of the kernel, each request as its number says.
const RESPONDER: &str = r#"
import socket, struct
def checksum(b):
    b += b"\0" * (len(b) % 2)
    s = sum(struct.unpack("!%dH" % (len(b) // 2), b))
    while s >> 16: s = (s & 0xffff) + (s >> 16)
    return s ^ 0xffff
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
print("ready", flush=True)
while True:
    packet, (host, _) = s.recvfrom(65536)
    if packet[20] != 8: continue
    ident, seq = struct.unpack("!HH", packet[24:28])
    data = packet[28:]
    def reply(data, seq=seq, ident=ident, wrong=0):
        m = struct.pack("!BBHHH", 0, 0, 0, ident, seq) + data
        c = checksum(m) ^ wrong
        s.sendto(m[:2] + struct.pack("!H", c) + m[4:], (host, 0))
    if seq == 2: reply(data); reply(data)
    elif seq == 4: reply(bytes([data[0] ^ 1]) + data[1:])
    elif seq == 6: pass
    elif seq == 8: reply(data, wrong=1)
    elif seq == 10: reply(data[:-1])
    elif seq == 12: reply(data + b"x")
    elif seq == 14: reply(data, seq=40000); reply(data)
    elif seq == 16: reply(data, ident=ident ^ 0x5555); reply(data)
    elif seq == 18: s.sendto(b"\0\0", (host, 0)); reply(data)
    else: reply(data)
"#;

#[test]
fn losses_duplicates_and_changed_content_are_told_apart() {
    if !peer("unshare") || !peer("python3") {
        return;
    }
    let bench = TestDir::new();
    bench.write("responder.py", RESPONDER);
    let text = r#"
        peer b
        link b 10.9.0.1/24 10.9.0.2/24
        in_peer b sysctl -qw net.ipv4.icmp_echo_ignore_all=1
        mkfifo ready
        in_peer b python3 responder.py > ready &
        read -r word < ready
        for socket in raw unprivileged; do
            [ $socket = raw ] || UNPRIVILEGED
            $ESPBENCH ping 10.9.0.2 -c 40 -i 0.02 -s 32 -W 1 --format json > $socket.json
        done
    "#;
    ran(&bench, &text.replace("UNPRIVILEGED", UNPRIVILEGED)).ok();
    for socket in ["raw", "unprivileged"] {
        let ours = report(&bench, &format!("{socket}.json"));
        assert_eq!(metric(&ours, "probes_duplicate", 32), 1.0, "{socket}");
        assert_eq!(metric(&ours, "probes_corrupt", 32), 3.0, "{socket}");
        // One without a reply, one whose checksum was wrong, and three changed ones: 5 of 40.
        assert_eq!(metric(&ours, "loss", 32), 12.5, "{socket}");
        assert_eq!(ours["losses"][0]["causes"]["unknown"], 2, "{socket}");
        assert_eq!(ours["losses"][0]["probes"], 40, "{socket}");
    }
}

#[test]
fn a_plan_sweeps_sizes_and_draws_them() {
    if !peer("unshare") {
        return;
    }
    let bench = TestDir::new();
    bench.write(
        "plan.toml",
        r#"
        name = "reach"
        [[measure]]
        kind = "ping"
        size = [0, 56, 1400]
        count = 50
        interval = "2 ms"
        tos = 184
        [[threshold]]
        metric = "loss"
        kind = "ping"
        max = "0 %"
        "#,
    );
    let text = "
        $ESPBENCH run plan.toml --on icmp:127.0.0.1 -q -o r.html --format csv
        $ESPBENCH run plan.toml --on loopback -q --format csv
        $ESPBENCH run plan.toml --on udp:127.0.0.1 -q && exit 1 || [ $? = 2 ]
    ";
    let ran = ran(&bench, text);
    assert!(ran.err.contains("udp:127.0.0.1:10000 cannot run ping"), "{}", ran.err);
    let out = ran.ok();
    for size in [0, 56, 1400] {
        let row = format!("ping,unstated,icmp,unstated,rtt_p50,{size},");
        assert!(out.contains(&row), "no {row} in\n{out}");
    }
    let head = out.lines().next().unwrap();
    assert!(head.ends_with(",tos,ttl") || head.ends_with(",tos"), "{head}");
    assert!(out.contains(",184"), "{out}");
    let html = read(&bench, "r.html");
    for id in ["t-ping-rtt", "t-ping-loss", "ping-one-every-2-ms-tos-0xb8-cumulative-f"] {
        assert!(html.contains(&format!("id=\"{id}\"")), "no {id}");
    }
}

#[test]
fn bad_input_is_told_with_the_remedy() {
    let bench = TestDir::new();
    let refused = |args: &[&str], what: &str| {
        let ran = bench.run(&[&["ping"], args].concat());
        assert_eq!(ran.status, Some(2), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(what), "{args:?}: {}", ran.err);
    };
    refused(&["127.0.0.1", "-s", "65508"], "`size`: 65508 is out of range: use 0 to 65507");
    refused(&["127.0.0.1", "-c", "0"], "`count`: 0 is out of range: use 1");
    refused(&["127.0.0.1", "-i", "0"], "`interval`");
    refused(&["127.0.0.1", "--timeout=-1"], "--timeout");
    refused(&["127.0.0.1", "-t", "0"], "--ttl");
    refused(&["127.0.0.1", "-Q", "256"], "a byte: 0 to 255");
    refused(&["127.0.0.1:80"], "ICMP has none");
    refused(&["127.0.0.1", "-6"], "no IPv6 address");
    refused(&["no-such-host.invalid"], "check the name or give an IP address");
    refused(&[""], "a host is missing");
}

#[test]
fn no_route_and_no_permission_are_told_with_the_remedy() {
    if !peer("unshare") || !peer("setpriv") {
        return;
    }
    let bench = TestDir::new();
    let no_route = ran(&bench, "$ESPBENCH ping 192.0.2.1 -c 3 --format json");
    assert_eq!(no_route.status, Some(2), "{}", no_route.err);
    assert!(no_route.out.contains("has no route to that network"), "{}", no_route.out);
    let denied = ran(
        &bench,
        // Nobody may have an unprivileged socket in a new namespace.
        "exec setpriv --bounding-set=-all --inh-caps=-all $ESPBENCH ping 127.0.0.1 --format json",
    );
    assert_eq!(denied.status, Some(2), "{}", denied.err);
    for remedy in ["sysctl -w net.ipv4.ping_group_range=", "setcap cap_net_raw+ep"] {
        assert!(denied.out.contains(remedy), "{}", denied.out);
    }
}
