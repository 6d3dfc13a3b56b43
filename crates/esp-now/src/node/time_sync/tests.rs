use super::*;
use crate::node::board::BareBoard;
use crate::node::task::{NodeSettings, Shared};
use crate::node::tick::Tick;
use std::string::String;
use std::vec::Vec;

const CLOCK: Mac = Mac([0x24, 0x0A, 0xC4, 0, 0, 1]);
const WATCH: Mac = Mac([0x24, 0x0A, 0xC4, 0, 0, 2]);
const DONE: TransmitOutcome = TransmitOutcome::Done { attempts: 3 };

struct Device {
    part: TimeSync,
    board: BareBoard,
    shared: Shared,
    now: Instant,
}

impl Device {
    /// Returns a device whose clock shows that many milliseconds.
    fn new(mac: Mac, clock_ms: u64) -> Self {
        let settings = NodeSettings { tick: Tick::from_hz(100), ..NodeSettings::default() };
        let now = Instant::ZERO + Duration::from_millis(clock_ms);
        let (board, shared) = (BareBoard(1), Shared::new(mac, settings));
        Self { part: TimeSync::default(), board, shared, now }
    }

    fn with<R>(&mut self, act: impl FnOnce(&mut TimeSync, &mut Cx<'_>) -> R) -> R {
        let cx = &mut Cx { now: self.now, board: &mut self.board, shared: &mut self.shared };
        act(&mut self.part, cx)
    }

    fn run(&mut self) -> TaskStep {
        self.with(Task::run)
    }

    fn compose(&mut self) -> Option<(SendRequest, Vec<u8>)> {
        let mut payload = [0; 218];
        let out = self.with(|part, cx| part.compose(cx, &mut payload))?;
        Some((out, payload[..out.len].to_vec()))
    }

    fn send(&mut self) -> Vec<u8> {
        assert_eq!(self.run(), TaskStep::Send);
        let (_, payload) = self.compose().expect("a message");
        self.with(|part, cx| part.sent(cx, DONE));
        payload
    }

    fn hear(&mut self, from: Mac, data: &[u8]) {
        let data_type = DataType::TimeSync;
        let frame = Received { from, data_type, data, rssi: -50, channel: 1, at: self.now };
        self.with(|part, cx| part.receive(cx, &frame));
    }

    fn drift(&mut self) -> Option<i32> {
        match self.shared.take_event() {
            Some(EspNowEvent::TimeSynced { from: CLOCK, drift_ms }) => Some(drift_ms),
            other => {
                assert_eq!(other, None);
                None
            }
        }
    }

    fn pass(&mut self, ms: u64) {
        self.now = self.now + Duration::from_millis(ms);
    }

    fn printed(&mut self) -> String {
        let mut buf = [0; 4096];
        let len = self.shared.print.take_output(&mut buf);
        String::from_utf8_lossy(&buf[..len]).replace('\r', "")
    }
}

#[test]
fn a_responder_asks_and_follows() {
    let (mut clock, mut watch) = (Device::new(CLOCK, 50_000), Device::new(WATCH, 1_000));
    assert!(clock.with(|part, cx| part.start_initiator(cx, 0)));
    assert!(watch.with(|part, cx| part.start_responder(cx, TimeSync::MAX_DRIFT_MS)));
    assert!(!watch.part.broadcast() && !clock.part.request(), "not their part");
    assert_eq!((clock.run(), watch.run()), (TaskStep::Idle, TaskStep::Idle));

    assert!(watch.part.request());
    let request = watch.send();
    assert_eq!((request.len(), request[..2].to_vec()), (18, [1, 2].to_vec()));
    clock.hear(WATCH, &request);
    let told = clock.send();
    watch.hear(CLOCK, &told);
    assert_eq!((watch.drift(), watch.part.offset_us()), (Some(49_000), 49_000_000));
    assert_eq!(watch.part.synced_us(watch.now), 50_000_000);
    assert_eq!(watch.printed(), "I (1000) espnow_time: Time adjusted by 49000 ms\n");

    // Clocks that run apart by less than the limit are left alone.
    clock.pass(10_100);
    watch.pass(10_000);
    assert!(clock.part.broadcast());
    let told = clock.send();
    watch.hear(CLOCK, &told);
    assert_eq!((watch.drift(), watch.part.offset_us()), (Some(100), 49_000_000));
    watch.pass(201);
    watch.hear(CLOCK, &told);
    assert_eq!((watch.drift(), watch.part.offset_us()), (Some(-101), 48_899_000));

    clock.hear(CLOCK, &told);
    assert_eq!((clock.part.offset_us(), clock.run()), (0, TaskStep::Idle), "never adjusts itself");
    assert!(watch.with(TimeSync::stop) && !watch.with(TimeSync::stop));
    assert_eq!(watch.part.offset_us(), 0);
    assert!(!watch.shared.air.listens(DataType::TimeSync));
}

#[test]
fn the_time_is_read_before_the_lock() {
    let mut clock = Device::new(CLOCK, 12_345);
    clock.now = clock.now + Duration::from_micros(678);
    clock.part.set_utc(clock.now, 1_700_000_000_000_000);
    assert!(clock.with(|part, cx| part.start_initiator(cx, 0)));
    assert!(clock.part.broadcast());
    assert_eq!(clock.run(), TaskStep::Send);
    clock.pass(800);
    assert_eq!(clock.run(), TaskStep::Send, "it still waits for the lock");
    let (out, payload) = clock.compose().expect("a message");
    // Vector 12 of the protocol reference.
    let vector = [1, 1, 0x4E, 0x61, 0xBC, 0, 0, 0, 0, 0, 0, 0x40, 0x1E, 0x18, 0x24, 0x0A, 0x06, 0];
    assert_eq!(payload, vector);
    assert_eq!(out.config, FrameConfig { copies: 3, ..FrameConfig::default() });
    assert_eq!((out.dest, out.wait), (Mac::BROADCAST, Duration::from_secs(1)));
    clock.with(|part, cx| part.sent(cx, TransmitOutcome::TimedOut));
    let text = "W (13145) espnow_time: Failed to send time packet: ESP_ERR_WIFI_TIMEOUT\n";
    assert_eq!((clock.printed().as_str(), clock.run()), (text, TaskStep::Idle));

    // A wall clock that was never set is not sent.
    clock.part.set_utc(clock.now, 5_000_000);
    clock.shared.settings.encrypt.time = true;
    assert!(clock.part.broadcast());
    assert_eq!(clock.run(), TaskStep::Send);
    let (out, payload) = clock.compose().expect("a message");
    assert_eq!((out.config.security, &payload[10..]), (true, &[0; 8][..]));
}

#[test]
fn a_period_is_whole_ticks() {
    let mut clock = Device::new(CLOCK, 7);
    assert!(!clock.with(|part, cx| part.start_initiator(cx, 9)), "less than a tick of 10 ms");
    assert!(clock.with(|part, cx| part.start_initiator(cx, 1_009)));
    assert!(!clock.with(|part, cx| part.start_responder(cx, 1)));
    assert_eq!(
        clock.printed(),
        "E (7) espnow_time: Failed to create sync timer\n\
         W (7) espnow_time: Time sync already started\n"
    );
    let at = |ms| Instant::ZERO + Duration::from_millis(ms);
    assert_eq!(clock.run(), TaskStep::Until(at(1_000)));
    for second in 1..4 {
        clock.now = at(1_000 * second);
        let Some(message) = TimeSyncMessage::parse(&clock.send()) else { panic!("a message") };
        assert_eq!(message.timestamp_us, 1_000_000 * second as i64);
        assert_eq!(clock.run(), TaskStep::Until(at(1_000 * second + 1_000)));
    }
    // Sending took longer than two periods: one broadcast, and the phase is kept.
    clock.now = at(6_500);
    clock.send();
    assert_eq!((clock.run(), clock.part.busy()), (TaskStep::Until(at(7_000)), false));
    assert!(clock.with(TimeSync::stop));
    assert_eq!(clock.run(), TaskStep::Idle);
}

#[test]
fn what_is_refused() {
    let mut watch = Device::new(WATCH, 0);
    watch.hear(CLOCK, &[1; 18]);
    assert!(watch.with(|part, cx| part.start_responder(cx, 0)));
    watch.hear(CLOCK, &[1; 17]);
    watch.hear(CLOCK, &[2; 18]);
    watch.hear(CLOCK, &[&[1, 3], &[9; 16][..]].concat());
    assert_eq!((watch.drift(), watch.part.refused), (None, 2));
    assert_eq!(
        watch.printed(),
        "W (0) espnow_time: Time sync not started, ignoring packet\n\
         W (0) espnow_time: Invalid time packet size: 17\n\
         W (0) espnow_time: Unsupported time packet version: 2\n"
    );
    // Any time that a sender claims is handled without a panic.
    for remote in [i64::MIN, i64::MAX, -1] {
        let told = [&[1, 1][..], &remote.to_le_bytes(), &[0; 8]].concat();
        watch.pass(1);
        watch.hear(CLOCK, &told);
        assert!(watch.drift().is_some());
        let _ = watch.part.synced_us(watch.now);
    }
    for _ in 0..20 {
        watch.part.request();
    }
    assert_eq!(watch.part.dropped, 12);
    assert!(watch.with(TimeSync::stop));
    assert_eq!((watch.run(), watch.compose()), (TaskStep::Idle, None));
    watch.with(|part, cx| part.sent(cx, DONE));
    assert!(size_of::<TimeSync>() <= 128, "{}", size_of::<TimeSync>());
}
