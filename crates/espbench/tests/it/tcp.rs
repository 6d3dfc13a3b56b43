//! TCP message rates against the sink and against peers that misbehave; the source.

use crate::sink::KeptSamples;
use crate::util::{PATIENCE, Paced, Ran, TestDir, peer};
use espbench::respond::{ServiceLog, tcp};
use espbench::target::tcp_rate::TcpRateTarget;
use espbench::target::{Target as _, TargetError};
use espbench_measure::run::Site;
use espbench_model::sample::Observer;
use espbench_model::workload::{TcpRate, Workload};
use std::io::Read as _;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

fn any() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 0))
}

fn quiet() -> ServiceLog {
    Arc::new(|_| {})
}

fn work() -> TcpRate {
    TcpRate { size: 16, runs: 3, discard: 1, run_time: Duration::from_millis(300), no_delay: true }
}

fn run(peer: SocketAddr, work: TcpRate, kept: &mut KeptSamples) -> Result<(), TargetError> {
    TcpRateTarget::new(peer, Site::default()).run(&Workload::TcpRate(work), kept)
}

#[test]
fn each_run_is_an_interval_and_what_was_discarded_is_not_there() {
    let sink = tcp::sink(any(), &quiet()).unwrap();
    for no_delay in [true, false] {
        let mut kept = KeptSamples::default();
        run(sink.address, TcpRate { no_delay, ..work() }, &mut kept).unwrap();
        let sent = kept.intervals(Observer::Sender);
        assert_eq!(sent.iter().map(|i| i.seq).collect::<Vec<_>>(), [0, 1, 2]);
        for run in &sent {
            let length = run.end.since(run.start);
            assert!(length >= work().run_time, "{length:?}");
            assert!(run.datagrams.unwrap() > 0);
            assert_eq!(run.bytes, run.datagrams.unwrap() * 16);
        }
        // What the peer took, where the system tells, is no more than what was sent.
        let taken = kept.intervals(Observer::Peer);
        assert_eq!(taken.len(), if cfg!(target_os = "linux") { 3 } else { 0 });
        for (peer, own) in taken.iter().zip(&sent) {
            assert!(peer.bytes <= own.bytes);
        }
        let cells = kept.cells(Workload::TcpRate(TcpRate { no_delay, ..work() }));
        assert_eq!(cells.iter().filter(|c| c.id.metric == "message_rate").count(), 3);
    }
}

#[test]
fn a_peer_that_never_reads_ends_the_run_and_is_named() {
    let silent = TcpListener::bind(any()).unwrap();
    // Little room, so that it is full at once.
    socket2::SockRef::from(&silent).set_recv_buffer_size(4096).unwrap();
    let mut kept = KeptSamples::default();
    let large =
        TcpRate { size: 1 << 16, run_time: Duration::from_secs(1), runs: 2, discard: 0, ..work() };
    let error = run(silent.local_addr().unwrap(), large, &mut kept).expect_err("no result");
    assert!(
        error.to_string().contains("took nothing in the second half of 2 of 2 runs"),
        "{error}"
    );
    assert_eq!(kept.intervals(Observer::Sender).len(), 2);
    assert_eq!(kept.intervals(Observer::Peer).len(), 0);
    assert_eq!(kept.counters["stalled-runs"], 2);
    let cells = kept.cells(Workload::TcpRate(large));
    let headline = cells.iter().find(|c| c.id.metric == "message_rate_avg").unwrap();
    assert_eq!(headline.value, None);
}

/// D1: the send buffer took 17,000 messages a second of a peer that read 4000.
#[test]
fn the_message_rate_is_that_of_the_peers_reads() {
    let peer = Paced::start(76_000);
    let mut kept = KeptSamples::default();
    let paced =
        TcpRate { size: 19, runs: 1, discard: 0, run_time: Duration::from_secs(2), ..work() };
    run(peer.address, paced, &mut kept).unwrap();
    let truth = peer.rate() / 19.0;
    let cells = kept.cells(Workload::TcpRate(paced));
    let value = |metric| cells.iter().find(|c| c.id.metric == metric).unwrap().value.unwrap();
    let (ours, sent) = (value("message_rate_avg"), value("message_rate_sent_avg"));
    assert!((ours / truth - 1.0).abs() < 0.1, "the headline {ours}, the peer {truth}");
    assert!(sent > ours && value("in_flight_end") > 0.0, "{sent} {ours}");
}

/// The matrix of bench/peer_reads.py over a veth pair, of which these are the shortest cells.
#[test]
#[cfg(target_os = "linux")]
fn a_slow_peer_behind_a_link_is_measured_as_slow() {
    let can = std::process::Command::new("unshare").args(["-r", "-n", "true"]).output();
    if !(peer("python3") && peer("ip") && can.is_ok_and(|done| done.status.success())) {
        crate::util::missing("the right to make network namespaces (unshare -r -n)");
        return;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bench/peer_reads.py");
    let mut command = std::process::Command::new(script);
    command.args(["--seconds", "2", "--congestion", "cubic", "--within", "15"]);
    command.args(["--espbench", env!("CARGO_BIN_EXE_espbench")]);
    let ran = Ran::of(&mut command);
    assert_eq!(ran.status, Some(0), "{}{}", ran.out, ran.err);
}

#[test]
fn a_slow_peer_is_measured_as_slow() {
    let listener = TcpListener::bind(any()).unwrap();
    let address = listener.local_addr().unwrap();
    let reader = std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut buf = vec![0; 1 << 20];
        while client.read(&mut buf).is_ok_and(|len| len > 0) {
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    let mut kept = KeptSamples::default();
    let one = TcpRate { size: 1 << 16, runs: 1, discard: 0, ..work() };
    run(address, one, &mut kept).unwrap();
    assert!(kept.intervals(Observer::Sender)[0].datagrams.unwrap() > 0);
    reader.join().unwrap();
}

#[test]
fn a_peer_that_vanishes_is_an_error_with_a_remedy() {
    let listener = TcpListener::bind(any()).unwrap();
    let address = listener.local_addr().unwrap();
    let closer = std::thread::spawn(move || drop(listener.accept()));
    let long = TcpRate { run_time: Duration::from_secs(60), ..work() };
    let error =
        run(address, long, &mut KeptSamples::default()).expect_err("it is gone").to_string();
    assert!(error.contains("closed the connection"), "{error}");
    closer.join().unwrap();
    let nobody = crate::mqtt::free_address();
    let error =
        run(nobody, long, &mut KeptSamples::default()).expect_err("nobody listens").to_string();
    assert!(error.contains("start a TCP sink there"), "{error}");
}

#[test]
fn a_stop_ends_it() {
    let sink = tcp::sink(any(), &quiet()).unwrap();
    let mut kept = KeptSamples { stop_after: Some(2), ..KeptSamples::default() };
    let many = TcpRate { runs: 1000, discard: 0, ..work() };
    let result = run(sink.address, many, &mut kept);
    assert!(matches!(result, Err(TargetError::Cancelled)), "{result:?}");
}

#[test]
fn the_source_sends_chargens_lines() {
    let source = tcp::source(any(), &quiet()).unwrap();
    let mut client = TcpStream::connect(source.address).unwrap();
    let mut text = vec![0; 95 * 74 * 2];
    client.read_exact(&mut text).unwrap();
    assert!(text.starts_with(b" !\"#$%&'()*+"));
    assert_eq!(text[..95 * 74], text[95 * 74..], "it begins again after 95 lines");
}

#[test]
fn no_more_clients_than_the_bound() {
    let sink = tcp::sink(any(), &quiet()).unwrap();
    let _served: Vec<TcpStream> =
        (0..tcp::MOST_CLIENTS).map(|_| TcpStream::connect(sink.address).unwrap()).collect();
    let mut further = TcpStream::connect(sink.address).unwrap();
    further.set_read_timeout(Some(PATIENCE)).unwrap();
    assert_eq!(further.read(&mut [0; 1]).unwrap(), 0, "it is turned away");
}

#[test]
fn the_command_prints_runs_and_statistics() {
    let sink = tcp::sink(any(), &quiet()).unwrap();
    let bench = TestDir::new();
    let address = sink.address.to_string();
    let text = bench
        .run(&[
            "rate",
            "tcp",
            &address,
            "-s",
            "16",
            "-n",
            "4",
            "--discard",
            "0",
            "--time",
            "0.3 s",
            "--quiet",
            "--full",
        ])
        .ok();
    for word in ["Run", "Minimum", "Maximum", "Average", "Standard deviation", "Nagle"] {
        assert!(text.contains(word), "no `{word}` in\n{text}");
    }
}
