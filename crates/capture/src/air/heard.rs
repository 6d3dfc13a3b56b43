//! A frame, as the analysis takes it: its times, its station, its link, its acknowledgement.

use super::class::{FrameClass, is_action, mode};
use super::esp_now::{self, EspNowHeard, EspNowPair};
use super::link::{Attempt, LinkKey};
use super::overlap::AirInterval;
use super::{AirAnalysis, MOST_LINKS, MOST_STATIONS};
use crate::link::AirCapture80211;
use alloc::boxed::Box;
use alloc::string::ToString as _;
use espbench_dot11::radio::airtime::{psdu_octets, with_mpdu};
use espbench_dot11::radio::{Airtime, WifiMode};
use espbench_ieee80211::mac::Mac;
use espbench_ieee80211::radiotap::ChannelField;
use espbench_ieee80211::view::{MpduType, MpduView};
use espbench_measure::air::timeline::{AirFrame, FrameFate};

/// Sequence numbers missing from which on a sender is taken to have started again, or to have been away.
const RESTART: u16 = 256;

/// Octets of the longest PSDU, which an HE frame has (`aPSDUMaxLength`, IEEE 802.11ax-2021, 27.4.4).
const MOST_PSDU: u32 = 6_500_631;

/// Frames that a station whose bad frames are believed to be its own has sent without fault.
const KNOWN: u64 = 3;

/// A frame that waits for its acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    key: LinkKey,
    sequence: u16,
    end_ns: Option<u64>,
}

/// An A-MPDU under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aggregate {
    reference: u32,
    key: Option<LinkKey>,
    mpdus: u8,
    /// Octets of the A-MPDU so far, and when it ends on the air.
    octets: u32,
    begin_ns: Option<u64>,
}

/// A frame with its times.
struct Timed {
    mode: Option<WifiMode>,
    /// Time on the air; of a further MPDU of an A-MPDU its part.
    air_ns: Option<u64>,
    begin_ns: Option<u64>,
    end_ns: Option<u64>,
    channel: u8,
    /// Whether it is in the A-MPDU of the frame before.
    joined: bool,
}

impl AirAnalysis {
    /// Takes a frame. Returns whether it is the first attempt of a message that was read without fault: what is in it
    /// counts once.
    pub fn take(&mut self, number: u64, at_ns: Option<u64>, air: &AirCapture80211<'_>) -> bool {
        self.frames += 1;
        let timed = self.time(air);
        let air_ns = timed.air_ns.unwrap_or_default();
        self.unrated += u64::from(timed.air_ns.is_none());
        self.channels.entry(timed.channel).or_default().add(air.octets, false, air_ns);
        let at_ns = at_ns.or(timed.begin_ns);
        let view = MpduView::parse(air.frame);
        if air.bad {
            self.bad.add(air.octets, false, air_ns);
            self.course.add(at_ns.unwrap_or_default(), 3, air_ns);
            let from = view.and_then(|it| it.transmitter);
            let known =
                from.filter(|it| self.stations.get(it).is_some_and(|it| it.sent.frames >= KNOWN));
            if let Some(from) = known {
                self.overlap(number, from, &timed);
                self.timeline(
                    FrameClass::Data,
                    &timed,
                    air,
                    (from, None, 0, false),
                    FrameFate::Unheard,
                );
            }
            return false;
        }
        let Some(view) = view else {
            self.malformed += 1;
            return false;
        };
        *self.subtypes.entry((view.kind() as u8) << 4 | view.subtype()).or_default() += 1;
        let elements = if is_action(&view) { ::esp_now::frame::parse(air.frame) } else { None };
        let class = FrameClass::of(&view, elements.is_some());
        let retry = view.control.retry();
        self.classes.entry(class).or_default().add(air.octets, retry, air_ns);
        self.course.add(at_ns.unwrap_or_default(), class.lane(), air_ns);
        self.networks.take(number, at_ns, &view);
        let Some(from) = view.transmitter else {
            self.response(number, &view, class, &timed, air);
            return false;
        };
        self.station(from, air, retry, air_ns);
        self.overlap(number, from, &timed);
        let shown =
            (from, view.is_unicast().then_some(view.receiver), view.sequence.unwrap_or(0), retry);
        self.timeline(class, &timed, air, shown, FrameFate::Read);
        if view.kind() == MpduType::Control {
            self.block_ack(&view);
            return false;
        }
        let key = LinkKey { esp_now: elements.is_some(), from, to: view.receiver };
        let first = self.link(number, at_ns, key, &view, air, &timed);
        if let (true, Some((_, elements))) = (first, elements)
            && let Some(record) = self.links.get_mut(&key)
        {
            let pair = record.esp_now.get_or_insert_with(Box::<EspNowPair>::default);
            let heard = EspNowHeard { number, at_ns, transmitter: from, elements };
            esp_now::take(&heard, pair, &mut self.esp_now, &self.keys);
        }
        first
    }

    /// Returns when a frame was on the air.
    fn time(&mut self, air: &AirCapture80211<'_>) -> Timed {
        let mode = mode(&air.radio);
        let channel = air.radio.channel.and_then(ChannelField::number).unwrap_or(0);
        let total = |mode: WifiMode, octets: u32| {
            let air = Airtime::of(mode, octets);
            if channel > 14 { air.energy_ns() } else { air.total_ns() }
        };
        let reference = air.radio.ampdu.map(|it| it.reference);
        // A file may have any number of frames with one reference: what is longer than a PSDU is no A-MPDU.
        let goes_on = |it: &Aggregate| {
            Some(it.reference) == reference && it.octets.saturating_add(air.octets) <= MOST_PSDU
        };
        let before = self.ampdu.filter(goes_on);
        if before.is_none() {
            self.end_aggregate();
        }
        let lead = mode.map(|it| Airtime::of(it, 0).lead_ns()).unwrap_or_default();
        let begin_ns = match before {
            Some(it) => it.begin_ns,
            None => air.radio.tsft.map(|it| it.saturating_mul(1000).saturating_sub(lead)),
        };
        let old = before.map_or(0, |it| it.octets);
        let octets = match (reference, mode) {
            (Some(_), _) => with_mpdu(old, air.octets),
            (None, Some(mode)) => psdu_octets(mode, air.octets),
            (None, None) => air.octets,
        };
        let whole = mode.map(|it| total(it, octets));
        let earlier = if old > 0 { mode.map_or(0, |it| total(it, old)) } else { 0 };
        if let Some(reference) = reference {
            let (key, mpdus) = before.map_or((None, 0), |it| (it.key, it.mpdus));
            self.ampdu = Some(Aggregate { reference, key, mpdus, octets, begin_ns });
        }
        Timed {
            mode,
            air_ns: whole.map(|it| it.saturating_sub(earlier)),
            begin_ns,
            end_ns: begin_ns.zip(whole).map(|(begin, air)| begin.saturating_add(air)),
            channel,
            joined: before.is_some(),
        }
    }

    /// Counts the A-MPDU that ends.
    pub(super) fn end_aggregate(&mut self) {
        if let Some(it) = self.ampdu.take()
            && let Some(record) = it.key.and_then(|key| self.links.get_mut(&key))
        {
            record.aggregate(it.mpdus);
        }
    }

    fn station(&mut self, from: Mac, air: &AirCapture80211<'_>, retry: bool, air_ns: u64) {
        if self.stations.len() >= MOST_STATIONS && !self.stations.contains_key(&from) {
            self.dropped += 1;
            return;
        }
        let station = self.stations.entry(from).or_default();
        station.sent.add(air.octets, retry, air_ns);
        if let Some(dbm) = air.radio.signal {
            station.rssi.add(dbm);
        }
    }

    fn overlap(&mut self, number: u64, from: Mac, timed: &Timed) {
        let Some((begin_ns, end_ns)) = timed.begin_ns.zip(timed.end_ns) else { return };
        if timed.joined {
            self.overlaps.extend(end_ns);
        } else {
            self.overlaps.take(AirInterval {
                number,
                from,
                channel: timed.channel,
                begin_ns,
                end_ns,
            });
        }
    }

    /// Takes an ACK or a CTS: it has no sender's address, but the frame before it tells who answers.
    fn response(
        &mut self,
        number: u64,
        view: &MpduView<'_>,
        class: FrameClass,
        timed: &Timed,
        air: &AirCapture80211<'_>,
    ) {
        if class != FrameClass::Ack {
            return;
        }
        let Some(pending) = self.pending.take().filter(|it| it.key.from == view.receiver) else {
            self.orphans += 1;
            return;
        };
        if let Some(record) = self.links.get_mut(&pending.key) {
            record.acknowledge(pending.sequence);
        }
        if let Some((end, begin)) = pending.end_ns.zip(timed.begin_ns) {
            self.overlaps.exchange(end, begin);
        }
        let from = pending.key.to;
        if let Some(station) = self.stations.get_mut(&from) {
            station.responses_ns += timed.air_ns.unwrap_or_default();
        }
        self.overlap(number, from, timed);
        self.timeline(class, timed, air, (from, Some(view.receiver), 0, false), FrameFate::Read);
    }

    /// Takes a compressed block ack: its bitmap tells what arrived (9.3.1.8.2).
    fn block_ack(&mut self, view: &MpduView<'_>) {
        let body = view.body;
        let half = |at: usize| body.get(at..)?.first_chunk().copied().map(u16::from_le_bytes);
        let (Some(control), Some(start)) = (half(0), half(2)) else { return };
        let Some(from) = view.transmitter.filter(|_| view.subtype() == 9) else { return };
        // Variant 2: compressed.
        if control >> 1 & 0x0F != 2 {
            return;
        }
        self.end_aggregate();
        let key = LinkKey { esp_now: false, from: view.receiver, to: from };
        let Some(record) = self.links.get_mut(&key) else { return };
        let bitmap = body.get(4..).unwrap_or_default().iter().take(32).enumerate();
        for (at, octet) in bitmap {
            for bit in (0..8).filter(|bit| octet >> bit & 1 != 0) {
                record.acknowledge((start >> 4).wrapping_add((at * 8 + bit) as u16) & 0x0FFF);
            }
        }
        if self.pending.is_some_and(|it| it.key == key) {
            self.pending = None;
        }
    }

    /// Takes a frame with a sequence number, and returns whether it is the first attempt.
    fn link(
        &mut self,
        number: u64,
        at_ns: Option<u64>,
        key: LinkKey,
        view: &MpduView<'_>,
        air: &AirCapture80211<'_>,
        timed: &Timed,
    ) -> bool {
        let Some(sequence) = view.sequence else { return false };
        if self.links.len() >= MOST_LINKS && !self.links.contains_key(&key) {
            self.dropped += 1;
            return true;
        }
        let missing = self.missing(key, view, sequence);
        let record = self.links.entry(key).or_default();
        let first = record.attempt(&Attempt {
            number,
            at_ns,
            sequence,
            fragment: view.fragment,
            retry: view.control.retry(),
            octets: air.octets,
            air_ns: timed.air_ns.unwrap_or_default(),
            kbit_s: timed.mode.map(WifiMode::kbit_s),
            rssi: air.radio.signal,
        });
        if let Some(missing) = missing.filter(|it| *it > 0) {
            record.missing.add(number);
            record.missing.count += u64::from(missing) - 1;
        }
        if let Some(it) = &mut self.ampdu
            && air.radio.ampdu.is_some()
        {
            it.key = Some(key);
            it.mpdus = it.mpdus.saturating_add(1);
        }
        let waits = view.is_unicast() && air.radio.ampdu.is_none();
        self.pending = waits.then_some(Pending { key, sequence, end_ns: timed.end_ns });
        first
    }

    /// Returns how many numbers of the sender before this one were not heard. QoS frames of a receiver and traffic
    /// class have numbers of their own, all others share one counter (10.3.2.14.2); beacons may have their own, too.
    fn missing(&mut self, key: LinkKey, view: &MpduView<'_>, sequence: u16) -> Option<u16> {
        let own = view.qos.map(|it| (key.to, (it & 0x0F) as u8));
        let counter = (key.from, own);
        if self.counters.len() >= 2 * MOST_STATIONS && !self.counters.contains_key(&counter) {
            return None;
        }
        let is_beacon = view.kind() == MpduType::Management && view.subtype() == 8;
        let last = self.counters.get(&counter).copied();
        let step = last.map(|last| sequence.wrapping_sub(last) & 0x0FFF);
        if is_beacon && step != Some(1) {
            return None;
        }
        // An older number comes again in an A-MPDU: the counter stays.
        if !matches!(step, Some(0 | 3840..)) {
            self.counters.insert(counter, sequence);
        }
        match step {
            Some(step @ 1..=RESTART) => Some(step - 1),
            _ => None,
        }
    }

    fn timeline(
        &mut self,
        class: FrameClass,
        timed: &Timed,
        air: &AirCapture80211<'_>,
        (from, to, sequence, retry): (Mac, Option<Mac>, u16, bool),
        fate: FrameFate,
    ) {
        let Some((begin_ns, end_ns)) = timed.begin_ns.zip(timed.end_ns) else { return };
        if self.shown.len() >= super::SHOWN {
            return;
        }
        let frame = AirFrame {
            kind: class.airtime_kind().name().into(),
            begin_ns,
            took_ns: end_ns.saturating_sub(begin_ns),
            channel: timed.channel,
            mode: timed.mode.map(|it| it.to_string()).unwrap_or_default(),
            octets: air.octets,
            sequence,
            attempt: if retry { 2 } else { 1 },
            fate,
            ..AirFrame::default()
        };
        self.show(frame, from, to);
    }
}
