//! Captures unlike those that the analysis once took for granted: a test for each assumption.

use super::*;
use crate::file::tests::Order;
use ::esp_now::frame::DATA_MAX;
use alloc::string::ToString as _;
use espbench_ieee80211::mpdu::append_fcs;
use espbench_ieee80211::radiotap::ChannelField;

const S: u64 = 1_000_000;

/// Returns an MPDU with its FCS: frame control, three addresses, number, and what is behind.
pub(super) fn mpdu(control: u16, [to, from, third]: [Mac; 3], number: u16, rest: &[u8]) -> Vec<u8> {
    let head = [control.to_le_bytes(), [0; 2]].concat();
    let number = (number << 4).to_le_bytes();
    let mut out = [&head[..], &to.0, &from.0, &third.0, &number, rest, &[0; 4]].concat();
    let len = out.len() - 4;
    append_fcs(&mut out, len).unwrap();
    out
}

/// Returns a control frame with its FCS.
pub(super) fn control(control: u16, to: Mac, from: Mac, rest: &[u8]) -> Vec<u8> {
    let head = [control.to_le_bytes(), [0; 2]].concat();
    let mut out = [&head[..], &to.0, &from.0, rest, &[0; 4]].concat();
    let len = out.len() - 4;
    append_fcs(&mut out, len).unwrap();
    out
}

/// Returns QoS data to the access point.
pub(super) fn qos(number: u16, qos: u16, rest: &[u8]) -> Vec<u8> {
    mpdu(0x0188, [AP, A, AP], number, &[&qos.to_le_bytes(), rest].concat())
}

const RETRY: u16 = 0x0800;

impl Monitor {
    fn plain(&mut self, frame: &[u8]) {
        self.frame(frame, |_| {});
    }

    /// Lets time pass and returns the monitor.
    fn after(&mut self, us: u64) -> &mut Self {
        self.us += us;
        self
    }

    fn on(&mut self, channel: u8, frame: &[u8]) {
        self.frame(frame, |it| it.channel = Some(ChannelField::cck(channel)));
    }
}

/// Numbers of a sender that wakes, sends once and sleeps: 12 s apart, the same number, and no retry bit. Its data
/// differs, or does not; and of one only a retry was heard.
#[test]
fn a_sender_that_starts_again_does_not_repeat() {
    for data in [&b"m0m1m2m3m4"[..], b"aaaaaaaaaa"] {
        let mut air = Monitor::default();
        for (number, data) in data.chunks(2).enumerate() {
            air.after(12 * S).esp_now((A, B), 5, number == 3, data);
            if number % 2 == 0 {
                air.ack(A);
            }
        }
        let seen = air.seen("");
        let it = link(&seen, A, B, true);
        assert_eq!((it.messages, it.acked, it.unacked.count), (5, 3, 2));
        assert_eq!((it.repeated.count, it.unmarked, it.first_unheard), (0, 0, 1));
        assert_eq!(it.esp_now.as_ref().unwrap().bytes, 10);
        let row = &CaptureDocument::of("x", &seen).links[0];
        assert_eq!((row.messages, row.delivered), (5, Some(0.6)));
    }
}

/// Within milliseconds: another payload is another message, the same one is a repetition, though its retry bit is clear.
#[test]
fn payload_decides_before_the_retry_bit() {
    for (data, retry, messages, unmarked) in
        [(b"two", true, 2, 0), (b"one", true, 1, 0), (b"one", false, 1, 1), (b"two", false, 2, 0)]
    {
        let mut air = Monitor::default();
        air.esp_now((A, B), 5, false, b"one");
        air.after(900).esp_now((A, B), 5, retry, data);
        air.ack(A);
        let seen = air.seen("");
        let it = link(&seen, A, B, true);
        assert_eq!(
            (it.messages, it.acked, it.unmarked),
            (messages, 1, unmarked),
            "{data:?} {retry}"
        );
        let document = CaptureDocument::of("x", &seen);
        assert_eq!(document.limits.unmarked_attempts, unmarked);
        let said = crate::answer::answer(&document).join("\n");
        assert_eq!(said.contains("repetition without the retry bit"), unmarked > 0, "{said}");
    }
}

/// Packets without a time: the retry bit decides alone.
#[test]
fn times_may_be_missing() {
    let mut buf = [0; MPDU_MAX];
    let mut air = AirAnalysis::default();
    for (number, retry) in [(1, false), (2, true), (3, false)] {
        let frame = ActionFrame {
            receiver: B,
            transmitter: A,
            sequence: 5,
            retry,
            random: [1; 4],
            version: EspNowVersion::V1,
        };
        let len = frame.emit(b"same", &mut buf).unwrap();
        air.take(
            number,
            None,
            &AirCapture80211 { frame: &buf[..len], ..AirCapture80211::default() },
        );
        let ack = AckFrame { duration: 0, receiver: A }.emit();
        air.take(
            number,
            None,
            &AirCapture80211 { frame: &ack[..10], ..AirCapture80211::default() },
        );
    }
    let it = &air.links[&LinkKey { esp_now: true, from: A, to: B }];
    assert_eq!((it.messages, it.acked, it.repeated.count), (2, 2, 1));
}

/// The time in a probe response is that of the attempt.
#[test]
fn a_probe_response_changes_from_attempt_to_attempt() {
    let mut air = Monitor::default();
    for (retry, time) in [(0, 1), (RETRY, 2), (RETRY, 3)] {
        let body = [&[time; 8][..], &[100, 0, 1, 0, 0, 0]].concat();
        air.after(600).plain(&mpdu(0x0050 | retry, [A, AP, AP], 7, &body));
    }
    let seen = air.seen("");
    assert_eq!(link(&seen, AP, A, false).messages, 1);
}

/// Traffic identifiers have numbers of their own; QoS null frames have any; QoS data to a group shares the others'
/// counter.
#[test]
fn sequence_numbers_are_those_of_their_counter() {
    let mut air = Monitor::default();
    air.plain(&qos(10, 0, b"zero"));
    air.after(300).plain(&qos(10, 6, b"six"));
    // Of both, the voice frame arrived: the bitmap of traffic identifier 6 has four octets, and behind it is no bit.
    let ack = [&0x6004_u16.to_le_bytes()[..], &(10_u16 << 4 | 6).to_le_bytes(), &[1, 0, 0, 0]];
    air.after(300).plain(&control(0x0094, A, AP, &[&ack.concat()[..], &[0xFF; 4]].concat()));
    // Null frames with the number 0 between data.
    for number in 11..14 {
        air.after(5000).plain(&qos(number, 0, b"data"));
        air.after(5000).plain(&mpdu(0x01C8, [AP, A, AP], 0, &[0, 0]));
    }
    let group = |number, is_qos: bool| {
        let control = if is_qos { 0x0288 } else { 0x0208 };
        let rest: &[u8] = if is_qos { &[0, 0, 1] } else { &[1] };
        mpdu(control, [Mac::BROADCAST, AP, AP], number, rest)
    };
    for number in 20..26 {
        air.after(5000).plain(&group(number, number % 2 == 0));
    }
    let seen = air.seen("");
    let it = link(&seen, A, AP, false);
    assert_eq!((it.messages, it.acked, it.missing.count), (8, 1, 0));
    assert_eq!(link(&seen, AP, Mac::BROADCAST, false).missing.count, 0);
    assert_eq!(seen.air.unread_block_acks, 0);
}

/// Acknowledgements of several stations at once are not read, and it is said.
#[test]
fn other_block_acknowledgements_are_told_of() {
    let mut air = Monitor::default();
    air.plain(&control(0x0094, Mac::BROADCAST, AP, &[0x16, 0, 1, 0, 0, 0]));
    let seen = air.seen("");
    assert_eq!(CaptureDocument::of("x", &seen).limits.unread_block_acks, 1);
}

/// One MPDU alone in an A-MPDU has an acknowledgement, several have none.
#[test]
fn an_aggregate_of_one_is_acknowledged_like_a_frame() {
    for (references, acked) in [([1, 2], 2), ([1, 1], 0)] {
        let mut air = Monitor::default();
        for (number, reference) in references.into_iter().enumerate() {
            air.frame(&qos(number as u16, 0, b"data"), |it| {
                it.ampdu = Some(AmpduField::of(reference, true));
            });
            if references[0] != references[1] || number == 1 {
                air.ack(A);
            }
        }
        let seen = air.seen("");
        assert_eq!(link(&seen, A, AP, false).acked, acked, "{references:?}");
    }
}

/// A driver may write one number for all A-MPDUs.
#[test]
fn a_reference_that_never_changes_is_no_long_aggregate() {
    let mut air = Monitor::default();
    for number in 0..4 {
        air.after(50_000).frame(&qos(number, 0, b"data"), |it| {
            it.ampdu = Some(AmpduField { reference: 0, flags: 0 });
        });
    }
    let seen = air.seen("");
    assert_eq!(link(&seen, A, AP, false).aggregate_sizes(), Some((1.0, 1)));
}

/// Who asks for no acknowledgement has lost nothing.
#[test]
fn frames_may_ask_for_no_acknowledgement() {
    let mut air = Monitor::default();
    for number in 0..4 {
        air.after(5000).plain(&qos(number, if number % 2 == 0 { 0x20 } else { 0 }, b"data"));
        if number % 2 == 1 {
            air.ack(A);
        }
    }
    let no_ack = mpdu(0x00E0, [B, A, B], 9, &[4, 0]);
    air.after(5000).plain(&no_ack);
    let seen = air.seen("");
    let it = link(&seen, A, AP, false);
    assert_eq!((it.messages, it.unasked, it.delivered()), (4, 2, Some(1.0)));
    assert_eq!((it.unacked.count, link(&seen, A, B, false).unacked.count), (0, 0));
}

/// An acknowledgement that comes too late is that of a frame that was not heard: by the packets' times, and by those of
/// the radio where these are believed.
#[test]
fn a_late_acknowledgement_is_another_frames() {
    for (late, timed, acked) in [(12 * S, false, 3), (2000, true, 3), (2000, false, 4)] {
        let mut air = Monitor::default();
        for number in 0..4 {
            air.after(5000);
            let frame = mpdu(0x0108, [AP, A, AP], number, b"data");
            let hide = |it: &mut Radiotap| it.tsft = it.tsft.filter(|_| timed);
            air.frame(&frame, hide);
            air.after(if number == 2 { late } else { 10 });
            air.frame(&AckFrame { duration: 0, receiver: A }.emit(), hide);
        }
        let seen = air.seen("");
        let it = link(&seen, A, AP, false);
        assert_eq!((it.acked, seen.air.orphans), (acked, 4 - acked), "{late} {timed}");
    }
}

/// Two radios, one on each channel: frames of one stand between frame and acknowledgement of the other.
#[test]
fn channels_have_exchanges_of_their_own() {
    let mut air = Monitor::default();
    for number in 0..4 {
        let one = mpdu(0x0108, [AP, A, AP], number, b"one");
        let other = mpdu(0x0108, [AP, B, AP], number, b"other");
        air.after(5000).on(1, &one);
        air.on(11, &other);
        air.on(1, &AckFrame { duration: 0, receiver: A }.emit());
        air.on(11, &AckFrame { duration: 0, receiver: B }.emit());
    }
    air.interfaces = [0, 1].repeat(8);
    let seen = air.seen("");
    assert_eq!((link(&seen, A, AP, false).acked, link(&seen, B, AP, false).acked), (4, 4));
    assert_eq!((seen.air.orphans, seen.air.channel_changes(), seen.air.copies), (0, 0, 0));
}

/// Two radios on one channel: each frame counts once, and what only one of them heard counts, too.
#[test]
fn a_second_radio_makes_no_frame_twice() {
    let mut air = Monitor::default();
    for number in 0..8 {
        air.after(5000).esp_now((A, B), number, false, b"hello");
        air.after(300).esp_now((A, B), number, true, b"hello");
        air.after(300).esp_now((A, B), number, true, b"hello");
        air.ack(A);
    }
    let alone = Monitor { packets: air.packets.clone(), ..Monitor::default() }.seen("");
    let (mut packets, mut interfaces) = (Vec::new(), Vec::new());
    for (at, (ns, packet)) in air.packets.iter().enumerate() {
        // Each radio misses frames that the other hears.
        for (radio, lost, delay) in [(0, 5, 0), (1, 7, 40_000)] {
            if at % lost != 3 || at % 35 == 3 {
                packets.push((ns + delay, packet.clone()));
                interfaces.push(radio);
            }
        }
    }
    let both = Monitor { packets, interfaces, ..Monitor::default() }.seen("");
    let facts = |seen: &CaptureSummary| {
        let it = link(seen, A, B, true);
        let ack = seen.air.classes[&FrameClass::Ack];
        (seen.air.frames, it.messages, it.acked, it.frames, it.air_ns, ack, seen.air.orphans)
    };
    assert_eq!(facts(&alone), facts(&both));
    assert!(both.air.copies > 20 && alone.air.copies == 0, "{}", both.air.copies);
    assert_eq!(both.packets, both.air.frames + both.air.copies);
}

/// Clocks of two radios have nothing in common: what is at one time by both is no collision, and no acknowledgement.
#[test]
fn radios_have_clocks_of_their_own() {
    let mut air = Monitor::default();
    for number in 0..8 {
        air.after(5000).esp_now((A, AP), number, false, &[1; 100]);
        air.ack(A);
        let shift = |it: &mut Radiotap| it.tsft = it.tsft.map(|it| it - 1500);
        air.after(200).frame(&mpdu(0x0108, [AP, B, AP], number, &[2; 100]), shift);
        // The acknowledgement was heard by the first radio alone.
        air.ack(B);
    }
    air.interfaces = [0, 0, 1, 0].repeat(8);
    let seen = air.seen("");
    assert_eq!(seen.air.overlaps.counts(), Some((0, 0)));
    assert_eq!((link(&seen, A, AP, true).acked, link(&seen, B, AP, false).acked), (8, 8));
    assert!(seen.air.shown.iter().all(|it| it.octets != 128));
}

/// A radio that changes its channel: what it does not hear meanwhile is not lost, and each channel is busy for a share of
/// the time in which it was heard.
#[test]
fn a_radio_may_change_its_channel() {
    let body = [&[0; 8][..], &[100, 0, 1, 0, 0, 0]].concat();
    let hop = || {
        let mut air = Monitor::default();
        for turn in 0..600_u16 {
            air.us = u64::from(turn) * 102_400;
            let channel = if turn / 10 % 2 == 0 { 1 } else { 11 };
            for (own, ap) in [(1, AP), (11, B)] {
                if own == channel {
                    air.on(own, &mpdu(0x0080, [Mac::BROADCAST, ap, ap], turn, &body));
                }
            }
        }
        air
    };
    let seen = hop().seen("");
    assert_eq!(seen.air.channel_changes(), 59);
    assert_eq!(seen.air.networks.beacons[&AP].missing, 0);
    assert_eq!(link(&seen, AP, Mac::BROADCAST, false).missing.count, 0);
    let document = CaptureDocument::of("x", &seen);
    let frame_ns = (192 + 8 * (24 + 14 + 4)) * 1000;
    for it in &document.channels {
        let busy = it.busy.unwrap() / (frame_ns as f64 / 102_400_000.0);
        assert!((1.0..1.2).contains(&busy), "{busy}");
    }
    assert_eq!((document.links[0].air_share, document.kinds[0].air_share), (None, None));
    let said = crate::answer::answer(&document).join("\n");
    assert!(said.contains("59 changes of the channel"), "{said}");
    // Frames of both channels within a millisecond: this is no radio that changes its channel.
    let mut air = hop();
    air.on(1, &mpdu(0x0108, [AP, A, AP], 1, b"one"));
    air.on(11, &mpdu(0x0108, [AP, A, AP], 2, b"two"));
    air.on(1, &mpdu(0x0108, [AP, A, AP], 3, b"three"));
    assert_eq!(air.seen("").air.channel_changes(), 0);
}

/// A deauthentication that nobody acknowledges is sent again and again, and so are messages of a handshake.
#[test]
fn attempts_are_no_events() {
    let mut air = Monitor::default();
    let key = |info: u16| {
        let key = [&[0xAA, 0xAA, 3, 0, 0, 0, 0x88, 0x8E, 1, 3, 0, 95, 2][..], &info.to_be_bytes()];
        [&key.concat()[..], &[0; 92]].concat()
    };
    for attempt in 0..5 {
        let retry = if attempt > 0 { RETRY } else { 0 };
        air.after(2000).plain(&mpdu(0x00C0 | retry, [AP, A, AP], 1, &[8, 0]));
        air.after(2000).plain(&mpdu(0x0208 | retry, [A, AP, AP], 2, &key(0x008A)));
        air.after(2000).plain(&mpdu(0x0108 | retry, [AP, B, AP], 3, &key(0x010A)));
    }
    let seen = air.seen("");
    let networks = &seen.air.networks;
    assert_eq!(networks.leaves.values().map(|it| it.count).collect::<Vec<_>>(), [1]);
    let counts = |mac: Mac| networks.handshakes[&mac].messages.clone().map(|it| it.count);
    assert_eq!((counts(A), counts(B)), ([1, 0, 0, 0], [0, 1, 0, 0]));
}

/// A sender repeats what is not acknowledged: one that never does is content, and the radio does not hear the other.
#[test]
fn a_radio_may_not_hear_the_receiver() {
    for (retries, delivered) in [(false, None), (true, Some(0.0))] {
        let mut air = Monitor::default();
        for number in 0..6 {
            air.after(5000).esp_now((A, B), number, false, b"hello");
            if retries {
                air.after(500).esp_now((A, B), number, true, b"hello");
            }
            air.after(5000).esp_now((B, A), number, false, b"hello");
            air.ack(B);
        }
        let document = CaptureDocument::of("x", &air.seen(""));
        let to_b = document.links.iter().find(|it| it.to == B.to_string()).unwrap();
        assert_eq!(to_b.delivered, delivered);
        assert_eq!(document.limits.silent_links, u64::from(!retries));
        let said = crate::answer::answer(&document).join("\n");
        assert_eq!(said.contains("1 link whose acknowledgements"), !retries, "{said}");
    }
}

/// Phones look for networks under ever new addresses: stations that are there keep their room.
#[test]
fn made_up_addresses_are_no_stations() {
    let mut air = Monitor::default();
    for number in 0..5000_u16 {
        let [high, low] = number.to_be_bytes();
        let from = Mac([0xDA, 1, 2, 3, high, low]);
        let frame = mpdu(0x0040, [Mac::BROADCAST, from, Mac::BROADCAST], number & 0x0FFF, &[0, 0]);
        air.after(100).plain(&frame);
    }
    air.after(5000).esp_now((A, B), 1, false, b"hello");
    let seen = air.seen("");
    assert_eq!((seen.air.stations.len(), seen.air.links.len(), seen.air.dropped), (1, 1, 0));
    assert_eq!((seen.air.randomised, seen.air.classes[&FrameClass::Probe].frames), (5000, 5000));
}

/// The group bit of a control frame's sender tells of a bandwidth.
#[test]
fn a_bandwidth_in_an_address_is_no_other_station() {
    let mut air = Monitor::default();
    let mut named = A;
    named.0[0] |= 1;
    air.plain(&control(0x00B4, AP, A, &[]));
    air.plain(&control(0x00B4, AP, named, &[]));
    let seen = air.seen("");
    assert_eq!(seen.air.stations.keys().collect::<Vec<_>>(), [&A]);
}

/// Frames that the MAC has encrypted show ESP-NOW by address 3 alone; action frames of a network have its address there.
#[test]
fn esp_now_may_be_encrypted() {
    let mut air = Monitor::default();
    for number in 0..3 {
        air.after(5000).plain(&mpdu(0x40D0, [B, A, Mac::BROADCAST], number, &[0x20; 60]));
        air.ack(A);
        air.after(5000).plain(&mpdu(0x40D0, [AP, B, AP], number, &[0x20; 60]));
    }
    let seen = air.seen("");
    let pair = link(&seen, A, B, true).esp_now.as_ref().unwrap();
    assert_eq!((pair.protected, pair.bytes, pair.component()), (3, 0, 0));
    assert_eq!(seen.air.classes[&FrameClass::Management].frames, 3);
    let document = CaptureDocument::of("x", &seen);
    assert_eq!((document.limits.protected_esp_now, document.links[0].delivered), (3, Some(1.0)));
}

/// Frames that a snap length cut, wherever: ESP-NOW is known from its first element's head on, attempts stay together,
/// and it is said that frames are cut.
#[test]
fn frames_may_be_cut() {
    for data in [5, 600] {
        let mut air = Monitor::default();
        for retry in [false, true] {
            air.after(1000).esp_now((A, B), 5, retry, &[7; DATA_MAX][..data]);
        }
        air.ack(A);
        let whole = air.packets[0].1.len();
        // Radiotap, header, head and type of the element.
        let least = whole - ::esp_now::frame::mpdu_len(data) + 24 + 8 + 6;
        for kept in least - 3..=whole {
            let mut file = Order { swapped: false }.pcap(127, true, &[]);
            for (ns, packet) in &air.packets {
                let (length, kept) = (packet.len() as u32, packet.len().min(kept));
                let time = [0, *ns as u32, kept as u32, length];
                file.extend(time.iter().flat_map(|it| it.to_le_bytes()));
                file.extend(&packet[..kept]);
            }
            let mut analysis = CaptureAnalysis::default();
            analysis.push(&file).unwrap();
            let seen = analysis.finish(None).unwrap();
            let (is_known, is_cut) = (kept >= least, kept + 4 < whole);
            let it = link(&seen, A, B, is_known);
            assert_eq!(
                (it.messages, it.acked, it.octets),
                (1, 1, 2 * ::esp_now::frame::mpdu_len(data) as u64),
                "{kept}"
            );
            let document = CaptureDocument::of("x", &seen);
            assert_eq!(document.limits.cut_esp_now, u64::from(is_known && is_cut), "{kept}");
            let said = crate::answer::answer(&document).join("\n");
            assert_eq!(said.contains("limits: 2 packets are cut"), kept < whole, "{said}");
            if data == 5 && is_known {
                assert_eq!(it.esp_now.as_ref().unwrap().bytes, 5, "{kept}");
            }
        }
    }
}

/// An ESP32's own sniffer counts the FCS in the length of management frames, and leaves there what it had; and a header
/// may say that there is no FCS, though there is.
#[test]
fn four_octets_behind_a_frame_may_be_anything() {
    let mut air = Monitor::default();
    air.esp_now((A, Mac::BROADCAST), 5, false, b"hello");
    let bare = air.packets[0].1.len() - ::esp_now::frame::mpdu_len(5);
    let whole = air.packets[0].1[bare..].to_vec();
    let with = |tail: [u8; 4]| [&whole[..whole.len() - 4], &tail].concat();
    let mut head = [0; Radiotap::EMIT_MAX];
    let denies = Radiotap { flags: Some(0), ..Radiotap::default() };
    let len = denies.emit(&mut head).unwrap();
    let denied = [&head[..len], &whole].concat();
    for (link_type, frame) in
        [(105, with([0; 4])), (105, with([0xDD, 9, 9, 9])), (105, whole.clone()), (127, denied)]
    {
        let file = Order { swapped: false }.pcap(link_type, true, &[(5, frame)]);
        let mut analysis = CaptureAnalysis::default();
        analysis.push(&file).unwrap();
        let seen = analysis.finish(None).unwrap();
        let pair = link(&seen, A, Mac::BROADCAST, true).esp_now.as_ref().unwrap();
        assert_eq!((pair.bytes, seen.air.unrated), (5, 1));
    }
}

/// Times that go back are counted, and end no station's sleep before it began.
#[test]
fn times_may_go_back() {
    let mut air = Monitor { us: 5 * S, ..Monitor::default() };
    air.plain(&mpdu(0x1148, [AP, A, AP], 1, &[]));
    air.us = 9 * S;
    air.plain(&mpdu(0x0108, [AP, B, AP], 1, b"data"));
    air.us = 7 * S;
    air.plain(&mpdu(0x0108, [AP, B, AP], 2, b"data"));
    let seen = air.seen("");
    let limits = CaptureDocument::of("x", &seen).limits;
    assert_eq!((limits.earlier_packets, limits.step_back_ms.round()), (1, 2000.0));
    let slept_s = seen.air.networks.dozes[&A].asleep_ns as f64 / 1e9;
    assert_eq!((slept_s.round(), seen.seconds().map(f64::round)), (4.0, Some(4.0)));
}

/// Fields may be there and say that they know nothing.
#[test]
fn an_mcs_that_is_not_known_is_no_rate() {
    let rate = |known, flags| {
        let radio =
            Radiotap { mcs: Some(McsField { known, flags, index: 7 }), ..Radiotap::default() };
        class::mode(&radio).map(|it| it.kbit_s())
    };
    assert_eq!((rate(0, 1), rate(2, 1), rate(3, 0)), (None, Some(65_000), Some(65_000)));
    assert_eq!(rate(3, 1), Some(135_000));
}

/// Frames without any radio header have messages and acknowledgements, and no time on the air.
#[test]
fn a_capture_may_know_nothing_of_the_radio() {
    let mut air = Monitor::default();
    air.esp_now((A, B), 5, false, b"hello");
    air.ack(A);
    let head = air.packets[0].1.len() - ::esp_now::frame::mpdu_len(5);
    let packets: Vec<_> =
        air.packets.iter().map(|(ns, packet)| (*ns, packet[head..].to_vec())).collect();
    let mut analysis = CaptureAnalysis::default();
    analysis.push(&Order { swapped: true }.pcap(105, false, &packets)).unwrap();
    let document = CaptureDocument::of("x", &analysis.finish(None).unwrap());
    let it = &document.links[0];
    assert_eq!((it.messages, it.delivered, it.air_share, it.rssi_dbm), (1, Some(1.0), None, None));
    assert_eq!((document.channels[0].channel, document.overlapping), (None, None));
}
