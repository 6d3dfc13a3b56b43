//! Upgrade over ESP-NOW: the messages and the image, the responder, the initiator.

use esp_now::component::ota::{
    AppDescription, Chunk, INFO_LEN, OtaCode, OtaInfo, OtaStatus, STATUS_LEN,
};
use esp_now::component::{Compat, DataType};
use esp_now::node::board::{BareBoard, Board, NvsKey, Slot};
use esp_now::node::ota::build::ImageBuilder;
use esp_now::node::ota::image::Scanner;
use esp_now::node::ota::progress::{ImageProgress, STORE};
use esp_now::node::ota::responder::OtaConfig;
use esp_now::node::ota::{OtaInitiator, OtaResponder, bits, rollback};
use esp_now::node::task::{
    Cx, EspNowEvent, NodeSettings, Received, Shared, Task, TaskStep, TransmitOutcome,
};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::{Duration, Instant};
use std::sync::OnceLock;

const CHUNK: usize = 208;
const LEN: usize = 640;
const ME: Mac = Mac([2, 0, 0, 0, 0, 0xFF]);

/// Parses bytes: the first one chooses as what (a status, data, information, an image that is fed
/// in pieces, a stored session).
pub fn esp_now_ota(data: &[u8]) {
    let [kind, step, bytes @ ..] = data else { return };
    let mut buf = [0; 300];
    match kind % 5 {
        0 => {
            if let Some((status, row)) = OtaStatus::parse(bytes) {
                let len = status.emit(row, &mut buf);
                assert_eq!(len.map(|l| &buf[..l]), (bytes.len() <= 300).then_some(bytes));
            }
        }
        1 => {
            if let Some(chunk) = Chunk::parse(bytes) {
                let size = chunk.data.len();
                let fill = |to: &mut [u8]| {
                    to.copy_from_slice(chunk.data);
                    true
                };
                let len = Chunk::emit(chunk.seq, size as u8, size, &mut buf, fill).expect("room");
                assert_eq!(Chunk::parse(&buf[..len]), Some(chunk));
            }
        }
        2 => {
            if let Some(info) = OtaInfo::parse(bytes) {
                assert_eq!(info.emit(&mut buf), Some(INFO_LEN));
                assert_eq!(OtaInfo::parse(&buf), Some(info));
            }
        }
        3 => {
            let whole = scan(bytes, bytes.len().max(1));
            assert_eq!(scan(bytes, usize::from(*step) + 1), whole, "pieces make no difference");
            assert!(whole.is_none_or(|len| len as usize <= bytes.len()));
        }
        _ => stored(bytes),
    }
}

fn scan(bytes: &[u8], step: usize) -> Option<u32> {
    let mut scanner = Scanner::new(bytes.len() as u32);
    for piece in bytes.chunks(step) {
        scanner.feed(piece).ok()?;
    }
    scanner.image().map(|image| image.len)
}

fn stored(bytes: &[u8]) {
    let mut progress = ImageProgress::<STORE>::default();
    let ok = progress.restore(Compat::default(), |out| {
        let len = bytes.len().min(out.len());
        out[..len].copy_from_slice(&bytes[..len]);
        Some(len)
    });
    assert_eq!(ok, progress.is_begun());
    let status = progress.status();
    assert!(status.written <= status.total);
    assert_eq!(progress.is_complete(), ok && progress.missing_row(188).is_none());
    let there = bits::ones(bytes.get(STATUS_LEN..).unwrap_or(&[]), status.packets);
    assert!(!ok || progress.is_complete() == (there == status.packets));
}

/// Returns three valid images.
fn images() -> &'static [Vec<u8>; 3] {
    static IMAGES: OnceLock<[Vec<u8>; 3]> = OnceLock::new();
    IMAGES.get_or_init(|| {
        [("1.0", 1), ("2.0", 2), ("1.0", 3)].map(|(version, seed)| {
            let app = AppDescription::new("solution", version, "v5.1", "Jan  1 2026", "12:00:00");
            let mut bytes = Vec::new();
            let build = ImageBuilder { len: LEN as u32, chip: 5, app, seed };
            let made = build.write(&mut |piece| {
                bytes.extend_from_slice(piece);
                true
            });
            assert!(made.is_some());
            bytes
        })
    })
}

fn announce(image: &[u8]) -> OtaStatus {
    let mut digest = [0; 16];
    digest.copy_from_slice(&image[LEN - 32..LEN - 16]);
    OtaStatus {
        digest,
        packets: LEN.div_ceil(CHUNK) as u16,
        total: LEN as u32,
        ..OtaStatus::default()
    }
}

/// A board with two small slots, which fails when told to.
struct Flash {
    chance: BareBoard,
    slots: [Vec<u8>; 2],
    stored: Option<Vec<u8>>,
    boot: Slot,
    fails: bool,
}

impl Flash {
    fn new(spare: &[u8]) -> Self {
        Self {
            chance: BareBoard(1),
            slots: [images()[0].clone(), spare.to_vec()],
            stored: None,
            boot: Slot::Running,
            fails: false,
        }
    }
}

impl Board for Flash {
    fn random(&mut self, out: &mut [u8]) {
        self.chance.random(out);
    }

    fn slot_size(&self, slot: Slot) -> u32 {
        self.slots[slot as usize].len() as u32
    }

    fn image_len(&self, slot: Slot) -> u32 {
        self.slots[slot as usize].len().min(LEN) as u32
    }

    fn read(&mut self, slot: Slot, offset: u32, out: &mut [u8]) -> bool {
        let from = self.slots[slot as usize].get(offset as usize..);
        let from = from.and_then(|f| f.get(..out.len())).filter(|_| !self.fails);
        from.inspect(|from| out.copy_from_slice(from)).is_some()
    }

    fn erase(&mut self, len: u32) -> bool {
        assert!(len <= self.slot_size(Slot::Spare), "more than there is");
        self.slots[1][..len as usize].fill(0xFF);
        !self.fails
    }

    fn write(&mut self, offset: u32, data: &[u8]) -> bool {
        let to = &mut self.slots[1][offset as usize..][..data.len()];
        to.iter_mut().zip(data).for_each(|(to, from)| *to &= from);
        !self.fails
    }

    fn boot(&mut self, slot: Slot) -> bool {
        if self.fails {
            return false;
        }
        if slot == Slot::Spare {
            let spare = &self.slots[1];
            assert!(images().contains(spare), "only a valid image is chosen");
        }
        self.boot = slot;
        true
    }

    fn load(&mut self, _: NvsKey, out: &mut [u8]) -> Option<usize> {
        let stored = self.stored.as_ref()?;
        out[..stored.len()].copy_from_slice(stored);
        Some(stored.len())
    }

    fn save(&mut self, _: NvsKey, value: &[u8]) -> bool {
        if !self.fails {
            self.stored = Some(value.to_vec());
        }
        !self.fails
    }

    fn forget(&mut self, _: NvsKey) {
        self.stored = None;
    }
}

struct Bench<T> {
    part: T,
    board: Flash,
    shared: Shared,
    now: Instant,
    composed: bool,
}

impl<T: Task> Bench<T> {
    fn new(part: T, spare: &[u8]) -> Self {
        let shared = Shared::new(ME, NodeSettings::default());
        Self { part, board: Flash::new(spare), shared, now: Instant::ZERO, composed: false }
    }

    fn with<R>(&mut self, f: impl FnOnce(&mut T, &mut Cx<'_>) -> R) -> R {
        let mut cx = Cx { now: self.now, board: &mut self.board, shared: &mut self.shared };
        let result = f(&mut self.part, &mut cx);
        let mut buf = [0; 512];
        while self.shared.print.take_output(&mut buf) > 0 {}
        result
    }

    fn run(&mut self) -> TaskStep {
        let step = self.with(|part, cx| part.run(cx));
        if let TaskStep::Until(at) = step {
            assert!(at.since(self.now) <= Duration::from_secs(10), "waits are bounded");
        }
        step
    }

    fn compose(&mut self) {
        let mut payload = [0; 218];
        let out = self.with(|part, cx| part.compose(cx, &mut payload));
        assert!(out.is_none_or(|o| o.len > 0 && o.len <= 218));
        self.composed = out.is_some();
    }

    fn sent(&mut self, done: bool) {
        let outcome =
            if done { TransmitOutcome::Done { attempts: 1 } } else { TransmitOutcome::Failed };
        self.with(|part, cx| part.sent(cx, outcome));
        self.composed = false;
    }

    fn frame<'a>(&self, from: u8, data: &'a [u8]) -> Received<'a> {
        let from = Mac([2, 0, 0, 0, 0, from]);
        let data_type = DataType::OtaData;
        Received { from, data_type, data, rssi: -40, channel: 1, at: self.now }
    }

    /// Goes on as the node would; false if it does not come to rest.
    fn settle(&mut self, steps: usize) -> bool {
        for _ in 0..steps {
            match self.run() {
                TaskStep::Idle => return true,
                TaskStep::Until(at) => self.now = self.now.max(at),
                TaskStep::Send => {
                    self.compose();
                    if self.composed {
                        self.sent(true);
                    }
                }
            }
        }
        false
    }
}

/// Operations on a responder: the first byte sets it up, then each byte is one.
pub fn esp_now_ota_responder(data: &[u8]) {
    let [setup, rest @ ..] = data else { return };
    let options = OtaConfig { skip_version_check: setup & 1 == 0, interval: setup >> 4 };
    let size = if setup & 2 == 0 { LEN } else { LEN - 1 };
    let mut bench = Bench::new(OtaResponder::<64>::new(options), &vec![0xFF; size]);
    bench.with(|part, cx| part.start(cx));
    let mut refused = 0;
    for (i, byte) in rest.iter().take(100).enumerate() {
        let (op, number) = (byte & 7, byte >> 3);
        match op {
            0 => {
                bench.run();
            }
            1 => bench.compose(),
            2 => bench.sent(number & 1 == 0),
            3 => tell(&mut bench, &data_message(number)),
            4 => {
                let mut status = announce(&images()[usize::from(number % 3)]);
                status.digest[0] ^= number >> 4;
                status.packets += u16::from(number & 8 != 0);
                tell(&mut bench, &status.bytes());
            }
            5 => tell(&mut bench, &rest[i..rest.len().min(i + 40)]),
            6 => {
                assert!(bench.settle(64), "it comes to rest");
            }
            _ => match number & 7 {
                0 => bench.part.stop(),
                1 => bench.part = OtaResponder::new(options),
                2 => bench.board.fails = !bench.board.fails,
                // A wrong bit in flash: found when the image is complete.
                3 if !bench.part.is_finished() => {
                    bench.board.slots[1][usize::from(number) * 20] &= 0x7F
                }
                _ => bench.now = bench.now + Duration::from_millis(u64::from(number)),
            },
        }
        let progress = bench.part.progress();
        assert!(progress.is_none_or(|(written, total)| written <= total));
        while let Some(event) = bench.shared.take_event() {
            refused += usize::from(event == EspNowEvent::UpgradeRefused);
        }
        if bench.part.is_finished() {
            assert_eq!(bench.board.boot, Slot::Spare);
        }
    }
    assert!(bench.settle(64), "it comes to rest");
    assert!(refused <= rest.len(), "each needs a packet");
}

fn tell(bench: &mut Bench<OtaResponder<64>>, payload: &[u8]) {
    let frame = bench.frame(1, payload);
    bench.with(|part, cx| part.receive(cx, &frame));
}

/// Makes the data message of a packet and an image, which a number of five bits chooses.
fn data_message(number: u8) -> Vec<u8> {
    let (seq, image) = (usize::from(number % 5), &images()[usize::from(number / 5 % 3)]);
    let part = image.get(seq * CHUNK..).unwrap_or(&[]);
    let part = &part[..part.len().min(CHUNK)];
    let mut buf = vec![0; 4 + CHUNK];
    let fill = |to: &mut [u8]| {
        to.copy_from_slice(part);
        true
    };
    Chunk::emit(seq as u16, part.len() as u8, CHUNK, &mut buf, fill).expect("room");
    buf
}

/// Operations on an initiator: each byte is one.
pub fn esp_now_ota_initiator(data: &[u8]) {
    let [setup, rest @ ..] = data else { return };
    let mut bench = Bench::new(OtaInitiator::<3, 1, 8>::default(), &images()[1]);
    bench.board.slots[1][600] ^= u8::from(setup & 0xF0 == 0xF0);
    let (mut jobs, mut reports) = (0, 0);
    for (i, byte) in rest.iter().take(100).enumerate() {
        let (op, number) = (byte & 7, byte >> 3);
        match op {
            0 => {
                bench.run();
            }
            1 => bench.compose(),
            2 => bench.sent(number & 3 != 0),
            3 => begin(&mut bench, number, &mut jobs),
            4 => {
                let mut buf = [0; 218];
                let len = answer(number, rest.get(i + 1).copied().unwrap_or(0), &mut buf);
                hear(&mut bench, number & 3, &buf[..len]);
            }
            5 => hear(&mut bench, number & 3, &rest[i..rest.len().min(i + 60)]),
            6 => {
                bench.settle(usize::from(number));
            }
            _ => bench.now = bench.now + Duration::from_millis(u64::from(number) * 40),
        }
        while let Some(event) = bench.shared.take_event() {
            let EspNowEvent::UpgradeSent { done, unfinished } = event else { panic!("{event:?}") };
            assert!(done + unfinished <= 3);
            let totals = bench.part.totals();
            let ended = totals.done + totals.had + totals.stopped + totals.refused;
            assert_eq!(done + unfinished, ended + totals.unfinished, "each has one fate");
            assert!(totals.chunks <= u32::from(totals.rounds) * 4);
            reports += 1;
        }
    }
    bench.part.stop();
    assert!(bench.settle(200) && bench.part.is_idle(), "a stopped one comes to rest");
    assert!(reports <= jobs && bench.shared.lost == 0);
}

fn begin(bench: &mut Bench<OtaInitiator<3, 1, 8>>, number: u8, jobs: &mut u32) {
    let busy = !bench.part.is_idle();
    let result = match number & 7 {
        0 => bench.with(|part, cx| part.find(cx, u32::from(number) * 250)),
        1 => bench.with(|part, cx| part.download(cx, "http://x")),
        2 => bench.with(|part, cx| part.send_list(cx, "ff:ff:ff:ff:ff:ff")),
        3 => bench.with(|part, cx| part.send_list(cx, "02:00:00:00:00:00,02:00:00:00:00:01|.x")),
        4 => {
            bench.part.stop();
            return;
        }
        5 => {
            bench.board.fails = number & 8 != 0;
            return;
        }
        6 if bench.board.slots[1] == images()[1] => {
            bench.with(|_, cx| rollback(cx));
            return;
        }
        _ => {
            let list = [0, 1, 2, 3, 1].map(|n| Mac([2, 0, 0, 0, 0, n]));
            let list = &list[..usize::from(number >> 3).min(list.len())];
            bench.with(|part, cx| part.send(cx, list))
        }
    };
    assert_eq!(result.is_err(), busy);
    *jobs += u32::from(!busy);
}

/// Makes an answer of a device: most are about the image that is sent.
fn answer(number: u8, more: u8, buf: &mut [u8; 218]) -> usize {
    let mut status = announce(&images()[1]);
    status.digest[3] ^= more >> 7;
    let codes = [
        OtaCode::Ok,
        OtaCode::Ok,
        OtaCode::NotInit,
        OtaCode::Stop,
        OtaCode::Finish,
        OtaCode::Invalid,
        OtaCode::Partition,
        OtaCode::Other(7),
    ];
    status.code = codes[usize::from(more & 7)];
    status.written = [0, 208, 640, 640][usize::from(more >> 3 & 3)];
    status.index = more >> 6;
    let row = [more | 1; 188];
    if number & 4 != 0 {
        let app = AppDescription::new("p", if more & 1 == 0 { "1" } else { "2" }, "v5", "d", "t");
        return OtaInfo(app).emit(buf).expect("room");
    }
    let row = if status.code == OtaCode::Ok && status.written == 208 { &row[..] } else { &[] };
    status.emit(row, buf).expect("room")
}

fn hear(bench: &mut Bench<OtaInitiator<3, 1, 8>>, from: u8, payload: &[u8]) {
    let frame = bench.frame(from, payload);
    bench.with(|part, cx| part.receive(cx, &frame));
}
