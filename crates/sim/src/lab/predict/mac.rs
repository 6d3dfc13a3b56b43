//! Radios without nodes behind them.

use super::FrameSource;
use super::ledger::{AirKind, MessageLog, OnAir};
use super::load::Load;
use super::outcome::Outcome;
use crate::lab::run::Livelock;
use crate::lab::scene::Scene;
use crate::lab::trace::{AirtimeKind, Flight, missed_by_cause};
use alloc::vec::Vec;
use espbench_dot11::mac::{
    self, GROUP, MacUser, MissedReception, Reception, TxFrame, TxStatus, WirelessMedium,
};
use espbench_dot11::radio::WifiMode;
use espbench_model::sample::Cause;
use espbench_model::time::Instant;
use espbench_model::workload::EspNowCast;

/// The device that listens.
const LISTENER: u32 = 0;

/// Radios that a medium connects, and the messages that they send.
pub(super) struct Radios {
    room: WirelessMedium,
    host: Host,
}

impl Radios {
    pub(super) fn new(scene: &Scene, load: &Load, seed: u64) -> Self {
        let radio = scene.radio(seed);
        let senders = scene.nodes.len() as u32;
        let mut room = WirelessMedium::new(seed, radio.links, &radio.receivers, radio.settings)
            .with_config(radio.medium);
        let host = Host {
            load: *load,
            octets: load.octets(scene),
            ledger: MessageLog::new(load, seed, senders.saturating_sub(1)),
            modes: scene.nodes.iter().map(|it| it.mode).collect(),
            channel: scene.nodes.first().map_or(1, |it| it.channel),
            sending: alloc::vec![None; senders as usize],
        };
        for device in 1..senders {
            room.wake_at(host.ledger.due(device), u64::from(device));
        }
        Self { room, host }
    }
}

impl FrameSource for Radios {
    fn now(&self) -> Instant {
        self.room.now()
    }

    fn ledger(&self) -> &MessageLog {
        &self.host.ledger
    }

    fn go_on(&mut self, until: Instant) -> Result<(), Livelock> {
        self.room.run(&mut self.host, until);
        Ok(())
    }

    fn watch(&mut self, most: usize) {
        self.host.ledger.watch(most);
    }

    fn close(self) -> Outcome {
        self.host.ledger.close(Cause::Unknown)
    }
}

/// The user of the radios' MACs.
struct Host {
    load: Load,
    /// Octets of each frame.
    octets: u32,
    ledger: MessageLog,
    modes: Vec<WifiMode>,
    /// The listener's.
    channel: u8,
    /// The message that each device is sending, and copies of it that are still to be sent.
    sending: Vec<Option<(u32, u16)>>,
}

impl Host {
    /// Sends the next message of a device, unless it is sending one.
    fn pump(&mut self, room: &mut WirelessMedium, device: u32) {
        if self.sending[device as usize].is_some() {
            return;
        }
        let now = room.now();
        let Some(number) = self.ledger.take(now, device) else { return };
        let copies = self.load.copies().unwrap_or(1);
        self.sending[device as usize] = Some((number, copies));
        self.ledger.driver(now, number);
        self.send(room, device, number);
    }

    fn send(&mut self, room: &mut WirelessMedium, device: u32, number: u32) {
        let to = if self.load.cast == EspNowCast::Unicast { LISTENER } else { GROUP };
        let mode = self.modes[device as usize];
        let packet = TxFrame::new(to, self.octets, mode, u64::from(number));
        // One frame at a time: there is always a buffer.
        let _ = room.send(device, packet);
    }
}

impl MacUser for Host {
    fn on_wake(&mut self, room: &mut WirelessMedium, token: u64) {
        let device = token as u32;
        if !self.ledger.is_always() {
            self.ledger.arrive(device);
            room.wake_at(self.ledger.due(device), token);
        }
        self.pump(room, device);
    }

    fn on_data(
        &mut self,
        room: &mut WirelessMedium,
        frame: &mac::Ppdu,
        heard: &[Reception],
        missed: &[MissedReception],
    ) {
        let (collided, noise) = missed_by_cause(missed);
        let heard_by = heard.len() as u32;
        self.ledger.see(|| Flight {
            what: AirtimeKind::Data,
            heard: heard_by,
            collided,
            noise,
            ..Flight::of(frame)
        });
        let (now, number) = (room.now(), frame.tag as u32);
        let read = heard.iter().any(|it| it.station == LISTENER);
        let missed = missed.iter().find(|it| it.station == LISTENER).map(|it| it.cause);
        let begin = Instant::from_nanos(frame.begin);
        let attempts = self.ledger.attempt(begin, now, number, read, missed);
        if read {
            self.ledger.received(now, number);
        }
        let kind = if attempts == 1 { AirKind::First } else { AirKind::Retry };
        if frame.channel == self.channel {
            self.ledger.on_air(OnAir { kind, begin, end: now }, missed.is_some());
        }
    }

    fn on_tx_status(&mut self, room: &mut WirelessMedium, station: u32, done: TxStatus) {
        let (now, number) = (room.now(), done.tag as u32);
        match &mut self.sending[station as usize] {
            Some((_, copies)) if *copies > 1 => {
                *copies -= 1;
                self.send(room, station, number);
                return;
            }
            sending => *sending = None,
        }
        self.ledger.done(now, number, done.delivered);
        self.pump(room, station);
    }

    fn on_tx_end(&mut self, frame: &mac::Ppdu) {
        if frame.kind == mac::FrameKind::Ack && frame.channel == self.channel {
            let (begin, end) = (Instant::from_nanos(frame.begin), Instant::from_nanos(frame.end));
            self.ledger.on_air(OnAir { kind: AirKind::Ack, begin, end }, false);
            self.ledger.see(|| Flight { what: AirtimeKind::Ack, ..Flight::of(frame) });
        }
    }
}
