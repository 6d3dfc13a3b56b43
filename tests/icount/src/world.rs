//! Two nodes and the air between them, and the count of what each call takes.

use crate::machine::instructions;
use core::mem::MaybeUninit;
use esp_now::component::sealed::AesPort;
use esp_now::node::board::{BareBoard, Board, NvsKey};
use esp_now::node::device::{Setup, SmallNode};
use esp_now::node::task::NodeSettings;
use esp_now::node::tick::Tick;
use esp_now::node::{Input, NodeOutput, ReceivedFrame};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::{Duration, Instant};

/// Nodes in memory that is not the stack, as in the firmware.
static mut NODES: [MaybeUninit<SmallNode>; 2] = [const { MaybeUninit::uninit() }; 2];

/// An accelerator that takes no instruction of its own: what is left is the node's part of the work. It
/// encrypts nothing; both nodes have the same.
struct FreeAes;

impl AesPort for FreeAes {
    fn encrypt(&mut self, _: &[u8; 16], _: &mut [u8; 16]) {}
}

/// A board that keeps the keys in memory.
pub(crate) struct KeyBoard {
    chance: BareBoard,
    aes: Option<FreeAes>,
    keys: [Option<[u8; 32]>; 2],
}

impl KeyBoard {
    fn place(&mut self, key: NvsKey) -> Option<&mut Option<[u8; 32]>> {
        let [encrypt, decrypt] = &mut self.keys;
        match key {
            NvsKey::EncryptKey => Some(encrypt),
            NvsKey::DecryptKey => Some(decrypt),
            _ => None,
        }
    }
}

impl Board for KeyBoard {
    fn random(&mut self, out: &mut [u8]) {
        self.chance.random(out);
    }

    fn aes(&mut self) -> Option<&mut dyn AesPort> {
        self.aes.as_mut().map(|it| it as &mut dyn AesPort)
    }

    fn load(&mut self, key: NvsKey, out: &mut [u8]) -> Option<usize> {
        let value = (*self.place(key)?)?;
        out.get_mut(..32)?.copy_from_slice(&value);
        Some(32)
    }

    fn save(&mut self, key: NvsKey, value: &[u8]) -> bool {
        if let (Some(place), Ok(value)) = (self.place(key), value.try_into()) {
            *place = Some(value);
        }
        true
    }

    fn forget(&mut self, key: NvsKey) {
        if let Some(place) = self.place(key) {
            *place = None;
        }
    }
}

/// Number of calls of a kind, and their instructions.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tally {
    count: u64,
    sum: u64,
}

impl Tally {
    const fn add(&mut self, instructions: u64) {
        self.count += 1;
        self.sum += instructions;
    }

    /// Returns the mean.
    pub(crate) const fn mean(self) -> u64 {
        if self.count == 0 { 0 } else { self.sum / self.count }
    }
}

/// Counts since the last [`World::reset`].
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    /// Frames on the air.
    pub(crate) frames: u64,
    /// Instructions of each node.
    pub(crate) of_node: [u64; 2],
    /// Calls that hand a frame to the radio.
    pub(crate) transmit: Tally,
    /// Calls that take a frame.
    pub(crate) receive: Tally,
    /// Replies that node 0 has printed.
    pub(crate) replies: u32,
    /// Results of throughput that node 0 has printed.
    pub(crate) results: u32,
}

/// Two nodes and the air between them.
pub(crate) struct World {
    boards: [KeyBoard; 2],
    due: [Instant; 2],
    now: Instant,
    buf: [u8; 1500],
    turn: usize,
    /// Instructions of the start of a node.
    pub(crate) start: u64,
    /// Counts since the last reset.
    pub(crate) counts: Counts,
}

/// Returns a node that [`World::new`] has started.
fn node(i: usize) -> &'static mut SmallNode {
    // SAFETY: one thread; the world that is there has started both, and no reference outlives a call.
    unsafe { (*(&raw mut NODES))[i].assume_init_mut() }
}

const fn mac(i: usize) -> Mac {
    Mac([0x24, 0x0a, 0xc4, 0, 0, 1 + i as u8])
}

impl World {
    /// Starts two nodes, which can encrypt; with a key, they do so with what `espnow_iperf` sends.
    pub(crate) fn new(key: Option<[u8; 32]>, accelerated: bool) -> Self {
        let boards = [1, 2].map(|seed| KeyBoard {
            chance: BareBoard(seed),
            aes: accelerated.then_some(FreeAes),
            keys: [key; 2],
        });
        let mut world = Self {
            boards,
            due: [Instant::ZERO; 2],
            now: Instant::ZERO,
            buf: [0; 1500],
            turn: 0,
            start: 0,
            counts: Counts::default(),
        };
        for (i, board) in world.boards.iter_mut().enumerate() {
            let mut settings =
                NodeSettings { tick: Tick::from_hz(1000), ..NodeSettings::default() };
            settings.encrypt.enabled = true;
            settings.encrypt.debug = key.is_some();
            let from = instructions();
            let setup = Setup::default();
            // SAFETY: one thread, and no reference to the place is held.
            let place = unsafe { &mut (*(&raw mut NODES))[i] };
            place.write(SmallNode::new(world.now, board, mac(i), settings, &setup));
            world.start = instructions() - from;
        }
        world
    }

    /// Types a line, a byte every 100 us.
    pub(crate) fn typed(&mut self, i: usize, text: &str) {
        for byte in text.bytes().chain([b'\r']) {
            self.handle(i, Input::Console(&[byte]));
            self.run_for(Duration::from_micros(100));
        }
    }

    /// Lets node 0 hand the key to all devices that it finds.
    pub(crate) fn hand_out_keys(&mut self) -> bool {
        let from = instructions();
        let begun = node(0).hand_out_keys(self.now, &mut self.boards[0]);
        self.counts.of_node[0] += instructions() - from;
        self.due[0] = self.now;
        begun
    }

    /// Returns whether both nodes have the same key now.
    pub(crate) fn agree(&self) -> bool {
        self.boards[0].keys[0].is_some() && self.boards[0].keys[0] == self.boards[1].keys[1]
    }

    /// Sets the counts to zero.
    pub(crate) fn reset(&mut self) {
        self.counts = Counts::default();
    }

    /// Lets time pass.
    pub(crate) fn run_for(&mut self, time: Duration) {
        let until = self.now + time;
        loop {
            let me = match self.due {
                [a, b] if a == b => {
                    self.turn ^= 1;
                    self.turn
                }
                [a, b] => usize::from(b < a),
            };
            if self.due[me] > until {
                self.now = until;
                return;
            }
            self.now = self.now.max(self.due[me]);
            self.poll(me);
        }
    }

    fn handle(&mut self, i: usize, input: Input<'_>) -> u64 {
        let from = instructions();
        node(i).handle(self.now, &mut self.boards[i], input);
        let took = instructions() - from;
        self.counts.of_node[i] += took;
        self.due[i] = self.now;
        took
    }

    fn poll(&mut self, me: usize) {
        let from = instructions();
        let output = node(me).poll(self.now, &mut self.boards[me], &mut self.buf);
        let took = instructions() - from;
        self.counts.of_node[me] += took;
        match output {
            NodeOutput::Transmit { len, to } => {
                self.counts.transmit.add(took);
                self.carry(me, len, to);
            }
            NodeOutput::Print { len } => self.printed(me, len),
            NodeOutput::WaitUntil(at) => self.due[me] = at,
            NodeOutput::Idle => self.due[me] = Instant::NEVER,
            NodeOutput::Tune(_)
            | NodeOutput::Data { .. }
            | NodeOutput::Sample(_)
            | NodeOutput::Event(_) => {}
        }
    }

    /// Carries a frame to the other node, at 1 Mbit/s.
    fn carry(&mut self, me: usize, len: usize, to: Mac) {
        self.counts.frames += 1;
        self.now = self.now + Duration::from_micros(500 + 8 * len as u64);
        let mut data = [0; 250];
        data[..len].copy_from_slice(&self.buf[..len]);
        let data = &data[..len];
        let frame =
            ReceivedFrame { data, transmitter: mac(me), receiver: to, rssi: -40, channel: 1 };
        let took = self.handle(1 - me, Input::Frame(frame));
        self.counts.receive.add(took);
        self.handle(me, Input::Sent { delivered: true });
    }

    /// Reads what a node prints, and answers the questions of its line editor as a terminal does.
    fn printed(&mut self, me: usize, len: usize) {
        let text = &self.buf[..len];
        let count = |what: &[u8]| text.windows(what.len()).filter(|it| *it == what).count() as u32;
        let asked = count(b"\x1b[6n");
        if me == 0 {
            self.counts.replies += count(b" bytes from ");
            self.counts.results += count(b" Mbps");
        }
        for _ in 0..asked {
            self.handle(me, Input::Console(b"\x1b[1;80R"));
        }
    }
}
