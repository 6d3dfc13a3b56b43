//! `espbench run PLAN --on serial:PORT` for iperf: a console like that of ESP-IDF's example on a
//! pseudo-terminal, constructed from its sources, whose device really sends over loopback.

use super::fleet::terminal;
use super::json;
use crate::util::{Ran, TestDir, bound_again};
use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const PASSWORD: &str = "correct horse";

/// Release of the example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IdfRelease {
    /// v5.2: `sta`, columns, 2^20 bits to the Mbit.
    V5,
    /// Component `iperf` 1.0.
    Component1,
}

/// Bytes that a device moves, and its rows.
struct Traffic {
    release: IdfRelease,
    print: Sender<String>,
    stop: Arc<AtomicBool>,
    begun: Instant,
    seconds: u64,
    told: u64,
    bytes: u64,
    all: u64,
}

impl Traffic {
    fn row(&self, from: u64, to: u64, bytes: u64) -> String {
        let rate = bytes as f64 * 8.0 / (to - from) as f64;
        match self.release {
            IdfRelease::V5 => {
                format!("{from:4}-{to:4} sec       {:.2} Mbits/sec\r\n", rate / 1_048_576.0)
            }
            IdfRelease::Component1 => format!(
                "[  1] {from:2}.0-{to:2}.0 sec\t{:.2} MBytes\t{:.2} Mbits/sec\r\n",
                bytes as f64 / 1e6,
                rate / 1e6
            ),
        }
    }

    /// Counts, prints the rows that are due, and tells whether the test goes on.
    fn moved(&mut self, bytes: usize) -> bool {
        self.bytes += bytes as u64;
        while self.begun.elapsed().as_secs() > self.told && self.told < self.seconds {
            let row = self.row(self.told, self.told + 1, self.bytes);
            let _ = self.print.send(row);
            (self.all, self.bytes, self.told) = (self.all + self.bytes, 0, self.told + 1);
        }
        self.told < self.seconds && !self.stop.load(Ordering::Relaxed)
    }

    fn over(self) {
        let _ = self.print.send(self.row(0, self.seconds, self.all));
        let _ = self.print.send("I (900) iperf: iperf exit\r\n".into());
    }
}

fn value(command: &str, name: &str) -> Option<String> {
    let mut words = command.split(' ').skip_while(|word| *word != name);
    words.nth(1).map(str::to_owned)
}

/// Carries out an `iperf` command of the device, whose address is `own`.
fn iperf(
    command: &str,
    own: Ipv4Addr,
    release: IdfRelease,
    print: &Sender<String>,
    stop: &Arc<AtomicBool>,
) {
    let seconds = value(command, "-t").unwrap().parse().unwrap();
    let port: u16 = value(command, "-p").unwrap().parse().unwrap();
    let udp = command.contains(" -u");
    let traffic = |begun| Traffic {
        release,
        print: print.clone(),
        stop: Arc::clone(stop),
        begun,
        seconds,
        told: 0,
        bytes: 0,
        all: 0,
    };
    let _ = print.send("I (800) IPERF: mode=x sip=0, dip=0\r\n".replace(
        "mode=x",
        &format!(
            "mode={}-{}",
            if udp { "udp" } else { "tcp" },
            if command.contains(" -s") { "server" } else { "client" }
        ),
    ));
    let Some(host) = value(command, "-c") else {
        return serve(SocketAddr::from((own, port)), udp, stop, traffic);
    };
    let to: SocketAddr = format!("{host}:{port}").parse().unwrap();
    let rate = value(command, "-b").unwrap();
    let rate: u64 = rate.trim_end_matches('m').parse::<u64>().unwrap() * 1_000_000;
    assert_eq!(rate_form(release), rate_form_of(command));
    let mut write: Box<dyn FnMut(u32) -> usize> = if udp {
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        Box::new(move |number| {
            let mut datagram = [0; 1470];
            datagram[..4].copy_from_slice(&number.to_be_bytes());
            socket.send_to(&datagram, to).unwrap()
        })
    } else {
        let mut stream = TcpStream::connect(to).unwrap();
        Box::new(move |_| stream.write(&[0; 1470]).unwrap_or(0))
    };
    let mut traffic = traffic(Instant::now());
    let (mut sent, mut number) = (0_u64, 0);
    loop {
        let due = traffic.begun.elapsed().as_micros() as u64 * rate / 8_000_000;
        let mut moved = 0;
        while sent < due && traffic.begun.elapsed().as_secs() < seconds {
            let bytes = write(number);
            (sent, moved, number) = (sent + bytes as u64, moved + bytes, number + 1);
        }
        if !traffic.moved(moved) {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    drop(write);
    traffic.over();
}

const fn rate_form(release: IdfRelease) -> bool {
    matches!(release, IdfRelease::Component1)
}

fn rate_form_of(command: &str) -> bool {
    value(command, "-b").unwrap().ends_with('m')
}

/// Reads bytes of a stream or of a flow.
type ReadBytes = Box<dyn FnMut(&mut [u8]) -> std::io::Result<usize>>;

/// Receives as a server of the device does: it counts from the first bytes on.
fn serve(at: SocketAddr, udp: bool, stop: &Arc<AtomicBool>, traffic: impl Fn(Instant) -> Traffic) {
    let patience = Some(Duration::from_millis(20));
    let mut buffer = vec![0; 65_536];
    let mut read: ReadBytes = if udp {
        let socket = bound_again(|| UdpSocket::bind(at));
        socket.set_read_timeout(patience).unwrap();
        Box::new(move |buffer| socket.recv(buffer))
    } else {
        let listener = bound_again(|| TcpListener::bind(at));
        listener.set_nonblocking(true).unwrap();
        let mut stream: Option<TcpStream> = None;
        Box::new(move |buffer| {
            if stream.is_none() {
                stream = listener.accept().ok().map(|it| it.0);
                if let Some(stream) = &stream {
                    stream.set_nonblocking(false).unwrap();
                    stream.set_read_timeout(patience).unwrap();
                }
            }
            match &mut stream {
                Some(stream) => stream.read(buffer),
                None => {
                    std::thread::sleep(Duration::from_millis(5));
                    Err(ErrorKind::WouldBlock.into())
                }
            }
        })
    };
    let mut counts: Option<Traffic> = None;
    while !stop.load(Ordering::Relaxed) {
        let came = read(&mut buffer).unwrap_or(0);
        if came > 0 && counts.is_none() {
            counts = Some(traffic(Instant::now()));
        }
        if came == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        if counts.as_mut().is_some_and(|counts| !counts.moved(came)) {
            break;
        }
    }
    if let Some(counts) = counts {
        counts.over();
    }
}

/// A board with the example, whose network has that password.
struct WifiBoard {
    port: String,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for WifiBoard {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct IdfConsole {
    release: IdfRelease,
    own: Ipv4Addr,
    print: Sender<String>,
    typed: String,
    running: Option<(Arc<AtomicBool>, JoinHandle<()>)>,
}

impl IdfConsole {
    fn say(&self, text: &str) {
        let _ = self.print.send(text.into());
    }

    fn prompt(&self) {
        self.say("\x1b[0;32miperf> \x1b[0m");
    }

    fn stop(&mut self) {
        if let Some((stop, thread)) = self.running.take() {
            stop.store(true, Ordering::Relaxed);
            let _ = thread.join();
        }
    }

    fn key(&mut self, byte: u8) {
        // Ctrl-U, as the line editor takes it.
        if byte == 0x15 {
            return self.typed.clear();
        }
        if byte != b'\r' {
            self.typed.push(char::from(byte));
            return self.say(&format!("\riperf> {}\x1b[0K", self.typed));
        }
        self.say("\r\n");
        let command = std::mem::take(&mut self.typed);
        let name = command.split(' ').next().unwrap();
        match name {
            "restart" => {
                self.say("\r\nrst:0xc (SW_CPU_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)\r\n");
                self.say("I (552) wifi:mode : sta (24:0a:c4:11:22:33)\r\n");
            }
            "version" => self.say("IDF Version:v5.2.1\r\nChip info:\r\n\tmodel:ESP32-C3\r\n"),
            "help" => {
                let (join, rate) = match self.release {
                    IdfRelease::V5 => ("sta", "bandwidth to send at in Mbits/sec"),
                    IdfRelease::Component1 => {
                        ("sta_connect", "#[kmgKMG]  bandwidth to send at in bits/sec")
                    }
                };
                self.say(&format!(
                    "restart \r\n  Restart the program\r\n\r\n{join}  <ssid> [<pass>]\r\n  join\r\n\r\niperf  [-suV]\r\n  \
                     iperf command\r\n  -l, --len=<length>  Set read/write buffer size\r\n  -b, --bandwidth=<bandwidth>  {rate}\r\n  \
                     -f, --format=<format>  'k' = Kbits/sec 'm' = Mbits/sec\r\n\r\n"
                ));
            }
            "sta" | "sta_connect" if command == format!("{name} home \"{PASSWORD}\"") => {
                self.say(&format!(
                    "I (99) esp_netif_handlers: sta ip: {}, mask: 255.0.0.0, gw: 127.0.0.1\r\n",
                    self.own
                ));
            }
            "sta" | "sta_connect" => {
                for _ in 0..3 {
                    self.say("I (90) WIFI: WIFI_EVENT_STA_DISCONNECTED! reason: 15\r\n");
                }
            }
            "iperf" => {
                self.stop();
                if !command.contains("--abort") {
                    let stop = Arc::<AtomicBool>::default();
                    let (print, flag, own, release) =
                        (self.print.clone(), Arc::clone(&stop), self.own, self.release);
                    let thread =
                        std::thread::spawn(move || iperf(&command, own, release, &print, &flag));
                    self.running = Some((stop, thread));
                }
            }
            other => assert!(other.is_empty(), "{other}"),
        }
        self.prompt();
    }
}

/// Starts a board.
fn board(release: IdfRelease, own: Ipv4Addr) -> WifiBoard {
    let (ours, theirs, port) = terminal();
    let stop = Arc::<AtomicBool>::default();
    let ended = Arc::clone(&stop);
    let thread = std::thread::spawn(move || live(release, own, ours, theirs, &ended));
    WifiBoard { port, stop, thread: Some(thread) }
}

fn live(release: IdfRelease, own: Ipv4Addr, mut ours: File, theirs: File, stop: &AtomicBool) {
    let (print, printed): (Sender<String>, Receiver<String>) = channel();
    let mut console = IdfConsole { release, own, print, typed: String::new(), running: None };
    while !stop.load(Ordering::Relaxed) {
        let mut bytes = [0; 256];
        let came = ours.read(&mut bytes).unwrap_or(0);
        // An answer to a cursor query that nobody asked is no key.
        let keys = bytes[..came].strip_prefix(b"\x1b[1;80R").unwrap_or(&bytes[..came]);
        keys.iter().for_each(|byte| console.key(*byte));
        for text in printed.try_iter() {
            let mut rest = text.as_bytes();
            while !rest.is_empty() {
                rest = &rest[ours.write(rest).unwrap_or(0)..];
            }
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    console.stop();
    drop(theirs);
}

fn plan(transport: &str) -> String {
    format!(
        "name = \"wifi\"\n[[measure]]\nkind = \"iperf\"\ntransport = \"{transport}\"\n\
         direction = [\"forward\", \"reverse\"]\ntime = \"3 s\"\nbandwidth = \"20 Mbit/s\"\n"
    )
}

fn run(bench: &TestDir, board: &WifiBoard, password: &str, more: &[&str]) -> Ran {
    let on = format!("serial:{}", board.port);
    let args = [&["run", "wifi.toml", "--on", &on, "--ssid", "home"], more].concat();
    Ran::of(bench.command(&args).env("ESPBENCH_WIFI_PASSWORD", password))
}

/// Holds the ends of both directions against each other.
fn agree(transport: &str, release: IdfRelease, own: Ipv4Addr) {
    let bench = TestDir::new();
    bench.write("wifi.toml", &plan(transport));
    let board = board(release, own);
    let report = json(&run(&bench, &board, PASSWORD, &["--format", "json"]).ok());
    let cells = report["cells"].as_array().unwrap();
    let of = |direction: &str, metric: &str| {
        // `forward` is the default, which is not named.
        let wanted = |cell: &&serde_json::Value| {
            let of = cell["direction"].as_str().unwrap_or("forward");
            cell["metric"] == metric && of == direction
        };
        let found: Vec<_> = cells.iter().filter(wanted).collect();
        assert_eq!(found.len(), 1, "{direction} {metric}: {report:#}");
        found[0]["value"].as_f64().unwrap()
    };
    // The board's rows, in their releases' units, and this host's counts are of the same bytes.
    for (direction, there, here) in [
        ("forward", "throughput_rx", "throughput_sent"),
        ("reverse", "throughput_sent", "throughput_tx"),
    ] {
        let (there, here) = (of(direction, there), of(direction, here));
        assert!(
            (there - 20.0).abs() < 2.0 && (here - 20.0).abs() < 2.0,
            "{there} and {here}: {report:#}"
        );
    }
    let consoles = bench.run(&["runs", "--consoles", "last"]).ok();
    assert!(consoles.contains("iperf -s -p 5001") && consoles.contains("bits/sec"), "{consoles}");
    assert!(consoles.contains("a line with a password is not kept"), "{consoles}");
    // Neither the password nor a piece of it is anywhere.
    for file in std::fs::read_dir(bench.path(".")).unwrap() {
        let file = file.unwrap().path();
        let bytes = if file.is_file() { std::fs::read(&file).unwrap() } else { Vec::new() };
        assert!(!bytes.windows(7).any(|it| it == b"correct"), "{}", file.display());
    }
}

#[test]
fn both_ends_of_tcp_agree() {
    agree("tcp", IdfRelease::Component1, Ipv4Addr::new(127, 77, 0, 1));
}

#[test]
fn both_ends_of_udp_agree() {
    agree("udp", IdfRelease::V5, Ipv4Addr::new(127, 77, 0, 2));
}

#[test]
fn a_wrong_password_is_a_cause_and_three_lines() {
    let bench = TestDir::new();
    bench.write("wifi.toml", &plan("tcp").replace("[\"forward\", \"reverse\"]", "\"forward\""));
    let board = board(IdfRelease::Component1, Ipv4Addr::new(127, 77, 0, 3));
    let ran = run(&bench, &board, "wrong horse", &[]);
    assert_eq!(ran.status, Some(2), "{}", ran.err);
    let samples = bench.run(&["samples", "last"]).ok();
    assert!(samples.contains("not-authenticated"), "{samples}");
    let report = bench.run(&["report", "last", "--full"]).ok();
    assert!(report.contains("refused the board (reason 15, handshake timeout)"), "{report}");
    assert!(!format!("{}{}{samples}{report}", ran.out, ran.err).contains("horse"));
    // Without a name nothing is typed.
    let on = format!("serial:{}", board.port);
    let ran = bench.run(&["run", "wifi.toml", "--on", &on]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.err.contains("add --ssid NAME") && ran.err.lines().count() == 3, "{}", ran.err);
}
