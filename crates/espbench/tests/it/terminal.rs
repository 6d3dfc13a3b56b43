//! Live figures: drawn in place on a terminal, and as plain lines elsewhere.

use crate::pseudo_terminals::open_terminal;
use crate::util::{ChildProcess, PATIENCE, TestDir};
use std::io::Read as _;
use std::os::fd::AsRawFd as _;
use std::process::{Command, ExitStatus};
use std::sync::mpsc;
use std::time::Instant;

/// One second and a half, in one cell.
const PLAN: &str = "name = \"short\"\n[[measure]]\nkind = \"udp-echo\"\nsize = 100\ncount = 150\n\
                    interval = \"10 ms\"\n";

/// Runs a command whose stdout and stderr are a terminal of 100 columns; returns what it wrote there.
fn on_terminal(command: &mut Command) -> String {
    on_columns(command, 100)
}

/// Runs a command whose stdout and stderr are a terminal of so many columns; returns what it wrote there. It must succeed.
pub fn on_columns(command: &mut Command, columns: u16) -> String {
    let (written, status) = ended_on_columns(command, columns);
    assert!(status.success(), "{written}");
    written
}

/// Runs a command whose stdout and stderr are a terminal of so many columns; returns what it wrote there, and its status.
pub fn ended_on_columns(command: &mut Command, columns: u16) -> (String, ExitStatus) {
    let (ours, theirs, _) = open_terminal();
    let size = libc::winsize { ws_row: 30, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the call reads one size.
    let sized = unsafe { libc::ioctl(ours.as_raw_fd(), libc::TIOCSWINSZ, &raw const size) };
    assert_eq!(sized, 0, "{}", std::io::Error::last_os_error());
    command.stdout(theirs.try_clone().unwrap()).stderr(theirs);
    let mut child = command.spawn().unwrap();
    // The command's copies of the other end would keep it open.
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let (told, written) = mpsc::channel();
    std::thread::spawn(move || {
        let (mut ours, mut all, mut some) = (ours, Vec::new(), [0; 4096]);
        // Linux answers EIO once nobody has the other end.
        while let Ok(n @ 1..) = ours.read(&mut some) {
            all.extend_from_slice(&some[..n]);
        }
        let _ = told.send(String::from_utf8_lossy(&all).into_owned());
    });
    let end = Instant::now() + PATIENCE;
    let written = written.recv_timeout(end - Instant::now()).expect("the command ends");
    (written, child.wait().unwrap())
}

/// Returns what was drawn again in place, each time the text between two clearings of a line.
fn drawn(written: &str) -> Vec<&str> {
    written.split("\x1b[K").skip(1).collect()
}

#[test]
fn a_terminal_shows_the_figures_in_place() {
    let bench = TestDir::new();
    bench.write("short.toml", PLAN);
    let run = ["run", "short.toml", "--on", "loopback"];
    let written = on_terminal(bench.command(&run).env("TERM", "xterm"));
    let figures: Vec<&str> = drawn(&written)
        .into_iter()
        .filter(|it| it.contains("p99") && it.contains("of 150"))
        .collect();
    assert!(figures.len() >= 3, "{written:?}");
    for part in ["p50 ", " ms", "lost 0 %"] {
        assert!(figures[2].contains(part), "{part}: {figures:?}");
    }
    assert!(written.contains("s left)"), "{written:?}");
    // The two lines are cleared, upwards, before the answer; and NO_COLOR is set.
    let (before, answer) = written.rsplit_once("\x1b[K").unwrap();
    assert!(before.ends_with("\r\x1b[K\x1b[A\r"), "{before:?}");
    assert!(answer.contains("p90") && !answer.contains(" left)"), "{answer}");
    assert!(!written.split("\x1b[").skip(1).any(|it| it.starts_with(|c: char| c.is_ascii_digit())));
}

#[test]
fn a_pipe_and_a_dumb_terminal_have_plain_lines() {
    let bench = TestDir::new();
    bench.write("short.toml", PLAN);
    let run = ["run", "short.toml", "--on", "loopback"];
    let piped = bench.run(&run);
    let dumb = on_terminal(bench.command(&run).env("TERM", "dumb"));
    for text in [&piped.err, &dumb] {
        assert!(!text.contains('\x1b'), "{text:?}");
        let line = text.lines().find(|it| it.starts_with("[1/1] udp-echo")).unwrap();
        assert!(line.contains("150 delivered, 0 lost, p50 "), "{line}");
        assert!(!text.contains("---"), "no bar: {text}");
    }
    let quiet = on_terminal(bench.command(&[&run[..], &["-q"]].concat()).env("TERM", "xterm"));
    assert!(!quiet.contains("[K"), "{quiet:?}");
}

#[test]
fn lines_of_iperf_stand_above_the_figures() {
    let bench = TestDir::new();
    let server = ["iperf", "-s", "-u", "-p", "0", "-B", "127.0.0.1"];
    let server = ChildProcess::start(&mut bench.command(&server), true);
    let line = server.line("Server listening");
    let port = line.rsplit(' ').next().unwrap().to_owned();
    let client =
        ["iperf", "-c", "127.0.0.1", "-u", "-p", &port, "-t", "2", "-i", "0.5", "-b", "8m"];
    let written = on_terminal(bench.command(&client).env("TERM", "xterm"));
    let status = drawn(&written)
        .into_iter()
        .filter(|it| it.contains("  this host sends ") && it.contains(" Mbit/s"))
        .count();
    assert!(status >= 1, "{written:?}");
    // A line of iperf begins where a status was cleared, and the status comes again below it.
    let lines = drawn(&written);
    let interval = lines.iter().find(|it| it.contains("0.5000-1.0000 sec")).expect("an interval");
    assert!(interval.starts_with('['), "{interval:?}");
    assert!(interval.contains("\r\n#") || interval.contains("\r\n-"), "{interval:?}");
}

#[test]
fn an_answer_fits_a_terminal_of_80_columns() {
    let bench = TestDir::new();
    let plan = PLAN.replace("size = 100", "size = [20, 200, 1000]").replace("150", "20");
    bench.write("short.toml", &plan);
    let run = ["run", "short.toml", "--on", "loopback", "--beside", "--variant", "arduino", "-q"];
    bench.run(&run).ok();
    let suites = ["run", "one-way-latency", "crypto-time", "-q"];
    bench.run(&suites).ok();
    let range = ["predict", "range", "--room", "open", "--distance", "150"];
    for args in [&["report", "short-1"][..], &["report", "short-1-lab"], &["report"], &range] {
        let widest = |columns| {
            let written = on_columns(&mut bench.command(args), columns);
            written.lines().map(|it| it.trim_end().chars().count()).max().unwrap()
        };
        assert!(widest(80) <= 80, "{args:?}: {}", on_columns(&mut bench.command(args), 80));
        assert!(widest(200) <= 96, "{args:?}");
    }
}
