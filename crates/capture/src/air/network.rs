//! Networks as their frames tell: beacons, stations that doze, joining and leaving.
//!
//! | what | by |
//! |---|---|
//! | a beacon that is missing | the time since the last one, in intervals that the beacons name |
//! | a station that dozes | the power management bit of its frames to the access point |
//! | how long a packet for it waits | from the first beacon whose traffic indication map has its bit to the packet |
//! | its bit | the association response, and PS-Poll |
//! | leaving | deauthentication and disassociation, with their reasons |

use super::class::EAPOL;
use super::link::SeenFrames;
use alloc::collections::BTreeMap;
use espbench_ieee80211::mac::Mac;
use espbench_ieee80211::view::{MpduType, MpduView, element};

/// The most networks, stations that doze, and different leavings.
const MOST: usize = 1024;

/// Beacons missing from which on the capture is taken to have paused: an hour's would be no loss of the air.
const PAUSE: u64 = 600;

/// A time unit in nanoseconds.
const TU_NS: u64 = 1_024_000;

/// Id of the traffic indication map.
const TIM: u8 = 5;

/// Beacons of a network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BeaconRecord {
    /// Beacons that were captured.
    pub heard: u64,
    /// Beacons that are missing between two that were captured.
    pub missing: u64,
    /// Frames after which or before which beacons are missing.
    pub gaps: SeenFrames,
    /// Longest run of missing beacons.
    pub longest: u64,
    /// From beacon to beacon, in units of 1024 us.
    pub interval: u16,
    /// DTIM period.
    pub dtim: Option<u8>,
    last_ns: Option<u64>,
}

/// Record of a station that dozes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DozeRecord {
    /// Access point of the station.
    pub access_point: Mac,
    /// How often it began to doze.
    pub times: u64,
    /// Time for which it dozed.
    pub asleep_ns: u64,
    /// PS-Polls.
    pub polls: u64,
    /// Packets that waited, by their frames.
    pub waits: SeenFrames,
    /// Sum of the waits from the beacon that told of them.
    pub wait_ns: u64,
    /// Longest of these waits.
    pub longest_ns: u64,
    since: Option<u64>,
    told: Option<u64>,
}

/// How a station left, or was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LeaveKind {
    /// Deauthentication, with a reason.
    Deauthentication,
    /// Disassociation, with a reason.
    Disassociation,
    /// Refused authentication, with a status.
    RefusedAuthentication,
    /// Refused association, with a status.
    RefusedAssociation,
}

impl LeaveKind {
    /// Returns the words for a table.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Deauthentication => "deauthentication, reason",
            Self::Disassociation => "disassociation, reason",
            Self::RefusedAuthentication => "authentication refused, status",
            Self::RefusedAssociation => "association refused, status",
        }
    }
}

/// A leaving: how, who sent it to whom, reason or status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaveKey {
    /// How.
    pub kind: LeaveKind,
    /// Sender.
    pub from: Mac,
    /// Receiver.
    pub to: Mac,
    /// Reason or status.
    pub code: u16,
}

/// Messages of the 4-way handshake of a station.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandshakeRecord {
    /// Messages 1 to 4.
    pub messages: [SeenFrames; 4],
}

/// Networks, and what stations do in them.
#[derive(Clone, Debug, Default)]
pub struct Networks {
    /// Beacons by their sender.
    pub beacons: BTreeMap<Mac, BeaconRecord>,
    /// Stations that doze.
    pub dozes: BTreeMap<Mac, DozeRecord>,
    /// Leavings.
    pub leaves: BTreeMap<LeaveKey, SeenFrames>,
    /// Handshakes by station.
    pub handshakes: BTreeMap<Mac, HandshakeRecord>,
    /// Records that found no room.
    pub dropped: u64,
    /// Association identifiers by access point.
    members: BTreeMap<(Mac, u16), Mac>,
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().copied().map(u16::from_le_bytes)
}

/// A frame whose FCS is right, as it was heard.
#[derive(Clone, Copy, Debug)]
pub(super) struct NetworkHeard {
    pub(super) number: u64,
    pub(super) at_ns: Option<u64>,
    pub(super) from: Mac,
    /// Whether it is the first attempt of its message.
    pub(super) first: bool,
    /// Since when a radio that changes its channel is on this one.
    pub(super) stay_ns: Option<u64>,
}

impl Networks {
    /// Takes a frame.
    pub(super) fn take(&mut self, heard: &NetworkHeard, view: &MpduView<'_>) {
        let NetworkHeard { number, from, first, .. } = *heard;
        match (view.kind(), view.subtype()) {
            (MpduType::Management, 8) => self.beacon(heard, view.body),
            // Attempts of one message say it once.
            (MpduType::Management, subtype) if first => {
                self.management(number, from, view, subtype);
            }
            (MpduType::Control, 10) => {
                self.member(view.receiver, view.duration & 0x3FFF, from);
                if let Some(doze) = self.dozes.get_mut(&from) {
                    doze.polls += 1;
                }
            }
            (MpduType::Data, _) => self.data(heard, view),
            _ => {}
        }
    }

    /// Ends the record at that time: who dozes has dozed until then.
    pub(crate) fn finish(&mut self, last_ns: Option<u64>) {
        for doze in self.dozes.values_mut() {
            if let (Some(since), Some(at)) = (doze.since.take(), last_ns) {
                doze.asleep_ns = doze.asleep_ns.saturating_add(at.saturating_sub(since));
            }
        }
    }

    fn member(&mut self, access_point: Mac, aid: u16, station: Mac) {
        if self.members.len() < MOST || self.members.contains_key(&(access_point, aid)) {
            self.members.insert((access_point, aid), station);
        }
    }

    fn beacon(&mut self, heard: &NetworkHeard, body: &[u8]) {
        let NetworkHeard { number, at_ns, from, stay_ns, .. } = *heard;
        if self.beacons.len() >= MOST && !self.beacons.contains_key(&from) {
            self.dropped += 1;
            return;
        }
        let record = self.beacons.entry(from).or_default();
        record.heard += 1;
        record.interval = half(body, 8).unwrap_or_default();
        let tim = body.get(12..).and_then(|it| element(it, TIM)).unwrap_or_default();
        record.dtim = tim.get(1).copied().or(record.dtim);
        if let (Some(at), Some(last)) = (at_ns, record.last_ns) {
            let interval = u64::from(record.interval).max(1) * TU_NS;
            let since = at.saturating_sub(last);
            let missing = (since.saturating_add(interval / 2) / interval).saturating_sub(1);
            let was_away = stay_ns.is_some_and(|stay| last < stay);
            if (1..PAUSE).contains(&missing) && !was_away {
                record.missing += missing;
                record.longest = record.longest.max(missing);
                record.gaps.add(number);
            }
        }
        record.last_ns = at_ns.or(record.last_ns);
        self.indications(at_ns, from, tim);
    }

    /// Takes a traffic indication map: for whom something waits.
    fn indications(&mut self, at_ns: Option<u64>, from: Mac, tim: &[u8]) {
        let Some((&control, map)) = tim.get(2..).and_then(<[u8]>::split_first) else { return };
        let first = usize::from(control & 0xFE);
        for (&(_, aid), station) in self.members.range((from, 0)..=(from, u16::MAX)) {
            let Some(doze) = self.dozes.get_mut(station) else { continue };
            let octet = (usize::from(aid) / 8).checked_sub(first).and_then(|at| map.get(at));
            let is_set = octet.is_some_and(|it| it >> (aid % 8) & 1 != 0);
            doze.told = if is_set { doze.told.or(at_ns) } else { None };
        }
    }

    fn management(&mut self, number: u64, from: Mac, view: &MpduView<'_>, subtype: u8) {
        if view.control.protected() {
            return;
        }
        let (body, to) = (view.body, view.receiver);
        let left = match subtype {
            1 | 3 => {
                let refused = half(body, 2).filter(|it| *it != 0);
                if let (Some(0), Some(aid)) = (half(body, 2), half(body, 4)) {
                    self.member(from, aid & 0x3FFF, to);
                }
                refused.map(|it| (LeaveKind::RefusedAssociation, it))
            }
            10 => half(body, 0).map(|it| (LeaveKind::Disassociation, it)),
            11 => {
                // 126 asks for a hash to element, which is how SAE goes on.
                let status = half(body, 4).filter(|it| !matches!(it, 0 | 126));
                status.map(|it| (LeaveKind::RefusedAuthentication, it))
            }
            12 => half(body, 0).map(|it| (LeaveKind::Deauthentication, it)),
            _ => None,
        };
        let Some((kind, code)) = left else { return };
        let key = LeaveKey { kind, from, to, code };
        if self.leaves.len() < MOST || self.leaves.contains_key(&key) {
            self.leaves.entry(key).or_default().add(number);
        } else {
            self.dropped += 1;
        }
    }

    fn data(&mut self, heard: &NetworkHeard, view: &MpduView<'_>) {
        let NetworkHeard { number, at_ns, from, first, .. } = *heard;
        if let Some((EAPOL, packet)) = view.packet()
            && first
        {
            self.handshake(number, from, view, packet);
        }
        if view.from_ds() && !view.to_ds() {
            let Some(doze) = self.dozes.get_mut(&view.receiver).filter(|_| view.has_msdu()) else {
                return;
            };
            if let (Some(told), Some(at)) = (doze.told.take(), at_ns) {
                let wait = at.saturating_sub(told);
                doze.waits.add(number);
                doze.wait_ns = doze.wait_ns.saturating_add(wait);
                doze.longest_ns = doze.longest_ns.max(wait);
            }
        } else if view.to_ds() && !view.from_ds() {
            self.station(at_ns, from, view);
        }
    }

    /// Takes a frame to an access point: it says whether its sender dozes from now on.
    fn station(&mut self, at_ns: Option<u64>, from: Mac, view: &MpduView<'_>) {
        let is_known = self.dozes.contains_key(&from);
        if !is_known && (!view.power_management() || self.dozes.len() >= MOST) {
            self.dropped += u64::from(view.power_management());
            return;
        }
        let doze = self.dozes.entry(from).or_default();
        doze.access_point = view.receiver;
        if view.power_management() {
            if doze.since.is_none() {
                doze.since = at_ns;
                doze.times += 1;
            }
        } else if let (Some(since), Some(at)) = (doze.since.take(), at_ns) {
            doze.asleep_ns = doze.asleep_ns.saturating_add(at.saturating_sub(since));
        }
    }

    /// Takes a message of the 4-way handshake (IEEE Std 802.11-2020, 12.7.2 and 12.7.6).
    fn handshake(&mut self, number: u64, from: Mac, view: &MpduView<'_>, packet: &[u8]) {
        let Some(info) = packet.get(5..7).filter(|_| packet.get(1) == Some(&3)) else { return };
        let info = u16::from_be_bytes([info[0], info[1]]);
        // Bits: 3 pairwise, 7 ack, 8 MIC, 6 install, 9 secure.
        let (ack, mic, secure) = (info & 0x80 != 0, info & 0x100 != 0, info & 0x200 != 0);
        if info & 8 == 0 {
            return;
        }
        let (station, message) = match (ack, mic, secure) {
            (true, false, _) => (view.receiver, 0),
            (true, true, _) => (view.receiver, 2),
            (false, true, false) => (from, 1),
            (false, true, true) => (from, 3),
            (false, false, _) => return,
        };
        if self.handshakes.len() >= MOST && !self.handshakes.contains_key(&station) {
            self.dropped += 1;
            return;
        }
        let record = self.handshakes.entry(station).or_default();
        if let Some(it) = record.messages.get_mut(message) {
            it.add(number);
        }
    }
}
