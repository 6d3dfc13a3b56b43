//! Results without a measurement: there is no figure where nothing was measured, or where a peer
//! made it up. Each is named with its cause in the first line of the result and on stderr.

use crate::util::{Ran, TestDir};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// A peer that answers each datagram with what `answer` makes of it and of its number.
struct Peer {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Peer {
    fn start(answer: impl Fn(u64, &mut Vec<u8>) -> usize + Send + 'static) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        let address = socket.local_addr().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let (mut buf, mut n) = ([0; 2048], 0);
            while !flag.load(Ordering::Relaxed) {
                let Ok((len, from)) = socket.recv_from(&mut buf) else { continue };
                let mut reply = buf[..len].to_vec();
                for _ in 0..answer(n, &mut reply) {
                    let _ = socket.send_to(&reply, from);
                }
                n += 1;
            }
        });
        Self { address, stop, thread: Some(thread) }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().unwrap().join();
    }
}

fn echo(bench: &TestDir, peer: &Peer, args: &[&str]) -> Ran {
    let host = peer.address.to_string();
    bench.run(&[&["echo", &host, "--local-port", "0", "-s", "100"][..], args].concat())
}

/// Returns the value of a metric in the newest run's report.
#[track_caller]
fn value(report: &serde_json::Value, metric: &str) -> Option<f64> {
    let cells = report["cells"].as_array().unwrap();
    let cell = cells.iter().find(|it| it["metric"] == metric && it["origin"] == "measured");
    cell.unwrap_or_else(|| panic!("no {metric}"))["value"].as_f64()
}

fn json(bench: &TestDir) -> serde_json::Value {
    let text = bench.run(&["report", "--format", "json"]).ok();
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    crate::report::assert_valid(&serde_json::from_str(&text).unwrap());
    report
}

#[test]
fn replies_that_are_all_changed_are_no_measurement() {
    let bench = TestDir::new();
    let peer = Peer::start(|_, reply| {
        reply[0] ^= 1;
        1
    });
    let ran = echo(&bench, &peer, &["-n", "50", "-q"]);
    assert_eq!(ran.status, Some(2), "{}", ran.err);
    let cause =
        "nothing was measured: of 50 probes none came back as sent and in time (50 corrupt)";
    assert!(ran.err.contains(cause), "{}", ran.err);
    assert!(!ran.err.contains("50 delivered"), "{}", ran.err);
    // A page of empty tables would hide it: of a run without a result there is the error alone.
    assert_eq!(ran.out, "");
    assert_eq!(ran.err.lines().count(), 2, "{}", ran.err);
    let later = bench.run(&["report"]);
    let words = later.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("✗ Failed: udp-echo, 100 B: nothing"), "{}", later.out);
    assert!(later.out.lines().count() < 15, "{}", later.out);
    let report = json(&bench);
    assert_eq!(value(&report, "rtt_avg"), None);
    assert_eq!(value(&report, "loss"), Some(100.0));
    assert_eq!(report["losses"][0]["causes"]["corrupt"], 50);
    // It is tried again.
    let again = bench.run(&["run", "--resume"]);
    assert_eq!(again.status, Some(2));
    assert!(again.err.contains("1 of 1 cells to do"), "{}", again.err);
}

#[test]
fn replies_of_which_some_are_changed_count_as_lost() {
    let bench = TestDir::new();
    let peer = Peer::start(|n, reply| {
        reply[0] ^= u8::from(n % 2 == 1);
        1
    });
    let ran = echo(&bench, &peer, &["-n", "50", "--discard", "0"]);
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    assert!(ran.err.contains("25 delivered, 0 lost, 25 corrupt"), "{}", ran.err);
    assert!(ran.err.contains("Corrupt: 25 of 50"), "{}", ran.err);
    assert!(ran.out.contains("! Corrupt: 25 of 50"), "{}", ran.out);
    let report = json(&bench);
    assert_eq!(value(&report, "loss"), Some(50.0));
    assert_eq!(value(&report, "probes_corrupt"), Some(25.0));
}

#[test]
fn replies_that_come_late_are_named() {
    let bench = TestDir::new();
    let peer = Peer::start(|n, _| {
        if n == 5 {
            std::thread::sleep(std::time::Duration::from_millis(1500));
        }
        1
    });
    let few = ["-n", "20", "--discard", "0", "--binary", "-w", "1", "-t", "1 s"];
    let ran = echo(&bench, &peer, &few);
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    // Those behind the slow one may be late, too.
    let late =
        ran.out.lines().find_map(|it| it.trim().strip_prefix("! Late: ")).unwrap_or_default();
    assert!(late.contains(" of 20 came after they had been given up"), "{}", ran.out);
    assert_eq!(value(&json(&bench), "loss"), Some(0.0));
}

#[test]
fn a_flood_of_copies_is_counted_and_not_kept() {
    let bench = TestDir::new();
    let peer = Peer::start(|_, _| 20);
    let ran = echo(&bench, &peer, &["-n", "200", "--discard", "0", "--binary", "-w", "4"]);
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    assert!(ran.err.contains("200 delivered, 0 lost"), "{}", ran.err);
    assert!(ran.err.contains("Duplicates: "), "{}", ran.err);
    assert!(ran.out.contains("! Duplicates: "), "{}", ran.out);
    let db = rusqlite::Connection::open(bench.store()).unwrap();
    let kept: u64 = db.query_row("SELECT count(*) FROM probe", [], |row| row.get(0)).unwrap();
    assert!(kept <= 400, "{kept} rows of 200 probes");
    let report = json(&bench);
    let copies = value(&report, "probes_duplicate").unwrap();
    let not_kept = report["losses"][0]["counters"]["duplicates-not-kept"].as_f64().unwrap();
    assert_eq!(copies, (kept - 200) as f64 + not_kept);
    assert_eq!(report["losses"][0]["others"]["duplicate"].as_f64(), Some(copies));
    assert_eq!(value(&report, "loss"), Some(0.0));
    assert_eq!(report["losses"][0]["probes"], 200);
}

#[test]
fn a_refused_connection_is_told_in_three_lines() {
    let bench = TestDir::new();
    // Nothing listens there.
    let port = crate::util::free_port();
    let host = format!("127.0.0.1:{port}");
    let udp = format!("127.0.0.1:{}", crate::util::free_port());
    let number = port.to_string();
    for (args, run, cells) in [
        (&["echo", &udp, "--local-port", "0"][..], "echo-1", " in 3 of 23 cells"),
        (&["rate", "tcp", &host], "rate-tcp-1", " in 2 of 2 cells"),
        (&["iperf", "-c", "127.0.0.1", "-p", &number, "--format", "text"], "iperf-1", ""),
    ] {
        let ran = bench.run(args);
        assert_eq!(ran.status, Some(2), "{args:?}");
        let lines: Vec<&str> = ran.err.lines().collect();
        assert_eq!(lines.len(), 4, "{args:?}: {}", ran.err);
        assert!(lines[0].starts_with(&format!("run {run}, stored in ")), "{args:?}: {}", ran.err);
        let head = format!("espbench: no result{cells}: ");
        assert!(lines[1].starts_with(&head) && lines[1].contains("127.0.0.1:"), "{}", ran.err);
        assert!(lines[2].starts_with("  why: Connection refused"), "{args:?}: {}", ran.err);
        let resume = format!("; then espbench run --resume {run}");
        assert!(lines[3].starts_with("  do:  ") && lines[3].ends_with(&resume), "{}", ran.err);
        // iperf's own head stands before.
        assert!(ran.out.lines().count() <= 1, "{args:?}: {}", ran.out);
        let report = json(&bench);
        assert!(!report["failures"].as_array().unwrap().is_empty());
    }
}
