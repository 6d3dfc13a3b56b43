use super::*;
use esp_now::node::board::BareBoard;
use esp_now::node::device::Setup;
use esp_now::node::task::NodeSettings;
use esp_now::node::tick::Tick;
use std::boxed::Box;
use std::collections::VecDeque;
use std::string::String;
use std::vec::Vec;

/// A radio whose frames the test carries.
#[derive(Default)]
struct TestRadio {
    peers: Vec<Mac>,
    handed: Vec<(Mac, Vec<u8>)>,
    received: VecDeque<(FrameInfo, Vec<u8>)>,
    outcomes: VecDeque<bool>,
    /// Frames that are refused.
    refuse: u32,
    powers: Vec<i8>,
}

impl Radio for TestRadio {
    fn send(&mut self, to: Mac, data: &[u8]) -> bool {
        assert!(to.is_broadcast() || self.peers.contains(&to), "{to} is a peer");
        if self.refuse > 0 {
            self.refuse -= 1;
            return false;
        }
        self.handed.push((to, data.to_vec()));
        true
    }
    fn sent(&mut self) -> Option<bool> {
        self.outcomes.pop_front()
    }
    fn receive(&mut self, out: &mut [u8; FRAME_MAX]) -> Option<(FrameInfo, usize)> {
        let (info, data) = self.received.pop_front()?;
        out[..data.len()].copy_from_slice(&data);
        Some((info, data.len()))
    }
    fn tune(&mut self, _: u8) {}
    fn set_power(&mut self, power: i8) {
        self.powers.push(power);
    }
    fn add_peer(&mut self, peer: Mac) -> bool {
        assert!(self.peers.len() < PEERS && !self.peers.contains(&peer));
        self.peers.push(peer);
        true
    }
    fn remove_peer(&mut self, peer: Mac) {
        self.peers.retain(|it| *it != peer);
    }
}

/// A terminal that answers the line editor's questions.
#[derive(Default)]
struct TestTerminal {
    typed: VecDeque<u8>,
    printed: String,
    /// Nobody reads.
    stuck: bool,
}

impl Terminal for TestTerminal {
    fn read(&mut self, out: &mut [u8]) -> usize {
        let len = out.len().min(self.typed.len());
        for (place, byte) in out.iter_mut().zip(self.typed.drain(..len)) {
            *place = byte;
        }
        len
    }
    fn write(&mut self, bytes: &[u8]) -> usize {
        if self.stuck {
            return 0;
        }
        // A FIFO of 64 bytes, as USB serial/JTAG has.
        let bytes = &bytes[..bytes.len().min(64)];
        let text = String::from_utf8_lossy(bytes);
        for _ in 0..text.matches("\x1b[6n").count() {
            self.typed.extend(b"\x1b[1;80R");
        }
        self.printed.push_str(&text);
        bytes.len()
    }
}

struct Device {
    node: Box<SmallNode>,
    board: BareBoard,
    driver: NodeDriver,
    radio: TestRadio,
    terminal: TestTerminal,
    told: Vec<Told>,
    due: Instant,
    mac: Mac,
}

fn mac(i: usize) -> Mac {
    Mac([0x24, 0x0a, 0xc4, 0, 0, i as u8 + 1])
}

impl Device {
    fn new(i: usize) -> Self {
        let mut board = BareBoard(i as u64);
        let settings = NodeSettings { tick: Tick::from_hz(1000), ..NodeSettings::default() };
        let node = SmallNode::new(Instant::ZERO, &mut board, mac(i), settings, &Setup::default());
        Self {
            node: Box::new(node),
            board,
            driver: NodeDriver::new(),
            radio: TestRadio::default(),
            terminal: TestTerminal::default(),
            told: Vec::new(),
            due: Instant::ZERO,
            mac: mac(i),
        }
    }

    fn turn(&mut self, now: Instant) {
        let mut buf = [0; 1500];
        let mut io =
            Io { board: &mut self.board, radio: &mut self.radio, terminal: &mut self.terminal };
        let told = &mut self.told;
        let mut tell = |_: &mut NodeDriver, it| told.push(it);
        self.due = self.driver.turn(now, &mut self.node, &mut io, &mut buf, &mut tell);
    }
}

/// Lets devices talk for a time, in steps of 100 us, over a medium that loses nothing.
fn run(devices: &mut [Device], now: &mut Instant, time: Duration) {
    let end = *now + time;
    while *now < end {
        for me in 0..devices.len() {
            devices[me].turn(*now);
            let handed = core::mem::take(&mut devices[me].radio.handed);
            for (to, data) in handed {
                let mut heard = to.is_broadcast();
                let transmitter = devices[me].mac;
                for other in devices.iter_mut().filter(|it| it.mac != transmitter) {
                    if to.is_broadcast() || to == other.mac {
                        let info = FrameInfo { transmitter, receiver: to, rssi: -40, channel: 1 };
                        other.radio.received.push_back((info, data.clone()));
                        heard = true;
                    }
                }
                devices[me].radio.outcomes.push_back(heard);
            }
        }
        *now = *now + Duration::from_micros(100);
    }
}

#[test]
fn two_devices_ping_each_other_at_their_consoles() {
    let mut devices = [Device::new(0), Device::new(1)];
    let mut now = Instant::ZERO;
    run(&mut devices, &mut now, Duration::from_secs(1));
    devices[1].terminal.typed.extend(b"espnow_iperf -s\r");
    run(&mut devices, &mut now, Duration::from_secs(1));
    devices[0].terminal.typed.extend(b"espnow_iperf -c 24:0a:c4:00:00:02 -p -C 10\r");
    run(&mut devices, &mut now, Duration::from_secs(5));
    let printed = &devices[0].terminal.printed;
    assert_eq!(printed.matches("bytes from 24:0a:c4:00:00:02").count(), 10, "{printed}");
    assert_eq!(devices[0].driver.counters, DriverCounters::default());
    assert_eq!(devices[0].radio.powers, [80], "20 dBm, and set once");
    assert_eq!(devices[0].radio.peers, [mac(1)]);
}

#[test]
fn a_refused_frame_is_counted_and_the_node_told() {
    let mut devices = [Device::new(0), Device::new(1)];
    let mut now = Instant::ZERO;
    devices[1].terminal.typed.extend(b"espnow_iperf -s\r");
    run(&mut devices, &mut now, Duration::from_secs(1));
    devices[0].radio.refuse = 3;
    devices[0].terminal.typed.extend(b"espnow_iperf -c 24:0a:c4:00:00:02 -p -C 10\r");
    run(&mut devices, &mut now, Duration::from_secs(60));
    assert_eq!(devices[0].driver.counters.refused, 3);
    let printed = &devices[0].terminal.printed;
    assert!(printed.contains("10 packets transmitted"), "{printed}");
}

#[test]
fn the_peer_used_longest_ago_makes_room() {
    let (mut driver, mut radio) = (NodeDriver::new(), TestRadio::default());
    for i in 0..PEERS {
        assert!(driver.send(&mut radio, mac(i), b"x"));
    }
    assert!(driver.send(&mut radio, mac(0), b"x"), "used again");
    assert!(driver.send(&mut radio, mac(100), b"x"));
    assert!(driver.send(&mut radio, Mac::BROADCAST, b"x"));
    assert_eq!(driver.counters.replaced, 1);
    assert!(radio.peers.contains(&mac(0)) && !radio.peers.contains(&mac(1)));
    assert_eq!(radio.handed.len(), PEERS + 3);
}

#[test]
fn a_command_of_the_firmware_does_not_reach_the_node() {
    let mut devices = [Device::new(0)];
    let mut now = Instant::ZERO;
    run(&mut devices, &mut now, Duration::from_secs(1));
    devices[0].terminal.typed.extend(b"espbench stack\r");
    run(&mut devices, &mut now, Duration::from_secs(1));
    devices[0].terminal.typed.extend(b"heap\r");
    run(&mut devices, &mut now, Duration::from_secs(1));
    assert_eq!(devices[0].told, [Told::Command(Ok(Command::Stack))]);
    let printed = &devices[0].terminal.printed;
    assert!(printed.contains("Free heap, current: "), "{printed}");
    assert!(!printed.contains("Unrecognized"), "{printed}");
}

#[test]
fn a_restart_waits_for_the_text_but_not_for_ever() {
    for stuck in [false, true] {
        let mut devices = [Device::new(0)];
        let mut now = Instant::ZERO;
        run(&mut devices, &mut now, Duration::from_secs(1));
        devices[0].terminal.typed.extend(b"restart\r");
        devices[0].terminal.stuck = stuck;
        run(&mut devices, &mut now, Duration::from_millis(200));
        assert_eq!(devices[0].told == [Told::Restart], !stuck);
        if !stuck {
            assert!(devices[0].terminal.printed.contains("Restarting"));
        }
        run(&mut devices, &mut now, Duration::from_secs(2));
        assert_eq!(devices[0].told, [Told::Restart]);
    }
}

#[test]
fn text_that_nobody_reads_is_dropped_and_counted() {
    let mut devices = [Device::new(0)];
    let mut now = Instant::ZERO;
    devices[0].terminal.stuck = true;
    run(&mut devices, &mut now, Duration::from_secs(1));
    for _ in 0..6 {
        devices[0].terminal.typed.extend(b"\x1b[1;80Rhelp\r");
        run(&mut devices, &mut now, Duration::from_secs(1));
    }
    assert!(devices[0].driver.text_dropped() > 0, "the console's line editor waits");
}
