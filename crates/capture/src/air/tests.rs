//! Conversations on the air, frame by frame.

mod assumptions;
mod copies;

use super::*;
use crate::analysis::{CaptureAnalysis, CaptureSummary};
use crate::document::CaptureDocument;
use crate::file::tests::Order;
use crate::link::AirCapture80211;
use ::esp_now::component::sealed::Sealer;
use ::esp_now::component::{DataType, FrameConfig, Header};
use ::esp_now::frame::{ActionFrame, EspNowVersion, MPDU_MAX};
use espbench_ieee80211::mpdu::AckFrame;
use espbench_ieee80211::radiotap::{AmpduField, McsField, Radiotap};
use espbench_ieee80211::wlan::{ControlFrame, DataFrame, DsDirection};

const A: Mac = Mac([0x24, 0x0A, 0xC4, 0, 0, 1]);
const B: Mac = Mac([0x24, 0x0A, 0xC4, 0, 0, 2]);
const AP: Mac = Mac([2, 0, 0, 0, 0, 1]);

/// A capture that is written frame by frame at 1 Mbit/s.
#[derive(Default)]
struct Monitor {
    us: u64,
    packets: Vec<(u64, Vec<u8>)>,
    /// Interfaces of the packets, where they are not all of one.
    interfaces: Vec<u32>,
}

impl Monitor {
    fn frame(&mut self, frame: &[u8], change: impl Fn(&mut Radiotap)) {
        let mut head = [0; Radiotap::EMIT_MAX];
        let mut radio = Radiotap::captured(self.us + 192, 6, -60);
        change(&mut radio);
        let len = radio.emit(&mut head).unwrap();
        self.us += 192 + 8 * frame.len() as u64;
        self.packets.push((self.us * 1000, [&head[..len], frame].concat()));
    }

    fn ack(&mut self, to: Mac) {
        self.us += 10;
        self.frame(&AckFrame { duration: 0, receiver: to }.emit(), |_| {});
    }

    fn esp_now(&mut self, (from, to): (Mac, Mac), sequence: u16, retry: bool, data: &[u8]) {
        let frame = ActionFrame {
            receiver: to,
            transmitter: from,
            sequence,
            retry,
            random: [1; 4],
            version: EspNowVersion::of_data(data.len()),
        };
        let mut buf = [0; MPDU_MAX];
        let len = frame.emit_with_fcs(data, &mut buf).unwrap();
        self.frame(&buf[..len], |_| {});
    }

    fn seen(self, keys: &str) -> CaptureSummary {
        let order = Order { swapped: false };
        let file = if self.interfaces.is_empty() {
            order.pcap(127, true, &self.packets)
        } else {
            let packets = self.packets.iter().zip(&self.interfaces);
            let packets: Vec<_> = packets.map(|(it, radio)| (*radio, it.0, it.1.clone())).collect();
            order.section(&[127; 4], &packets)
        };
        let keys =
            if keys.is_empty() { CaptureKeys::default() } else { CaptureKeys::read(keys).unwrap() };
        let mut analysis = CaptureAnalysis::new(keys);
        analysis.push(&file).unwrap();
        analysis.finish(None).unwrap()
    }
}

fn link(seen: &CaptureSummary, from: Mac, to: Mac, esp_now: bool) -> &LinkRecord {
    &seen.air.links[&LinkKey { esp_now, from, to }]
}

/// Ten messages: number 3 is acknowledged at the second attempt, 5 never, of 7 the sender missed the acknowledgement,
/// and 8 was not captured.
#[test]
fn messages_attempts_and_what_was_not_heard() {
    let mut air = Monitor::default();
    for number in (0..10).filter(|it| *it != 8) {
        air.us += 5000;
        air.esp_now((A, B), number, false, b"hello");
        match number {
            3 => {
                air.us += 400;
                air.esp_now((A, B), number, true, b"hello");
                air.ack(A);
            }
            5 => {
                air.us += 400;
                air.esp_now((A, B), number, true, b"hello");
            }
            7 => {
                air.ack(A);
                air.us += 400;
                air.esp_now((A, B), number, true, b"hello");
                air.ack(A);
            }
            _ => air.ack(A),
        }
    }
    let seen = air.seen("");
    let it = link(&seen, A, B, true);
    assert_eq!((it.messages, it.acked, it.frames, it.retries), (9, 8, 12, 3));
    assert_eq!((it.unacked.count, it.repeated.count, it.missing.count), (1, 1, 1));
    assert_eq!((it.rssi.mean(), it.usual_rate()), (Some(-60.0), Some(1000)));
    // 43 octets and the FCS at 1 Mbit/s.
    assert_eq!(it.air_ns, 12 * (192_000 + 8000 * 48));
    assert_eq!(it.esp_now.as_ref().map(|it| (it.bytes, it.component())), Some((45, 0)));
    assert_eq!(seen.air.overlaps.counts(), Some((0, 0)));
    let document = CaptureDocument::of("x", &seen);
    assert_eq!(document.links[0].delivered.map(|it| (it * 9.0).round()), Some(8.0));
}

#[test]
fn the_components_frames_are_decoded_and_opened_with_the_right_key() {
    let header = |data_type, size, magic, security| Header {
        data_type,
        version: 2,
        size,
        magic,
        config: FrameConfig { security, ..FrameConfig::default() },
        dest: Mac::BROADCAST,
        src: A,
    };
    let mut air = Monitor::default();
    let plain = [&header(DataType::DebugLog, 6, 7, false).emit()[..], b"warm\n\0"].concat();
    air.esp_now((A, Mac::BROADCAST), 1, false, &plain);
    air.esp_now((A, Mac::BROADCAST), 2, false, &plain);
    // Passed on by another.
    air.esp_now((B, Mac::BROADCAST), 1, false, &plain);
    let key = core::array::from_fn(|at| at as u8);
    let mut sealed = [0; 32];
    sealed[..5].copy_from_slice(b"hello");
    let len = Sealer::new(&key).seal(&[9; 8], true, &mut sealed, 5).unwrap();
    let secret = header(DataType::Data, len as u8, 8, true);
    let secret = [&secret.emit()[..], &sealed[..len]].concat();
    air.esp_now((A, Mac::BROADCAST), 3, false, &secret);
    let packets = air.packets.clone();
    let keys = "# of the lab\n000102030405060708090a0b0c0d0e0f\nffffffffffffffffffffffffffffffff 0102030405060708\n";
    let seen = air.seen(keys);
    let pair = link(&seen, A, Mac::BROADCAST, true).esp_now.as_ref().unwrap();
    assert_eq!((pair.component(), pair.copies, pair.forwarded), (3, 1, 0));
    assert_eq!((pair.sealed, pair.opened), (1, 1));
    assert_eq!(link(&seen, B, Mac::BROADCAST, true).esp_now.as_ref().unwrap().forwarded, 1);
    let words: Vec<_> = seen.air.esp_now.lines.iter().map(|it| it.content.as_deref()).collect();
    assert_eq!(words, [Some("\"warm\""), Some("\"warm\""), Some("\"warm\""), Some("\"hello\"")]);
    let seen = Monitor { packets, ..Monitor::default() }.seen("00000000000000000000000000000000");
    assert_eq!(seen.air.esp_now.lines[3].content, None);
}

#[test]
fn a_block_acknowledgement_tells_what_of_an_aggregate_arrived() {
    let mut air = Monitor::default();
    let mut buf = [0; 200];
    for sequence in 10..14 {
        let frame = DataFrame {
            way: DsDirection::Up,
            qos: true,
            retry: false,
            power_management: false,
            more_data: false,
            duration: 0,
            receiver: AP,
            transmitter: A,
            third: AP,
            sequence,
        };
        let len = frame.emit(Some((0x0800, &[0x45; 60])), &mut buf).unwrap();
        air.us = 1000;
        air.frame(&buf[..len], |radio| {
            radio.rate = None;
            radio.mcs = Some(McsField::mixed(7, false, false));
            radio.ampdu = Some(AmpduField::of(5, sequence == 13));
        });
    }
    air.us = 2000;
    let ack = ControlFrame::BlockAck { start: 10, bitmap: 0b1011 };
    let len = ack.emit(0, A, AP, &mut buf).unwrap();
    air.frame(&buf[..len], |_| {});
    let seen = air.seen("");
    let it = link(&seen, A, AP, false);
    assert_eq!((it.messages, it.acked, it.unacked.count), (4, 3, 1));
    assert_eq!(it.aggregate_sizes(), Some((4.0, 4)));
}

/// A hostile file: no A-MPDU has 5 GB. Each frame keeps its time on the air.
#[test]
fn frames_without_end_under_one_reference_are_no_a_mpdu() {
    let mut air = AirAnalysis::default();
    let mut radio = Radiotap::captured(0, 6, -60);
    radio.rate = None;
    radio.mcs = Some(McsField::mixed(7, false, false));
    radio.ampdu = Some(AmpduField::of(5, false));
    let octets = 1 << 20;
    for number in 1..=5000 {
        let frame = AirCapture80211 { radio, octets, bad: true, ..AirCapture80211::default() };
        air.take(number, None, &frame);
    }
    // At 65 Mbit/s.
    let least = 5000 * u64::from(octets) * 8 * 1000 / 65;
    assert!(air.bad.air_ns >= least, "{} of {least}", air.bad.air_ns);
}

/// Two stations that do not hear each other, and two that chose the same slot; on another channel nothing collides.
#[test]
fn frames_at_the_same_time_tell_who_does_not_hear_whom() {
    for (channel, shift, expected) in [(6, 300, (0, 1)), (6, 9, (1, 0)), (11, 300, (0, 0))] {
        let mut air = Monitor::default();
        for number in 0..4 {
            air.us += 5000;
            air.esp_now((A, AP), number, false, b"one");
            air.ack(A);
        }
        air.us = 50_000;
        air.esp_now((A, AP), 4, false, &[1; 200]);
        air.us = 50_000 + shift;
        let frame = ActionFrame {
            receiver: AP,
            transmitter: B,
            sequence: 1,
            retry: false,
            random: [1; 4],
            version: EspNowVersion::V1,
        };
        let mut buf = [0; MPDU_MAX];
        let len = frame.emit_with_fcs(&[2; 200], &mut buf).unwrap();
        air.frame(&buf[..len], |radio| {
            radio.channel = Some(espbench_ieee80211::radiotap::ChannelField::cck(channel));
        });
        assert_eq!(air.seen("").air.overlaps.counts(), Some(expected), "{channel} {shift}");
    }
}

#[test]
fn files_of_keys_are_read_line_by_line() {
    use super::esp_now::KeyFileFault;
    let fault = |text: &str| CaptureKeys::read(text).unwrap_err();
    assert_eq!(fault("# none\n\n"), KeyFileFault::Empty);
    assert_eq!(fault("\n00010203"), KeyFileFault::Line(2));
    assert_eq!(fault("000102030405060708090a0b0c0d0e0f 01"), KeyFileFault::Line(1));
    assert_eq!(fault(&"000102030405060708090a0b0c0d0e0f\n".repeat(65)), KeyFileFault::Many);
    assert!(
        ["00:01:02:03:04:05:06:07:08:09:0a:0b:0c:0d:0e:0f 0102030405060708"]
            .iter()
            .all(|it| CaptureKeys::read(it).is_ok())
    );
}
