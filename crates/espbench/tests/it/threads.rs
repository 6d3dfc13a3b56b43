//! Threads that cannot be had: a command ends with an error, a server turns one client away, and nothing panics.

use crate::untrusted::sources;
use crate::util::{ChildProcess, PATIENCE, Ran, TestDir, free_port};
use std::io::Read as _;
use std::net::TcpStream;
use std::process::Command;

const PLAN: &str = "name = \"a\"\n[[measure]]\nkind = \"udp-echo\"\nsize = 20\ncount = 3\n\
                    [[measure]]\nkind = \"iperf\"\ndirection = \"full-duplex\"\nparallel = 2\ntime = \"20 ms\"\n\
                    interval = \"10 ms\"\n";

/// Returns a command in whose memory there is room for so many threads: each asks for a stack of 2 GB, which nothing fills.
fn with_threads(bench: &TestDir, threads: u64, words: &[&str]) -> Command {
    const STACK: u64 = 2 << 30;
    // In kilobytes: what the command has without them, and beside each stack the heap of its thread.
    let room = 1_500_000 + threads * ((STACK >> 10) + 140_000);
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("ulimit -v {room}; exec \"$0\" \"$@\"")])
        .arg(env!("CARGO_BIN_EXE_espbench"))
        .args(words)
        .current_dir(bench.dir.path())
        .env("ESPBENCH_STORE", bench.store())
        .env("RUST_MIN_STACK", STACK.to_string())
        .env("NO_COLOR", "1")
        .stdin(std::process::Stdio::null());
    command
}

/// Commands of which each starts threads for something else.
const COMMANDS: [&[&str]; 8] = [
    &["run", "plan.toml", "--on", "loopback", "-q"],
    &["run", "plan.toml", "--on", "loopback", "-q", "--format", "jsonl"],
    &["run", "plan.toml", "--on", "loopback", "-q", "--openmetrics", "figures.prom"],
    &["run", "plan.toml", "--on", "loopback", "-q", "--openmetrics", ":0"],
    &["run", "crypto-time", "-q"],
    &["predict", "fleet", "--devices", "3", "--every", "5s", "--messages", "100", "--rooms", "2"],
    &["live", "--pty", "--lab", "two-boards", "--control", "c.sock", "--for", "1s"],
    &["mcp"],
];

#[test]
fn a_command_without_a_thread_to_spare_ends_with_an_error() {
    let bench = TestDir::new();
    bench.write("plan.toml", PLAN);
    let mut failed = 0;
    let is_built = |words: &&[&str]| cfg!(feature = "mcp") || words[0] != "mcp";
    for words in COMMANDS.into_iter().filter(is_built) {
        for threads in 0..7 {
            let ran = Ran::of(&mut with_threads(&bench, threads, words));
            let what = format!("{words:?}, {threads} threads: {ran:?}");
            assert!(matches!(ran.status, Some(0..=2)), "{what}");
            assert!(!ran.err.contains("panicked"), "{what}");
            // What there was no thread for: Ctrl-C, a socket's other side, a cell. An MCP client says nothing.
            let told = ["thread", "temporarily unavailable", "Ctrl-C", "initialize request"];
            let is_told = told.iter().any(|it| ran.err.contains(it));
            assert!(ran.status != Some(2) || is_told, "{what}");
            failed += usize::from(is_told);
        }
    }
    assert!(failed >= 8, "{failed}");
}

/// Tries each number of threads that a server may have: either it says that it cannot serve and ends with 2, or it serves on
/// whatever its clients ask for.
#[test]
fn a_server_without_a_thread_to_spare_turns_a_client_away() {
    let bench = TestDir::new();
    let (mut ended, mut turned_away) = (0, 0);
    for threads in 0..14 {
        let port = free_port();
        let iperf = format!("--iperf-port={port}");
        let others =
            ["echo", "plain-echo", "sink", "source", "mqtt"].map(|it| format!("--{it}-port=0"));
        let words: Vec<&str> =
            ["respond", &iperf].into_iter().chain(others.iter().map(String::as_str)).collect();
        let mut server = ChildProcess::start(&mut with_threads(&bench, threads, &words), true);
        // It prints a line for each service that it leaves out; without any it ends.
        let connect = || TcpStream::connect(("127.0.0.1", port));
        let deadline = std::time::Instant::now() + PATIENCE;
        let first = loop {
            match (connect(), server.status()) {
                (Ok(client), _) => break Some(client),
                (Err(_), Some(status)) => {
                    assert_eq!(status.code(), Some(2), "{threads} threads");
                    break None;
                }
                _ => assert!(std::time::Instant::now() < deadline, "{threads} threads"),
            }
            if server.has_said("--iperf-port") {
                break None;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        };
        let Some(first) = first else {
            ended += 1;
            continue;
        };
        let mut clients = vec![first];
        clients.extend((0..12).map_while(|_| connect().ok()));
        assert_eq!(clients.len(), 13, "{threads} threads");
        // One for whom there is no thread reads the end; one that is served waits.
        for client in &mut clients {
            client.set_read_timeout(Some(std::time::Duration::from_millis(50))).unwrap();
            turned_away += usize::from(matches!(client.read(&mut [0; 1]), Ok(0)));
        }
        server.must_run();
    }
    assert!(ended > 0 && turned_away > 0, "{ended} {turned_away}");
}

/// Threads are started by what returns an error: `spawn` of the standard library panics.
#[test]
fn no_thread_is_started_by_what_panics() {
    let panics = ["thread::spawn(", "scope.spawn("];
    let found: Vec<String> = sources()
        .into_iter()
        .filter(|(_, text)| panics.iter().any(|it| text.contains(it)))
        .map(|(name, _)| name)
        .collect();
    assert!(found.is_empty(), "{found:?}");
}
