//! A host that sends what it is told to, when it is told to, and writes down what happens.

use crate::rig::packet;
use core::time::Duration;
use espbench_dot11::mac::{
    FrameKind, MacUser, MissedReception, Ppdu, Reception, TxFrame, TxStatus, WirelessMedium,
};
use espbench_model::sample::Cause;
use espbench_model::time::Instant;

/// Microseconds.
pub(crate) const US: u64 = 1000;
/// How long a frame of [`packet`] is on the air, and an ACK.
pub(crate) const DATA: u64 = 2536 * US;
pub(crate) const ACK: u64 = 304 * US;

#[derive(Default)]
pub(crate) struct Script {
    steps: Vec<Step>,
    /// All frames, in the order of their beginning.
    pub(crate) frames: Vec<Ppdu>,
    /// Sender and hearer of each frame that was heard.
    pub(crate) heard: Vec<(u32, u32)>,
    /// The signal strength of each of them.
    pub(crate) rssi: Vec<i8>,
    pub(crate) missed: Vec<(u32, u32, Cause)>,
    pub(crate) done: Vec<(u32, TxStatus)>,
    pub(crate) refused: u32,
    /// Alarms that have rung: the station, the time in microseconds, and how many frames had begun.
    pub(crate) rung: Vec<(u32, u64, usize)>,
    /// Stations without a buffer for what they receive.
    pub(crate) full: Vec<u32>,
    /// Stations that were asked whether they have one.
    pub(crate) asked: Vec<u32>,
    /// How many frames came again, and how many control frames ended.
    pub(crate) repeated: u32,
    pub(crate) control: Vec<(FrameKind, usize, usize)>,
}

enum Step {
    Send(u32, TxFrame),
    Tune(u32, u8, Duration),
    Do(Box<dyn Fn(&mut WirelessMedium)>),
}

impl Script {
    fn at(&mut self, room: &mut WirelessMedium, us: u64, step: Step) {
        room.wake_at(Instant::from_nanos(us * US), self.steps.len() as u64);
        self.steps.push(step);
    }

    /// Queues a frame for a station, at a time in microseconds.
    pub(crate) fn send(&mut self, room: &mut WirelessMedium, us: u64, from: u32, to: u32) {
        self.send_packet(room, us, from, packet(to));
    }

    /// Queues a frame in any mode.
    pub(crate) fn send_packet(
        &mut self,
        room: &mut WirelessMedium,
        us: u64,
        from: u32,
        packet: TxFrame,
    ) {
        self.at(room, us, Step::Send(from, TxFrame { tag: self.steps.len() as u64, ..packet }));
    }

    pub(crate) fn tune(&mut self, room: &mut WirelessMedium, us: u64, station: u32, channel: u8) {
        self.at(room, us, Step::Tune(station, channel, Duration::ZERO));
    }

    /// Takes some microseconds.
    pub(crate) fn hop(
        &mut self,
        room: &mut WirelessMedium,
        us: u64,
        station: u32,
        channel: u8,
        takes: u64,
    ) {
        self.at(room, us, Step::Tune(station, channel, Duration::from_micros(takes)));
    }

    /// Does something else to the medium.
    pub(crate) fn act(
        &mut self,
        room: &mut WirelessMedium,
        us: u64,
        act: impl Fn(&mut WirelessMedium) + 'static,
    ) {
        self.at(room, us, Step::Do(Box::new(act)));
    }

    /// Lets a second go by.
    pub(crate) fn run(&mut self, room: &mut WirelessMedium) {
        room.run(self, Instant::from_nanos(1_000_000 * US));
    }

    /// Returns when the data frames of a station began.
    pub(crate) fn begins(&self, from: u32) -> Vec<u64> {
        let of = self.frames.iter().filter(|it| it.from == from && it.kind == FrameKind::Data);
        of.map(|it| it.begin).collect()
    }
}

impl MacUser for Script {
    fn on_wake(&mut self, room: &mut WirelessMedium, token: u64) {
        match &self.steps[token as usize] {
            Step::Send(station, packet) => {
                self.refused += u32::from(room.send(*station, *packet).is_err());
            }
            Step::Tune(station, channel, hop) => room.tune(*station, *channel, *hop),
            Step::Do(act) => act(room),
        }
    }

    fn on_alarm(&mut self, room: &mut WirelessMedium, station: u32) {
        self.rung.push((station, room.now().as_nanos() / US, self.frames.len()));
    }

    fn on_data(
        &mut self,
        _: &mut WirelessMedium,
        frame: &Ppdu,
        heard: &[Reception],
        missed: &[MissedReception],
    ) {
        self.repeated += u32::from(frame.repeated);
        self.heard.extend(heard.iter().map(|it| (frame.from, it.station)));
        self.rssi.extend(heard.iter().map(|it| it.rssi));
        self.missed.extend(missed.iter().map(|it| (frame.from, it.station, it.cause)));
    }

    fn accepts(&mut self, station: u32, _: &Ppdu) -> bool {
        self.asked.push(station);
        !self.full.contains(&station)
    }

    fn on_control(&mut self, frame: &Ppdu, heard: &[Reception], missed: &[MissedReception]) {
        self.control.push((frame.kind, heard.len(), missed.len()));
    }

    fn on_tx_status(&mut self, _: &mut WirelessMedium, station: u32, done: TxStatus) {
        self.done.push((station, done));
    }

    fn on_tx_start(&mut self, frame: &Ppdu) {
        self.frames.push(*frame);
    }
}
