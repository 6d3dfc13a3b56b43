//! Counters that must balance in any network.

mod deferred;
mod throng;

use super::*;
use crate::air::{AdjacentChannels, PowerRatio, SignalPower};
use crate::mac::frame::{FrameKind, GROUP};
use crate::mac::user::{MacUser, TxStatus};
use crate::radio::WifiMode;
use crate::radio::error::ErrorTable;
use crate::radio::{ErrorModelDecoder, FrameCapture, receiver};
use crate::random::{Purpose, RngStream};
use alloc::sync::Arc;
use std::collections::BTreeMap;

/// A user that sends by chance to all and to one, hops by chance, and counts.
struct Bustle {
    random: RngStream,
    until: u64,
    sent: u64,
    done: u64,
    began: BTreeMap<u32, u64>,
    /// Frames handed up by sender and hearer, for unicast.
    got: u64,
    delivered: u64,
    /// A hash of all that happened.
    trace: u64,
}

impl Bustle {
    fn new(seed: u64, until: u64) -> Self {
        let random = RngStream::stream(seed, 0, Purpose::Board);
        let began = BTreeMap::new();
        Self { random, until, sent: 0, done: 0, began, got: 0, delivered: 0, trace: 0 }
    }

    fn below(&mut self, most: u64) -> u64 {
        self.random.bits() % most
    }

    fn note(&mut self, what: u64) {
        self.trace = (self.trace ^ what).wrapping_mul(0x0100_0000_01B3).rotate_left(7);
    }
}

impl MacUser for Bustle {
    fn on_wake(&mut self, medium: &mut WirelessMedium, token: u64) {
        if medium.now >= self.until {
            return;
        }
        let stations = u64::from(medium.stations());
        let station = self.below(stations) as u32;
        match self.below(20) {
            0 => {
                let channel = 1 + self.below(3) as u8;
                let hop = Duration::from_nanos(self.below(3) * 1_000_000);
                medium.tune(station, channel, hop);
            }
            kind => {
                let to = if kind < 8 { GROUP } else { self.below(stations) as u32 };
                let octets = 50 + self.below(250) as u32;
                let packet = TxFrame::new(to, octets, WifiMode::ESP_NOW, self.sent);
                self.sent += u64::from(medium.send(station, packet).is_ok());
            }
        }
        let wait = self.below(2_000_000);
        medium.wake_in(Duration::from_nanos(wait), token);
    }

    fn on_data(
        &mut self,
        medium: &mut WirelessMedium,
        frame: &Ppdu,
        heard: &[Reception],
        missed: &[MissedReception],
    ) {
        let start_at_receivers = medium.links.of(frame.from).count();
        assert!(
            heard.len() + missed.len() <= if frame.is_group() { start_at_receivers } else { 1 }
        );
        self.got += if frame.is_group() { 0 } else { heard.len() as u64 };
        heard.iter().for_each(|it| self.note(u64::from(it.station)));
        missed.iter().for_each(|it| self.note(u64::from(it.station) << 20));
    }

    fn on_tx_status(&mut self, medium: &mut WirelessMedium, station: u32, done: TxStatus) {
        self.done += 1;
        self.delivered += u64::from(done.delivered);
        self.note(medium.now ^ u64::from(station) << 50);
    }

    fn on_tx_start(&mut self, frame: &Ppdu) {
        // A station sends one frame at a time.
        let end = self.began.insert(frame.from, frame.end);
        assert!(end.is_none_or(|end| end <= frame.begin), "{frame:?}");
        assert!(frame.kind == FrameKind::Data || frame.octets == 14);
    }
}

fn bustle(seed: u64) -> u64 {
    const STATIONS: u32 = 12;
    let mut random = RngStream::stream(seed, 1, Purpose::Board);
    let mut power = || -50.0 - (random.bits() % 60) as f64;
    let links = RadioLinks::new(STATIONS, -100.0, |_, _| power());
    let settings = (0..STATIONS).map(|_| MacConfig { buffers: 4, ..MacConfig::default() });
    let reader =
        ErrorModelDecoder::new(Arc::new(ErrorTable::new()), receiver::Receiver::ideal(7.0));
    let receiver = ReceiverConfig::new(reader, -73.0, FrameCapture::any_time(10.0));
    let adjacent = AdjacentChannels::by_distance(&[10.0, 30.0].map(PowerRatio::from_db));
    let mut medium = WirelessMedium::new(seed, links, &[receiver], settings)
        .with_config(MediumConfig { adjacent, ..MediumConfig::default() });
    let mut user = Bustle::new(seed, 3_000_000_000);
    (0..4).for_each(|token| medium.wake_at(Instant::ZERO, token));
    medium.run(&mut user, Instant::from_nanos(60_000_000_000));
    // All is over: no frame is on the air, and no station waits.
    for (state, it) in medium.states.iter().zip(&medium.stations) {
        assert_eq!(state.receiver.sum, SignalPower::ZERO, "every frame that came has gone");
        assert!(
            !state.receiver.busy()
                && !state.access.awaiting_response()
                && !state.access.contending()
        );
        assert!(it.queue.is_empty() && !it.engaged);
    }
    let sum = |of: fn(&MacCounters) -> u64| {
        (0..STATIONS).map(|station| of(&medium.counters(station))).sum::<u64>()
    };
    assert_eq!((user.sent, user.done), (sum(|it| it.queued), sum(|it| it.queued)));
    assert!(sum(|it| it.acknowledged) <= user.got, "what was acknowledged was received");
    assert_eq!(sum(|it| it.given_up), user.done - user.delivered);
    assert!(sum(|it| it.collided) > 100 && sum(|it| it.noise) > 0 && sum(|it| it.duplicates) > 0);
    user.trace
}

#[test]
fn books_balance_and_runs_repeat() {
    for seed in 0..8 {
        assert_eq!(bustle(seed), bustle(seed), "{seed}");
    }
    assert_ne!(bustle(1), bustle(2));
}
