//! ESP-IDF's `iperf` example on virtual time. Its lines are constructed from the sources of the
//! releases; no board has printed them here.

use super::bench::KeptBoards;
use crate::boards::{
    BoardBench, BoardError, BoardFault, BoardSetup, PeerStage, PortEvent, ResetWay, StreamPeer,
    run_traffic,
};
use alloc::collections::VecDeque;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::cell::Cell;
use core::net::{Ipv4Addr, SocketAddrV4};
use core::time::Duration;
use espbench_model::sample::{Cause, Fate, Interval, Observer, Sample};
use espbench_model::time::Instant;
use espbench_model::workload::{Direction, Iperf, Transport};
use espbench_sim::lab::record::Record;

const BOOT: &str = "rst:0x1 (POWERON_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)\r\n\
    I (552) wifi:mode : sta (24:0a:c4:11:22:33)\r\n\x1b[0;32miperf> \x1b[0m";
const PASSWORD: &str = "correct horse";
const PROMPT: &str = "\x1b[0;32miperf> \x1b[0m";

/// Releases whose consoles differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IdfRelease {
    /// ESP-IDF v4.4: `sta`, rows in columns from the command on, no `-b`.
    V4,
    /// v5.2: `-f`, so 2^20 bits to the Mbit.
    V5,
    /// Component `iperf` 0.1: `sta_connect`, seconds with a point.
    Component0,
    /// Component `iperf` 1.0: the number of the test.
    Component1,
}

/// Misfortune of the board in a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    None,
    NoNetwork,
    WrongPassword,
    NoDhcp,
    NoWay,
    Crash,
    Unplugged,
    Mute,
    NoCommand,
}

/// A board with the example, and its clock.
struct IdfBench {
    release: IdfRelease,
    trouble: Trouble,
    now: Rc<Cell<Instant>>,
    typed: String,
    out: VecDeque<(Instant, String)>,
    gone: bool,
}

const fn after(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

impl IdfBench {
    fn new(release: IdfRelease, trouble: Trouble, now: Rc<Cell<Instant>>) -> Self {
        Self { release, trouble, now, typed: String::new(), out: VecDeque::new(), gone: false }
    }

    fn print(&mut self, in_ms: u64, text: String) {
        let at = self.now.get() + after(in_ms);
        let behind = self.out.partition_point(|it| it.0 <= at);
        self.out.insert(behind, (at, text));
    }

    fn help(&self) -> String {
        let join =
            if self.is_old() { "sta  <ssid> [<pass>]" } else { "sta_connect  <ssid> [<pass>]" };
        let rate = match self.release {
            IdfRelease::V4 => "",
            IdfRelease::Component1 => {
                "  -b, --bandwidth=<bandwidth>  #[kmgKMG]  bandwidth to send at in bits/sec\r\n"
            }
            _ => "  -b, --bandwidth=<bandwidth>  bandwidth to send at in Mbits/sec\r\n",
        };
        let format = if self.release == IdfRelease::V4 {
            ""
        } else {
            "  -f, --format=<format>  'k' = Kbits/sec 'm' = Mbits/sec\r\n"
        };
        let parallel = if self.release == IdfRelease::Component1 {
            "  -P, --parallel=<parallel number>  number of parallel client threads to run\r\n"
        } else {
            ""
        };
        let iperf = if self.trouble == Trouble::NoCommand { "free" } else { "iperf" };
        format!(
            "help  [<string>]\r\n  Print the list\r\n\r\nrestart \r\n  Restart the program\r\n\r\n{join}\r\n  \
             WiFi is station mode, join specified soft-AP\r\n\r\n{iperf}  [-suV] [-c <ip>] [-p <port>]\r\n  \
             iperf command\r\n  -l, --len=<length>  Set read/write buffer size\r\n{rate}{format}{parallel}\r\n"
        )
    }

    fn is_old(&self) -> bool {
        matches!(self.release, IdfRelease::V4 | IdfRelease::V5)
    }

    fn join(&mut self) {
        let left = |reason: u16, old: bool| {
            if old {
                "I (90) cmd_wifi: sta disconnect, reconnect...\r\n".to_string()
            } else {
                format!(
                    "I (90) WIFI: WIFI_EVENT_STA_DISCONNECTED! reason: {reason}\r\nI (91) WIFI: trying to reconnect...\r\n"
                )
            }
        };
        let old = self.is_old();
        match self.trouble {
            Trouble::NoNetwork => (1..12).for_each(|n| self.print(n * 2500, left(201, old))),
            Trouble::WrongPassword => (1..12).for_each(|n| self.print(n * 3500, left(15, old))),
            Trouble::NoDhcp => self.print(900, "I (95) WIFI: WIFI_EVENT_STA_CONNECTED!\r\n".into()),
            _ => {
                // The first scan often finds nothing.
                self.print(800, left(201, old));
                let line = "I (99) esp_netif_handlers: sta ip: 10.0.0.7, mask: 255.255.255.0, gw: 10.0.0.1\r\n";
                self.print(3000, line.into());
            }
        }
    }

    fn row(&self, test: u64, from: u64, to: u64, mbits: f64) -> String {
        match self.release {
            IdfRelease::V4 => format!("{from:4}-{to:4} sec       {mbits:.2} Mbits/sec\r\n"),
            IdfRelease::V5 => {
                format!("{from:4}-{to:4} sec       {:.2} Mbits/sec\r\n", mbits / 1.048_576)
            }
            IdfRelease::Component0 => {
                format!("{from:2}.0-{to:2}.0 sec  {:.2} Mbits/sec\r\n", mbits / 1.048_576)
            }
            IdfRelease::Component1 => {
                let bytes = mbits / 8.0 * (to - from) as f64;
                format!(
                    "[{test:3}] {from:2}.0-{to:2}.0 sec\t{bytes:.2} MBytes\t{mbits:.2} Mbits/sec\r\n"
                )
            }
        }
    }

    fn iperf(&mut self, command: &str) {
        if command.contains("--abort") {
            self.out.clear();
            self.print(0, "I (190) iperf: iperf exit\r\n".into());
            return;
        }
        let word = |name: &str| {
            let mut words = command.split(' ').skip_while(|it| *it != name);
            words.nth(1).map_or(0, |it| it.parse::<u64>().unwrap_or(0))
        };
        let (server, time, step) = (command.contains(" -s"), word("-t"), word("-i"));
        let (kind, role) = (
            if command.contains(" -u") { "udp" } else { "tcp" },
            if server { "server" } else { "client" },
        );
        self.print(0, format!("I (100) IPERF: mode={kind}-{role} sip=0.0.0.0:5001, dip=0.0.0.0:5001, interval={step}, time={time}\r\n"));
        if self.trouble == Trouble::NoWay && !server {
            self.print(50, "E (150) iperf: iperf_run_tcp_client(361): Socket unable to connect: errno 113\r\nI (151) iperf: iperf exit\r\n".into());
            return;
        }
        if server {
            self.print(1, "I (101) iperf: Socket created\r\n".into());
        }
        // v4 counts from here on, the others from the first bytes on: this host sends 500 ms later.
        let old = self.release == IdfRelease::V4;
        let begin = if server && !old { 545 } else { 5 };
        let header = if self.release == IdfRelease::Component1 {
            "\r\n[ ID] Interval\t\tTransfer\tBandwidth\r\n"
        } else {
            "\r\nInterval       Bandwidth\r\n"
        };
        self.print(begin, header.into());
        let sent = if server { 4000 } else { time * 1000 };
        // Each of several streams has its own task, and so its rows come a moment after the others'.
        for test in 1..=word("-P").max(1) {
            let begin = begin + test - 1;
            let (first, mut sum, mut rows) = (if server { 545 } else { begin }, 0.0, 0);
            for row in 0..time / step {
                let (from, to) = (begin + row * step * 1000, begin + (row + 1) * step * 1000);
                let within = to.min(first + sent).saturating_sub(from.max(first));
                let mbits = 20.0 * within as f64 / (step * 1000) as f64;
                let text = self.row(test, row * step, (row + 1) * step, mbits);
                self.print(to, text);
                (sum, rows) = (sum + mbits, rows + 1);
            }
            let end = begin + time / step * step * 1000 + 1;
            let mean = self.row(test, 0, time, sum / f64::from(rows.max(1)));
            self.print(end, mean);
        }
        let end = begin + time / step * step * 1000 + 1;
        if self.is_old() {
            self.print(end + 1, "I (200) iperf: iperf exit\r\n".into());
        }
        match self.trouble {
            Trouble::Crash => self.print(2500, "\r\nGuru Meditation Error: Core  0 panic'ed (LoadProhibited). Exception was unhandled.\r\nBacktrace: 0x400d1f27:0x3ffb5c80\r\nRebooting...\r\nrst:0xc (SW_CPU_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)\r\n".into()),
            Trouble::Unplugged => self.print(2500, String::new()),
            _ => {}
        }
    }

    fn enter(&mut self, command: &str) {
        self.print(0, "\r\n".into());
        match command.split(' ').next().unwrap_or_default() {
            "version" => {
                self.print(0, "IDF Version:v5.1.2\r\nChip info:\r\n\tmodel:ESP32-C3\r\n".into())
            }
            "help" => {
                let help = self.help();
                self.print(0, help);
            }
            "sta" | "sta_connect" => self.join(),
            "iperf" => self.iperf(command),
            _ => {}
        }
        self.print(0, PROMPT.into());
    }
}

impl BoardBench for IdfBench {
    fn now(&self) -> Instant {
        self.now.get()
    }

    fn name(&self, _: usize) -> String {
        "port0".into()
    }

    fn reset(&mut self, _: &[usize]) -> Vec<Result<ResetWay, String>> {
        let boot = if self.trouble == Trouble::Mute { "I (30) boot: hello\r\n" } else { BOOT };
        self.print(100, boot.into());
        [Ok(ResetWay::Pins)].into()
    }

    fn write(&mut self, _: usize, bytes: &[u8]) -> Result<(), String> {
        if self.gone {
            return Err("Input/output error".into());
        }
        let heard = if self.trouble == Trouble::Mute { &[][..] } else { bytes };
        for &byte in heard {
            if byte == b'\r' {
                let command = core::mem::take(&mut self.typed);
                self.enter(&command);
            } else {
                // The line editor draws the line anew with each key.
                self.typed.push(char::from(byte));
                let line = format!("\riperf> {}\x1b[0K", self.typed);
                self.print(0, line);
            }
        }
        Ok(())
    }

    fn wait(&mut self, until: Instant, take: &mut dyn FnMut(usize, Instant, PortEvent<'_>)) {
        match self.out.pop_front_if(|it| it.0 <= until) {
            Some((at, text)) if text.is_empty() => {
                self.now.set(at.max(self.now.get()));
                self.gone = true;
                self.out.clear();
                take(0, at, PortEvent::Gone("Input/output error"));
            }
            Some((at, text)) => {
                self.now.set(at.max(self.now.get()));
                take(0, self.now.get(), PortEvent::Bytes(text.as_bytes()));
            }
            None => self.now.set(until.max(self.now.get())),
        }
    }
}

/// Other end of the stream, on this host, which counts 20 Mbit/s.
struct EvenPeer {
    now: Rc<Cell<Instant>>,
    begun: Option<(Instant, Observer)>,
    told: bool,
    fails: Option<&'static str>,
}

impl StreamPeer for EvenPeer {
    fn serve(&mut self, _: &Iperf, board: Ipv4Addr) -> Result<SocketAddrV4, String> {
        assert_eq!(board, Ipv4Addr::new(10, 0, 0, 7));
        self.begun = Some((self.now.get(), Observer::Receiver));
        Ok(SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 2), 40_001))
    }

    fn send(&mut self, _: &Iperf, board: SocketAddrV4) -> Result<(), String> {
        assert_eq!(board, SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 7), 5001));
        self.begun = Some((self.now.get(), Observer::Sender));
        Ok(())
    }

    fn poll(&mut self, record: &mut dyn Record) -> PeerStage {
        if let Some(error) = self.fails.filter(|_| self.begun.is_some()) {
            return PeerStage::Failed(error.into());
        }
        match self.begun {
            Some((begun, observer)) if self.now.get() >= begun + after(4000) => {
                if !core::mem::replace(&mut self.told, true) {
                    let end = Instant::ZERO + after(4000);
                    let total = Interval {
                        observer,
                        total: true,
                        end,
                        bytes: 10_000_000,
                        ..Interval::default()
                    };
                    record.sample(Sample::Interval(total));
                    // What the system infers of the board counts for nothing beside its own rows.
                    let peer = Interval { observer: Observer::Peer, bytes: 1, ..total };
                    record.sample(Sample::Interval(peer));
                }
                PeerStage::Done
            }
            _ => PeerStage::Going,
        }
    }

    fn finish(&mut self, _: &mut dyn Record) {}
}

const WORK: Iperf =
    Iperf { transport: Transport::Tcp, time: Duration::from_secs(4), ..Iperf::DEFAULT };

fn carried_out(
    work: &Iperf,
    release: IdfRelease,
    trouble: Trouble,
    fails: Option<&'static str>,
) -> (KeptBoards, Result<(), BoardError>) {
    let now = Rc::new(Cell::new(Instant::from_nanos(1)));
    let mut bench = IdfBench::new(release, trouble, Rc::clone(&now));
    let mut peer = EvenPeer { now, begun: None, told: false, fails };
    let mut kept = KeptBoards::default();
    let network = Some(("my home".into(), PASSWORD.into()));
    let setup = BoardSetup { network, image: None, pin: None };
    let result = run_traffic(work, 0, 1, &setup, &mut peer, &mut bench, &mut kept);
    let console = String::from_utf8_lossy(&kept.consoles[&0]).into_owned();
    assert!(!console.contains("correct") && !console.contains("horse"), "{console}");
    assert!(!format!("{:?} {result:?}", kept.facts).contains("horse"));
    (kept, result)
}

fn intervals(kept: &KeptBoards, observer: Observer) -> (Vec<Interval>, Vec<Interval>) {
    let of = |sample: &Sample| match sample {
        Sample::Interval(it) if it.observer == observer => Some(*it),
        _ => None,
    };
    kept.samples.iter().filter_map(of).partition(|it| !it.total)
}

const RELEASES: [IdfRelease; 4] =
    [IdfRelease::V4, IdfRelease::V5, IdfRelease::Component0, IdfRelease::Component1];

#[test]
fn both_ends_of_a_stream_to_the_board_agree_in_each_release() {
    for release in RELEASES {
        for transport in [Transport::Tcp, Transport::Udp] {
            let work = Iperf { transport, length: 1470, ..WORK };
            let (kept, result) = carried_out(&work, release, Trouble::None, None);
            assert_eq!(result, Ok(()), "{release:?}");
            let (parts, total) = intervals(&kept, Observer::Peer);
            let seconds = if release == IdfRelease::V4 { 3 } else { 4 };
            assert_eq!(parts.len(), seconds, "{release:?}: {parts:?}");
            for (seq, part) in parts.iter().enumerate() {
                assert_eq!(part.seq, seq as u64);
                assert!(part.bytes.abs_diff(2_500_000) < 700, "{release:?}: {part:?}");
            }
            // The total is all that came, over the time that this host sent.
            assert_eq!(total.len(), 1);
            assert!(total[0].bytes.abs_diff(10_000_000) < 5000, "{release:?}: {total:?}");
            assert_eq!(total[0].end, Instant::ZERO + after(4000));
            assert_eq!(intervals(&kept, Observer::Sender).1[0].bytes, 10_000_000);
            let commands = &kept.facts["commands"];
            let udp = if transport == Transport::Udp { " -u" } else { "" };
            assert!(commands.contains(&format!("iperf -s -p 5001{udp} -i 1 -t 7")), "{commands}");
            let join = if matches!(release, IdfRelease::V4 | IdfRelease::V5) {
                "sta"
            } else {
                "sta_connect"
            };
            assert!(commands.contains(&format!("port0> {join} \"my home\" ****")), "{commands}");
            assert_eq!(
                (kept.facts["address"].as_str(), kept.facts["chip"].as_str()),
                ("10.0.0.7", "esp32c3")
            );
        }
    }
}

#[test]
fn both_ends_of_a_stream_from_the_board_agree_in_each_release() {
    for release in RELEASES {
        let work = Iperf { direction: Direction::Reverse, ..WORK };
        let (kept, result) = carried_out(&work, release, Trouble::None, None);
        assert_eq!(result, Ok(()), "{release:?}");
        let (parts, total) = intervals(&kept, Observer::Peer);
        assert_eq!((parts.len(), total.len()), (4, 1), "{release:?}");
        assert!(total[0].bytes.abs_diff(10_000_000) < 5000, "{release:?}: {total:?}");
        assert_eq!(intervals(&kept, Observer::Receiver).1.len(), 1);
        assert!(kept.facts["commands"].contains("iperf -c 10.0.0.2 -p 40001 -i 1 -t 4"));
        assert!(kept.facts["printed"].ends_with("bits/sec"));
    }
}

/// The component prints rows and a mean of each stream, and no sum: each is a stream of its own here, too.
#[test]
fn several_streams_from_the_board_are_told_apart() {
    let work = Iperf { direction: Direction::Reverse, parallel: 3, ..WORK };
    let (kept, result) = carried_out(&work, IdfRelease::Component1, Trouble::None, None);
    assert_eq!(result, Ok(()));
    let (parts, total) = intervals(&kept, Observer::Peer);
    assert_eq!((parts.len(), total.len()), (12, 3));
    for link in 0..3 {
        let seqs: Vec<u64> = parts.iter().filter(|it| it.link.0 == link).map(|it| it.seq).collect();
        assert_eq!(seqs, [0, 1, 2, 3], "stream {link}");
        let all: Vec<&Interval> = total.iter().filter(|it| it.link.0 == link).collect();
        assert_eq!(all.len(), 1, "stream {link}");
        assert!(all[0].bytes.abs_diff(10_000_000) < 5000, "{all:?}");
    }
    assert!(kept.facts["commands"].contains("iperf -c 10.0.0.2 -p 40001 -i 1 -t 4 -P 3"));
    assert_eq!(kept.facts["printed"].lines().count(), 3, "a mean of each");
    // Releases before have one stream.
    for release in [IdfRelease::V4, IdfRelease::V5, IdfRelease::Component0] {
        let (_, result) = carried_out(&work, release, Trouble::None, None);
        let Err(BoardError::NoOption { option, .. }) = result else { panic!("{result:?}") };
        assert!(option.starts_with("-P, which the component iperf-cmd has from 1.0"), "{option}");
    }
}

#[test]
fn a_rate_is_told_as_the_release_takes_it() {
    let work = Iperf {
        direction: Direction::Reverse,
        transport: Transport::Udp,
        length: 1000,
        bandwidth: Some(40_000_000),
        ..WORK
    };
    for (release, wanted) in [
        (IdfRelease::V5, "-u -i 1 -t 4 -b 40 -l 1000"),
        (IdfRelease::Component0, "-u -i 1 -t 4 -b 40 -l 1000"),
        (IdfRelease::Component1, "-u -i 1 -t 4 -b 40m -l 1000"),
    ] {
        let (kept, result) = carried_out(&work, release, Trouble::None, None);
        assert_eq!(result, Ok(()));
        assert!(kept.facts["commands"].contains(wanted), "{release:?}: {}", kept.facts["commands"]);
    }
    let (_, result) = carried_out(&work, IdfRelease::V4, Trouble::None, None);
    assert_eq!(result, Err(BoardError::NoOption { port: "port0".into(), option: "-b" }));
    let slow = Iperf { bandwidth: Some(500_000), ..work };
    let (_, result) = carried_out(&slow, IdfRelease::V5, Trouble::None, None);
    assert!(matches!(result, Err(BoardError::NoOption { .. })), "{result:?}");
    let (kept, result) = carried_out(&slow, IdfRelease::Component1, Trouble::None, None);
    assert_eq!(result, Ok(()));
    assert!(kept.facts["commands"].contains("-b 500k"));
}

#[test]
fn each_fault_is_told_and_its_cause_is_on_the_stream() {
    let ssid = || String::from("my home");
    let reverse = Iperf { direction: Direction::Reverse, ..WORK };
    let newer = IdfRelease::Component1;
    for (work, release, trouble, fault, cause) in [
        (
            WORK,
            newer,
            Trouble::NoNetwork,
            BoardFault::NotJoined { ssid: ssid(), reason: Some(201) },
            Cause::NotJoined,
        ),
        (
            WORK,
            IdfRelease::V4,
            Trouble::WrongPassword,
            BoardFault::NotJoined { ssid: ssid(), reason: None },
            Cause::NotJoined,
        ),
        (
            WORK,
            newer,
            Trouble::WrongPassword,
            BoardFault::Refused { ssid: ssid(), reason: 15 },
            Cause::NotAuthenticated,
        ),
        (WORK, newer, Trouble::NoDhcp, BoardFault::NoAddress { ssid: ssid() }, Cause::NoAddress),
        (
            reverse,
            newer,
            Trouble::NoWay,
            BoardFault::NoWay { to: "10.0.0.2:40001".into(), errno: 113 },
            Cause::HostUnreachable,
        ),
        (
            WORK,
            newer,
            Trouble::Unplugged,
            BoardFault::Unplugged { error: "Input/output error".into() },
            Cause::DeviceGone,
        ),
        (
            reverse,
            newer,
            Trouble::Unplugged,
            BoardFault::Unplugged { error: "Input/output error".into() },
            Cause::DeviceGone,
        ),
        (
            WORK,
            newer,
            Trouble::Mute,
            BoardFault::NoPrompt { last: "hello".into() },
            Cause::DeviceSilent,
        ),
    ] {
        let (kept, result) = carried_out(&work, release, trouble, None);
        assert_eq!(result, Err(BoardError::Fault { port: "port0".into(), fault: fault.clone() }));
        assert!(!fault.to_string().is_empty() && !fault.remedy().is_empty());
        assert_eq!(causes(&kept), [cause], "{trouble:?}");
    }
    let (kept, result) = carried_out(&WORK, newer, Trouble::Crash, None);
    let Err(BoardError::Fault { fault: BoardFault::Panicked { reason, backtrace }, .. }) = result
    else {
        panic!("{result:?}")
    };
    assert!(reason.contains("LoadProhibited") && backtrace.len() == 1, "{backtrace:?}");
    assert_eq!(causes(&kept), [Cause::DeviceRestarted]);
    // Rows that came before the crash stay.
    assert!(!intervals(&kept, Observer::Peer).1.is_empty());
}

fn causes(kept: &KeptBoards) -> Vec<Cause> {
    let lost = |sample: &Sample| match sample {
        Sample::Probe(probe) => match probe.fate {
            Fate::Lost(cause) => Some(cause),
            _ => None,
        },
        Sample::Interval(_) => None,
    };
    kept.samples.iter().filter_map(lost).collect()
}

#[test]
fn what_the_board_or_the_user_lacks_is_told_before_anything_is_sent() {
    let newer = IdfRelease::Component1;
    let (_, result) = carried_out(&WORK, newer, Trouble::NoCommand, None);
    let error = result.unwrap_err();
    assert_eq!(error, BoardError::NoCommand { port: "port0".into(), command: "iperf" });
    assert!(error.remedy().contains("wifi/iperf"));
    let (kept, result) = carried_out(&WORK, newer, Trouble::None, Some("connection refused"));
    let fault = BoardFault::NoPeer { error: "connection refused".into() };
    assert_eq!(result, Err(BoardError::Fault { port: "port0".into(), fault }));
    assert_eq!(causes(&kept), [Cause::HostUnreachable]);
    let now = Rc::new(Cell::new(Instant::from_nanos(1)));
    let mut bench = IdfBench::new(newer, Trouble::None, Rc::clone(&now));
    let mut peer = EvenPeer { now, begun: None, told: false, fails: None };
    let mut kept = KeptBoards::default();
    let setup = BoardSetup::default();
    let result = run_traffic(&WORK, 0, 1, &setup, &mut peer, &mut bench, &mut kept);
    assert_eq!(result, Err(BoardError::NotTold { what: "the network", flag: "--ssid NAME" }));
    assert!(kept.consoles.is_empty());
}
