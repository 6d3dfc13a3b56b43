//! Reception of frames that overlap, at one receiver, step by step.

use super::*;
use crate::radio::Hr;
use crate::random::{Purpose, RngStream};
use std::sync::Mutex;
use std::vec;
use std::vec::Vec;

const US: u64 = 1000;
const MODE: WifiMode = WifiMode::Hr(Hr::M1);

/// A stretch of a frame that the decoder was asked about: from and to in nanoseconds of the frame,
/// and decibels over noise and interference.
type Stretch = (u64, u64, f64);

/// A decoder that is sure from 20 dB on, keeps what it is asked, and answers one half.
#[derive(Debug, Default)]
struct HalfDecoder {
    asked: Mutex<Vec<Stretch>>,
}

impl Decoder for HalfDecoder {
    fn noise(&self, _: WifiMode) -> SignalPower {
        SignalPower::from_dbm(-95.0)
    }

    fn found(&self, _: WifiMode) -> SignalPower {
        SignalPower::from_dbm(-90.0)
    }

    fn sure(&self, _: WifiMode) -> PowerRatio {
        PowerRatio::from_db(20.0)
    }

    fn chance(&self, mode: WifiMode, octets: u32, sinr: f64, span_ns: (u64, u64)) -> f64 {
        assert_eq!((mode, octets), (MODE, 100));
        self.asked.lock().unwrap().push((span_ns.0, span_ns.1, 10.0 * libm::log10(sinr)));
        0.5
    }
}

/// A receiver at its antenna, where frames begin and end at times in microseconds.
struct Antenna {
    decoder: Arc<HalfDecoder>,
    kind: ReceiverParams,
    state: ReceiverState,
    powers: Vec<SignalPower>,
    begins: Vec<u64>,
}

impl Antenna {
    fn new(capture: FrameCapture) -> Self {
        let decoder = Arc::new(HalfDecoder::default());
        let energy = SignalPower::from_dbm(-70.0);
        let config = ReceiverConfig { energy, capture, decoder: decoder.clone() };
        Self {
            decoder,
            kind: ReceiverParams::new(&config),
            state: ReceiverState::new(1, 0),
            powers: Vec::new(),
            begins: Vec::new(),
        }
    }

    fn signal(frame: u32, begin: u64) -> Signal {
        Signal { frame, mode: MODE, octets: 100, index: MODE.index() as u8, begin }
    }

    /// Lets a frame begin, and returns its number.
    fn begins(&mut self, us: u64, dbm: f64) -> u32 {
        let frame = self.powers.len() as u32;
        self.begins_as(us, dbm, Some(&Self::signal(frame, us * US)))
    }

    fn begins_as(&mut self, us: u64, dbm: f64, signal: Option<&Signal>) -> u32 {
        let power = SignalPower::from_dbm(dbm);
        self.powers.push(power);
        self.begins.push(us * US);
        let reading = |frame| Self::signal(frame, self.begins[frame as usize]);
        self.state.on_rx_start(us * US, power, signal, &self.kind, reading);
        self.powers.len() as u32 - 1
    }

    fn ends(&mut self, us: u64, frame: u32) -> Option<f32> {
        let power = self.powers[frame as usize];
        let reading = |it| Self::signal(it, self.begins[it as usize]);
        // The short way, where it can be taken, is the long one.
        let mut short = self.state.clone();
        let alone = short.on_rx_end_alone(power, frame);
        let chance = self.state.on_rx_end(us * US, power, frame, &self.kind, reading);
        if alone {
            assert_eq!((chance, self.state.sum), (Some(1.0), short.sum));
            assert_eq!(self.state.receiving, short.receiving);
        }
        chance
    }

    fn busy(&self) -> bool {
        self.state.cca_busy(&self.kind)
    }

    /// Returns what the decoder was asked, with decibels rounded to tenths.
    fn asked(&self) -> Vec<Stretch> {
        let asked = self.decoder.asked.lock().unwrap();
        asked.iter().map(|&(from, to, db)| (from, to, libm::round(db * 10.0) / 10.0)).collect()
    }
}

#[test]
fn a_frame_alone_is_received_if_it_is_found() {
    for (dbm, received) in [(-60.0, true), (-75.0, true), (-90.5, false)] {
        let mut it = Antenna::new(FrameCapture::default());
        assert!(!it.busy());
        let frame = it.begins(10, dbm);
        assert_eq!((it.busy(), it.state.receiving == frame), (received, received), "{dbm}");
        assert_eq!(it.ends(900, frame).is_some(), received);
        assert!(!it.busy() && it.state.receiving == NO_FRAME);
        assert_eq!(it.state.sum, SignalPower::ZERO);
    }
}

/// From 20 dB over noise on nothing is asked; below, the whole frame is one stretch.
#[test]
fn noise_alone_is_one_stretch() {
    let mut it = Antenna::new(FrameCapture::default());
    let strong = it.begins(0, -74.0);
    assert_eq!(it.ends(900, strong), Some(1.0));
    assert!(it.state.survives_noise());
    assert_eq!(it.asked(), []);
    let weak = it.begins(1000, -80.0);
    assert_eq!(it.ends(1900, weak), Some(0.5));
    assert!(!it.state.survives_noise());
    assert_eq!(it.asked(), [(0, 900 * US, 15.0)]);
}

/// Each time with other interference is a stretch of its own, and their chances multiply.
#[test]
fn interference_is_taken_stretch_by_stretch() {
    let mut it = Antenna::new(FrameCapture::default());
    let frame = it.begins(100, -50.0);
    let one = it.begins(200, -60.0);
    let two = it.begins(300, -60.0);
    assert_eq!(it.ends(450, one), None);
    assert_eq!(it.ends(700, two), None);
    assert_eq!(it.ends(1000, frame), Some(0.125));
    assert_eq!(
        it.asked(),
        [
            (100 * US, 200 * US, 10.0),
            // Two of them are 3 dB more.
            (200 * US, 350 * US, 7.0),
            (350 * US, 600 * US, 10.0),
        ]
    );
}

/// Interference 20 dB below the frame is nothing to ask about, though it is above noise.
#[test]
fn weak_interference_costs_nothing() {
    let mut it = Antenna::new(FrameCapture::default());
    let frame = it.begins(0, -50.0);
    let weak = it.begins(100, -70.5);
    assert_eq!(it.ends(500, weak), None);
    assert_eq!(it.ends(900, frame), Some(1.0));
    assert_eq!(it.asked(), []);
}

/// A frame that begins and ends at the same instant has no time to interfere.
#[test]
fn interference_without_length_costs_nothing() {
    let mut it = Antenna::new(FrameCapture::default());
    let frame = it.begins(0, -50.0);
    let short = it.begins(100, -51.0);
    assert_eq!(it.ends(100, short), None);
    assert_eq!(it.ends(900, frame), Some(1.0));
    assert_eq!(it.asked(), []);
}

/// Within 4 us another frame less than 4 dB weaker spoils the preamble: nothing is received any
/// more, and only energy keeps the medium busy.
#[test]
fn a_preamble_is_spoiled_within_its_window() {
    for (us, dbm, receives) in [
        (2, -61.0, false),
        (2, -63.9, false),
        (2, -64.1, true),
        (3, -61.0, false),
        (4, -61.0, true),
        (5, -61.0, true),
    ] {
        let mut it = Antenna::new(FrameCapture::default());
        let frame = it.begins(0, -60.0);
        let other = it.begins(us, dbm);
        assert_eq!(it.state.receiving == frame, receives, "{us} us, {dbm} dBm");
        assert!(it.busy());
        assert_eq!(it.ends(800, frame).is_some(), receives);
        assert_eq!(it.ends(900, other), None, "it was never received");
        assert!(!it.busy());
    }
    // With little energy the medium seems idle once the preamble is spoiled.
    let mut it = Antenna::new(FrameCapture::default());
    it.begins(0, -75.0);
    it.begins(1, -76.0);
    assert!(!it.busy());
}

/// A stronger one takes the place of a preamble if it stands out from all others together.
#[test]
fn the_stronger_preamble_takes_its_place_within_the_window() {
    for (us, dbm, receives) in [(2, -55.9, true), (2, -56.1, false), (4, -50.0, false)] {
        let mut it = Antenna::new(FrameCapture::default());
        it.begins(0, -60.0);
        let other = it.begins(us, dbm);
        assert_eq!(it.state.receiving == other, receives, "{us} us, {dbm} dBm");
    }
    // Two weaker ones are together 3 dB stronger.
    for (dbm, receives) in [(-52.9, true), (-53.1, false)] {
        let mut it = Antenna::new(FrameCapture { spread_db: 0.0, ..FrameCapture::default() });
        it.begins(0, -60.0);
        it.begins(0, -60.0);
        let third = it.begins(0, dbm);
        assert_eq!(it.state.receiving == third, receives, "{dbm}");
    }
}

/// A receiver that can turns to a much stronger frame later on, for as long as its rules say.
#[test]
fn a_much_stronger_frame_takes_the_place_of_the_first() {
    let received = |capture, us, dbm| {
        let mut it = Antenna::new(capture);
        it.begins(0, -60.0);
        let other = it.begins(us, dbm);
        (it.state.receiving == other).then(|| it.ends(us + 900, other))
    };
    assert!(received(FrameCapture::any_time(10.0), 500, -49.9).is_some());
    assert!(received(FrameCapture::any_time(10.0), 500, -50.1).is_none());
    assert!(received(FrameCapture::EARLY, 16, -54.9).is_some());
    assert!(received(FrameCapture::EARLY, 16, -55.1).is_none());
    assert!(received(FrameCapture::EARLY, 17, -40.0).is_none());
    assert!(received(FrameCapture::default(), 16, -40.0).is_none());
}

/// A frame that takes another's place has that as interference from its own beginning on.
#[test]
fn the_first_frame_interferes_with_the_one_that_took_its_place() {
    let mut it = Antenna::new(FrameCapture::any_time(10.0));
    let first = it.begins(0, -60.0);
    let second = it.begins(500, -45.0);
    assert_eq!(it.ends(800, first), None);
    assert_eq!(it.ends(1400, second), Some(0.5));
    assert_eq!(it.asked(), [(0, 300 * US, 15.0)]);
}

/// Spread preambles stand out from others by 10.4 dB less.
#[test]
fn a_spread_preamble_is_found_below_others() {
    let capture = FrameCapture { spread_db: FrameCapture::BARKER_DB, ..FrameCapture::default() };
    for (dbm, receives) in [(-66.3, true), (-66.5, false)] {
        let mut it = Antenna::new(capture);
        // Energy of another channel, which cannot be received.
        let energy = it.begins_as(0, -60.0, None);
        assert_eq!(it.state.receiving, NO_FRAME);
        assert!(it.busy(), "it is above the threshold");
        let frame = it.begins(100, dbm);
        assert_eq!(it.state.receiving == frame, receives, "{dbm}");
        assert_eq!(it.ends(200, energy), None);
    }
}

#[test]
fn who_sends_receives_nothing_that_begins_meanwhile() {
    let mut it = Antenna::new(FrameCapture::default());
    let lost = it.begins(0, -60.0);
    it.state.on_tx_start();
    assert!(it.state.sending() && it.state.busy() && it.busy());
    assert_eq!(it.ends(100, lost), None, "it turned to sending");
    let early = it.begins(200, -60.0);
    it.state.end_tx();
    assert!(it.busy(), "the energy is still there");
    let late = it.begins(300, -75.0);
    assert_eq!(it.state.receiving, NO_FRAME, "the other one is stronger");
    assert_eq!((it.ends(1000, early), it.ends(1100, late)), (None, None));
    assert!(!it.busy());
    // A response leaves it to the caller to notice.
    it.state.set_busy(false);
    it.state.begin_tx();
    assert!(it.state.sending() && !it.state.busy() && it.busy());
}

#[test]
fn a_receiver_that_is_off_or_hops_is_deaf_and_busy() {
    let mut it = Antenna::new(FrameCapture::default());
    let lost = it.begins(0, -60.0);
    it.state.turn_off();
    assert!(it.busy() && it.state.receiving == NO_FRAME);
    let slept = it.begins(100, -75.0);
    it.state.set_deaf(false);
    assert!(it.busy(), "the first frame's energy");
    assert_eq!(it.ends(200, lost), None);
    assert!(!it.busy(), "it has slept through the beginning of the second");
    assert_eq!(it.ends(900, slept), None);
    let frame = it.begins(1000, -60.0);
    it.state.retune(6);
    assert_eq!((it.state.channel, it.state.sum), (6, SignalPower::ZERO));
    assert_eq!(it.state.receiving, NO_FRAME);
    assert!(!it.busy() && frame == 2);
}

/// Each MPDU of an A-MPDU has the chance of its own stretches.
#[test]
fn the_chance_of_a_part_is_taken_and_begins_anew() {
    let mut it = Antenna::new(FrameCapture::default());
    let part = |it: &mut Antenna, us: u64| {
        let reading = |frame| Antenna::signal(frame, it.begins[frame as usize]);
        it.state.on_part_end(us * US, &it.kind, reading)
    };
    let frame = it.begins(0, -50.0);
    assert_eq!(part(&mut it, 100), 1.0);
    let other = it.begins(150, -60.0);
    assert_eq!(part(&mut it, 200), 0.5);
    assert_eq!(it.ends(250, other), None);
    assert_eq!(part(&mut it, 300), 0.5);
    assert_eq!(it.ends(400, frame), Some(1.0));
    let spans: Vec<_> = it.asked().iter().map(|&(from, to, _)| (from / US, to / US)).collect();
    assert_eq!(spans, [(150, 200), (200, 250)]);
}

/// Whatever overlaps with what: when all frames have ended, no power is left, and at most one frame
/// was received at any time.
#[test]
fn all_power_that_came_goes() {
    for seed in 0..50 {
        let mut random = RngStream::stream(seed, 0, Purpose::Board);
        let mut below = |n: u64| (random.bits() >> 20) % n;
        let mut it = Antenna::new(FrameCapture::any_time(10.0));
        let (mut on_air, mut us, mut received) = (vec![], 0, 0);
        for _ in 0..400 {
            us += below(300);
            if on_air.len() < 5 && below(2) == 0 {
                on_air.push(it.begins(us, -90.0 + below(50) as f64));
            } else if !on_air.is_empty() {
                let frame = on_air.swap_remove(below(on_air.len() as u64) as usize);
                let was = it.state.receiving == frame;
                let chance = it.ends(us, frame);
                assert_eq!(chance.is_some(), was);
                assert!(chance.is_none_or(|it| (0.0..=1.0).contains(&it)));
                received += u32::from(was);
            }
        }
        for frame in on_air {
            it.ends(us, frame);
        }
        assert_eq!((it.state.sum, it.busy()), (SignalPower::ZERO, false), "{seed}");
        assert!(received > 20, "{received}");
    }
}
