//! Observation of machines and the air: every frame on the air, losses and their places, probes,
//! levels.
//!
//! A frame is told of once its fate is known: with its acknowledgement or the next frame of
//! anybody, but always before its sender is done with it, so that its bytes are still there.

mod watcher;

pub use watcher::Watcher;

use super::field::{Field, first_after};
use super::machine::{Body, Machine};
use super::network::Network;
use super::packet::{ALL, Pool};
use super::setup::MachinePlace;
use crate::lab::pool::Handle;
use crate::lab::token::FrameTag;
use crate::lab::trace::{AirtimeKind, Flight, missed_by_cause};
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use espbench_dot11::mac::{FrameKind, MissedReception, MpduFate, MpduInfo, Ppdu, Reception};
use espbench_dot11::wifi::{self, FrameInfo, Subtype, WifiLayer};
use espbench_model::excerpt::StationLevel;
use espbench_model::sample::{Cause, Fate as Ended, Sample};
use espbench_model::time::Instant;

/// A PPDU that has ended.
#[derive(Clone, Copy, Debug)]
pub struct ObservedPpdu<'a> {
    /// Flight of the frame: its kind, times and fate.
    pub flight: Flight,
    /// As the MAC knows it.
    pub frame: &'a Ppdu,
    /// The MPDUs in it with their fates, where it was data or management: one, or those of an A-MPDU.
    pub mpdus: &'a [MpduInfo],
    wifi: &'a WifiLayer,
    pool: &'a Pool,
    lanes: &'a [u32],
}

/// Content of an MPDU.
#[derive(Clone, Copy, Debug)]
pub struct MpduContent<'a> {
    /// Facts that a capture shows.
    pub info: FrameInfo,
    /// The packet that it carries.
    pub packet: Option<NetworkPacket<'a>>,
}

/// A packet of the network layer.
#[derive(Clone, Copy, Debug)]
pub struct NetworkPacket<'a> {
    /// Bytes of the MPDU.
    pub bytes: &'a [u8],
    /// Maker of the packet: a station's number, or that of a machine on a wire.
    pub from: u32,
    /// Final receiver; `None`: all.
    pub to: Option<u32>,
}

impl<'a> ObservedPpdu<'a> {
    /// Returns the content of one of its MPDUs; `None` for other people's, which nobody knows.
    #[must_use]
    pub fn content(&self, mpdu: &MpduInfo) -> Option<MpduContent<'a>> {
        if !wifi::is_ours(mpdu.tag) {
            return None;
        }
        let info = self.wifi.info_of(self.frame.from, mpdu.tag, mpdu.octets)?;
        let packet = info.packet.map(|(tag, _)| {
            let head = self.pool.get(Handle::of(tag as u32)).head;
            let lane = |machine: u16| self.lanes.get(usize::from(machine)).copied();
            NetworkPacket {
                bytes: &self.pool.get(Handle::of(tag as u32)).data,
                from: lane(head.from).unwrap_or(u32::MAX),
                to: if head.to == ALL { None } else { lane(head.to) },
            }
        });
        Some(MpduContent { info, packet })
    }

    fn what(&self) -> AirtimeKind {
        let of = |subtype| match subtype {
            Subtype::Beacon => AirtimeKind::Beacon,
            Subtype::Data { .. } => AirtimeKind::Data,
            Subtype::Null { .. } | Subtype::PsPoll => AirtimeKind::Null,
            _ => AirtimeKind::Management,
        };
        match self.frame.kind {
            FrameKind::Ack => AirtimeKind::Ack,
            FrameKind::BlockAck | FrameKind::BlockAckRequest => AirtimeKind::BlockAck,
            FrameKind::Rts | FrameKind::Cts => AirtimeKind::Clearance,
            FrameKind::Noise => AirtimeKind::Background,
            FrameKind::Data => {
                let content = self.mpdus.first().and_then(|it| self.content(it));
                content.map_or(self.foreign(), |it| of(it.info.subtype))
            }
        }
    }

    /// Returns whether it is a frame of ESP-NOW.
    #[must_use]
    pub const fn is_esp_now(&self) -> bool {
        matches!(self.frame.kind, FrameKind::Data)
            && matches!(FrameTag::of(self.frame.tag), FrameTag::Echo(_) | FrameTag::Node(_))
    }

    const fn foreign(&self) -> AirtimeKind {
        if self.is_esp_now() { AirtimeKind::Data } else { AirtimeKind::Background }
    }

    fn queued(&self) -> Option<u64> {
        let (packet, _) = self.content(self.mpdus.first()?)?.info.packet?;
        Some(self.pool.get(Handle::of(packet as u32)).head.queued).filter(|at| *at > 0)
    }
}

/// A frame that has ended, of which not all is known.
#[derive(Clone, Copy, Debug)]
struct Pending {
    frame: Ppdu,
    heard: u32,
    collided: u32,
    noise: u32,
}

/// Watcher, and the events that it must still be told of.
pub(in crate::lab::wifi) struct Watched<'a> {
    pub(in crate::lab::wifi) watcher: &'a mut (dyn Watcher + 'a),
    pending: Option<Pending>,
    /// The last MPDU of each sender that was not read in an A-MPDU: when that began, and why.
    spoiled: BTreeMap<u32, (u64, Cause)>,
    /// Samples of each machine that were looked at.
    noted: Vec<usize>,
    /// The station of each machine.
    lanes: Vec<u32>,
}

impl<'a> Watched<'a> {
    pub(in crate::lab::wifi) fn new(
        watcher: &'a mut (dyn Watcher + 'a),
        machines: &[Machine<'_>],
        stations: u32,
    ) -> Self {
        let mut wired = stations;
        let mut lane = |machine: &Machine<'_>| match machine.place {
            MachinePlace::Air(station) => station,
            MachinePlace::Wire(_) => {
                wired += 1;
                wired - 1
            }
        };
        let lanes = machines.iter().map(&mut lane).collect();
        let noted = vec![0; machines.len()];
        Self { watcher, pending: None, spoiled: BTreeMap::new(), noted, lanes }
    }
}

impl Network<'_> {
    /// Notes that a frame of any kind has ended.
    pub(in crate::lab::wifi) fn watch_end(&mut self, frame: &Ppdu) {
        if self.field.watched.is_none() {
            return;
        }
        self.seen();
        if let Some(watched) = &mut self.field.watched {
            watched.pending = Some(Pending { frame: *frame, heard: 0, collided: 0, noise: 0 });
        }
    }

    /// Notes who has read a frame, or one MPDU of an A-MPDU that may still be on the air.
    pub(in crate::lab::wifi) fn watch_heard(
        &mut self,
        frame: &Ppdu,
        heard: &[Reception],
        missed: &[MissedReception],
    ) {
        let Some(watched) = &mut self.field.watched else { return };
        if frame.mpdus > 1 {
            if let Some(it) = missed.first() {
                watched.spoiled.insert(frame.from, (frame.begin, it.cause));
            }
            return;
        }
        let same = |it: &&mut Pending| (it.frame.from, it.frame.begin) == (frame.from, frame.begin);
        let Some(pending) = watched.pending.as_mut().filter(same) else { return };
        pending.heard = heard.len() as u32 + u32::from(frame.repeated);
        (pending.collided, pending.noise) = missed_by_cause(missed);
    }

    /// Notes the fate of each MPDU.
    pub(in crate::lab::wifi) fn watch_mpdus(&mut self, frame: &Ppdu, mpdus: &[MpduInfo]) {
        let Some(watched) = &mut self.field.watched else { return };
        let Some(mut pending) = watched.pending.take() else { return };
        let cause = watched.spoiled.remove(&frame.from).filter(|it| it.0 == frame.begin);
        if mpdus.iter().any(|it| matches!(it.fate, MpduFate::Taken | MpduFate::Repeated)) {
            (pending.heard, pending.collided, pending.noise) = (1, 0, 0);
        } else if frame.mpdus > 1
            && let Some((_, cause)) = cause
        {
            let collided = u32::from(cause == Cause::Collision);
            (pending.heard, pending.collided, pending.noise) = (0, collided, 1 - collided);
        }
        self.tell(pending, mpdus);
    }

    /// Tells of the last frame that ended: all is known of it.
    #[inline]
    pub(in crate::lab::wifi) fn seen(&mut self) {
        let Some(watched) = &mut self.field.watched else { return };
        let Some(pending) = watched.pending.take() else { return };
        let Pending { frame, heard, .. } = pending;
        let Ppdu { tag, octets, sequence, attempt, .. } = frame;
        let fate = if heard > 0 { MpduFate::Taken } else { MpduFate::Lost };
        let mpdu = MpduInfo { tag, octets, sequence, attempt, fate };
        self.tell(
            pending,
            if frame.kind == FrameKind::Data { core::slice::from_ref(&mpdu) } else { &[] },
        );
    }

    fn tell(&mut self, pending: Pending, mpdus: &[MpduInfo]) {
        let Self { wifi, field, .. } = self;
        let Field { machines, pool, watched, .. } = field;
        let Some(watched) = watched else { return };
        let Watched { watcher, lanes, .. } = &mut **watched;
        let Pending { frame, heard, collided, noise } = pending;
        let owner = lanes.iter().position(|it| *it == frame.from);
        let queue = match owner.and_then(|it| machines.get(it)).and_then(Machine::esp) {
            Some(esp) => esp.tx,
            None => mpdus.len() as u16,
        };
        let taken = |it: &&MpduInfo| matches!(it.fate, MpduFate::Taken | MpduFate::Repeated);
        let flight = Flight {
            heard,
            collided,
            noise,
            queue,
            mpdus: frame.mpdus,
            lost: if frame.mpdus > 1 {
                (mpdus.len() - mpdus.iter().filter(taken).count()) as u8
            } else {
                0
            },
            ..Flight::of(&frame)
        };
        let mut seen = ObservedPpdu { flight, frame: &frame, mpdus, wifi, pool, lanes };
        seen.flight.what = seen.what();
        if let Some(queued) = seen.queued() {
            seen.flight.queued = Instant::from_nanos(queued.min(frame.begin));
        }
        watcher.frame(&seen);
        if watcher.wants_levels() {
            for (machine, lane) in machines.iter().zip(lanes.iter()) {
                machine.levels(|level, value| watcher.level(flight.end, *lane, level, value));
            }
        }
    }
}

impl Field<'_> {
    /// Tells of the probes that a machine's programs have recorded.
    pub(in crate::lab::wifi) fn watch_probes(&mut self, now: Instant, number: u16) {
        let Self { machines, watched, losses, .. } = self;
        let (Some(watched), Some(machine)) = (watched, machines.get(usize::from(number))) else {
            return;
        };
        let samples = &machine.told.samples;
        let (Some(noted), Some(&lane)) =
            (watched.noted.get_mut(usize::from(number)), watched.lanes.get(usize::from(number)))
        else {
            return;
        };
        // They may have been taken out.
        let fresh = samples.get(*noted..).unwrap_or(&samples[..]);
        for sample in fresh {
            let Sample::Probe(mut probe) = *sample else { continue };
            if let (Ended::Lost(Cause::Unknown), Some(sent)) = (probe.fate, probe.sent) {
                probe.fate = Ended::Lost(first_after(losses, sent).unwrap_or_default());
            }
            watched.watcher.probe(now, lane, &probe);
        }
        *noted = samples.len();
    }
}

impl Machine<'_> {
    /// Reports its windows, queues and buffers.
    fn levels(&self, mut level: impl FnMut(StationLevel, u64)) {
        let held = self.host.held() as u64;
        if let Some(flow) = self.host.flow() {
            // Of a connection that only receives, these say nothing.
            if flow.in_flight > 1 || flow.unsent > 0 {
                level(StationLevel::CongestionWindow, flow.congestion_window.into());
                level(StationLevel::SendWindow, flow.send_window.into());
            }
            // A SYN or a FIN counts as one byte.
            let in_flight = if flow.in_flight > 1 { u64::from(flow.in_flight) } else { 0 };
            level(StationLevel::InFlight, in_flight);
            level(StationLevel::SendBuffer, in_flight + u64::from(flow.unsent));
        }
        let Body::Esp(esp) = &self.body else {
            level(StationLevel::ReceiveQueue, held);
            return;
        };
        let mailbox = u64::from(esp.mailbox);
        level(StationLevel::ReceiveQueue, mailbox + held);
        level(StationLevel::RxBuffers, u64::from(esp.static_rx) + mailbox + held);
        level(StationLevel::TxBuffers, esp.tx.into());
        level(StationLevel::Heap, u64::from(esp.buffered) + u64::from(self.host.heap().now));
    }
}
