//! A frame, as the analysis takes it: its times, its station, its link, its acknowledgement.

use super::class::{Fingerprint, FrameClass, mode};
use super::esp_now::{self, EspNowContent, EspNowHeard, EspNowPair};
use super::link::{Attempt, LinkKey, MessageId};
use super::network::NetworkHeard;
use super::overlap::AirInterval;
use super::radios::RadioId;
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
const MOST_MISSING: u16 = 256;

/// Octets of the longest PSDU, which an HE frame has (`aPSDUMaxLength`, IEEE 802.11ax-2021, 27.4.4).
const MOST_PSDU: u32 = 6_500_631;

/// Frames that a station whose bad frames are believed to be its own has sent without fault.
const KNOWN: u64 = 3;

/// Within this an acknowledgement is captured after its frame, in nanoseconds: on the air it begins after a SIFS of 10 or
/// 16 us, but times are those of a computer, and a frame of 1500 octets takes 12 ms.
const ACK_WITHIN_NS: u64 = 20_000_000;

/// Within this all MPDUs of an A-MPDU are captured, in nanoseconds: twice the longest PPDU (`aPPDUMaxTime`).
const AGGREGATE_NS: u64 = 11_000_000;

/// Places where a frame may wait for its acknowledgement: a channel, and where it is unknown a radio.
pub(super) type AirPlace = (u8, RadioId);

/// A frame that waits for its acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    key: LinkKey,
    id: MessageId,
    radio: RadioId,
    at_ns: Option<u64>,
    end_ns: Option<u64>,
}

/// An A-MPDU under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aggregate {
    reference: u32,
    at_ns: Option<u64>,
    key: Option<LinkKey>,
    mpdus: u8,
    /// Octets of the A-MPDU so far, and when it ends on the air.
    octets: u32,
    begin_ns: Option<u64>,
}

/// A frame with its times.
struct Timed {
    radio: RadioId,
    /// Time of the packet, or of the frame where the file does not tell that.
    at_ns: Option<u64>,
    mode: Option<WifiMode>,
    /// Time on the air; of a further MPDU of an A-MPDU its part.
    air_ns: Option<u64>,
    begin_ns: Option<u64>,
    end_ns: Option<u64>,
    channel: u8,
    /// Whether it is in the A-MPDU of the frame before.
    joined: bool,
}

impl Timed {
    fn place(&self) -> AirPlace {
        (self.channel, if self.channel == 0 { self.radio } else { RadioId::default() })
    }
}

/// Returns how many octets the bitmap of a block acknowledgement has; `None` of one that is not compressed, and where the
/// length is none that is read.
const fn bitmap(control: u16, start: u16) -> Option<usize> {
    // Variant 2 is compressed. The fragment number tells the length (802.11ax-2021, 9.3.1.8.2); an odd one is of
    // fragments, of which the bits are others.
    match (control >> 1 & 0x0F, start & 0x0F) {
        (2, 0) => Some(8),
        (2, 4) => Some(32),
        (2, 6) => Some(4),
        _ => None,
    }
}

impl AirAnalysis {
    /// Takes a frame. Returns whether it is the first attempt of a message that was read without fault: what is in it
    /// counts once.
    pub fn take(&mut self, number: u64, at_ns: Option<u64>, air: &AirCapture80211<'_>) -> bool {
        let view = air.view();
        let timed = self.time(at_ns, air);
        let is_once = view.is_some_and(|it| it.sequence.is_some() && !it.control.retry());
        if self.radios.is_copy(at_ns, air, is_once, timed.air_ns) {
            self.copies += 1;
            return false;
        }
        self.frames += 1;
        let at_ns = timed.at_ns;
        self.radios.tune(timed.radio, timed.channel, at_ns);
        let air_ns = timed.air_ns.unwrap_or_default();
        self.unrated += u64::from(timed.air_ns.is_none());
        self.channels.entry(timed.channel).or_default().add(air.octets, false, air_ns);
        if air.bad {
            self.bad.add(air.octets, false, air_ns);
            self.course.add(at_ns.unwrap_or_default(), 3, air_ns);
            self.bad_frame(number, view.as_ref(), air, &timed);
            return false;
        }
        let Some(view) = view else {
            self.malformed += 1;
            return false;
        };
        *self.subtypes.entry((view.kind() as u8) << 4 | view.subtype()).or_default() += 1;
        let content = EspNowContent::of(&view, air);
        let class = FrameClass::of(&view, content.is_some());
        let retry = view.control.retry();
        self.classes.entry(class).or_default().add(air.octets, retry, air_ns);
        self.course.add(at_ns.unwrap_or_default(), class.lane(), air_ns);
        let Some(from) = view.sender() else {
            self.response(number, &view, class, &timed, air);
            return false;
        };
        // A phone that looks for networks does so under a new address each time; one that is connected has its own.
        let is_randomised =
            view.is_probe_request() && from.is_local() && !self.stations.contains_key(&from);
        if is_randomised {
            self.randomised += 1;
        } else {
            self.station(from, air, retry, air_ns);
        }
        self.overlap(number, from, &timed);
        let shown =
            (from, view.is_unicast().then_some(view.receiver), view.sequence.unwrap_or(0), retry);
        self.timeline(class, &timed, air, shown, FrameFate::Read);
        if is_randomised {
            return false;
        }
        let is_control = view.kind() == MpduType::Control;
        if is_control {
            self.block_ack(&view, &timed);
        }
        let key = LinkKey { esp_now: content.is_some(), from, to: view.receiver };
        let first = !is_control && self.link(number, key, &view, air, &timed);
        let stay_ns = self.radios.stay_ns(timed.radio);
        let heard = NetworkHeard { number, at_ns, from, first, stay_ns };
        self.networks.take(&heard, &view);
        if let (true, Some(content)) = (first, content)
            && let Some(record) = self.links.get_mut(&key)
        {
            let pair = record.esp_now.get_or_insert_with(Box::<EspNowPair>::default);
            let heard = EspNowHeard { number, at_ns, transmitter: from, content };
            esp_now::take(&heard, pair, &mut self.esp_now, &self.keys);
        }
        first
    }

    /// Takes a frame with a wrong FCS, whose sender is believed where it is known.
    fn bad_frame(
        &mut self,
        number: u64,
        view: Option<&MpduView<'_>>,
        air: &AirCapture80211<'_>,
        timed: &Timed,
    ) {
        let Some(from) = view.and_then(MpduView::sender) else { return };
        if self.stations.get(&from).is_none_or(|it| it.sent.frames < KNOWN) {
            return;
        }
        self.overlap(number, from, timed);
        let shown = (from, None, 0, false);
        self.timeline(FrameClass::Data, timed, air, shown, FrameFate::Unheard);
    }

    /// Returns when a frame was on the air.
    fn time(&mut self, at_ns: Option<u64>, air: &AirCapture80211<'_>) -> Timed {
        let radio = RadioId::of(air);
        let mode = mode(&air.radio);
        let channel = air.radio.channel.and_then(ChannelField::number).unwrap_or(0);
        let total = |mode: WifiMode, octets: u32| {
            let air = Airtime::of(mode, octets);
            if channel > 14 { air.energy_ns() } else { air.total_ns() }
        };
        let reference = air.radio.ampdu.map(|it| it.reference);
        // A file may have any number of frames with one reference: what is longer than a PSDU is no A-MPDU.
        let goes_on = |it: &&Aggregate| {
            let since = at_ns.zip(it.at_ns).map(|(now, begin)| now.abs_diff(begin));
            Some(it.reference) == reference
                && it.octets.saturating_add(air.octets) <= MOST_PSDU
                && since.is_none_or(|it| it <= AGGREGATE_NS)
        };
        let before = self.ampdus.get(&radio).filter(goes_on).copied();
        if before.is_none() {
            self.end_aggregate(radio);
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
            let at_ns = before.map_or(at_ns, |it| it.at_ns);
            self.ampdus.insert(radio, Aggregate { reference, at_ns, key, mpdus, octets, begin_ns });
        }
        Timed {
            radio,
            at_ns: at_ns.or(begin_ns),
            mode,
            air_ns: whole.map(|it| it.saturating_sub(earlier)),
            begin_ns,
            end_ns: begin_ns.zip(whole).map(|(begin, air)| begin.saturating_add(air)),
            channel,
            joined: before.is_some(),
        }
    }

    /// Counts the A-MPDU that ends.
    pub(super) fn end_aggregate(&mut self, radio: RadioId) {
        if let Some(it) = self.ampdus.remove(&radio)
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
                radio: timed.radio,
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
        let pending = self.pending.remove(&timed.place());
        let answers = |it: &Pending| {
            let since = it.at_ns.zip(timed.at_ns).map(|(frame, ack)| ack.abs_diff(frame));
            // Clocks of two radios have nothing in common.
            let times = it.end_ns.zip(timed.begin_ns).filter(|_| it.radio == timed.radio);
            it.key.from == view.receiver
                && since.is_none_or(|it| it <= ACK_WITHIN_NS)
                && times.is_none_or(|(end, begin)| self.overlaps.exchange(end, begin))
        };
        let Some(pending) = pending.filter(answers) else {
            self.orphans += 1;
            return;
        };
        if let Some(record) = self.links.get_mut(&pending.key) {
            record.acknowledge(pending.id);
        }
        let from = pending.key.to;
        if let Some(station) = self.stations.get_mut(&from) {
            station.responses_ns += timed.air_ns.unwrap_or_default();
        }
        self.overlap(number, from, timed);
        self.timeline(class, timed, air, (from, Some(view.receiver), 0, false), FrameFate::Read);
    }

    /// Takes a compressed block ack: its bitmap tells what arrived (9.3.1.8.2). Of others it is told that they are.
    fn block_ack(&mut self, view: &MpduView<'_>, timed: &Timed) {
        let Some(from) = view.sender().filter(|_| view.subtype() == 9) else { return };
        let half = |at: usize| view.body.get(at..)?.first_chunk().copied().map(u16::from_le_bytes);
        let told = half(0).zip(half(2));
        let Some((control, start, octets)) =
            told.and_then(|(control, start)| Some((control, start, bitmap(control, start)?)))
        else {
            self.unread_block_acks += 1;
            return;
        };
        self.end_aggregate(timed.radio);
        let key = LinkKey { esp_now: false, from: view.receiver, to: from };
        self.pending.retain(|_, it| it.key != key);
        let Some(record) = self.links.get_mut(&key) else { return };
        let bitmap = view.body.get(4..).unwrap_or_default().iter().take(octets).enumerate();
        let tid = Some((control >> 12) as u8);
        for (at, octet) in bitmap {
            for bit in (0..8).filter(|bit| octet >> bit & 1 != 0) {
                let sequence = (start >> 4).wrapping_add((at * 8 + bit) as u16) & 0x0FFF;
                record.acknowledge(MessageId { tid, sequence, fragment: 0 });
            }
        }
    }

    /// Takes a frame with a sequence number, and returns whether it is the first attempt.
    fn link(
        &mut self,
        number: u64,
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
        let tid = view.own_counter();
        let id = MessageId { tid, sequence, fragment: view.fragment };
        let missing = self.missing(key, view, id, timed);
        let record = self.links.entry(key).or_default();
        // The time in a probe response is that of the attempt.
        let stamped =
            if view.kind() == MpduType::Management && view.subtype() == 5 { 8 } else { 0 };
        let payload = Fingerprint::of(view.body.get(stamped..).unwrap_or_default(), air.had_fcs);
        let asks = view.is_unicast() && view.asks_for_ack();
        let first = record.attempt(&Attempt {
            number,
            at_ns: timed.at_ns,
            id,
            any_number: view.is_qos_null(),
            asks,
            payload: (!air.cut).then_some(payload),
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
        if let Some(it) = self.ampdus.get_mut(&timed.radio)
            && air.radio.ampdu.is_some()
        {
            it.key = Some(key);
            it.mpdus = it.mpdus.saturating_add(1);
        }
        // An A-MPDU of several is answered with a block acknowledgement; one alone may have an acknowledgement.
        if asks && !timed.joined {
            let (at_ns, end_ns) = (timed.at_ns, timed.end_ns);
            let pending = Pending { key, id, radio: timed.radio, at_ns, end_ns };
            self.pending.insert(timed.place(), pending);
        } else {
            self.pending.remove(&timed.place());
        }
        first
    }

    /// Returns how many numbers of the sender before this one were not heard (10.3.2.14.2). Beacons may have numbers of
    /// their own, and QoS null frames any.
    fn missing(
        &mut self,
        key: LinkKey,
        view: &MpduView<'_>,
        id: MessageId,
        timed: &Timed,
    ) -> Option<u16> {
        let counter = (key.from, id.tid.map(|tid| (key.to, tid)));
        if self.counters.len() >= 2 * MOST_STATIONS && !self.counters.contains_key(&counter) {
            return None;
        }
        let last = self.counters.get(&counter).copied();
        let step = last.map(|it| id.sequence.wrapping_sub(it.0) & 0x0FFF);
        if (view.is_beacon() || view.is_qos_null()) && step != Some(1) {
            return None;
        }
        // An older number comes again in an A-MPDU: the counter stays.
        if !matches!(step, Some(0 | 3840..)) {
            self.counters.insert(counter, (id.sequence, timed.at_ns));
        }
        // What a radio does not hear while it is on another channel is not lost.
        let stay = self.radios.stay_ns(timed.radio);
        let was_away = stay.zip(last.and_then(|it| it.1)).is_some_and(|(stay, last)| last < stay);
        match step {
            Some(step @ 1..=MOST_MISSING) if !was_away => Some(step - 1),
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
        // Clocks of two radios have nothing in common.
        let is_other = *self.shown_radio.get_or_insert(timed.radio) != timed.radio;
        if is_other || self.shown.len() >= super::SHOWN {
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
