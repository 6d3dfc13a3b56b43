//! `espbench live`: consoles of devices that speak IP, and what is changed while it runs.
#![cfg(target_os = "linux")]

use crate::util::{TestDir, missing, peer, tshark};
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Longest wait for what comes at some time.
const PATIENCE: Duration = Duration::from_secs(120);

/// A lab that runs in the background, without rights: its consoles are links in `consoles`.
struct Running {
    child: Child,
    out: BufReader<std::process::ChildStdout>,
}

impl Running {
    fn start(dir: &TestDir, flags: &[&str]) -> Self {
        let usual =
            ["live", "--pty", "--late-most", "1 h", "--format", "json", "--link", "consoles"];
        let mut command = dir.command(&[&usual[..], flags].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let mut it = Self { child, out };
        it.line("ready");
        it
    }

    /// Returns the next line of that type.
    fn line(&mut self, of: &str) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.out.read_line(&mut line).unwrap() > 0, "the lab ended before `{of}`");
            let value: Value = serde_json::from_str(&line).unwrap();
            if value["type"] == of {
                return value;
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A console of a device, as a program has it.
struct Console {
    port: File,
    heard: String,
}

impl Console {
    fn open(dir: &TestDir, name: &str) -> Self {
        use std::os::unix::fs::OpenOptionsExt as _;
        let mut options = OpenOptions::new();
        options.read(true).write(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
        let port = options.open(dir.path("consoles").join(name)).unwrap();
        Self { port, heard: String::new() }
    }

    fn enter(&mut self, line: &str) {
        self.port.write_all(format!("{line}\r").as_bytes()).unwrap();
    }

    /// Waits until it has printed that since the last call, and returns what.
    fn until(&mut self, text: &str) -> String {
        let begun = Instant::now();
        while !self.heard.contains(text) {
            assert!(begun.elapsed() < PATIENCE, "no `{text}` in {}", self.heard);
            let mut bytes = [0; 4096];
            match self.port.read(&mut bytes) {
                Ok(len) => self.heard += &String::from_utf8_lossy(&bytes[..len]),
                Err(_) => std::thread::sleep(Duration::from_millis(10)),
            }
        }
        let end = self.heard.find(text).unwrap() + text.len();
        self.heard.drain(..end).collect()
    }
}

/// Opens the console, and waits until the lab has seen that: what is printed before is lost.
fn opened(dir: &TestDir, lab: &mut Running, name: &str) -> Console {
    let console = Console::open(dir, name);
    while lab.line("opened")["device"] != name {}
    console
}

/// Returns a function that sends a line to the control socket and returns its answer.
fn asker(dir: &TestDir) -> impl FnMut(&str) -> Value {
    let socket = UnixStream::connect(dir.path("control")).unwrap();
    let mut answers = BufReader::new(socket.try_clone().unwrap());
    move |line| {
        writeln!(&socket, "{line}").unwrap();
        let mut answer = String::new();
        answers.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap()
    }
}

#[test]
fn a_device_has_esp_idfs_console() {
    let dir = TestDir::new();
    let mut lab = Running::start(&dir, &["wifi-home", "--variant", "idf-echo"]);
    let mut console = opened(&dir, &mut lab, "device");
    console.enter("");
    console.until("iperf> ");
    console.enter("version");
    assert!(console.until("iperf> ").contains("model:ESP32"));
    console.enter("heap");
    let heap = console.until("iperf> ");
    assert!(heap.lines().any(|it| it.trim().parse::<u32>().is_ok_and(|it| it > 10_000)), "{heap}");
    console.enter("nonsense");
    console.until("Unrecognized command");
    console.enter("ping -c 3 -i 0.2 -s 3000 router");
    let ping = console.until("0% packet loss");
    assert_eq!(ping.matches("3000 bytes from 10.0.0.3").count(), 3, "{ping}");
    console.enter("iperf -c router");
    console.until("mode=tcp-client");
    // Nobody listens there.
    console.until("tcp client connect error");
}

#[test]
fn a_restart_by_command_joins_again_and_says_how() {
    let dir = TestDir::new();
    let mut lab = Running::start(&dir, &["wifi-home", "--variant", "idf-echo"]);
    let mut console = opened(&dir, &mut lab, "device");
    console.enter("restart");
    let said = console.until("sta ip: 10.0.0.1, mask: 255.255.0.0, gw: 10.0.0.3");
    for line in
        ["rst:0xc (SW_CPU_RESET)", "wifi:mode : sta", "auth -> assoc", "assoc -> run", "aid = "]
    {
        assert!(said.contains(line), "{line} in {said}");
    }
    console.enter("sta_connect nowhere");
    console.until("WIFI_EVENT_STA_DISCONNECTED! reason: 201");
    console.enter("ping -c 2 -i 0.1 router");
    console.until(" 0% packet loss");
}

#[test]
fn a_control_socket_changes_the_lab_and_tells_of_rubbish() {
    let dir = TestDir::new();
    let flags = ["wifi-home", "--variant", "idf-echo", "--control", "control"];
    let mut lab = Running::start(&dir, &flags);
    let mut ask = asker(&dir);
    assert_eq!(ask(r#"{"do":"status"}"#)["hosts"][0]["name"], "device");
    for line in [
        "rubbish",
        "{}",
        r#"{"do":"set","key":"loss","value":"much"}"#,
        r#"{"do":"set","key":"loss","value":"1%","device":"nobody"}"#,
        r#"{"do":"restart"}"#,
    ] {
        let answer = ask(line);
        assert_eq!(answer["ok"], false, "{line}");
        assert!(answer["error"].as_str().is_some_and(|it| !it.is_empty()), "{answer}");
    }
    let mut console = opened(&dir, &mut lab, "device");
    // All is lost, then nothing is.
    assert_eq!(ask(r#"{"do":"set","key":"loss","value":"100 %","device":"device"}"#)["ok"], true);
    assert_eq!(lab.line("changed")["key"], "loss");
    console.enter("ping -c 2 -i 0.1 -W 0.3 router");
    console.until("100% packet loss");
    for change in [
        r#"{"do":"set","key":"loss","value":"0%"}"#,
        r#"{"do":"set","key":"sleep","value":"none"}"#,
        r#"{"do":"set","key":"load","value":"20 %"}"#,
        r#"{"do":"set","key":"distance","value":"3 m"}"#,
        r#"{"do":"restart","device":"device"}"#,
    ] {
        assert_eq!(ask(change)["ok"], true, "{change}");
    }
    console.until("sta ip: 10.0.0.1");
    let typed = r#"{"do":"type","device":"device","line":"ping -c 2 -i 0.1 router"}"#;
    assert_eq!(ask(typed)["ok"], true);
    console.until(" 0% packet loss");
    assert_eq!(ask(r#"{"do":"stop"}"#)["ok"], true);
    assert_eq!(lab.line("end")["valid"], true);
    assert!(lab.child.wait().unwrap().success());
    assert!(!dir.path("control").exists(), "the socket is gone");
}

#[test]
fn a_control_socket_changes_a_fleet_of_boards() {
    let dir = TestDir::new();
    let flags = ["two-boards", "--control", "control", "--answer-cursor"];
    let mut lab = Running::start(&dir, &flags);
    let mut ask = asker(&dir);
    assert_eq!(ask(r#"{"do":"status"}"#)["devices"][1], "node1");
    for line in [
        r#"{"do":"set","key":"loss","value":"1%","device":"node2"}"#,
        r#"{"do":"set","key":"sleep","value":"min"}"#,
        r#"{"do":"set","key":"distance","value":"3 m","device":"node0"}"#,
        r#"{"do":"type","device":"node0","line":"two\rlines"}"#,
    ] {
        assert_eq!(ask(line)["ok"], false, "{line}");
    }
    let mut console = opened(&dir, &mut lab, "node0");
    // Until its boards have booted.
    while ask(r#"{"do":"status"}"#)["time_s"].as_f64().unwrap() < 2.0 {
        std::thread::sleep(Duration::from_millis(50));
    }
    let ping =
        r#"{"do":"type","device":"node0","line":"espnow_iperf -c 24:0a:c4:00:00:02 -p -C 4"}"#;
    assert_eq!(ask(r#"{"do":"type","device":"node1","line":"espnow_iperf -s"}"#)["ok"], true);
    assert_eq!(ask(r#"{"do":"set","key":"loss","value":"100%","device":"node1"}"#)["ok"], true);
    assert_eq!(lab.line("changed")["device"], "node1");
    assert_eq!(ask(ping)["ok"], true);
    console.until("4 packets transmitted, 0 received, 100.00% packet loss");
    for change in [
        r#"{"do":"set","key":"loss","value":"0%"}"#,
        r#"{"do":"set","key":"distance","value":"2 m","device":"node1"}"#,
        r#"{"do":"set","key":"load","value":"10%"}"#,
    ] {
        assert_eq!(ask(change)["ok"], true, "{change}");
    }
    assert_eq!(ask(ping)["ok"], true);
    console.until("4 packets transmitted, 4 received, 0.00% packet loss");
    assert_eq!(ask(r#"{"do":"restart","device":"node1"}"#)["ok"], true);
    assert_eq!(lab.line("reset")["device"], "node1");
    assert_eq!(ask(r#"{"do":"stop"}"#)["ok"], true);
    assert_eq!(lab.line("end")["valid"], true);
    assert!(lab.child.wait().unwrap().success());
}

#[test]
fn distance_and_load_are_seen_on_the_air() {
    if !peer("tshark") {
        return;
    }
    let dir = TestDir::new();
    let flags = [
        "live",
        "--pty",
        "--late-most",
        "1 h",
        "-q",
        "wifi-home",
        "--variant",
        "idf-echo",
        "--for",
        "6 s",
        "--pcap",
        "air.pcapng",
        "--what-if",
        "device:distance=1m@0s",
        "--what-if",
        "distance=60m@3s",
        "--what-if",
        "load=40%@3s",
    ];
    dir.run(&flags).ok();
    let file = dir.path("air.pcapng");
    let fields = |filter: &str, field: &str| -> Vec<f64> {
        tshark(&file, filter, field).iter().filter_map(|it| it.parse().ok()).collect()
    };
    // The capture is made at the device's place.
    let beacons = |part: &str| {
        fields(&format!("wlan.fc.type_subtype == 8 && {part}"), "radiotap.dbm_antsignal")
    };
    let (early, late) =
        (beacons("frame.time_relative < 2.5"), beacons("frame.time_relative > 3.5"));
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len().max(1) as f64;
    assert!(!early.is_empty() && !late.is_empty(), "beacons are heard in both parts");
    assert!(mean(&early) > mean(&late) + 15.0, "{early:?} {late:?}");
    let loads = |part: &str| fields(&format!("frame.len == 1524 && {part}"), "frame.len").len();
    let (before, after) = (loads("frame.time_relative < 2.9"), loads("frame.time_relative > 3.1"));
    assert!(before == 0 && after > 500, "{before} {after}");
}

/// Lets tshark find captures in a folder of ours: as root it looks in the system's alone.
const EXTCAP: &str =
    "mount --bind extcap \"$(tshark -G folders | sed -n 's/^Extcap path:[[:space:]]*//p')\"
    exec tshark \"$@\"";

#[test]
fn tshark_captures_a_lab_by_extcap() {
    let may = || {
        let unshared = Command::new("unshare").args(["-r", "-m", "true"]).status();
        unshared.is_ok_and(|it| it.success()) || missing("the right to a mount namespace")
    };
    if !peer("tshark") || !may() {
        return;
    }
    let dir = TestDir::new();
    let folder = dir.path("extcap");
    std::fs::create_dir(&folder).unwrap();
    let script = folder.join("espbench");
    let text = format!("#!/bin/sh\nexec {} extcap \"$@\"\n", env!("CARGO_BIN_EXE_espbench"));
    std::fs::write(&script, text).unwrap();
    assert!(Command::new("chmod").arg("+x").arg(&script).status().unwrap().success());
    let tshark_with = |args: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["-r", "-m", "sh", "-ec", EXTCAP, "sh"]).args(args);
        let ran = command.current_dir(dir.dir.path()).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        (String::from_utf8_lossy(&ran.stdout).into_owned(), said)
    };
    let (interfaces, said) = tshark_with(&["-D"]);
    assert!(interfaces.contains("espbench"), "{interfaces} {said}");
    let (types, said) = tshark_with(&["-i", "espbench", "-L"]);
    assert!((types + &said).contains("IEEE802_11_RADIO"), "{said}");
    let fields =
        "-T fields -e wlan_radio.data_rate -e radiotap.dbm_antnoise -e radiotap.dbm_antsignal";
    let words: Vec<&str> = "-i espbench -c 20".split(' ').chain(fields.split(' ')).collect();
    let (out, said) = tshark_with(&words);
    let rows: Vec<Vec<&str>> = out.lines().map(|it| it.split('\t').collect()).collect();
    assert!(rows.len() >= 20, "{out} {said}");
    assert!(rows.iter().all(|row| !row[0].is_empty() && !row[1].is_empty()), "{out}");
    // What the observer sends itself has no signal.
    assert!(rows.iter().filter(|row| !row[2].is_empty()).count() >= 5, "{out}");
}

#[test]
fn extcap_answers_as_the_protocol_has_it() {
    let dir = TestDir::new();
    let out = dir.run(&["extcap", "--extcap-interfaces", "--extcap-version=4.0"]).ok();
    assert!(
        out.starts_with("extcap {version=") && out.contains("\ninterface {value=espbench}"),
        "{out}"
    );
    let out = dir.run(&["extcap", "--extcap-dlts", "--extcap-interface", "espbench"]).ok();
    assert_eq!(
        out,
        "dlt {number=127}{name=IEEE802_11_RADIO}{display=802.11 plus radiotap header}\n"
    );
    let out = dir.run(&["extcap", "--extcap-config", "--extcap-interface", "espbench"]).ok();
    assert!(
        out.contains("{call=--lab}") && out.contains("value {arg=0}{value=wifi-home}"),
        "{out}"
    );
    for args in [
        &["extcap"][..],
        &["extcap", "--extcap-dlts", "--extcap-interface", "eth0"],
        &["extcap", "--capture", "--extcap-interface", "espbench"],
        &[
            "extcap",
            "--capture",
            "--extcap-interface",
            "espbench",
            "--fifo",
            "x",
            "--lab",
            "nowhere",
        ],
    ] {
        assert_eq!(dir.run(args).status, Some(2), "{args:?}");
    }
}
