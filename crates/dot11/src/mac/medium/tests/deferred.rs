//! A frame whose begin was put off does what any frame does: rooms with meters, in which no begin is
//! put off, and the same rooms without tell the same.

use super::super::deferred::DeferredFrames;
use crate::air::adjacent::AdjacentChannels;
use crate::air::receiver::NO_FRAME;
use crate::air::{RadioLinks, ReceiverConfig};
use crate::mac::{
    GROUP, MacConfig, MacUser, MediumConfig, MissedReception, Ppdu, Reception, TxFrame, TxStatus,
    WirelessMedium,
};
use crate::radio::error::ErrorTable;
use crate::radio::{ErrorModelDecoder, FrameCapture, Hr, Ofdm, Overlap, WifiMode, receiver};
use crate::random::{Purpose, RngStream};
use core::time::Duration;
use espbench_model::time::Instant;
use std::vec::Vec;

const STATIONS: u32 = 60;
const UNTIL: u64 = 6_000_000_000;
const CHANNELS: [u8; 4] = [1, 6, 11, 3];

/// Something that was told, with its time.
#[derive(Debug, PartialEq)]
enum Told {
    Data(u64, u32, Vec<Reception>, Vec<MissedReception>),
    Control(u64, u32, usize, usize),
    Status(u64, u32, TxStatus),
    Begin(u64, u32),
}

/// A user that sends seldom, and now and then lets stations hop, doze, or go off.
struct Wanderers {
    random: RngStream,
    told: Vec<Told>,
    channels: usize,
    /// Frames that were alone when the user looked.
    alone: u32,
}

impl Wanderers {
    fn below(&mut self, most: u64) -> u64 {
        (self.random.bits() >> 20) % most
    }
}

impl MacUser for Wanderers {
    fn on_wake(&mut self, medium: &mut WirelessMedium, token: u64) {
        self.alone += u32::from(medium.deferred.is_deferring());
        let station = self.below(u64::from(STATIONS)) as u32;
        match self.below(30) {
            0 if self.channels > 1 => {
                let (channel, hop) = (CHANNELS[self.below(4) as usize], self.below(300));
                medium.tune(station, channel, Duration::from_micros(hop));
            }
            1 => medium.doze(station),
            2 => medium.wake_up(station),
            3 => drop(medium.switch_off(station)),
            4 => medium.switch_on(station),
            kind => {
                let to = if kind < 18 { GROUP } else { self.below(u64::from(STATIONS)) as u32 };
                let modes =
                    [WifiMode::Hr(Hr::M1), WifiMode::Hr(Hr::M11), WifiMode::Ofdm(Ofdm::M24)];
                let mode = modes[self.below(3) as usize];
                let octets = 30 + self.below(300) as u32;
                if to != station {
                    let _ = medium.send(station, TxFrame::new(to, octets, mode, token));
                }
            }
        }
        // Few stay away for long.
        for _ in 0..4 {
            let other = self.below(u64::from(STATIONS)) as u32;
            medium.wake_up(other);
            medium.switch_on(other);
        }
        if medium.now().as_nanos() < UNTIL {
            let wait = self.below(9_000_000);
            medium.wake_in(Duration::from_nanos(wait), token + 1);
        }
    }

    fn on_data(
        &mut self,
        medium: &mut WirelessMedium,
        frame: &Ppdu,
        heard: &[Reception],
        missed: &[MissedReception],
    ) {
        let now = medium.now().as_nanos();
        self.told.push(Told::Data(now, frame.from, heard.to_vec(), missed.to_vec()));
    }

    fn on_control(&mut self, frame: &Ppdu, heard: &[Reception], missed: &[MissedReception]) {
        self.told.push(Told::Control(frame.end, frame.from, heard.len(), missed.len()));
    }

    fn on_tx_status(&mut self, medium: &mut WirelessMedium, station: u32, done: TxStatus) {
        self.told.push(Told::Status(medium.now().as_nanos(), station, done));
    }

    fn on_tx_start(&mut self, frame: &Ppdu) {
        self.told.push(Told::Begin(frame.begin, frame.from));
    }
}

impl DeferredFrames {
    fn is_deferring(&self) -> bool {
        self.frames.iter().any(|it| *it != NO_FRAME)
    }
}

/// Returns what a room tells, and how often a frame was alone. Of two channels, frames of one reach
/// the other. `strong`: all stations hear all others well.
fn room(seed: u64, channels: usize, strong: bool, metered: bool) -> (Vec<Told>, u32) {
    let mut random = RngStream::stream(seed, 1, Purpose::Board);
    let mut power = || -45.0 - (random.bits() % if strong { 20 } else { 60 }) as f64;
    let links =
        RadioLinks::new(STATIONS, if channels == 1 { -100.0 } else { -110.0 }, |_, _| power());
    let settings = (0..STATIONS).map(|station| MacConfig {
        channel: CHANNELS[station as usize % channels],
        rts_threshold: if station % 5 == 0 { 200 } else { u32::MAX },
        rts: station % 5 == 0,
        ..MacConfig::default()
    });
    let reader = ErrorModelDecoder::new(ErrorTable::shared(), receiver::Receiver::ideal(7.0));
    let receiver = ReceiverConfig::new(reader, -73.0, FrameCapture::any_time(10.0));
    let adjacent = if channels == 2 {
        AdjacentChannels::new(&Overlap::new())
    } else {
        AdjacentChannels::default()
    };
    let config = MediumConfig { adjacent, ..MediumConfig::default() };
    let mut medium = WirelessMedium::new(seed, links, &[receiver], settings).with_config(config);
    if metered {
        medium = medium.with_meters();
    }
    let mut user = Wanderers { random, told: Vec::new(), channels, alone: 0 };
    (0..3).for_each(|token| medium.wake_at(Instant::ZERO, token << 32));
    medium.run(&mut user, Instant::from_nanos(2 * UNTIL));
    for station in 0..STATIONS {
        let it = medium.counters(station);
        let status = TxStatus { tag: it.received, delivered: true, attempts: it.sent as u8 };
        user.told.push(Told::Status(it.collided << 32 | it.noise, station, status));
    }
    (user.told, user.alone)
}

#[test]
fn rooms_tell_the_same_whether_begins_are_put_off_or_not() {
    for channels in 1..=3 {
        for strong in [true, false] {
            let mut alone = 0;
            for seed in 0..8 {
                let (put_off, times) = room(seed, channels, strong, false);
                let (at_once, never) = room(seed, channels, strong, true);
                for (n, (a, b)) in put_off.iter().zip(&at_once).enumerate() {
                    assert_eq!(a, b, "{seed}, {channels}, {strong}: {n}");
                }
                assert_eq!(put_off.len(), at_once.len());
                assert_eq!(never, 0);
                alone += times;
            }
            // A frame that reaches a second channel with stations is never put off.
            assert_eq!(alone > 500, channels != 2, "{channels}, {strong}: {alone}");
        }
    }
}
