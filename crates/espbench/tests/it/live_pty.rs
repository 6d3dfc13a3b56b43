//! `espbench live --pty`: simulated boards in real time, with programs at their consoles.
#![cfg(unix)]

use crate::util::{ChildProcess, TestDir, processor_ticks};
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Bounds a wait for what a device prints within seconds; a busy machine may take longer.
const PATIENCE: Duration = Duration::from_secs(120);

/// A lab that runs, and what it has said of its devices.
pub struct LiveProcess {
    pub process: ChildProcess,
    pub devices: Vec<Value>,
}

impl LiveProcess {
    /// Starts `espbench live --pty`, and waits until it is ready.
    pub fn start(dir: &TestDir, args: &[&str]) -> Self {
        // A busy machine may stop a fleet for long; no test depends on that.
        let mut all = vec!["live", "--format", "json", "--pty", "--late-most", "1 h"];
        all.extend(args);
        let process = ChildProcess::start(&mut dir.command(&all), false);
        let mut devices = Vec::new();
        loop {
            let line: Value = serde_json::from_str(&process.line("{")).expect("a line of JSON");
            match line["type"].as_str() {
                Some("device") => devices.push(line),
                Some("ready") => break,
                _ => panic!("{line}"),
            }
        }
        Self { process, devices }
    }

    pub fn port(&self, device: usize) -> PathBuf {
        PathBuf::from(self.devices[device]["port"].as_str().unwrap())
    }

    /// Ends it as Ctrl-C does, and returns its counts.
    pub fn interrupt(mut self) -> Value {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        let end = serde_json::from_str(&self.process.line(r#""type":"end""#)).unwrap();
        assert_eq!(self.process.wait(), Some(0));
        end
    }
}

/// A program at a console.
pub struct Client {
    file: File,
    pub text: String,
}

impl Client {
    pub fn open(path: &Path) -> Self {
        let mut options = OpenOptions::new();
        // O_NONBLOCK and O_NOCTTY, whose numbers differ by system, are what the command's crate has.
        options.read(true).write(true).custom_flags(libc::O_NOCTTY | libc::O_NONBLOCK);
        let file = options.open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Self { file, text: String::new() }
    }

    /// Reads until the text is there; `None` if the terminal ends before.
    pub fn read_until(&mut self, wanted: &str) -> Option<()> {
        let found = self.read_for(wanted, PATIENCE)?;
        assert!(found, "no `{wanted}` in\n{}", self.text);
        Some(())
    }

    /// Reads until the text is there, or that time has passed; `None` if the terminal ends before.
    fn read_for(&mut self, wanted: &str, most: Duration) -> Option<bool> {
        let deadline = Instant::now() + most;
        let mut bytes = [0; 4096];
        while !self.text.contains(wanted) {
            if Instant::now() > deadline {
                return Some(false);
            }
            match self.file.read(&mut bytes) {
                Ok(0) => return None,
                Ok(read) => self.text.push_str(&String::from_utf8_lossy(&bytes[..read])),
                Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                Err(_) => return None,
            }
        }
        Some(true)
    }

    /// Presses return until there is a prompt: a board takes a moment to start.
    pub fn prompt(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        while !self.text.contains("> ") {
            assert!(Instant::now() < deadline, "no prompt in\n{}", self.text);
            self.file.write_all(b"\r").unwrap();
            std::thread::sleep(Duration::from_millis(200));
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = self.file.read(&mut bytes) {
                self.text.push_str(&String::from_utf8_lossy(&bytes[..read]));
            }
        }
    }

    /// Types a command, and its carriage return when the echo has come and no key could be taken for
    /// pasted text.
    pub fn command(&mut self, text: &str) {
        self.text.clear();
        self.file.write_all(text.as_bytes()).unwrap();
        // The first character is drawn with the line, and those that follow at once as they are. A line of
        // another device may come between.
        self.read_for(&text[1..], Duration::from_secs(1)).expect("a terminal");
        std::thread::sleep(Duration::from_millis(100));
        self.file.write_all(b"\r").unwrap();
    }
}

#[test]
fn boards_talk_to_each_other_as_programs_tell_them_to() {
    let dir = TestDir::new();
    let links = dir.path("boards");
    let live = LiveProcess::start(&dir, &["--answer-cursor", "--link", "boards"]);
    let words = |key| live.devices.iter().map(move |it| it[key].as_str().unwrap().to_string());
    assert_eq!(words("role").collect::<Vec<_>>(), ["initiator", "responder"]);
    assert_eq!(words("address").collect::<Vec<_>>(), ["24:0a:c4:00:00:01", "24:0a:c4:00:00:02"]);
    assert_eq!(std::fs::read_link(links.join("node1")).unwrap(), live.port(1));
    let mut responder = Client::open(&links.join("node1"));
    responder.prompt();
    responder.command("espnow_iperf -s");
    responder.read_until("listening").unwrap();
    let mut initiator = Client::open(&links.join("node0"));
    let begun = Instant::now();
    initiator.command("espnow_iperf -c 24:0a:c4:00:00:02 -p -C 100");
    initiator.read_until("100 packets transmitted").unwrap();
    assert!(begun.elapsed() > Duration::from_millis(500), "a hundred round trips of 7 ms");
    // A device restarts at the word of its console, and prints at the line's rate: 11,520 bytes a second.
    initiator.command("restart");
    initiator.read_until("esp-now Version").unwrap();
    initiator.read_until("> ").unwrap();
    let begun = Instant::now();
    initiator.command("help");
    initiator.read_until("sec_test").unwrap();
    let least = Duration::from_secs_f64((initiator.text.len() - 100) as f64 / 11_520.0);
    assert!(begun.elapsed() >= least, "{:?} for {} bytes", begun.elapsed(), initiator.text.len());
    drop((initiator, responder));
    live.process.line(r#""type":"closed""#);
    let end = live.interrupt();
    assert!(!links.exists(), "links and folder are gone");
    let [first, second] = &end["devices"].as_array().unwrap()[..] else { panic!("{end}") };
    assert_eq!((&first["opened"], &second["opened"]), (&1.into(), &1.into()), "{end}");
    for device in [first, second] {
        let count = |key: &str| device[key].as_u64().unwrap();
        assert_eq!((count("typed_lost"), count("overrun")), (0, 0), "{end}");
        assert!(count("written") > 500 && count("typed") > count("typed_off"), "{end}");
        assert_eq!(count("printed"), count("written") + count("unheard"), "{end}");
    }
    let behind = [&end["behind_times"], &end["behind_longest_ms"], &end["behind_given_up_s"]];
    assert!(behind.iter().all(|it| it.is_number()), "{end}");
}

/// As pyserial does: it answers no cursor query, and writes a command and its return at once.
#[test]
fn a_program_that_is_no_terminal_types_commands_in_one_write() {
    let dir = TestDir::new();
    let live = LiveProcess::start(&dir, &[]);
    let mut program = Client::open(&live.port(1));
    program.file.write_all(b"help\r").unwrap();
    let told: Value = serde_json::from_str(&live.process.line(r#""type":"unanswered""#)).unwrap();
    // The return is typed after the text, and may find the console at work.
    assert_eq!(told["device"], "node1");
    assert!(told["typed_off"].as_u64() >= Some(4), "{told}");
    program.prompt();
    for command in ["help", "version", "help"] {
        program.text.clear();
        program.file.write_all(format!("{command}\r").as_bytes()).unwrap();
        let last = if command == "help" { "sec_test" } else { "IDF Version" };
        program.read_until(last).unwrap();
        // The echo has a prompt, too.
        let at = program.text.rfind(last).unwrap();
        program.text.drain(..at);
        program.read_until("esp32> ").unwrap();
    }
    let end = live.interrupt();
    assert_eq!(end["devices"][1]["typed_lost"], 0, "{end}");
}

#[test]
fn an_unplugged_board_lives_on_and_comes_back_on_a_terminal_of_its_own() {
    let dir = TestDir::new();
    let args = ["--link", "boards", "--unplug", "node1@2s-4s", "--restart", "node1@5s"];
    let live = LiveProcess::start(&dir, &args);
    let link = dir.path("boards/node1");
    let mut client = Client::open(&link);
    assert_eq!(client.read_until("never printed"), None, "the terminal ends");
    assert!(live.process.line(r#""type":"unplugged""#).contains("node1"));
    assert!(!link.is_symlink());
    let plugged = live.process.line(r#""type":"plugged""#);
    assert!(plugged.contains("node1"), "{plugged}");
    let mut client = Client::open(&link);
    // It has been running all the time, so that its next start is its second.
    client.read_until("esp-now Version").unwrap();
    client.read_until("restart_func: num: 2, reason: 1").unwrap();
    assert_eq!(live.interrupt()["devices"][1]["opened"], 2);
}

#[test]
fn many_boards_sleep_until_there_is_something_to_do() {
    let dir = TestDir::new();
    let live = LiveProcess::start(&dir, &["--lab", "many-boards", "--devices", "101"]);
    assert_eq!(live.devices.len(), 101);
    std::thread::sleep(Duration::from_secs(3));
    let id = live.process.id();
    if !cfg!(target_os = "linux") {
        return;
    }
    // Ticks are of 10 ms. What the boards do when they start is over.
    let before = processor_ticks(id);
    std::thread::sleep(Duration::from_secs(3));
    let used = processor_ticks(id) - before;
    assert!(used < 150, "{used} ticks of 300");
    live.interrupt();
}

#[test]
fn a_lifetime_ends_it_and_rubbish_is_told() {
    let dir = TestDir::new();
    let begun = Instant::now();
    let out = dir.run(&["live", "--pty", "--for", "500ms", "--pcap", "air.pcapng"]).ok();
    assert!(begun.elapsed() >= Duration::from_millis(500));
    assert!(out.starts_with("node0  initiator  24:0a:c4:00:00:01  esp32"), "{out}");
    assert_eq!(out.lines().count(), 2);
    assert!(std::fs::metadata(dir.path("air.pcapng")).unwrap().len() > 100);
    for (args, said) in [
        (&["live"][..], "--pty"),
        (&["live", "--pty", "--lab", "nowhere"], "no lab is called `nowhere`"),
        (&["live", "--pty", "--lab", "wifi-home", "--app", "ota"], "--app is of boards of ESP-NOW"),
        (&["live", "--pty", "--variant", "x"], "two-boards has no variants"),
        (&["live", "--pty", "--what-if", "sleep=min@1s"], "boards of ESP-NOW do not sleep here"),
        (&["live", "--pty", "--what-if", "node2:loss=1%@1s"], "there is no device `node2`"),
        (&["live", "--pty", "--what-if", "node0:distance=2m@1s"], "distances are those from node0"),
        (&["live", "--pty", "--unplug", "node9@1s"], "there is no device `node9`"),
        (&["live", "--pty", "--restart", "node1"], "write node1@10s"),
        (&["live", "--pty", "--baud", "1"], "300"),
        (
            &["live", "--pty", "--app", "blink"],
            "get-started, solution, security, ota, provisioning",
        ),
        (&["live", "--pty", "--image", "1000"], "a multiple of 16"),
        (&["live", "--pty", "--image", "no.bin"], "no.bin"),
        (&["live", "--pty", "--image", "air.pcapng"], "air.pcapng is no application image"),
    ] {
        let ran = dir.run(args);
        assert_eq!(ran.status, Some(2), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(said), "{args:?}: {}", ran.err);
    }
    std::fs::create_dir(dir.path("boards")).unwrap();
    dir.write("boards/node1", "mine");
    let ran = dir.run(&["live", "--pty", "--link", "boards", "--for", "1s"]);
    assert!(ran.err.contains("is there and no link"), "{}", ran.err);
    assert!(!dir.path("boards/node0").is_symlink(), "what was made is removed");
}

/// A fleet that is later than its bound is invalid: with a bound of 1 ns, each event is.
#[test]
fn a_fleet_that_was_too_late_is_invalid() {
    let dir = TestDir::new();
    let live = ["live", "--pty", "--format", "json", "--for", "300ms", "--late-most"];
    let late = dir.run(&[&live[..], &["1ns"]].concat());
    assert_eq!(late.status, Some(2), "{}", late.err);
    let lines: Vec<&str> = late.err.lines().collect();
    assert_eq!(lines.len(), 3, "{}", late.err);
    assert_eq!(lines[0], "espbench: what was measured is invalid");
    assert!(
        lines[1].contains("ms behind the clock, and 0 ms are allowed (--late-most)"),
        "{}",
        late.err
    );
    let end = |out: &str| -> Value { serde_json::from_str(out.lines().last().unwrap()).unwrap() };
    assert_eq!(end(&late.out)["valid"], false, "{}", late.out);
    assert!(end(&late.out)["invalid_times"].as_u64().unwrap() > 0, "{}", late.out);
    let fine = dir.run(&[&live[..], &["1h"]].concat());
    assert_eq!(fine.status, Some(0), "{}", fine.err);
    assert_eq!(
        (&end(&fine.out)["valid"], &end(&fine.out)["invalid_times"]),
        (&true.into(), &0.into())
    );
}
