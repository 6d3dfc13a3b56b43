//! UDP echo: the command, its faults, and the published benchmark's own client.

use crate::util::{ChildProcess, Ran, TestDir, free_port, peer, sources};
use std::net::UdpSocket;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// A device that answers each datagram as the script says: the datagrams to send for the n-th one.
struct Device {
    address: String,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Device {
    fn new(mut script: impl FnMut(u64, &[u8]) -> Vec<Vec<u8>> + Send + 'static) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        let address = socket.local_addr().unwrap().to_string();
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let (mut buf, mut n) = ([0; 65_536], 0);
            while !flag.load(Ordering::Relaxed) {
                let Ok((len, from)) = socket.recv_from(&mut buf) else { continue };
                for reply in script(n, &buf[..len]) {
                    let _ = socket.send_to(&reply, from);
                }
                n += 1;
            }
        });
        Self { address, stop, thread: Some(thread) }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().unwrap().join();
    }
}

/// Returns the value of a metric in the JSON report.
fn metric(json: &str, name: &str, size: u64) -> serde_json::Value {
    let report: serde_json::Value = serde_json::from_str(json).unwrap();
    let cells = report["cells"].as_array().unwrap();
    let found = cells
        .iter()
        .find(|c| c["metric"] == name && c["payload_bytes"] == size && c["origin"] == "measured");
    found.unwrap_or_else(|| panic!("no {name} of {size} B in {json}"))["value"].clone()
}

#[test]
fn every_size_of_the_document_is_measured() {
    let bench = TestDir::new();
    let device = Device::new(|_, bytes| vec![bytes.to_vec()]);
    let args = ["echo", &device.address, "-n", "20", "--local-port", "0", "--format", "json"];
    let json = bench.run(&args).ok();
    for size in [1, 2, 3, 4, 5, 10, 100, 500, 900] {
        assert_eq!(metric(&json, "loss", size), 0.0);
        let min = metric(&json, "rtt_min", size).as_f64().unwrap();
        let avg = metric(&json, "rtt_avg", size).as_f64().unwrap();
        let max = metric(&json, "rtt_max", size).as_f64().unwrap();
        assert!(0.0 < min && min <= avg && avg <= max, "{min} {avg} {max}");
    }
}

#[test]
fn losses_duplicates_and_changed_content_are_told_apart() {
    let bench = TestDir::new();
    let device = Device::new(|n, bytes| {
        let mut changed = bytes.to_vec();
        changed[50] ^= 1;
        match n {
            3 => vec![],
            5 => vec![bytes.to_vec(), bytes.to_vec()],
            7 => vec![changed],
            9 => vec![bytes[..bytes.len() - 1].to_vec()],
            11 => vec![vec![b'x'; 3000]],
            _ => vec![bytes.to_vec()],
        }
    });
    let json = bench
        .run(&[
            "echo",
            &device.address,
            "--binary",
            "--size=100",
            "--count=40",
            "--timeout=2 s",
            "--local-port=0",
            "--format=json",
        ])
        .ok();
    assert_eq!(metric(&json, "probes_duplicate", 100), 1.0);
    assert_eq!(metric(&json, "probes_corrupt", 100), 2.0);
    // Two did not come, and two came back changed.
    assert_eq!(metric(&json, "loss", 100), 10.0);
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["losses"][0]["counters"]["stray-datagrams"], 1);
}

#[test]
fn raw_rows_name_changed_content_as_the_published_client_does() {
    let bench = TestDir::new();
    let device = Device::new(|n, bytes| match n {
        3 => vec![],
        5 => vec![bytes[1..].to_vec()],
        _ => vec![bytes.to_vec()],
    });
    let raw = bench.path("raw.csv");
    let args = ["--size=100", "--count=10", "--timeout=2 s", "--local-port=0", "--csv-raw"];
    let args = [&["echo", &device.address], &args[..], &[raw.to_str().unwrap()]].concat();
    bench.run(&args).ok();
    let rows = std::fs::read_to_string(raw).unwrap();
    let cells: Vec<&str> = rows.trim_end().split(',').collect();
    assert_eq!(cells.len(), 11, "the size, then each cycle");
    assert_eq!((cells[0], cells[3], cells[5]), ("100", "", "-1"));
    assert!(cells[1].parse::<f64>().unwrap() > 0.0);
}

#[test]
fn a_port_where_nothing_listens_is_said() {
    let bench = TestDir::new();
    let address = format!("127.0.0.1:{}", free_port());
    let ran = bench.run(&["echo", &address, "--size", "10", "--local-port", "0"]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.err.contains("nothing listens on that port"), "{}", ran.err);
}

#[test]
fn a_device_that_goes_silent_ends_the_cell_and_keeps_what_came() {
    let bench = TestDir::new();
    let device = Device::new(|n, bytes| if n < 50 { vec![bytes.to_vec()] } else { vec![] });
    let ran = bench.run(&[
        "echo",
        &device.address,
        "--size",
        "10",
        "--timeout",
        "100 ms",
        "--local-port",
        "0",
        "--format",
        "json",
    ]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.err.contains("no reply any more"), "{}", ran.err);
    assert!(metric(&ran.out, "rtt_avg", 10).as_f64().unwrap() > 0.0, "what came is reported");
}

#[test]
fn a_taken_local_port_is_said_with_the_remedy() {
    let bench = TestDir::new();
    let taken = UdpSocket::bind("0.0.0.0:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let ran = bench.run(&["echo", "127.0.0.1:9", "--size", "1", "--local-port", &port]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.err.contains("choose one with --local-port"), "{}", ran.err);
}

/// The published benchmark's Python client, out of the document, with only its addresses changed.
#[test]
fn the_documents_own_client_runs_against_respond() {
    let Some(sources) = sources() else { return };
    if !peer("python3") {
        return;
    }
    let text = std::fs::read_to_string(sources.join("smellbomb-udp.txt")).unwrap();
    let client = &text[text.find("import time\n").expect("the client starts so")..];
    let bench = TestDir::new();
    let reply_port = free_port();
    let respond = ChildProcess::start(
        &mut bench.command(&[
            "respond",
            "--echo-port",
            "0",
            "--echo-reply-port",
            &reply_port.to_string(),
            "--for",
            "900 s",
        ]),
        false,
    );
    let line = respond.line("UDP echo");
    let port = line.rsplit(':').next().unwrap();
    let client = client
        .replacen("(\"xxx.xxx.xxx.xxx\", 10000)", &format!("(\"127.0.0.1\", {port})"), 1)
        .replacen("(\"xxx.xxx.xxx.xxx\", 10001)", &format!("(\"127.0.0.1\", {reply_port})"), 1);
    assert!(!client.contains("xxx"), "both addresses are filled in");
    bench.write("client.py", &client);
    Ran::of(Command::new("python3").arg("client.py").current_dir(bench.dir.path())).ok();
    let theirs = std::fs::read(bench.path("udp_benchmark_pc.csv")).unwrap();

    // Ours, against the same echo, in the same form.
    let (port, raw) = (reply_port.to_string(), bench.path("ours.csv"));
    let host = format!("127.0.0.1:{}", line.rsplit(':').next().unwrap());
    let sizes = "1,2,3,4,5,10,20,30,40,50,100,150,200,250,300,350,400,450,500,600,700,800,900,1000";
    let raw_arg = raw.to_str().unwrap();
    bench.run(&["echo", &host, "--size", sizes, "--local-port", &port, "--csv-raw", raw_arg]).ok();
    let ours = std::fs::read(raw).unwrap();
    assert_eq!(shape(&ours), shape(&theirs));
    assert_eq!(shape(&theirs).len(), 24);
}

/// Returns size and number of fields of each row; asserts that each field is a time in seconds.
fn shape(csv: &[u8]) -> Vec<(String, usize)> {
    let text = std::str::from_utf8(csv).unwrap();
    assert!(text.ends_with("\r\n"));
    text.split_terminator("\r\n")
        .map(|row| {
            let fields: Vec<&str> = row.split(',').collect();
            for field in &fields[1..] {
                let seconds: f64 = field.parse().unwrap();
                assert!((0.0..10.0).contains(&seconds), "{field}");
            }
            (fields[0].to_owned(), fields.len())
        })
        .collect()
}
