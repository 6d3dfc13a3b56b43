//! `espbench live LAB -- COMMAND`: unmodified programs against simulated devices, in real time.
#![cfg(target_os = "linux")]

use crate::util::{Ran, TestDir, missing, peer, sources, tshark};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Flags of all that is measured here: a busy machine may stop the lab for long, and no test depends on
/// that.
const LIVE: [&str; 3] = ["live", "--late-most", "1 h"];

/// Returns whether the system lets users have networks of their own. Where it does not, that is said
/// loudly, and in CI it is a failure.
fn may_live() -> bool {
    let unshared = Command::new("unshare").args(["-r", "-n", "true"]).status();
    let may = unshared.is_ok_and(|it| it.success()) && Path::new("/dev/net/tun").exists();
    may || missing("the right to a network namespace with /dev/net/tun")
}

/// Runs a shell script in the network of a lab; `$ESPBENCH` is the command under test.
fn live(dir: &TestDir, flags: &[&str], script: &str) -> Ran {
    let script = format!("PATH=$PATH:/usr/sbin:/sbin\n{script}");
    let args = [&LIVE[..], flags, &["--", "sh", "-euc", &script]].concat();
    Ran::of(dir.command(&args).env("ESPBENCH", env!("CARGO_BIN_EXE_espbench")))
}

/// Returns the lines of JSON of that type among what was printed.
fn lines(out: &str, of: &str) -> Vec<Value> {
    let all = out.lines().filter_map(|it| serde_json::from_str::<Value>(it).ok());
    all.filter(|it| it["type"] == of).collect()
}

#[test]
fn ping_curl_and_sockperf_are_answered_by_name() {
    if !may_live() || !["ping", "curl", "sockperf"].map(peer).iter().all(|it| *it) {
        return;
    }
    let dir = TestDir::new();
    let script = "ping -q -c 20 -i 0.1 -s 1000 device
        curl -sS -i http://device/
        curl -sS -o no -w '%{http_code}\n' http://device/x
        sockperf ping-pong -i 10.0.0.1 -p 11111 -t 2 -m 100
        ! ping -q -c 1 -W 1 10.0.77.77";
    let out = live(&dir, &["shield-box", "--pcap", "air.pcapng"], script).ok();
    assert!(out.contains("20 packets transmitted, 20 received, 0% packet loss"), "{out}");
    assert!(out.contains("HTTP/1.1 200 OK"), "{out}");
    assert!(out.contains("device of the simulated lab shield-box"), "{out}");
    assert!(out.contains("\n404\n"), "{out}");
    assert!(out.contains("Summary: Latency is"), "{out}");
    if peer("tshark") {
        // A request and its reply are on the air once each, if none is repeated.
        let file = dir.path("air.pcapng");
        let (asked, told) = ("icmp.type == 8", "icmp.type == 0");
        assert!(tshark(&file, asked, "icmp.seq").len() >= 20);
        assert!(tshark(&file, told, "icmp.seq").len() >= 20);
        let rates = tshark(&file, "icmp", "wlan_radio.data_rate");
        assert!(rates.iter().all(|it| !it.is_empty()), "{rates:?}");
    }
}

#[test]
fn iperf_measures_in_four_ways() {
    if !may_live() || !peer("iperf") {
        return;
    }
    let dir = TestDir::new();
    let to_device = ["shield-box", "--format", "json"];
    let out = live(&dir, &to_device, "iperf -c device -t 1; iperf -c device -u -b 2M -t 1").ok();
    let reports = lines(&out, "report");
    let bytes = |program: &str| {
        let of = reports.iter().find(|it| it["program"] == program);
        of.unwrap_or_else(|| panic!("{program} in {out}"))["bytes"].as_u64().unwrap()
    };
    assert!(bytes("iperf-tcp") > 100_000, "{out}");
    // 2 Mbit/s of iperf 2 are 2 x 1024 x 1024 bits.
    assert!((200_000..300_000).contains(&bytes("iperf-udp")), "{out}");
    for (command, server) in [
        ("device@2s=iperf -c pc -t 1", "timeout 60 iperf -s -P 1 -f b"),
        ("device@2s=iperf -c pc -u -b 2m -t 1", "timeout 10 iperf -s -u -i 1 -f b || true"),
    ] {
        let flags = ["shield-box", "--format", "json", "--type", command];
        let out = live(&dir, &flags, server).ok();
        let rate = out.lines().filter_map(|it| it.split_once(" Bytes ")?.1.split_once(" bits/sec"));
        let most = rate.filter_map(|it| it.0.trim().parse::<f64>().ok()).fold(0.0, f64::max);
        assert!(most > 500_000.0, "{command}: {out}");
        let sent = lines(&out, "report");
        assert!(sent.iter().any(|it| it["program"] == "iperf-client"), "{command}: {out}");
    }
}

#[test]
fn a_device_publishes_to_mosquitto() {
    if !may_live() || !peer("mosquitto_sub") {
        return;
    }
    let dir = TestDir::new();
    dir.write("broker.conf", "listener 1883 0.0.0.0\nallow_anonymous true\nuser root\n");
    let script = "mosquitto -c broker.conf & broker=$!
        until mosquitto_pub -h pc -t ready -m 1 2> /dev/null; do sleep 0.1; done
        timeout 60 mosquitto_sub -h pc -t lab/temperature -C 5 -F '%t of %l bytes'
        kill $broker";
    let typed = "device@5s=mqtt -h pc -t lab/temperature -q 1 -n 10 -r 10 -s 100";
    let out = live(&dir, &["shield-box", "--type", typed], script).ok();
    assert!(out.matches("lab/temperature of 100 bytes").count() >= 5, "{out}");
}

/// The published benchmark's Python client, with its addresses changed and a twentieth of its cycles.
#[test]
fn the_documents_own_client_measures_the_documents_own_sketch() {
    let Some(sources) = sources().filter(|_| may_live() && peer("python3")) else { return };
    let text = std::fs::read_to_string(sources.join("smellbomb-udp.txt")).unwrap();
    let client = &text[text.find("import time\n").expect("the client starts so")..];
    let client = client
        .replacen("(\"xxx.xxx.xxx.xxx\", 10000)", "(\"device\", 10000)", 1)
        .replacen("(\"xxx.xxx.xxx.xxx\", 10001)", "(\"pc\", 10001)", 1)
        .replacen("udp_benchmark(loop=1000", "udp_benchmark(loop=50", 1);
    assert!(!client.contains("xxx") && client.contains("loop=50"), "all is changed");
    let dir = TestDir::new();
    dir.write("client.py", &client);
    let flags = ["wifi-home", "--variant", "arduino"];
    live(&dir, &flags, "timeout 300 python3 client.py > /dev/null").ok();
    let csv = std::fs::read_to_string(dir.path("udp_benchmark_pc.csv")).unwrap();
    assert_eq!(csv.lines().count(), 24, "{csv}");
    for row in csv.lines() {
        let fields: Vec<f64> = row.split(',').map(|it| it.trim().parse().unwrap()).collect();
        assert_eq!(fields.len(), 51, "{row}");
        // A lab that was stopped catches up, so a time may be shorter than the air takes.
        assert!(fields[1..].iter().all(|it| *it > 0.0 && *it < 10.0), "{row}");
    }
}

#[test]
fn espbench_itself_measures_a_simulated_device_as_a_real_one() {
    if !may_live() {
        return;
    }
    let dir = TestDir::new();
    let script = "\"$ESPBENCH\" ping device -c 5 --interval 0.1
        \"$ESPBENCH\" echo device --size 100 -n 20 --local-port 0 --format json > echo.json";
    live(&dir, &["wifi-home", "--variant", "idf-echo"], script).ok();
    let report: Value =
        serde_json::from_str(&std::fs::read_to_string(dir.path("echo.json")).unwrap()).unwrap();
    let text = report.to_string();
    assert!(text.contains("rtt_avg"), "{text}");
}

#[test]
fn the_air_goes_to_a_pipe_while_it_lasts() {
    if !may_live() || !peer("tshark") || !peer("ping") {
        return;
    }
    let dir = TestDir::new();
    assert!(Command::new("mkfifo").arg(dir.path("air")).status().unwrap().success());
    let copy = dir.path("copy.pcapng");
    let mut reader = Command::new("cat")
        .arg(dir.path("air"))
        .stdout(std::fs::File::create(&copy).unwrap())
        .spawn()
        .unwrap();
    let script = "ping -q -c 3 -i 0.2 device; until test -s copy.pcapng; do sleep 0.1; done";
    live(&dir, &["shield-box", "--pcap", "air"], script).ok();
    assert!(reader.wait().unwrap().success());
    assert!(tshark(&copy, "icmp", "icmp.seq").len() >= 6);
}

#[test]
fn the_commands_status_is_handed_on_and_lateness_makes_it_invalid() {
    if !may_live() {
        return;
    }
    let dir = TestDir::new();
    let ran = live(&dir, &["shield-box", "-q"], "exit 7");
    assert_eq!((ran.status, ran.err.as_str()), (Some(7), ""));
    let killed = live(&dir, &["shield-box", "-q"], "kill -9 $$");
    assert_eq!(killed.status, Some(137), "{}", killed.err);
    let late = dir.run(&["live", "shield-box", "-q", "--late-most", "1ns", "--", "sleep", "0.3"]);
    assert_eq!(late.status, Some(2), "{}", late.err);
    let said: Vec<&str> = late.err.lines().collect();
    assert_eq!((said.len(), said[0]), (3, "espbench: what was measured is invalid"), "{said:?}");
    let ended = live(&dir, &["shield-box", "--format", "json", "--for", "300ms"], "exec sleep 600");
    let end = &lines(&ended.out, "end")[0];
    assert_eq!((ended.status, &end["valid"]), (Some(0), &true.into()), "{end}");
    let events: u64 =
        end["late"].as_array().unwrap().iter().map(|it| it["events"].as_u64().unwrap()).sum();
    assert!(events > 0, "beacons at least: {end}");
}

/// A client over plain sockets, since no echo program sends such datagrams.
const LONG_ECHO: &str = r#"
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(20)
for n in (3000, 14000):
    sent = bytes(i % 251 for i in range(n))
    s.sendto(sent, ("device", 10000))
    print("echo", n, s.recv(20000) == sent)
"#;

#[test]
fn long_packets_go_in_fragments_both_ways() {
    if !may_live() || !["ping", "python3"].map(peer).iter().all(|it| *it) {
        return;
    }
    let dir = TestDir::new();
    dir.write("echo.py", LONG_ECHO);
    let script = "ping -q -c 5 -i 0.3 -s 4000 device; python3 echo.py";
    let out = live(&dir, &["shield-box", "--pcap", "air.pcapng"], script).ok();
    assert!(out.contains("5 packets transmitted, 5 received"), "{out}");
    assert!(out.contains("echo 3000 True") && out.contains("echo 14000 True"), "{out}");
    if peer("tshark") {
        let whole = tshark(&dir.path("air.pcapng"), "icmp.type == 0", "icmp.checksum.status");
        assert!(whole.len() >= 5 && whole.iter().all(|it| it == "1"), "right checksums: {whole:?}");
    }
    // As ESP-IDF is built by default.
    let script = "! ping -q -c 2 -i 0.3 -W 1 -s 4000 device";
    let flags = ["shield-box", "--no-reassembly", "--format", "json"];
    let out = live(&dir, &flags, script).ok();
    assert_eq!(lines(&out, "end")[0]["fragments_dropped"], 6, "{out}");
}

/// A client of DHCP that asks for an address, and a question of DNS for each kind of answer.
const ASKS: &str = r#"
import socket, struct
router = socket.gethostbyname("router")
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(20)
def ask(name, kind):
    q = struct.pack(">HHHHHH", 7, 0x100, 1, 0, 0, 0)
    q += b"".join(bytes([len(p)]) + p.encode() for p in name.split(".")) + b"\0" + struct.pack(">HH", kind, 1)
    s.sendto(q, (router, 53))
    r = s.recv(600)
    return r[3] & 15, struct.unpack(">H", r[6:8])[0], r[-4:] if kind == 1 else r[-16:]
print("A", ask("device.lab", 1))
print("AAAA", ask("device", 28)[:2])
print("none", ask("nobody", 1)[:2])
print("PTR", b"device" in ask("1.0.0.10.in-addr.arpa", 12)[2])
d = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
d.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
d.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"esp0")
d.bind(("", 68))
d.settimeout(20)
def dhcp(kind, more=b""):
    m = struct.pack(">BBBBIHH", 1, 1, 6, 0, 0x1234, 0, 0x8000) + bytes(16) + bytes([2, 0, 0, 0, 0, 9]) + bytes(202)
    m += bytes([99, 130, 83, 99, 53, 1, kind]) + more + b"\xff"
    d.sendto(m, ("255.255.255.255", 67))
    while True:
        r = d.recv(1000)
        if r[4:8] == b"\0\0\x12\x34" and r[0] == 2:
            return r
offer = dhcp(1)
print("offer", socket.inet_ntoa(offer[16:20]), offer[242])
ack = dhcp(3, b"\x32\x04" + offer[16:20])
print("ack", socket.inet_ntoa(ack[16:20]), ack[242])
nak = dhcp(3, b"\x32\x04" + bytes([10, 0, 9, 9]))
print("nak", nak[242])
"#;

#[test]
fn the_router_answers_pings_names_and_addresses() {
    if !may_live() || !["ping", "python3"].map(peer).iter().all(|it| *it) {
        return;
    }
    let dir = TestDir::new();
    dir.write("asks.py", ASKS);
    let script = "ping -q -c 3 -i 0.2 router
        getent ahostsv4 device.lab | head -n 1
        grep -c 'nameserver 10.0.0.3' /etc/resolv.conf
        python3 asks.py";
    let flags = ["wifi-home", "--variant", "idf-echo", "--format", "json"];
    let flags = [&flags[..], &["--pcap", "air.pcapng"]].concat();
    let out = live(&dir, &flags, script).ok();
    for said in [
        "3 packets transmitted, 3 received",
        "A (0, 1, b'\\n\\x00\\x00\\x01')",
        "AAAA (0, 0)",
        "none (3, 0)",
        "PTR True",
        "offer 10.0.0.2 2",
        "ack 10.0.0.2 5",
        "nak 6",
    ] {
        assert!(out.contains(said), "{said} in {out}");
    }
    assert!(out.lines().any(|it| it.starts_with("10.0.0.1")), "{out}");
    // The device has asked on the air, and its lease is told.
    let leases = lines(&out, "lease");
    let device = leases.iter().find(|it| it["host"] == "device").expect("a lease");
    assert_eq!(
        (device["address"].as_str(), &device["hardware"]),
        (Some("10.0.0.1"), &leases[0]["hardware"])
    );
    if peer("tshark") {
        let kinds =
            tshark(&dir.path("air.pcapng"), "dhcp && wlan.fc.retry == 0", "dhcp.option.dhcp");
        for kind in ["1", "2", "3", "5"] {
            assert!(kinds.iter().any(|it| it == kind), "{kinds:?}");
        }
    }
}

#[test]
fn a_client_without_an_address_gets_one_by_dhcp() {
    if !may_live() || !["udhcpc", "ip", "ping"].map(peer).iter().all(|it| *it) {
        return;
    }
    let dir = TestDir::new();
    dir.write(
        "bound.sh",
        "#!/bin/sh\ntest \"$1\" != bound || ip address add $ip/$mask dev $interface\n",
    );
    let script =
        "chmod +x bound.sh; udhcpc -i esp0 -n -q -s ./bound.sh; ping -q -c 2 -i 0.2 device";
    let out = live(&dir, &["shield-box", "--dhcp"], script).ok();
    assert!(out.contains("2 packets transmitted, 2 received"), "{out}");
}

#[test]
fn iperf_sends_both_ways_one_after_the_other_and_at_once() {
    if !may_live() || !peer("iperf") {
        return;
    }
    let dir = TestDir::new();
    // The device sends where the client asks for it: on the client's connection, or one of its own.
    let flags = ["shield-box", "--format", "json"];
    for (client, ways) in [
        ("-R", &["sender"][..]),
        ("-u -b 1M -R", &["sender"]),
        ("-r", &["receiver", "sender"]),
        ("-u -b 1M -d", &["receiver", "sender"]),
        ("--full-duplex", &["receiver", "sender"]),
    ] {
        let script = format!("timeout -k 1 30 iperf -c device -t 1 -i 1 -f b {client}");
        let out = live(&dir, &flags, &script).ok();
        let reports = lines(&out, "report");
        for way in ways {
            let of = reports.iter().find(|it| it["observer"] == *way);
            let bytes =
                of.unwrap_or_else(|| panic!("{client}: no {way} in {out}"))["bytes"].as_u64();
            assert!(bytes.unwrap() > 80_000, "{client}: {out}");
        }
        // The client has it, too.
        let rate = out.lines().filter_map(|it| it.split_once(" Bytes ")?.1.split_once(" bits/sec"));
        let most = rate.filter_map(|it| it.0.trim().parse::<f64>().ok()).fold(0.0, f64::max);
        assert!(most > 500_000.0, "{client}: {out}");
    }
    // Both directions at once, where each end starts a client by itself.
    let flags = ["shield-box", "--format", "json", "--type", "device@1s=iperf -c pc -u -b 2m -t 3"];
    let script = "iperf -s -u -i 1 -f b > server.txt 2>&1 & sleep 1
        iperf -c device -u -b 2M -t 3 > client.txt; sleep 1; kill -9 $! || true; cat server.txt";
    let out = live(&dir, &flags, script).ok();
    let reports = lines(&out, "report");
    let bytes = |program: &str| {
        let of = reports.iter().find(|it| it["program"] == program);
        of.unwrap_or_else(|| panic!("{program} in {out}"))["bytes"].as_u64().unwrap()
    };
    assert!(bytes("iperf-udp") > 500_000 && bytes("iperf-client") > 500_000, "{out}");
}

#[test]
fn what_was_measured_there_says_that_it_is_live() {
    if !may_live() {
        return;
    }
    let dir = TestDir::new();
    dir.write("plan.toml", "name = \"live\"\n[[measure]]\nkind = \"udp-echo\"\nsize = 64\ncount = 20\ninterval = \"10 ms\"\n");
    let script = "\"$ESPBENCH\" run plan.toml --on udp:device --format json > live.json
        \"$ESPBENCH\" report --format csv > live.csv
        \"$ESPBENCH\" report --format html > live.html
        \"$ESPBENCH\" report --format text > live.txt
        \"$ESPBENCH\" ping 127.0.0.1 -c 2 --interval 0.1 --format json > own.json || true";
    live(&dir, &["wifi-home", "--variant", "idf-echo"], script).ok();
    let read = |name: &str| std::fs::read_to_string(dir.path(name)).unwrap();
    let report: Value = serde_json::from_str(&read("live.json")).unwrap();
    assert_eq!(report["run"]["origin"], "live");
    assert_eq!(report["run"]["host"]["live_lab"], "wifi-home, variant idf-echo");
    let cells = report["cells"].as_array().unwrap();
    let own = cells.iter().filter(|it| it["origin"] != "published");
    assert!(own.clone().count() > 0 && own.clone().all(|it| it["origin"] == "live"), "{report}");
    assert!(read("live.csv").contains(",live,"), "{}", read("live.csv"));
    assert!(read("live.txt").contains("LIVE"), "{}", read("live.txt"));
    assert!(read("live.html").contains("data-origin=\"live\""), "a page says so");
    // The PC's own stack is no simulated device.
    if let Ok(own) = serde_json::from_str::<Value>(&read("own.json")) {
        assert_eq!(own["run"]["origin"], "measured");
    }
}

#[test]
fn without_rights_it_says_what_to_do() {
    if !may_live() {
        return;
    }
    let dir = TestDir::new();
    // A user who may have no networks.
    let script =
        "echo 0 > /proc/sys/user/max_net_namespaces; \"$ESPBENCH\" live shield-box -q -- true";
    let mut command = Command::new("unshare");
    command.args(["-r", "sh", "-uc", script]).env("ESPBENCH", env!("CARGO_BIN_EXE_espbench"));
    let ran = Ran::of(command.current_dir(dir.dir.path()));
    assert_eq!(ran.status, Some(2), "{}", ran.err);
    let said: Vec<&str> = ran.err.lines().collect();
    assert_eq!(said.len(), 3, "{}", ran.err);
    assert_eq!(said[0], "espbench: the lab gets no network of its own");
    assert!(said[2].contains("unshare -Ur") && said[2].contains("--pty"), "{}", ran.err);
}

#[test]
fn what_cannot_be_is_told() {
    let dir = TestDir::new();
    for (args, said) in [
        (&["live"][..], "--pty"),
        (&["live", "nowhere", "--", "true"], "no lab is called `nowhere`"),
        (&["live", "two-boards", "--", "true"], "speak ESP-NOW only"),
        (&["live", "wifi-home", "--variant", "x"], "arduino, idf-echo"),
        (&["live", "wifi-home", "--baud", "9600"], "--pty"),
        (&["live", "--pty", "--", "true"], "--pty"),
        (&["live", "wifi-home", "--type", "device=iperf"], "write device@1s="),
        (&["live", "wifi-home", "--type", "device@1s=ls"], "unrecognized subcommand 'ls'"),
        (&["live", "wifi-home", "--type", "x@1s=iperf -c pc"], "there is no device `x`"),
        (&["live", "wifi-home", "--type", "device@1s=iperf -c x"], "there is no host `x`"),
        (&["live", "wifi-home", "--pcap", "no/air.pcapng"], "no/air.pcapng"),
    ] {
        let ran = dir.run(args);
        assert_eq!(ran.status, Some(2), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(said), "{args:?}: {}", ran.err);
    }
}
