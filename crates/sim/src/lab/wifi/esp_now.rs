//! ESP-NOW between two boards of a lab, in its network or beside it: an echo.
//!
//! One board asks, by unicast, at given times or when its next interval begins
//! (`WIFI_EVENT_CONNECTIONLESS_MODULE_WAKE_INTERVAL_START`); the other sends each request back. Frames
//! are [`WifiLayer::send_foreign`](espbench_dot11::wifi::WifiLayer::send_foreign)'s, so that radios sleep and wake as
//! their firmware has it. What the MAC's attempts do not bring into a window is lost.

use super::MachineId;
use super::cpu::CpuTask;
use super::field::Field;
use super::machine::{Body, TaskJob};
use super::network::Network;
use crate::lab::run::{Lab, Tap};
use crate::lab::token::{FrameTag, Wake};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;
use esp_now::frame::mpdu_len;
use espbench_dot11::mac::{Ppdu, Reception, TxFrame, TxStatus, WirelessMedium};
use espbench_dot11::radio::WifiMode;
use espbench_model::sample::{Cause, Fate, Probe};
use espbench_model::time::Instant;

/// An echo over ESP-NOW.
#[derive(Clone, Copy, Debug)]
pub struct EspNowEcho {
    /// Machine that sends each request back.
    pub device: MachineId,
    /// Machine that asks.
    pub asks: MachineId,
    /// Bytes of a message.
    pub bytes: u32,
    /// Mode of the frames.
    pub mode: WifiMode,
    /// Processor time of the device for a message, from its coming to the answer's going.
    pub work: Duration,
    /// Requests wait until the next interval of the board that asks begins.
    pub at_interval: bool,
    /// An answer that takes longer is late.
    pub timeout: Duration,
}

/// State of such an echo.
pub(super) struct EspNowExchange {
    echo: EspNowEcho,
    /// Their numbers in the room.
    device: u32,
    asks: u32,
    probes: Vec<Probe>,
    /// Requests that wait for the interval.
    waiting: VecDeque<u32>,
}

impl EspNowExchange {
    /// Returns the frame of a request, or of its answer.
    const fn packet(&self, to: u32, number: u32) -> TxFrame {
        let octets = mpdu_len(self.echo.bytes as usize) as u32;
        // Action frames have the access category AC_VO.
        TxFrame::new(to, octets, self.echo.mode, FrameTag::Echo(number).tag()).at_once()
    }

    /// Returns the time at which a request is due.
    fn due(&self, number: u32) -> Instant {
        self.probes.get(number as usize).map_or(Instant::NEVER, |it| it.due)
    }
}

impl<W: Tap> Lab<'_, W> {
    /// Begins an echo over ESP-NOW with so many requests, each at its time. One at a time: another
    /// one ends with that. It does nothing where one of the two machines has no radio.
    pub fn echo_esp_now(&mut self, echo: EspNowEcho, due: &[Instant]) {
        let station = |machine: MachineId| self.medium.net.field.station(machine.0);
        let (Some(device), Some(asks)) = (station(echo.device), station(echo.asks)) else { return };
        let probe = |(seq, due): (u64, &Instant)| Probe {
            seq,
            bytes: echo.bytes,
            due: *due,
            fate: Fate::Lost(Cause::Stopped),
            ..Probe::default()
        };
        let probes = (0..).zip(due).map(probe).collect();
        let pair = EspNowExchange { echo, device, asks, probes, waiting: VecDeque::new() };
        self.medium.net.field.esp_now = Some(Box::new(pair));
        for (number, at) in (0..).zip(due) {
            self.medium.room.wake_at(*at, Wake::Echo(number).token());
        }
    }

    /// Ends it. Returns its requests, in their order.
    pub fn take_esp_now(&mut self) -> Vec<Probe> {
        self.medium.net.field.esp_now.take().map_or_else(Vec::new, |it| it.probes)
    }
}

impl Field<'_> {
    /// Wakes a board whose requests wait for the interval of the connectionless modules that begins.
    pub(super) fn interval_begins(&self, room: &mut WirelessMedium, station: u32) {
        let waits = |it: &EspNowExchange| {
            it.echo.at_interval && it.asks == station && !it.waiting.is_empty()
        };
        if self.esp_now.as_deref().is_some_and(waits) {
            room.wake_at(room.now(), Wake::EchoInterval.token());
        }
    }

    /// Tells whoever watches what became of a request.
    fn esp_now_known(&mut self, now: Instant, number: u32) {
        let (Some(watched), Some(pair)) = (&mut self.watched, &self.esp_now) else { return };
        if let Some(probe) = pair.probes.get(number as usize) {
            watched.watcher.probe(now, pair.asks, probe);
        }
    }
}

impl Network<'_> {
    /// Sends the requests that have waited for the interval.
    pub(in crate::lab) fn wake_echo_interval(&mut self, room: &mut WirelessMedium) {
        let Some(pair) = &mut self.field.esp_now else { return };
        for number in core::mem::take(&mut pair.waiting) {
            self.ask(room, number);
        }
    }

    /// Sends a request that is due, or lets it wait for the interval.
    pub(in crate::lab) fn wake_echo(&mut self, room: &mut WirelessMedium, number: u32) {
        let Some(pair) = &mut self.field.esp_now else { return };
        if pair.due(number) != room.now() {
            // Of an echo that has ended.
        } else if pair.echo.at_interval {
            pair.waiting.push_back(number);
        } else {
            self.ask(room, number);
        }
    }

    /// Sends a request.
    fn ask(&mut self, room: &mut WirelessMedium, number: u32) {
        let Some(pair) = &mut self.field.esp_now else { return };
        let packet = pair.packet(pair.device, number);
        let sent = self.wifi.send_foreign(room, pair.asks, packet).is_ok();
        let Some(probe) = pair.probes.get_mut(number as usize) else { return };
        probe.sent = sent.then(|| room.now());
        probe.fate = Fate::Lost(if sent { Cause::Unknown } else { Cause::NoBuffers });
    }

    /// Sees to a frame that somebody has read.
    pub(super) fn esp_now_heard(
        &mut self,
        room: &mut WirelessMedium,
        (number, frame): (u32, &Ppdu),
        heard: &[Reception],
    ) {
        let now = room.now();
        let Some(pair) = &mut self.field.esp_now else { return };
        let by = |station: u32| heard.iter().any(|it| it.station == station);
        let (machine, work) = (pair.echo.device.0, pair.echo.work.as_nanos() as u64);
        if frame.from == pair.asks && by(pair.device) {
            if let Some(Body::Esp(esp)) =
                self.field.machines.get_mut(usize::from(machine)).map(|it| &mut it.body)
            {
                esp.cpu.push(now.as_nanos(), CpuTask::Wifi, TaskJob::Answer(number), work);
                self.field.arm(room, machine);
            }
        } else if frame.from == pair.device && by(pair.asks) {
            let Some(probe) = pair.probes.get_mut(number as usize) else { return };
            probe.received = Some(now);
            let late = now.since(probe.due) > pair.echo.timeout;
            probe.fate = if late { Fate::Late } else { Fate::Delivered };
            self.field.esp_now_known(now, number);
        }
    }

    /// Sends a request back on which the device has worked.
    pub(super) fn answer_esp_now(&mut self, room: &mut WirelessMedium, number: u32) {
        let Some(pair) = &mut self.field.esp_now else { return };
        let packet = pair.packet(pair.asks, number);
        if self.wifi.send_foreign(room, pair.device, packet).is_err()
            && let Some(probe) = pair.probes.get_mut(number as usize)
        {
            probe.fate = Fate::Lost(Cause::NoBuffers);
        }
    }

    /// Sees to a frame with which the MAC is done.
    pub(super) fn esp_now_done(
        &mut self,
        room: &mut WirelessMedium,
        station: u32,
        (number, done): (u32, TxStatus),
    ) {
        self.wifi.on_tx_status(room, station, done, &mut self.field);
        let Some(pair) = &mut self.field.esp_now else { return };
        // A request that nobody answers finds a radio that is off, mostly.
        let cause = if station == pair.asks { Cause::Asleep } else { Cause::RetryLimit };
        let probe = pair.probes.get_mut(number as usize);
        if let Some(probe) = probe
            && !done.delivered
            && probe.fate == Fate::Lost(Cause::Unknown)
        {
            probe.fate = Fate::Lost(cause);
            self.field.lose(room.now(), Some(station), cause);
            self.field.esp_now_known(room.now(), number);
        }
    }
}
