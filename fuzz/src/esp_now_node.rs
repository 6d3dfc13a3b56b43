//! ESP-NOW: a whole node under any sequence of frames, console bytes, answers of its driver and
//! steps of time.

use crate::esp_now_engine::RELEASES;
use esp_now::component::header::VERSION;
use esp_now::component::{Compat, DataType, FrameConfig, Header, Idf};
use esp_now::node::board::{BareBoard, Board, CpuWork, Download, NvsKey, Slot};
use esp_now::node::device::{Setup, SmallNode, TimeRole};
use esp_now::node::security::Policy;
use esp_now::node::task::{NodeSettings, SendRequest};
use esp_now::node::tick::Tick;
use esp_now::node::{Input, NodeOutput, ReceivedFrame};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::{Duration, Instant};

const OWN: Mac = Mac([2, 0, 0, 0, 0, 1]);
const PEER: Mac = Mac([2, 0, 0, 0, 0, 2]);
/// Lines that reach every command that waits for something, and those that switch things on.
const LINES: [&str; 16] = [
    "help\r",
    "espnow_iperf -s -i 1\r",
    "espnow_iperf -c 02:00:00:00:00:02 -p -C 2\r",
    "espnow_iperf -c 02:00:00:00:00:02 -t 1\r",
    "espnow_iperf -a\r",
    "command 02:00:00:00:00:02 \"help\"\r",
    "scan -a\r",
    "control -l -u 1 -b 1 -c 1 -t 2 -v 3\r",
    "ota -f 100 -s 02:00:00:00:00:02\r",
    "ota -d http://here/x -s ff:ff:ff:ff:ff:ff\r",
    "security -f 100\r",
    "sec_test -c 2 -l 16\r",
    "provisioning -i 500 net secret\r",
    "provisioning -r\r",
    "log -l VER -m espnow\r",
    "wifi_config -c 3 -i\r",
];

/// Runs a node: the first bytes choose the settings, then each byte is an operation: its low three
/// bits say which, the others a number.
pub fn esp_now_node(data: &[u8]) {
    let [kind, tick, rest @ ..] = data else { return };
    let mut world = World::new(*kind, *tick);
    for (at, byte) in rest.iter().take(60).enumerate() {
        world.step(byte & 7, byte >> 3, &rest[at + 1..]);
    }
    world.end();
}

/// A board in memory. Its slots are small, so that a whole image is quickly hashed.
struct Shelf {
    stored: [Option<(usize, [u8; 512])>; 6],
    slots: [Vec<u8>; 2],
    chance: BareBoard,
    slow: bool,
}

impl Board for Shelf {
    fn random(&mut self, out: &mut [u8]) {
        self.chance.random(out);
    }

    fn cost_ns(&mut self, work: CpuWork) -> u64 {
        match work {
            CpuWork::Dispatch { .. } | CpuWork::Erase { .. } if self.slow => 20_000_000,
            CpuWork::Print { bytes } if self.slow => 87_000 * u64::from(bytes),
            _ => 0,
        }
    }

    fn slot_size(&self, _: Slot) -> u32 {
        4096
    }

    fn image_len(&self, slot: Slot) -> u32 {
        self.slots[slot as usize].len() as u32
    }

    fn read(&mut self, slot: Slot, offset: u32, out: &mut [u8]) -> bool {
        let from = self.slots[slot as usize].get(offset as usize..).unwrap_or_default();
        let len = from.len().min(out.len());
        out[..len].copy_from_slice(&from[..len]);
        true
    }

    fn erase(&mut self, len: u32) -> bool {
        assert!(len <= 4096, "no more than there is");
        self.slots[1] = vec![0xFF; len as usize];
        true
    }

    fn write(&mut self, offset: u32, data: &[u8]) -> bool {
        let place = self.slots[1].get_mut(offset as usize..offset as usize + data.len());
        place.map(|place| place.copy_from_slice(data)).is_some()
    }

    fn boot(&mut self, _: Slot) -> bool {
        true
    }

    fn load(&mut self, key: NvsKey, out: &mut [u8]) -> Option<usize> {
        let (len, value) = self.stored[key as usize].as_ref()?;
        let len = (*len).min(out.len());
        out[..len].copy_from_slice(&value[..len]);
        Some(len)
    }

    fn save(&mut self, key: NvsKey, value: &[u8]) -> bool {
        let mut place = [0; 512];
        let Some(part) = place.get_mut(..value.len()) else { return false };
        part.copy_from_slice(value);
        self.stored[key as usize] = Some((value.len(), place));
        true
    }

    fn forget(&mut self, key: NvsKey) {
        self.stored[key as usize] = None;
    }

    fn fetch(&mut self, _: &str) -> bool {
        self.slots[1] = vec![0xE9; 352];
        true
    }

    fn download(&mut self) -> Download {
        Download::Complete
    }
}

struct World {
    node: Box<SmallNode>,
    board: Shelf,
    settings: NodeSettings,
    setup: Setup,
    now: Instant,
    /// Frames that the driver has and has not answered for.
    flying: u32,
    transmitted: u32,
    refused: u32,
    received: u32,
    handed: u32,
}

impl World {
    fn new(kind: u8, tick: u8) -> Self {
        let release = RELEASES[usize::from(tick >> 4 & 4 | kind & 3)];
        let mut settings = NodeSettings {
            compat: Compat {
                release,
                idf: if kind & 4 == 0 { Idf::V5_1 } else { Idf::V5_4_2 },
                auto_channel: kind & 8 != 0,
                ..Compat::default()
            },
            tick: Tick::from_hz([100, 1000, 500, 1][usize::from(tick & 3)]),
            forward_all_channels: tick & 4 != 0,
            restore_channel: tick & 8 != 0,
            ..NodeSettings::default()
        };
        settings.encrypt.enabled = kind & 16 != 0;
        settings.encrypt.debug = kind & 32 != 0;
        if kind & 64 != 0 {
            settings.policy = Policy::STRICT;
        }
        let time = [None, Some(TimeRole::Leads(200)), Some(TimeRole::Follows(100)), None];
        let setup = Setup { time: time[usize::from(tick >> 4 & 3)], ..Setup::default() };
        let mut stored = [None; 6];
        let mut key = [0; 512];
        key[..32].fill(7);
        (stored[0], stored[1]) = (Some((32, key)), Some((32, key)));
        let (slots, chance) = ([vec![0xE9; 352], vec![]], BareBoard(u64::from(tick)));
        let mut board = Shelf { stored, slots, chance, slow: kind & 128 != 0 };
        let now = Instant::ZERO;
        let node = Box::new(SmallNode::new(now, &mut board, OWN, settings.clone(), &setup));
        let (flying, transmitted, refused, received, handed) = (0, 0, 0, 0, 0);
        Self { node, board, settings, setup, now, flying, transmitted, refused, received, handed }
    }

    fn step(&mut self, operation: u8, number: u8, rest: &[u8]) {
        match operation {
            0 => {
                let ms = [1, 3, 11, 110, 600, 3001, 0, 20][usize::from(number & 7)];
                self.now = self.now + Duration::from_micros(ms * 1000 + u64::from(number));
            }
            1 => {
                self.poll(u32::from(number) + 1, number & 1 == 0);
            }
            2 => self.answer(number & 1 == 0),
            3 => self.type_in(number, rest),
            4 | 5 => self.receive(number, rest),
            6 => self.send(number, rest),
            _ => self.change(number),
        }
    }

    fn input(&mut self, input: Input<'_>) {
        self.node.handle(self.now, &mut self.board, input);
    }

    fn answer(&mut self, delivered: bool) {
        if self.flying > 0 {
            self.flying -= 1;
            self.input(Input::Sent { delivered });
        }
    }

    fn type_in(&mut self, number: u8, rest: &[u8]) {
        if number & 1 == 0 {
            self.input(Input::Console(b"R"));
            let line = LINES[usize::from(number >> 1)];
            self.input(Input::Console(line.as_bytes()));
        } else {
            self.input(Input::Console(&rest[..rest.len().min(usize::from(number))]));
        }
    }

    /// Delivers a frame of any type with a header that fits; sometimes any bytes.
    fn receive(&mut self, number: u8, rest: &[u8]) {
        let [word @ .., kind, len] = rest.first_chunk::<6>().copied().unwrap_or_default();
        let payload = &rest[rest.len().min(6)..];
        let payload = &payload[..payload.len().min(usize::from(len))];
        let mut config =
            FrameConfig::from_word(u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        if number & 1 == 0 {
            // Nothing that keeps it from arriving.
            config.filter_adjacent = false;
            config.filter_weak = false;
            config.group = false;
        }
        let mut data = [0; 300];
        let head = Header {
            data_type: DataType::ALL[usize::from(kind & 15)],
            version: VERSION,
            size: payload.len() as u8,
            magic: u16::from_le_bytes([number, kind]),
            config,
            dest: [OWN, PEER, Mac::BROADCAST, OWN][usize::from(number >> 1 & 3)],
            src: PEER,
        };
        data[..20].copy_from_slice(&head.emit());
        data[20..20 + payload.len()].copy_from_slice(payload);
        let data = if number == 31 { rest } else { &data[..20 + payload.len()] };
        // The key agreement is too slow for here: its first message is left out.
        if kind & 15 == 12 && payload.len() > 40 {
            return;
        }
        let frame = ReceivedFrame { data, transmitter: PEER, receiver: OWN, rssi: -40, channel: 1 };
        self.received += 1;
        self.input(Input::Frame(frame));
    }

    fn send(&mut self, number: u8, rest: &[u8]) {
        let word = rest.first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
        let out = SendRequest {
            data_type: DataType::Data,
            dest: [PEER, Mac::BROADCAST][usize::from(number & 1)],
            config: FrameConfig::from_word(word),
            magic: 0,
            len: 0,
            wait: Duration::MAX,
        };
        let payload = &rest[..rest.len().min(usize::from(number) * 9)];
        let _ = self.node.send(self.now, &mut self.board, &out, payload);
    }

    fn change(&mut self, number: u8) {
        match number & 3 {
            0 => self.input(Input::ChannelLocked(number & 4 == 0)),
            1 => self.input(Input::Tick),
            2 if number == 2 => {
                self.node.hand_out_keys(self.now, &mut self.board);
            }
            2 => {}
            _ if number == 31 => self.restart(),
            _ => {}
        }
    }

    /// Resets the node; its stored values are there again.
    fn restart(&mut self) {
        let (settings, setup) = (self.settings.clone(), &self.setup);
        self.node = Box::new(SmallNode::new(self.now, &mut self.board, OWN, settings, setup));
        (self.flying, self.transmitted, self.refused) = (0, 0, 0);
        (self.received, self.handed) = (0, 0);
    }

    /// Polls at most so many times; gives until when it then waits.
    fn poll(&mut self, times: u32, accept: bool) -> Option<Option<Instant>> {
        let mut buf = [0; 1490];
        for _ in 0..times {
            match self.node.poll(self.now, &mut self.board, &mut buf) {
                NodeOutput::Transmit { len, .. } => {
                    assert!((20..=250).contains(&len));
                    assert!(Header::parse(&buf[..len]).is_some_and(|(h, _)| h.version == VERSION));
                    if accept && self.flying < 8 {
                        (self.flying, self.transmitted) = (self.flying + 1, self.transmitted + 1);
                    } else {
                        self.refused += 1;
                        self.input(Input::Refused);
                    }
                }
                NodeOutput::Data { len, .. } => {
                    self.handed += 1;
                    assert!(0 < len && len <= 1470);
                }
                NodeOutput::Tune(channel) => assert_eq!(channel, self.node.shared().air.channel),
                NodeOutput::Print { len } => assert!(0 < len && len <= buf.len()),
                NodeOutput::Sample(_) | NodeOutput::Event(_) => {}
                NodeOutput::WaitUntil(at) => {
                    assert!(at >= self.now, "no time travel");
                    if at > self.now {
                        return Some(Some(at));
                    }
                }
                NodeOutput::Idle => return Some(None),
            }
        }
        None
    }

    /// Checks that with a driver that answers the node comes to rest between two instants, and that
    /// the counters add up.
    fn end(mut self) {
        for _ in 0..50 {
            let Some(wake) = self.poll(5000, true) else { panic!("poll never ends") };
            if self.flying > 0 {
                self.now = self.now + Duration::from_micros(500);
                self.answer(true);
            } else if let Some(at) = wake {
                self.now = at;
            } else {
                break;
            }
        }
        let (c, dropped) = (self.node.counters(), self.node.dropped());
        assert_eq!((c.received, c.fates()), (self.received, self.received), "one fate each");
        assert!(c.delivered >= self.handed);
        assert!(c.acks_sent + c.forwarded + c.lock_timeout <= c.acks_due + c.forwards_due);
        assert_eq!((c.driver_refused, c.transmitted), (self.refused, self.transmitted));
        assert_eq!((dropped.frames, dropped.commands), (c.queue_full, 0));
        assert!(dropped.total() >= c.queue_full + c.acks_lost);
    }
}
