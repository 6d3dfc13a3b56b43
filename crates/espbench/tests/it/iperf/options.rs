//! Options of iperf 2.1.8 as whole commands, our client with Debian's server and Debian's client with
//! ours: the figures that both ends print.

use super::wait_for_port;
use crate::util::{ChildProcess, Ran, TestDir, free_port, peer};
#[cfg(target_os = "linux")]
use std::os::unix::fs::MetadataExt as _;
use std::process::{Child, Command, Stdio};

/// A line of either end with a transfer and a rate.
#[derive(Clone, Debug, PartialEq)]
struct Line {
    /// `1`, `*1`, `SUM`.
    id: String,
    start: f64,
    end: f64,
    transfer: String,
    rate: String,
    /// Words behind the rate.
    rest: Vec<String>,
}

impl Line {
    /// Parses `[  1] 0.0000-1.0000 sec  2.00 MBytes  16.8 Mbits/sec  …`.
    fn of(text: &str) -> Option<Self> {
        let (id, text) = text.strip_prefix('[')?.split_once(']')?;
        let (span, text) = text.trim().split_once(" sec ")?;
        let (start, end) = span.split_once('-')?;
        let mut words = text.split_whitespace().map(str::to_string);
        let transfer = format!("{} {}", words.next()?, words.next()?);
        let rate = format!("{} {}", words.next()?, words.next()?);
        rate.ends_with("/sec").then_some(())?;
        Some(Self {
            id: id.trim().into(),
            start: start.trim().parse().ok()?,
            end: end.trim().parse().ok()?,
            transfer,
            rate,
            rest: words.collect(),
        })
    }

    fn all(text: &str) -> Vec<Self> {
        text.lines().filter_map(Self::of).collect()
    }

    /// Returns the bytes of the transfer as printed.
    fn bytes(&self) -> f64 {
        let (number, unit) = self.transfer.split_once(' ').unwrap();
        let power = ["Bytes", "KBytes", "MBytes", "GBytes"].iter().position(|u| *u == unit);
        number.parse::<f64>().unwrap() * 1024f64.powi(power.unwrap() as i32)
    }

    /// Returns the first four figures with slashes between, such as `0.023/0.006/1.853/0.097`.
    fn four(&self) -> Option<[f64; 4]> {
        self.rest.iter().find_map(|word| {
            let word = word.split_once('=').map_or(word.as_str(), |(_, figures)| figures);
            let figures: Vec<f64> = word.split('/').filter_map(|n| n.parse().ok()).collect();
            <[f64; 4]>::try_from(figures).ok()
        })
    }
}

/// Returns the lines of the whole streams: they begin at zero and are the last of their number.
fn totals(text: &str) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for line in Line::all(text).into_iter().filter(|line| line.start == 0.0) {
        match lines.iter_mut().find(|known| known.id == line.id && known.end <= line.end) {
            Some(known) => *known = line,
            None => lines.push(line),
        }
    }
    lines
}

/// Returns the line behind `Server Report:`.
fn server_report(text: &str) -> Line {
    let (_, report) = text.split_once("Server Report:").unwrap_or_else(|| panic!("{text}"));
    Line::all(report).swap_remove(0)
}

/// Debian's server, as it prints for people.
struct TheirServer {
    child: Child,
    port: String,
}

impl TheirServer {
    fn start(args: &[&str]) -> Option<Self> {
        if !peer("iperf") {
            return None;
        }
        let port = free_port();
        let child = Command::new("iperf")
            .args(["-s", "-p", &port.to_string()])
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("iperf starts");
        wait_for_port(port, args.contains(&"-u"));
        Some(Self { child, port: port.to_string() })
    }

    /// Ends the server and returns its text.
    fn text(mut self) -> String {
        // Its reporter thread prints a moment after the client has gone, and loses nothing at SIGINT.
        std::thread::sleep(std::time::Duration::from_millis(1200));
        let id = self.child.id().to_string();
        Command::new("kill").args(["-INT", &id]).status().expect("kill");
        let mut out = String::new();
        let mut pipe = self.child.stdout.take().expect("a pipe");
        std::io::Read::read_to_string(&mut pipe, &mut out).expect("text");
        let _ = self.child.wait();
        out
    }
}

impl Drop for TheirServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs our client; returns its live lines, without the report behind.
fn our_client(bench: &TestDir, port: &str, args: &[&str]) -> String {
    let all = [&["iperf", "-c", "127.0.0.1", "-p", port], args].concat();
    let out = bench.run(&all).ok();
    out.split("espbench report:").next().unwrap_or_default().to_string()
}

/// Runs our server for one client's run; returns both texts, ours first. Ours is read up to the
/// line that holds `until`.
fn our_server(args: &[&str], client: &[&str], until: &[&str]) -> Option<(Vec<String>, String)> {
    if !peer("iperf") {
        return None;
    }
    let bench = TestDir::new();
    let port = free_port();
    let port_text = port.to_string();
    let all = [&["iperf", "-s", "-B", "127.0.0.1", "-p", &port_text], args].concat();
    let server = ChildProcess::start(&mut bench.command(&all), false);
    wait_for_port(port, args.contains(&"-u"));
    let all = [&["-c", "127.0.0.1", "-p", &port_text], client].concat();
    let theirs = Ran::of(Command::new("iperf").args(&all).stdin(Stdio::null()));
    let ours = until.iter().map(|what| server.line(what)).collect();
    Some((ours, format!("{}{}", theirs.out, theirs.err)))
}

#[track_caller]
fn within(ours: f64, theirs: f64, share: f64) {
    assert!((ours - theirs).abs() <= share * theirs.abs(), "ours {ours}, theirs {theirs}");
}

/// As printed with three digits, of the same bytes: what a rounding apart may be.
const PRINTED: f64 = 0.005;

#[test]
fn udp_latency_of_our_client_is_what_their_server_prints() {
    let Some(server) = TheirServer::start(&["-u", "-e"]) else { return };
    let bench = TestDir::new();
    let args = ["-u", "-b", "4m", "-t", "1", "--trip-times"];
    let ours = server_report(&our_client(&bench, &server.port, &args));
    let theirs = totals(&server.text()).swap_remove(0);
    // Its report has whole microseconds, cut and not rounded: what it prints as 4.010 ms may come as 4009 us.
    let (our_four, their_four) = (ours.four().unwrap(), theirs.four().unwrap());
    for (our, their) in our_four.into_iter().zip(their_four) {
        assert!((-1e-9..0.001 + 1e-9).contains(&(their - our)), "{our_four:?}, {their_four:?}");
    }
    assert!(theirs.four().is_some_and(|four| four[0] > 0.0 && four[2] >= four[0]));
    assert_eq!((&ours.transfer, &ours.rate), (&theirs.transfer, &theirs.rate));
}

#[test]
fn udp_latency_of_their_client_is_what_our_server_prints() {
    for (ours, theirs) in
        [(&[][..], &["--trip-times"][..]), (&["-e"], &["-e"]), (&[], &["--trip-times", "-l", "20"])]
    {
        let client = [&["-u", "-b", "400k", "-t", "1"], theirs].concat();
        let Some((lines, text)) = our_server(ours, &client, &["0.0000-"]) else { return };
        let (ours, theirs) = (Line::of(&lines[0]).unwrap(), server_report(&text));
        let (our_four, their_four) = (ours.four().unwrap(), theirs.four().unwrap());
        for (our, their) in our_four.into_iter().zip(their_four) {
            // The report's fields are whole microseconds; a time below zero is not one.
            assert!((our.max(0.0) - their).abs() < 0.0015, "{ours:?}\n{theirs:?}");
        }
        assert_eq!(ours.transfer, theirs.transfer);
    }
}

/// The review's D7: Debian's client printed "0-953145618 s" with our server.
#[test]
fn trip_times_with_a_server_that_sends() {
    let cases: [(&[&str], &[&str]); 4] = [
        (&["-R"], &["-b", "8m"]),
        (&["-R"], &["-u", "-b", "2m"]),
        (&["--full-duplex"], &["-b", "8m"]),
        (&["--full-duplex"], &["-u", "-b", "2m"]),
    ];
    for (way, how) in cases {
        let client = [way, how, &["-t", "1", "--trip-times"]].concat();
        let Some((_, text)) = our_server(&[], &client, &["0.0000-"]) else { return };
        let lines = Line::all(&text);
        assert!(!lines.is_empty() && lines.iter().all(|l| l.end < 60.0), "{client:?}\n{text}");
        let latency: Vec<[f64; 4]> = lines.iter().filter_map(Line::four).collect();
        assert!(!latency.is_empty(), "{client:?}\n{text}");
        // Milliseconds on loopback; a busy machine may have seconds, no clock has years.
        assert!(latency.iter().all(|four| four[0].abs() < 60_000.0), "{client:?}\n{text}");
    }
}

#[test]
fn our_client_times_one_way_with_their_server() {
    let cases: [&[&str]; 5] = [
        &["-R", "-b", "8m"],
        &["-R", "-u", "-b", "2m"],
        &["--full-duplex", "-b", "8m"],
        &["-d", "-b", "8m"],
        &["-b", "8m"],
    ];
    for way in cases {
        let server: &[&str] = if way.contains(&"-u") { &["-u", "-e"] } else { &["-e"] };
        let Some(server) = TheirServer::start(server) else { return };
        let bench = TestDir::new();
        let args = [way, &["-t", "1", "--trip-times"]].concat();
        let (ours, theirs) = (our_client(&bench, &server.port, &args), server.text());
        let receiver = if way == ["-b", "8m"] { &theirs } else { &ours };
        let timed = totals(receiver).into_iter().find(|line| line.four().is_some());
        let timed = timed.unwrap_or_else(|| panic!("{args:?}\n{ours}\n{theirs}"));
        let sender = if way == ["-b", "8m"] { &ours } else { &theirs };
        // What the receiver counts is what some stream of the sender did.
        let sent = totals(sender).into_iter().map(|line| line.bytes());
        let near = sent.map(|b| (b - timed.bytes()).abs() / b).fold(f64::MAX, f64::min);
        assert!(near < PRINTED, "{args:?}\n{ours}\n{theirs}");
        assert!(timed.end < 60.0 && timed.four().unwrap()[0] < 60_000.0);
    }
}

#[test]
fn each_unit_is_printed_as_they_print_it() {
    let Some(server) = TheirServer::start(&[]) else { return };
    let bench = TestDir::new();
    for letter in ["b", "k", "m", "g", "a", "B", "K", "M", "G", "A"] {
        let args = ["-n", "3m", "-i", "10", "-f", letter];
        let ours = totals(&our_client(&bench, &server.port, &args)).swap_remove(0);
        let all = [&["-c", "127.0.0.1", "-p", &server.port], &args[..]].concat();
        let theirs = Ran::of(Command::new("iperf").args(all).stdin(Stdio::null()));
        let theirs = totals(&theirs.out).swap_remove(0);
        assert_eq!(ours.transfer, theirs.transfer, "-f {letter}");
        if !letter.eq_ignore_ascii_case("a") {
            let unit = |line: &Line| line.rate.split(' ').next_back().map(str::to_string);
            assert_eq!(unit(&ours), unit(&theirs), "-f {letter}");
        }
    }
}

#[test]
fn enhanced_columns_of_both_ends() {
    // Client: writes, retransmits, window and round trip; its writes are what it wrote.
    let Some(server) = TheirServer::start(&["-e"]) else { return };
    let bench = TestDir::new();
    let args = ["-e", "-n", "1310720", "-l", "131072", "-S", "ef", "-M", "1000", "-Z", "reno"];
    let text = our_client(&bench, &server.port, &args);
    assert!(text.contains("Write/Err  Rtry     Cwnd/RTT(var)        NetPwr"), "{text}");
    let ours = totals(&text).swap_remove(0);
    // The first write is cut short by what the header took.
    assert!(ours.rest[0] == "10/0" || ours.rest[0] == "9/0", "{ours:?}");
    let theirs = server.text();
    assert!(theirs.contains("tos rx=0xb8") && theirs.contains("mss/irtt="), "{theirs}");
    assert_eq!(totals(&theirs)[0].transfer, ours.transfer);
    let mss = theirs.split("irtt=").nth(1).and_then(|t| t.split('/').nth(1)).unwrap();
    assert!(mss.parse::<u32>().is_ok_and(|mss| mss <= 1000), "{theirs}");
    // Server: reads, and how large they were.
    let client = ["-n", "1310720", "-l", "131072"];
    let Some((lines, text)) = our_server(&["-e"], &client, &["Reads=Dist", "0.0000-"]) else {
        return;
    };
    let ours = Line::of(&lines[1]).unwrap();
    let (reads, classes) = ours.rest[0].split_once('=').unwrap();
    let classes: Vec<u32> = classes.split(':').map(|n| n.parse().unwrap()).collect();
    assert_eq!((classes.len(), classes.iter().sum::<u32>().to_string()), (8, reads.to_string()));
    assert_eq!(ours.transfer, totals(&text)[0].transfer);
    // Datagrams: writes and rate; their server counts as many.
    let Some(server) = TheirServer::start(&["-u", "-e"]) else { return };
    let text = our_client(&bench, &server.port, &["-u", "-e", "-b", "2m", "-n", "147000"]);
    assert!(text.contains("Write/Err  PPS"), "{text}");
    assert!(totals(&text)[0].rest[0].starts_with("101/"), "100 and the last one: {text}");
    assert!(totals(&server.text())[0].rest.join(" ").contains("0/101"), "{text}");
}

#[test]
fn an_unknown_congestion_control_is_answered_with_those_of_the_kernel() {
    let bench = TestDir::new();
    for role in [&["-c", "127.0.0.1"][..], &["-s"]] {
        let ran = bench.run(&[&["iperf"], role, &["-Z", "vegan"]].concat());
        assert_eq!(ran.status, Some(2), "{ran:?}");
        assert!(ran.err.contains("no congestion control `vegan`"), "{}", ran.err);
        assert!(ran.err.contains("reno"), "{}", ran.err);
    }
}

/// Each congestion control of the kernel, for a user without privileges: those that it allows are taken,
/// and the others are refused before anything is measured.
#[cfg(target_os = "linux")]
#[test]
fn a_congestion_control_that_the_kernel_does_not_permit_is_refused() {
    let list = |what: &str| -> Vec<String> {
        let path = format!("/proc/sys/net/ipv4/tcp_{what}_congestion_control");
        let text = std::fs::read_to_string(path).expect("the kernel's list");
        text.split_whitespace().map(str::to_owned).collect()
    };
    let (available, allowed) = (list("available"), list("allowed"));
    assert!(!available.is_empty() && !allowed.is_empty());
    let bench = TestDir::new();
    let nobody = free_port().to_string();
    for name in &available {
        let args = ["iperf", "-c", "127.0.0.1", "-p", &nobody, "-t", "1", "-Z", name];
        let inner = bench.command(&args);
        // Root may set any; without CAP_NET_ADMIN it may not.
        let mut command = Command::new("setpriv");
        command.args(["--inh-caps=-net_admin", "--bounding-set=-net_admin"]);
        command.arg(inner.get_program()).args(inner.get_args());
        command.envs(inner.get_envs().filter_map(|(key, value)| Some((key, value?))));
        let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
        let ran = if is_root { Ran::of(&mut command) } else { bench.run(&args) };
        assert_eq!(ran.status, Some(2), "{ran:?}");
        let refusal = format!("does not let this user set the congestion control `{name}`");
        assert_eq!(ran.err.contains(&refusal), !allowed.contains(name), "{}", ran.err);
        if !allowed.contains(name) {
            assert!(ran.err.contains(&format!("it allows {}", allowed.join(", "))), "{}", ran.err);
            assert!(!ran.err.contains("stored as"), "{}", ran.err);
        }
    }
}

#[test]
fn rows_have_their_fields_and_their_bytes() {
    let Some(server) = TheirServer::start(&["-y", "C"]) else { return };
    let bench = TestDir::new();
    let args = ["-b", "8m", "-t", "1", "-i", "0.5", "-P", "2", "-y", "C"];
    let ours = our_client(&bench, &server.port, &args);
    let theirs = server.text();
    let totals = |text: &str| {
        let rows = text.lines().map(|row| row.split(',').map(str::to_string).collect::<Vec<_>>());
        let rows = rows.filter(|row| row.len() >= 9 && row[6].starts_with("0.0-"));
        let mut rows: Vec<Vec<String>> = rows.collect();
        // Of each port the row that ends last.
        rows.reverse();
        rows.sort_by(|a, b| a[2].cmp(&b[2]));
        rows.dedup_by(|a, b| a[2] == b[2]);
        rows
    };
    let (ours, theirs) = (totals(&ours), totals(&theirs));
    assert_eq!((ours.len(), theirs.len()), (2, 2), "{ours:?} {theirs:?}");
    for (our, their) in ours.iter().zip(&theirs) {
        assert_eq!(our.len(), 9);
        // Addresses and ports of sender and receiver, and the bytes.
        assert_eq!((&our[1..5], &our[7]), (&their[1..5], &their[7]));
        assert!(our[0].len() == 14 && our[0].starts_with("20"));
    }
    // Our server, their client, datagrams: fourteen fields, as many datagrams as they sent.
    let client = ["-u", "-b", "1m", "-n", "147000", "-y", "C"];
    let Some((lines, _)) = our_server(&["-u", "-y", "C"], &client, &[",0.0-"]) else { return };
    let row: Vec<&str> = lines[0].split(',').collect();
    assert_eq!((row.len(), row[7], row[10]), (14, "148470", "0"), "{row:?}");
}

#[test]
fn a_server_sums_up_the_streams_of_a_client() {
    let client = ["-b", "4m", "-t", "1", "-P", "3"];
    let Some((lines, text)) = our_server(&[], &client, &["[SUM]"]) else { return };
    let ours = Line::of(&lines[0]).unwrap();
    let theirs = totals(&text).into_iter().find(|line| line.id == "SUM").unwrap();
    within(ours.bytes(), theirs.bytes(), PRINTED);
    let client = ["-u", "-b", "1m", "-n", "29400", "-P", "2"];
    let Some((lines, text)) = our_server(&["-u"], &client, &["[SUM]"]) else { return };
    // Twenty datagrams and the last one, of each.
    assert!(lines[0].contains("0/42"), "{lines:?}\n{text}");
}

#[test]
fn bounceback_with_their_server() {
    let Some(server) = TheirServer::start(&[]) else { return };
    let bench = TestDir::new();
    let args = [
        "--bounceback=5",
        "--bounceback-period",
        "0.2",
        "--bounceback-hold",
        "2",
        "-t",
        "1",
        "-l",
        "200",
    ];
    let text = our_client(&bench, &server.port, &args);
    let ours = totals(&text).swap_remove(0);
    let count: u64 = ours.rest[0].split('=').next().unwrap().parse().unwrap();
    let four = ours.four().unwrap();
    assert!(four[1] >= 2.0 && four[0] >= four[1] && four[2] >= four[0], "{text}");
    // Request and reply, 200 bytes each; both ends count both.
    assert!(count >= 5 && count.is_multiple_of(5), "{text}");
    within(ours.bytes(), 400.0 * count as f64, PRINTED);
    let theirs = totals(&server.text()).swap_remove(0);
    within(ours.bytes(), theirs.bytes(), PRINTED);
    let report = bench.run(&["report", "iperf-1", "--format", "json"]).ok();
    assert!(report.contains("rtt_p99") && report.contains("requests_rate"), "{report}");
}

#[test]
fn bounceback_with_their_client() {
    let client = [
        "--bounceback=5",
        "--bounceback-period=0.2",
        "--bounceback-hold",
        "2",
        "-t",
        "1",
        "-i",
        "1",
        "--trip-times",
        "-S",
        "ef",
    ];
    let Some((lines, text)) = our_server(&[], &client, &["0.0000-"]) else { return };
    let theirs = totals(&text);
    let theirs = theirs.iter().find(|line| line.rest.iter().any(|w| w.contains('='))).unwrap();
    let four = theirs.four().unwrap();
    assert!(four[1] >= 2.0 && four[0] < 60_000.0, "{text}");
    // Their timer ends the test; a request that is under way then is counted by the server alone.
    let more = Line::of(&lines[0]).unwrap().bytes() - theirs.bytes();
    assert!((-30.0..=230.0).contains(&more), "{lines:?}\n{text}");
    // The two ways that it tells apart: neither is below zero, and both together are no more than all.
    let (_, ways) = text.split_once("OWD Delays").unwrap();
    assert!(!ways.lines().next().unwrap().contains("=-"), "{text}");
}

#[test]
fn what_is_not_carried_out_is_said() {
    let bench = TestDir::new();
    for (args, why) in [
        (&["--isochronous=60:10m"][..], "--isochronous is not carried out"),
        (&["--permit-key=abcd"], "--permit-key is not carried out"),
        (&["--bounceback", "--bounceback-request", "5"], "iperf 2.1.8 does not know them"),
        (&["--bounceback", "-u"], "over TCP"),
        (&["-u", "--trip-times", "-R", "-l", "100"], "128 bytes"),
        (&["-S", "gold"], "af11"),
    ] {
        let ran = bench.run(&[&["iperf", "-c", "127.0.0.1"], args].concat());
        assert_eq!(ran.status, Some(2), "{args:?} {ran:?}");
        assert!(ran.err.contains(why), "{args:?}: {}", ran.err);
    }
    if !peer("iperf") {
        return;
    }
    let server = super::Server::start();
    let port = server.port();
    for (args, says) in [
        (&["--isochronous=10:1m,0"][..], "--isochronous, which is not served here: closed"),
        (&["-u", "--isochronous=10:1m,0"], "--isochronous, which is not served here: not counted"),
        (&["--burst-period=0.1"], "--burst-period, which is not served here: closed"),
    ] {
        let all = [&["-c", "127.0.0.1", "-t", "1", "-p", &port], args].concat();
        // A client of 2.1.8 that sends frames does not always end when its connection is closed.
        let client =
            ChildProcess::start(Command::new("iperf").args(all).stdin(Stdio::null()), true);
        server.says(says);
        drop(client);
    }
    assert!(server.intervals().is_empty(), "nothing of it is a result");
}
