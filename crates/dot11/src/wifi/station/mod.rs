//! Stations.
//!
//! | module | contents |
//! |---|---|
//! | `join` | scanning, authentication, association, keys, beacon loss |
//! | `radio` | the reasons for which the radio is on |
//! | `share` | frames of no network, and slices of a shared radio |
//! | `sleep` | power save |

mod join;
mod radio;
mod share;
mod sleep;

use super::config::{PowerSave, StationConfig};
use super::deadlines::Deadlines;
use super::elements::Elements;
use super::frame::{FrameContents, FrameInfo, FrameStore, Subtype, WifiFrame};
use super::octets::Encapsulation;
use super::rate::RateControl;
use super::tag::DataTag;
use super::upper::{SentPacket, UpperLayer};
use super::{Msdu, SendError, WifiCounters};
use crate::mac::{TxFrame, TxStatus, WirelessMedium};
use crate::radio::WifiMode;
use core::time::Duration;
use espbench_model::sample::Cause;
use espbench_model::time::Instant;
use join::JoinState;
use radio::{ACTIVE, FOREIGN, RadioUse, WINDOW};
use share::CoexistenceSlice;
use sleep::AnnouncedState;
pub(super) use sleep::ReceivedBeacon;

/// The deadlines of a station, in the order in which they are handled.
mod deadline {
    /// The radio is on for the frames to be sent.
    pub(super) const RADIO: usize = 0;
    /// Nothing has happened for so long that the station may sleep.
    pub(super) const IDLE: usize = 1;
    /// The station wakes for a beacon.
    pub(super) const BEACON: usize = 2;
    /// The beacon has not come.
    pub(super) const BEACON_END: usize = 3;
    /// Multicast has not come, or has ended.
    pub(super) const GROUP_END: usize = 4;
    /// The station has sent nothing for long.
    pub(super) const KEEP_ALIVE: usize = 5;
    /// Joining goes on, or has failed.
    pub(super) const JOIN: usize = 6;
    /// A frame has been computed.
    pub(super) const WORK: usize = 7;
    /// No beacon has come for long.
    pub(super) const LOST: usize = 8;
    /// A window of the connectionless modules begins; `WINDOW_END`: it ends.
    pub(super) const WINDOW: usize = 9;
    pub(super) const WINDOW_END: usize = 10;
    /// The radio is on for frames of no network.
    pub(super) const FOREIGN: usize = 11;
    /// A slice of coexistence is about to end, ends, or begins.
    pub(super) const SLICE: usize = 12;
    pub(super) const COUNT: usize = 13;
    /// The deadlines that end with an association.
    pub(super) const OF_A_LINK: [usize; 9] =
        [RADIO, IDLE, BEACON, BEACON_END, GROUP_END, KEEP_ALIVE, JOIN, WORK, LOST];
}

/// The properties of an access point that a station learns from beacons and probe responses.
#[derive(Clone, Copy, Debug)]
pub(super) struct ApInfo {
    pub(super) ap: u32,
    pub(super) channel: u8,
    pub(super) network: u16,
    pub(super) elements: Elements,
    pub(super) wrap: Encapsulation,
    /// The mode of management and Null frames, a basic rate.
    pub(super) basic: WifiMode,
    /// A target beacon transmission time, and the number of beacons from there to a DTIM.
    pub(super) beacon: (Instant, u8),
    pub(super) interval: Duration,
    pub(super) dtim_period: u8,
}

/// The state of an association at the station.
#[derive(Clone, Copy, Debug)]
struct Association {
    ap: u32,
    aid: u16,
    wrap: Encapsulation,
    basic: WifiMode,
    /// The beacon interval.
    interval: Duration,
    dtim_period: u8,
    /// The target time of a beacon for which the station woke, and of one that is a DTIM.
    anchor: Instant,
    dtim: Instant,
    /// The time of the last beacon received.
    heard: Instant,
    /// The number of beacons missed in a row.
    misses: u16,
}

#[derive(Debug)]
pub(super) struct WifiStation {
    pub(super) config: StationConfig,
    pub(super) counters: WifiCounters,
    number: u32,
    powered: bool,
    clock: Deadlines<{ deadline::COUNT }>,
    rate: RateControl,
    link: Option<Association>,
    joining: JoinState,
    /// Whether the station knows the key of its password.
    has_key: bool,
    slice: CoexistenceSlice,
    radio: RadioUse,
    doze: AnnouncedState,
}

impl WifiStation {
    pub(super) fn new(number: u32, config: StationConfig) -> Self {
        Self {
            counters: WifiCounters::default(),
            number,
            powered: true,
            clock: Deadlines::new(number),
            rate: RateControl::new(&config.rates),
            link: None,
            joining: JoinState::new(),
            has_key: false,
            slice: CoexistenceSlice::Wifi,
            radio: RadioUse::default(),
            doze: AnnouncedState::Awake,
            config,
        }
    }

    pub(super) fn ap(&self) -> Option<u32> {
        self.link.map(|link| link.ap)
    }

    pub(super) const fn is_awake(&self) -> bool {
        self.radio.is_on()
    }

    /// Returns whether the radio is on, and was on at a time.
    pub(super) fn was_awake(&self, at: Instant) -> bool {
        self.radio.was_on(at)
    }

    /// Returns the encapsulation of the access point's data frames.
    pub(super) fn wrap(&self) -> Encapsulation {
        self.link.map_or_else(Encapsulation::default, |link| link.wrap)
    }

    /// Returns whether a packet of an access point, with the identifier in its tag, is for the
    /// station.
    pub(super) fn takes(&self, ap: u32, aid: u16) -> bool {
        self.link.is_some_and(|link| link.ap == ap && (aid == 0 || aid == link.aid))
    }

    pub(super) const fn forget_key(&mut self) {
        self.has_key = false;
    }

    fn sleeps_ever(&self) -> bool {
        self.config.sleep != PowerSave::None
    }

    /// Takes note that the station is associated, and has its keys.
    pub(super) fn associate(&mut self, medium: &mut WirelessMedium, terms: ApInfo, aid: u16) {
        let ApInfo { ap, wrap, basic, beacon: (tbtt, to_dtim), interval, dtim_period, .. } = terms;
        self.link = Some(Association {
            ap,
            aid,
            wrap: Encapsulation { qos: wrap.qos && self.config.capabilities.qos, ..wrap },
            basic,
            interval,
            dtim_period: dtim_period.max(1),
            anchor: tbtt,
            dtim: tbtt + interval * u32::from(to_dtim),
            heard: medium.now(),
            misses: 0,
        });
        self.rate = RateControl::new(&self.config.rates);
        self.doze = AnnouncedState::Awake;
        self.expect_beacons(medium);
        self.restart_keep_alive(medium);
        self.active(medium);
        self.plan_window(medium);
    }

    /// Handles the deadlines that are due.
    pub(super) fn wake(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut FrameStore,
        upper: &mut dyn UpperLayer,
    ) {
        while let Some(what) = self.clock.next_due(medium.now()) {
            match what {
                deadline::RADIO => self.want(medium, ACTIVE, true, upper),
                deadline::IDLE => self.idle(medium, frames),
                deadline::BEACON => self.expect_beacon(medium, upper),
                deadline::BEACON_END => self.no_beacon(medium, upper),
                deadline::GROUP_END => self.group_over(medium, upper),
                deadline::JOIN => self.join_late(medium, frames, upper),
                deadline::WORK => self.computed(medium, frames),
                deadline::LOST => self.on_beacon_loss(medium, frames, upper),
                deadline::WINDOW => self.window(medium, upper),
                deadline::WINDOW_END => self.want(medium, WINDOW, false, upper),
                deadline::FOREIGN => self.want(medium, FOREIGN, true, upper),
                deadline::SLICE => self.slice(medium, frames, upper),
                _ => self.keep_alive(medium, frames, upper),
            }
        }
        self.clock.rearm(medium);
    }

    pub(super) fn send(
        &mut self,
        medium: &mut WirelessMedium,
        packet: Msdu,
    ) -> Result<(), SendError> {
        let Some(link) = self.link else {
            self.counters.refused += 1;
            return Err(SendError::NotJoined);
        };
        let (rate, mode) = self.rate.pick();
        let tag = DataTag { packet: packet.tag, aid: link.aid, rate, more: false }.pack();
        let out = TxFrame::new(link.ap, link.wrap.data(packet.octets), mode, tag);
        let out = if link.wrap.qos { out.aggregated() } else { out };
        if medium.send(self.number, out).is_err() {
            self.counters.refused += 1;
            return Err(SendError::NoBuffers);
        }
        self.counters.taken += 1;
        self.restart_keep_alive(medium);
        self.wake_to_send(medium);
        Ok(())
    }

    /// Sends a frame without a packet to the access point, if the MAC has a buffer. Returns whether
    /// it had.
    fn send_frame(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut FrameStore,
        info: FrameInfo,
    ) -> bool {
        let Some(link) = self.link else { return false };
        let octets = match info.subtype {
            Subtype::PsPoll => super::octets::PS_POLL,
            _ => Encapsulation::default().empty(),
        };
        let out = (link.ap, link.basic, octets);
        self.hand_over(medium, frames, out, info, FrameContents::Nothing)
    }

    fn hand_over(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut FrameStore,
        (to, mode, octets): (u32, WifiMode, u32),
        info: FrameInfo,
        says: FrameContents,
    ) -> bool {
        let tag = frames.keep(WifiFrame { info, says, to });
        let packet = TxFrame::new(to, octets, mode, tag).at_once();
        let taken = medium.send(self.number, packet).is_ok();
        if taken {
            self.restart_keep_alive(medium);
        } else {
            frames.take(tag);
        }
        taken
    }

    /// Handles the outcome of a packet.
    pub(super) fn data_done(
        &mut self,
        medium: &mut WirelessMedium,
        data: DataTag,
        done: TxStatus,
        upper: &mut dyn UpperLayer,
    ) {
        let lost = (!done.delivered).then_some(Cause::RetryLimit);
        self.rate.learn(data.rate, done.attempts, done.delivered);
        self.active(medium);
        match lost {
            None => self.counters.sent += 1,
            Some(_) => self.counters.lost += 1,
        }
        upper.on_sent(
            medium,
            self.number,
            SentPacket { tag: data.packet, lost, attempts: done.attempts },
        );
        self.rest_apart(medium, upper);
    }

    /// Handles the outcome of another frame of the station.
    pub(super) fn frame_done(
        &mut self,
        medium: &mut WirelessMedium,
        frame: &WifiFrame,
        delivered: bool,
        upper: &mut dyn UpperLayer,
    ) {
        match frame.info.subtype {
            Subtype::Null { .. } => {
                self.null_done(medium, frame.info.power_management, delivered, upper);
            }
            subtype => self.join_done(medium, subtype, delivered, upper),
        }
    }
}
