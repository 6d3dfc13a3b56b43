//! Every kind of test against peers that say nothing, nonsense, another's words, the same twice, or leave: what gave no usable result
//! does not end with 0, and shows no zero in the place of a figure.

use crate::util::{Ran, TestDir};
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Behaviour of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Takes connections and bytes, and says nothing.
    Silent,
    /// Takes a connection and reads nothing of it.
    Deaf,
    /// Answers with bytes that mean nothing.
    Nonsense,
    /// Sends nonsense as fast as it goes.
    Flood,
    /// Answers with what came, under another number.
    Another,
    /// Closes at once.
    Leaves,
    /// Answers everything twice.
    Twice,
    /// Answers when the test is over.
    Late,
}

use Way::{Another, Deaf, Flood, Late, Leaves, Nonsense, Silent, Twice};

const NONSENSE: [u8; 97] = [0x5A; 97];

/// Starts a peer on one port for UDP and TCP.
fn peer(way: Way) -> SocketAddr {
    loop {
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = udp.local_addr().unwrap();
        let Ok(tcp) = TcpListener::bind(address) else { continue };
        std::thread::spawn(move || answer_datagrams(&udp, way));
        std::thread::spawn(move || {
            while let Ok((stream, _)) = tcp.accept() {
                std::thread::spawn(move || answer_stream(stream, way));
            }
        });
        return address;
    }
}

fn answer_datagrams(socket: &UdpSocket, way: Way) {
    let mut buffer = [0; 65_536];
    let mut before: Vec<u8> = Vec::new();
    while let Ok((length, from)) = socket.recv_from(&mut buffer) {
        let mut reply = buffer[..length].to_vec();
        let count = match way {
            Silent | Deaf | Leaves => 0,
            Nonsense => {
                reply = NONSENSE.to_vec();
                1
            }
            Flood => {
                reply = NONSENSE.to_vec();
                200
            }
            Another => {
                // Numbers and digits differ, whatever the protocol: nothing of it was asked for.
                reply.iter_mut().for_each(|it| *it = it.wrapping_add(1));
                1
            }
            Twice => 2,
            // The answer to what came before.
            Late => {
                std::mem::swap(&mut before, &mut reply);
                std::thread::sleep(Duration::from_millis(300));
                usize::from(!reply.is_empty())
            }
        };
        for _ in 0..count {
            let _ = socket.send_to(&reply, from);
        }
    }
}

fn answer_stream(mut stream: TcpStream, way: Way) {
    let mut buffer = [0; 65_536];
    match way {
        Leaves => return,
        Deaf => std::thread::sleep(Duration::from_secs(600)),
        Flood => while stream.write_all(&NONSENSE).is_ok() {},
        _ => {}
    }
    while let Ok(length @ 1..) = stream.read(&mut buffer) {
        let mut reply = buffer[..length].to_vec();
        let count = match way {
            Nonsense => {
                reply = NONSENSE.to_vec();
                1
            }
            Another => {
                reply.iter_mut().for_each(|it| *it = it.wrapping_add(1));
                1
            }
            Twice => 2,
            Late => {
                std::thread::sleep(Duration::from_secs(2));
                1
            }
            Silent | Deaf | Flood | Leaves => 0,
        };
        for _ in 0..count {
            if stream.write_all(&reply).is_err() {
                return;
            }
        }
    }
}

/// Kinds of tests as commands to ADDRESS, each with the ways that may give a result.
const KINDS: &[(&str, &[Way])] = &[
    // A peer that answers twice has answered.
    ("echo ADDRESS --local-port 0 -n 10 -s 100 -t 100ms", &[Twice]),
    ("echo ADDRESS --local-port 0 -n 10 -s 100 -t 100ms --binary", &[Twice]),
    // Whatever takes bytes while the test goes is a sink.
    ("rate tcp ADDRESS -n 2 --discard 0 -t 200ms --nagle off", &[Silent, Nonsense, Another, Twice]),
    ("rate mqtt ADDRESS -t 300ms --rate 100", &[]),
    ("rate mqtt ADDRESS -t 300ms --rate 100 -Q 1", &[]),
    ("rate mqtt ADDRESS -t 300ms --search 10..100", &[]),
    ("rate mqtt ADDRESS -t 300ms --rate 100 --clients 3", &[]),
    ("rate mqtt ADDRESS -t 300ms --listen --topic t", &[]),
    ("iperf -c 127.0.0.1 -p PORT -t 0.3", &[Silent, Nonsense, Another, Twice]),
    // Any bytes are data to iperf 2, as long as they come.
    ("iperf -c 127.0.0.1 -p PORT -t 1 -R", &[Flood]),
    ("iperf -c 127.0.0.1 -p PORT -t 1 --full-duplex", &[Nonsense, Another, Twice]),
    // One round trip that takes as long as the peer waits.
    ("iperf -c 127.0.0.1 -p PORT -t 0.3 --bounceback", &[Late]),
    // A device that sends no report is one that takes everything: what this host sent is a result, and the report says so.
    (
        "iperf -c 127.0.0.1 -p PORT -t 0.3 -u",
        &[Silent, Deaf, Leaves, Nonsense, Flood, Another, Twice, Late],
    ),
    ("iperf -c 127.0.0.1 -p PORT -t 0.3 -u -R", &[]),
    // Numbered datagrams are a flow, also where they are this host's own.
    ("iperf -c 127.0.0.1 -p PORT -t 0.3 -u --full-duplex", &[Twice, Late]),
    ("iperf -c 127.0.0.1 -p PORT -t 0.3 --latency UDP --latency-idle 200ms", &[Twice]),
];

/// Returns what a run shows as figures of the peer: metric and value.
fn figures(bench: &TestDir) -> Vec<(String, f64)> {
    let ran = bench.run(&["report", "last", "--format", "json"]);
    let Ok(report) = serde_json::from_str::<Value>(&ran.out) else { return Vec::new() };
    let cells = report["cells"].as_array().cloned().unwrap_or_default();
    let measured = cells.iter().filter(|it| it["origin"] == "measured");
    let all =
        measured.filter_map(|it| Some((it["metric"].as_str()?.to_owned(), it["value"].as_f64()?)));
    let is_figure = |metric: &str| {
        ["rtt", "latency", "throughput", "message_rate", "bounce", "response"]
            .iter()
            .any(|it| metric.starts_with(it))
    };
    all.filter(|(metric, _)| is_figure(metric)).collect()
}

#[test]
fn no_peer_makes_a_zero_a_result() {
    let ways = [Silent, Deaf, Nonsense, Flood, Another, Leaves, Twice, Late];
    let cases: Vec<(usize, Way)> =
        (0..KINDS.len()).flat_map(|kind| ways.map(|way| (kind, way))).collect();
    let wrong = std::sync::Mutex::new(Vec::new());
    let (next, results) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some((kind, way)) = cases.get(at) else { return };
                    match check(KINDS[*kind].0, *way, KINDS[*kind].1.contains(way)) {
                        Ok(has_result) => {
                            results.fetch_add(usize::from(has_result), Ordering::Relaxed);
                        }
                        Err(why) => wrong.lock().unwrap().push(why),
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(results.into_inner() > 5, "no peer was good enough");
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// Runs a kind against a peer; returns whether it gave a result.
fn check(words: &str, way: Way, may: bool) -> Result<bool, String> {
    let bench = TestDir::new();
    let address = peer(way);
    let (port, address) = (address.port().to_string(), address.to_string());
    let udp = format!("udp:{port}");
    let words: Vec<&str> = words
        .split(' ')
        .map(|it| match it {
            "ADDRESS" => address.as_str(),
            "PORT" => port.as_str(),
            "UDP" => udp.as_str(),
            other => other,
        })
        .collect();
    let ran: Ran = bench.run(&words);
    let figures = figures(&bench);
    let told = |why: &str| {
        let Ran { status, out, err } = &ran;
        Err(format!(
            "--- {way:?}, {}: {why}; status {status:?}\n{out}\n{err}\n{figures:?}",
            words.join(" ")
        ))
    };
    if ran.err.contains("panicked") {
        return told("it panicked");
    }
    if figures.iter().any(|(metric, value)| *value == 0.0 && !metric.ends_with("_jitter")) {
        return told("a zero is a figure");
    }
    match ran.status {
        Some(0) if !may => told("it had no result"),
        Some(0) if figures.is_empty() => told("no figure, and status 0"),
        // On a busy machine a peer may be too late.
        Some(status @ (0 | 2)) => Ok(status == 0),
        _ => told("another status"),
    }
}
