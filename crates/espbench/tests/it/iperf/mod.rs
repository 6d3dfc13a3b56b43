//! iperf 2: our client and server against Debian's, against each other, and against faults.

mod faults;
mod forged;
mod hostile;
mod options;
mod ours;
mod peers;
mod usher;

use crate::util::{PATIENCE, peer};
use espbench::respond::Service;
use espbench::respond::iperf::{Observe, ServerEvent, ServerOptions, start};
use espbench::target::iperf::IperfTarget;
use espbench::target::{Sink, Target, TargetError};
use espbench_model::sample::{Interval, Observer, Probe, Sample};
use espbench_model::workload::{Direction, Iperf, Transport, Workload};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A second of TCP.
pub const TCP: Iperf = Iperf {
    transport: Transport::Tcp,
    direction: Direction::Forward,
    time: Duration::from_secs(1),
    bytes: None,
    interval: Duration::from_millis(500),
    length: 16 * 1024,
    bandwidth: Some(80_000_000),
    parallel: 1,
    window: None,
    no_delay: false,
    ..Iperf::DEFAULT
};

/// A second of UDP.
pub const UDP: Iperf =
    Iperf { transport: Transport::Udp, length: 1470, bandwidth: Some(8_000_000), ..TCP };

/// Keeps everything.
#[derive(Debug, Default)]
pub struct Collect {
    pub samples: Vec<Interval>,
    pub probes: Vec<Probe>,
    pub counts: BTreeMap<String, u64>,
    pub facts: BTreeMap<String, String>,
    /// Cancels after that many samples.
    pub cancel_after: Option<usize>,
}

impl Sink for Collect {
    fn sample(&mut self, sample: Sample) {
        match sample {
            Sample::Interval(interval) => self.samples.push(interval),
            Sample::Probe(probe) => self.probes.push(probe),
        }
    }

    fn count(&mut self, name: &str, by: u64) {
        *self.counts.entry(name.into()).or_default() += by;
    }

    fn fact(&mut self, name: &str, value: String) {
        self.facts.insert(name.into(), value);
    }

    fn cancelled(&self) -> bool {
        self.cancel_after.is_some_and(|n| self.samples.len() >= n)
    }
}

impl Collect {
    pub fn totals(&self, observer: Observer) -> Vec<Interval> {
        totals(&self.samples, observer)
    }
}

pub fn totals(samples: &[Interval], observer: Observer) -> Vec<Interval> {
    samples.iter().filter(|i| i.total && i.observer == observer).copied().collect()
}

pub fn bytes(totals: &[Interval]) -> u64 {
    totals.iter().map(|t| t.bytes).sum()
}

/// Returns the Mbit/s of a total.
pub fn rate(total: &Interval) -> f64 {
    total.bytes as f64 * 8.0 / total.end.since(total.start).as_secs_f64() / 1e6
}

/// Runs our client.
pub fn client(address: SocketAddr, work: Iperf) -> (Collect, Result<(), TargetError>) {
    let mut sink = Collect::default();
    let mut target = IperfTarget::new(address, espbench_measure::run::Site::default());
    let result = target.run(&Workload::Iperf(work), &mut sink);
    (sink, result)
}

/// Our server, and what it sees.
pub struct Server {
    pub service: Service,
    seen: Arc<Mutex<Vec<ServerEvent>>>,
    pub log: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub fn start() -> Self {
        let seen: Arc<Mutex<Vec<ServerEvent>>> = Arc::default();
        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let (to_seen, to_log) = (Arc::clone(&seen), Arc::clone(&log));
        let observe: Observe = Arc::new(move |_, s| to_seen.lock().unwrap().push(s.clone()));
        let log_line: espbench::respond::ServiceLog =
            Arc::new(move |line| to_log.lock().unwrap().push(line.into()));
        let options =
            ServerOptions { interval: Duration::from_millis(500), ..ServerOptions::default() };
        let any = "127.0.0.1:0".parse().unwrap();
        let service = start(any, options, &log_line, Some(observe)).expect("a port");
        Self { service, seen, log }
    }

    pub fn port(&self) -> String {
        self.service.address.port().to_string()
    }

    fn intervals(&self) -> Vec<Interval> {
        let seen = self.seen.lock().unwrap();
        let interval = |s: &ServerEvent| match s {
            ServerEvent::Sample(Sample::Interval(i)) => Some(*i),
            _ => None,
        };
        seen.iter().filter_map(interval).collect()
    }

    /// Waits for that many totals of this observer.
    #[track_caller]
    pub fn totals(&self, observer: Observer, count: usize) -> Vec<Interval> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let found = totals(&self.intervals(), observer);
            if found.len() >= count {
                return found;
            }
            assert!(Instant::now() < deadline, "{found:?} {:?}", self.log.lock().unwrap());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits for a line of the log.
    #[track_caller]
    pub fn says(&self, what: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let log = self.log.lock().unwrap().clone();
            if log.iter().any(|line| line.contains(what)) {
                return;
            }
            assert!(Instant::now() < deadline, "no line with `{what}` in {log:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Debian's iperf as a server, printing comma-separated lines.
pub struct Theirs {
    child: Child,
    pub address: SocketAddr,
}

impl Theirs {
    /// Starts iperf's server; `None` where iperf is missing.
    pub fn start(args: &[&str]) -> Option<Self> {
        if !peer("iperf") {
            return None;
        }
        let udp = args.contains(&"-u");
        let port = crate::util::free_port();
        let child = Command::new("iperf")
            .args(["-s", "-B", "127.0.0.1", "-p", &port.to_string(), "-y", "C"])
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("iperf starts");
        wait_for_port(port, udp);
        Some(Self { child, address: ([127, 0, 0, 1], port).into() })
    }

    /// Ends it with SIGINT, so that it prints what it has; its lines, split at commas.
    pub fn lines(mut self) -> Vec<Vec<String>> {
        // Its reporter thread prints a moment after the client has gone.
        std::thread::sleep(Duration::from_millis(800));
        let id = self.child.id().to_string();
        Command::new("kill").args(["-INT", &id]).status().expect("kill");
        let mut out = String::new();
        let mut pipe = self.child.stdout.take().expect("a pipe");
        std::io::Read::read_to_string(&mut pipe, &mut out).expect("text");
        let _ = self.child.wait();
        let split = |line: &str| line.split(',').map(str::to_string).collect();
        out.lines().map(split).filter(|fields: &Vec<String>| fields.len() > 8).collect()
    }
}

impl Drop for Theirs {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until something is bound to the port, by the kernel's own table: a trial connection would
/// be a test to iperf.
#[track_caller]
pub fn wait_for_port(port: u16, udp: bool) {
    let table = if udp { "/proc/net/udp" } else { "/proc/net/tcp" };
    wait_for_entry(table, &format!(":{port:04X} 00000000:0000"));
}

/// Waits until the server at a port of TCP has closed its connections, which it does when it has read all.
#[track_caller]
pub fn wait_for_closed(port: u16) {
    let (port, deadline) = (format!(":{port:04X}"), Instant::now() + PATIENCE);
    // ESTABLISHED, and CLOSE_WAIT.
    let is_open = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        matches!(&fields[..], [_, local, _, "01" | "08", ..] if local.ends_with(&port))
    };
    while std::fs::read_to_string("/proc/net/tcp").is_ok_and(|it| it.lines().any(is_open)) {
        assert!(Instant::now() < deadline, "a connection to {port} stays open");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until a local and a remote address stand in the kernel's table.
#[track_caller]
fn wait_for_entry(table: &str, entry: &str) {
    let deadline = Instant::now() + PATIENCE;
    while !std::fs::read_to_string(table).is_ok_and(|text| text.contains(entry)) {
        assert!(Instant::now() < deadline, "the port did not open: no {entry} in {table}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Runs Debian's iperf as a client to its end; its text.
pub fn their_client(args: &[&str]) -> String {
    let ran = crate::util::Ran::of(Command::new("iperf").args(args).stdin(Stdio::null()));
    format!("{}{}", ran.out, ran.err)
}

#[track_caller]
pub fn close(ours: f64, theirs: f64, tolerance: f64) {
    assert!((ours - theirs).abs() <= tolerance * theirs.abs(), "ours {ours}, theirs {theirs}");
}
