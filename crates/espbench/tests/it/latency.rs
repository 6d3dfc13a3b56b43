//! Latency under load: echoes before and beside an iperf test, through a bottleneck whose queue is known.

use crate::netns::script;
use crate::util::{Ran, TestDir, peer};
use serde_json::Value;

/// Runs a script in networks of its own, with the bench's store and folder.
fn ran(bench: &TestDir, text: &str) -> Ran {
    let mut command = script(text);
    command.current_dir(bench.dir.path()).env("ESPBENCH_STORE", bench.store());
    Ran::of(&mut command)
}

fn report(bench: &TestDir, name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(bench.path(name)).unwrap()).unwrap()
}

#[track_caller]
fn cell<'a>(report: &'a Value, metric: &str) -> &'a Value {
    let cells = report["cells"].as_array().unwrap();
    cells.iter().find(|c| c["metric"] == metric).unwrap_or_else(|| panic!("no {metric}"))
}

#[track_caller]
fn value(report: &Value, metric: &str) -> f64 {
    cell(report, metric)["value"].as_f64().unwrap_or_else(|| panic!("{metric} is unknown"))
}

/// A peer behind 8 Mbit/s with a queue of 100,000 bytes, which takes 100 ms to drain, and that serves
/// what espbench asks for.
const BOTTLENECK: &str = r#"
    peer b
    link b 10.9.0.1/24 10.9.0.2/24
    tc qdisc add dev b root tbf rate 8mbit burst 5000 limit 100000
    mkfifo lines
    in_peer b $ESPBENCH respond --bind 0.0.0.0 --for "60 s" > lines &
    exec 3< lines
    while read -r line <&3; do case $line in *iperf*) break ;; esac; done
"#;

/// UDP at twice the rate of the bottleneck keeps its queue full from the second tenth of a second on: a
/// probe that gets in waits for all that is before it.
#[test]
fn a_full_queue_is_what_the_load_adds() {
    if !peer("unshare") {
        return;
    }
    let bench = TestDir::new();
    let text = BOTTLENECK.to_owned()
        + r#"
        $ESPBENCH iperf -c 10.9.0.2 -u -b 16m -t 3 --latency --latency-idle "1 s" \
            --latency-interval "20 ms" --format json -o r.html -o r.txt > r.json
    "#;
    ran(&bench, &text).ok();
    let ours = report(&bench, "r.json");
    // A probe finds a queue that has room for it (98 bytes), but not for a datagram (1512 bytes): at least
    // 100,000 - 1512 - 98 bytes at 8 Mbit/s, 98 ms. Half of that holds for a sender that was held up.
    let (idle, loaded) = (value(&ours, "rtt_idle_p50"), value(&ours, "rtt_loaded_p95"));
    assert!(loaded >= 49.0, "{loaded} ms");
    assert!(idle < loaded, "{idle} ms is not below {loaded} ms");
    let n = |metric: &str| cell(&ours, metric)["n"].as_u64().unwrap();
    assert_eq!(n("loss_idle"), 50);
    assert!(n("loss_loaded") >= 10, "{}", n("loss_loaded"));
    assert!(n("rtt_loaded_p50") <= n("loss_loaded"));
    assert!(value(&ours, "rtt_added_p95") > 0.0);
    // What the stream lost is the stream's alone.
    assert!(value(&ours, "packets_total") > 1000.0);
    let text = std::fs::read_to_string(bench.path("r.txt")).unwrap();
    assert!(text.contains("iperf: latency of the idle link and under load"), "{text}");
    let html = std::fs::read_to_string(bench.path("r.html")).unwrap();
    assert!(html.contains("id=\"iperf-latency-0-0-f\"") && html.contains("under load"));
}

/// Over TCP, with probes over UDP: the receiver of probes is a program of the peer.
#[test]
fn probes_over_udp_and_where_icmp_is_not_permitted() {
    if !peer("unshare") || !peer("setpriv") {
        return;
    }
    let bench = TestDir::new();
    let text = BOTTLENECK.to_owned()
        + r#"
        common='-t 1 --latency-idle 300ms --latency-interval 10ms --format json'
        $ESPBENCH iperf -c 10.9.0.2 $common --latency udp > udp.json
        setpriv --bounding-set=-all --inh-caps=-all \
            $ESPBENCH iperf -c 10.9.0.2 $common --latency > denied.json
        status=0
        $ESPBENCH iperf -c 10.9.0.2 $common --latency udp:9 > none.json 2> none.txt || status=$?
        [ $status = 2 ]
    "#;
    ran(&bench, &text).ok();
    for name in ["udp.json", "denied.json"] {
        let ours = report(&bench, name);
        assert!(value(&ours, "rtt_idle_p50") > 0.0, "{name}");
        assert!(value(&ours, "rtt_loaded_p50") > 0.0, "{name}");
        assert_eq!(cell(&ours, "loss_idle")["n"], 30, "{name}");
    }
    let told = std::fs::read_to_string(bench.path("denied.json")).unwrap();
    assert!(told.contains("UDP echo, port 10000, since ICMP is not permitted"), "{told}");
    let none = std::fs::read_to_string(bench.path("none.txt")).unwrap();
    assert!(none.contains("nothing listens on that port"), "{none}");
    let ours = report(&bench, "none.json");
    let moved = ours["cells"]
        .as_array()
        .unwrap()
        .iter()
        .any(|c| c["metric"] == "throughput_rx" && !c["value"].is_null());
    assert!(!moved, "no stream is sent where the idle link has no figure");
}

#[test]
fn a_plan_has_the_probes_too_and_mistakes_are_told() {
    let bench = TestDir::new();
    let plan = |keys: &str| format!("name = \"x\"\n[[measure]]\nkind = \"iperf\"\n{keys}\n");
    for (keys, told) in [
        ("latency = \"tcp\"", "use icmp, udp or udp:PORT"),
        ("latency = \"udp:0\"", "use icmp, udp or udp:PORT"),
        ("latency_idle = \"0 s\"", "`latency_idle`"),
        ("latency_interval = 5", "`latency_interval`"),
    ] {
        bench.write("plan.toml", &plan(keys));
        let ran = bench.run(&["run", "plan.toml", "--on", "loopback"]);
        assert_eq!(ran.status, Some(2), "{keys}: {}", ran.err);
        assert!(ran.err.contains(told), "{keys}: {}", ran.err);
    }
    for args in [
        &["-c", "127.0.0.1", "--latency=tcp"][..],
        &["-c", "127.0.0.1", "--latency-idle", "1 s"],
        &["-s", "--latency"],
    ] {
        let ran = bench.run(&[&["iperf"], args].concat());
        assert_eq!(ran.status, Some(2), "{args:?}: {}", ran.err);
        assert!(ran.err.contains("--latency"), "{args:?}: {}", ran.err);
    }
}
