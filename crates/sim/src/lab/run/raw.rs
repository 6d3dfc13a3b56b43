//! `esp_now_send` without the component: one node's application calls the driver, another's receive callback
//! counts.
//!
//! The application waits for the send callback before its next call, or calls at once again and waits for
//! a callback only where the driver has no buffer (`ESP_ERR_ESPNOW_NO_MEM`): it looks for one first. The component's
//! node on these boards is at rest meanwhile. The application is `app_main`'s task, which has core 0 by default, as the driver's
//! task has (`CONFIG_ESP_MAIN_TASK_AFFINITY_CPU0`, `CONFIG_ESP_WIFI_TASK_PINNED_TO_CORE_0`): that one interrupts the call, since
//! it has the higher priority.

use super::Lab;
use super::mac_host::{LabDrivers, MacHost};
use super::tap::Tap;
use crate::lab::nodes::NodeId;
use crate::lab::nodes::pool::FrameOrigin;
use crate::lab::token::Wake;
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_dot11::mac::{MissedReception, Reception, WirelessMedium};
use espbench_ieee80211::mac::Mac;
use espbench_model::sample::{Cause, Fate, Probe};
use espbench_model::time::Instant;

/// Calls of `esp_now_send`, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct RawSends {
    /// Node that sends.
    pub from: NodeId,
    /// Node that counts what it receives.
    pub to: NodeId,
    /// Whether frames go to all, and not to that node alone.
    pub is_broadcast: bool,
    /// Bytes of each frame's body.
    pub bytes: u32,
    /// Number of frames.
    pub count: u32,
    /// Whether the next call waits for the send callback.
    pub awaits_callback: bool,
}

/// State of such calls.
#[derive(Debug)]
pub(super) struct RawExchange {
    sends: RawSends,
    body: Vec<u8>,
    probes: Vec<Probe>,
    /// Frames whose send callback has come.
    called_back: u32,
    /// Calls that the driver refused.
    refused: u64,
    /// The application waits for a callback since the driver had no buffer.
    is_refused: bool,
    channel: u8,
    /// Work of the driver's task that the call in progress has made room for, in nanoseconds.
    given_way_ns: u64,
}

impl RawExchange {
    /// Returns the time that the call takes the processor.
    fn call(&self, lab_drivers: &LabDrivers) -> Duration {
        let driver = &lab_drivers.drivers[self.sends.from.index()];
        driver.profile.esp_now_send.of(self.sends.bytes)
    }

    /// Returns the probe of a frame.
    fn probe(&mut self, number: u32) -> Option<&mut Probe> {
        self.probes.get_mut(number as usize)
    }
}

impl LabDrivers {
    /// Notes who of a frame's hearers is the one that counts.
    pub(super) fn raw_heard(&mut self, now: Instant, number: u32, heard: &[Reception]) {
        let Some(mut raw) = self.raw.take() else { return };
        let to = raw.sends.to;
        if heard.iter().any(|it| it.station == u32::from(to.0)) {
            let is_taken = self.drivers[to.index()].takes(now, raw.body.len());
            if let Some(probe) = raw.probe(number).filter(|it| it.received.is_none()) {
                probe.received = is_taken.then_some(now);
                probe.fate =
                    if is_taken { Fate::Delivered } else { Fate::Lost(Cause::ReceiveQueue) };
            }
        }
        self.raw = Some(raw);
    }

    /// Notes why the one that counts has missed a frame.
    pub(super) fn raw_missed(&mut self, number: u32, missed: &[MissedReception]) {
        let Some(raw) = &mut self.raw else { return };
        let to = u32::from(raw.sends.to.0);
        let Some(cause) = missed.iter().find(|it| it.station == to).map(|it| it.cause) else {
            return;
        };
        if let Some(probe) = raw.probe(number).filter(|it| it.received.is_none()) {
            probe.fate = Fate::Lost(cause);
        }
    }

    /// Begins the application's next call, if one is left.
    fn raw_calls(&mut self, room: &mut WirelessMedium) {
        let Some(raw) = &self.raw else { return };
        if (raw.probes.len() as u32) < raw.sends.count {
            let (from, call) = (raw.sends.from.index(), raw.call(self));
            let driver = &mut self.drivers[from];
            let begin = driver.free_at.max(room.now());
            let (worked_ns, is_full) = (driver.worked_ns, driver.held >= driver.profile.tx_buffers);
            driver.drops.refused += u64::from(is_full);
            if let Some(raw) = &mut self.raw {
                raw.given_way_ns = worked_ns;
                raw.is_refused = is_full;
                raw.refused += u64::from(is_full);
            }
            if is_full {
                return;
            }
            room.wake_at(begin + call, Wake::RawCall.token());
        }
    }

    /// Returns the time by which the call in progress ends later, since the driver's task has run meanwhile on
    /// their core.
    fn raw_gives_way(&mut self) -> Option<Duration> {
        let raw = self.raw.as_mut()?;
        let driver = &self.drivers[raw.sends.from.index()];
        let ns = driver.worked_ns - core::mem::replace(&mut raw.given_way_ns, driver.worked_ns);
        (ns > 0).then(|| Duration::from_nanos(ns))
    }
}

impl<W: Tap> MacHost<'_, '_, W> {
    /// Ends a call of `esp_now_send`: the driver has the frame, or no buffer for it.
    pub(super) fn raw_call(&mut self, room: &mut WirelessMedium) {
        let now = room.now();
        let lab_drivers = &mut *self.lab_drivers;
        if let Some(more) = lab_drivers.raw_gives_way() {
            return room.wake_at(now + more, Wake::RawCall.token());
        }
        let Some(mut raw) = lab_drivers.raw.take() else { return };
        let sends = raw.sends;
        let call = raw.call(lab_drivers);
        let driver = &mut lab_drivers.drivers[sends.from.index()];
        let number = raw.probes.len() as u32;
        lab_drivers.frames += 1;
        let origin = FrameOrigin {
            at: now,
            number: lab_drivers.frames,
            node: sends.from,
            life: driver.life,
            to: if sends.is_broadcast { Mac::BROADCAST } else { sends.to.mac() },
            channel: raw.channel,
            raw: Some(number),
        };
        let handle = lab_drivers.pool.put(origin, &raw.body);
        let at = driver.take(now, handle, sends.bytes);
        raw.probes.push(Probe {
            seq: u64::from(number),
            bytes: sends.bytes,
            due: Instant::from_nanos(now.as_nanos() - call.as_nanos() as u64),
            queued: Some(now),
            fate: Fate::Lost(Cause::Unknown),
            ..Probe::default()
        });
        lab_drivers.raw = Some(raw);
        lab_drivers.hand_over(room, handle, at);
        if !sends.awaits_callback {
            lab_drivers.raw_calls(room);
        }
    }

    /// Calls the send callback for a frame.
    pub(super) fn raw_sent(&mut self, room: &mut WirelessMedium, number: u32, delivered: bool) {
        let Some(raw) = &mut self.lab_drivers.raw else { return };
        let awaited = raw.sends.awaits_callback || raw.is_refused;
        raw.is_refused = false;
        raw.called_back += 1;
        let is_unicast = !raw.sends.is_broadcast;
        if let Some(probe) = raw.probe(number) {
            probe.acked = Some(room.now());
            if is_unicast && !delivered && probe.received.is_none() {
                probe.fate = Fate::Lost(Cause::RetryLimit);
            }
        }
        if awaited {
            self.lab_drivers.raw_calls(room);
        }
    }
}

impl<W: Tap> Lab<'_, W> {
    /// Begins to call `esp_now_send` on a node. One at a time: other calls end with that.
    pub fn begin_raw_sends(&mut self, sends: RawSends) {
        let channel = self.channel(sends.from);
        let lab_drivers = &mut self.medium.lab_drivers;
        lab_drivers.raw = Some(RawExchange {
            sends,
            body: vec![0; sends.bytes as usize],
            probes: Vec::new(),
            called_back: 0,
            refused: 0,
            is_refused: false,
            channel,
            given_way_ns: 0,
        });
        lab_drivers.raw_calls(&mut self.medium.room);
    }

    /// Returns whether all frames were sent and their callbacks have come.
    #[must_use]
    pub fn has_sent_raw(&self) -> bool {
        self.medium.lab_drivers.raw.as_ref().is_none_or(|it| it.called_back >= it.sends.count)
    }

    /// Ends these calls. Returns the frames as probes (due when the call began, queued when the driver had
    /// the frame, received in the receive callback, acknowledged in the send callback), and the number of
    /// calls that the driver refused.
    pub fn take_raw_sends(&mut self) -> (Vec<Probe>, u64) {
        self.medium
            .lab_drivers
            .raw
            .take()
            .map_or_else(Default::default, |it| (it.probes, it.refused))
    }
}
