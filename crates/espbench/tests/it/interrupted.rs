//! Ctrl-C at whole commands: each answers with what it has, says that it was cut, and keeps it; the other side tells its
//! rates by port.

use crate::util::{ChildProcess, Ran, TestDir, free_port};
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Runs a command, stops it a second after a line of stderr or stdout has the word, and returns how it ended.
fn interrupted(bench: &TestDir, args: &[&str], word: &str) -> Ran {
    let mut command = bench.command(args);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let out = std::thread::spawn(move || {
        let mut text = String::new();
        out.read_to_string(&mut text).map(|_| text)
    });
    let (mut err, mut lines) = (String::new(), BufReader::new(child.stderr.take().unwrap()));
    while !err.contains(word) {
        assert!(lines.read_line(&mut err).unwrap() > 0, "{args:?}: {err}");
    }
    std::thread::sleep(Duration::from_secs(1));
    Ran::of(Command::new("kill").args(["-INT", &child.id().to_string()])).ok();
    lines.read_to_string(&mut err).unwrap();
    let out = out.join().unwrap().unwrap();
    Ran { status: child.wait().unwrap().code(), out, err }
}

#[test]
fn a_command_that_is_stopped_answers_and_the_other_side_tells_rates_by_port() {
    let bench = TestDir::new();
    let [echo, iperf, sink, mqtt] = [(); 4].map(|()| free_port());
    let ports = [
        format!("--plain-echo-port={echo}"),
        format!("--iperf-port={iperf}"),
        format!("--sink-port={sink}"),
        format!("--mqtt-port={mqtt}"),
    ];
    let args: Vec<&str> = ["respond", "--for", "900 s", "--echo-port=0", "--source-port=0"]
        .into_iter()
        .chain(ports.iter().map(String::as_str))
        .collect();
    let respond = ChildProcess::start(&mut bench.command(&args), true);
    crate::iperf::wait_for_port(sink, false);
    let at = |port: u16| format!("127.0.0.1:{port}");
    let (echo_at, sink_at, mqtt_at) = (at(echo), at(sink), at(mqtt));
    let iperf_port = iperf.to_string();
    let commands: [(&[&str], u16, &str); 4] = [
        (
            &["echo", &echo_at, "--local-port", "0", "-s", "100", "-n", "100000", "-i", "5ms"],
            echo,
            "/s",
        ),
        (&["iperf", "-c", "127.0.0.1", "-p", &iperf_port, "-t", "600"], iperf, "bits/sec"),
        (&["rate", "tcp", &sink_at, "-t", "600"], sink, "Mbit/s"),
        (&["rate", "mqtt", &mqtt_at, "-r", "100", "-t", "600"], mqtt, "/s"),
    ];
    for (args, port, rate) in commands {
        let ran = interrupted(&bench, args, "stored in");
        assert_eq!(ran.status, Some(130), "{args:?}: {ran:?}");
        assert!(ran.out.contains("✗ Stopped after "), "{args:?}: {ran:?}");
        let stored = bench.run(&["report", "last"]).ok();
        assert!(stored.contains("✗ Stopped after "), "{args:?}: {stored}");
        let figures = |text: &str| {
            text.lines().filter(|it| it.starts_with("    ")).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(figures(&stored).last(), figures(&ran.out).last(), "{args:?}: {stored}");
        assert!(bench.run(&["runs"]).ok().contains("stopped"), "{args:?}");
        loop {
            let told = respond.line(&format!(", port {port}: "));
            if told.contains(rate) {
                break;
            }
        }
    }
}

#[test]
fn a_ping_that_is_stopped_prints_the_summary_of_ping() {
    let bench = TestDir::new();
    // Where nobody may send ICMP there is nothing to stop.
    if bench.run(&["ping", "-c", "1", "127.0.0.1"]).status != Some(0) {
        return;
    }
    let ran =
        interrupted(&bench, &["ping", "-c", "100000", "-i", "0.01", "127.0.0.1"], "stored in");
    assert_eq!(ran.status, Some(130), "{ran:?}");
    for text in [ran.out, bench.run(&["report", "last"]).ok()] {
        assert!(
            text.contains("✗ Stopped after ") && text.contains("rtt min/avg/max/mdev"),
            "{text}"
        );
    }
}

#[test]
fn a_prediction_that_is_stopped_says_what_is_whole() {
    let bench = TestDir::new();
    let fleet = ["predict", "fleet", "--devices", "60", "--rooms", "1000"];
    let ran = interrupted(&bench, &fleet, "This takes about");
    assert_eq!(ran.status, Some(130), "{ran:?}");
    assert!(ran.out.lines().nth(1).is_some_and(|it| it.starts_with("  Stopped")), "{ran:?}");
    assert!(ran.out.lines().count() <= 15, "{ran:?}");
}
