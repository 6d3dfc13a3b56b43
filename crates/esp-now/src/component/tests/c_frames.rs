//! Frames that the component's own C sent, each read and written again: what comes out is what came
//! in, to the byte, but for the reserved bits of the first one.
//!
//! A line of `c_frames.txt` is the transmitter, the receiver, the channel and the data of a frame.

use super::vectors::bytes;
use crate::component::control::{ControlLink, ControlMessage};
use crate::component::handshake::{SecurityMessage, SessionMessage};
use crate::component::header::{DataType, HEADER_LEN, Header, VERSION};
use crate::component::prov::ProvMessage;
use crate::component::{Compat, GroupPayload, debug};
use crate::frame::{self, ActionFrame, DATA_MAX, EspNowVersion};
use espbench_ieee80211::mac::Mac;
use espbench_ieee80211::mpdu;
use std::collections::BTreeMap;
use std::string::{String, ToString};
use std::vec::Vec;

/// A frame of the file.
struct SentFrame {
    transmitter: Mac,
    receiver: Mac,
    channel: u8,
    data: Vec<u8>,
}

fn mac(text: &str) -> Mac {
    Mac(bytes(text).try_into().expect("six bytes"))
}

fn frames() -> Vec<SentFrame> {
    let read = |line: &str| {
        let [transmitter, receiver, channel, data] = *line.split(' ').collect::<Vec<_>>() else {
            panic!("{line}")
        };
        SentFrame {
            transmitter: mac(transmitter),
            receiver: mac(receiver),
            channel: channel.parse().expect("a channel"),
            data: bytes(data),
        }
    };
    include_str!("c_frames.txt").lines().map(read).collect()
}

/// Reads a payload and writes it again; returns the length, and what it was.
fn rewrite(header: &Header, payload: &[u8], buf: &mut [u8]) -> Option<(usize, String)> {
    let kind = |it: &dyn core::fmt::Debug| {
        let text = std::format!("{it:?}");
        text.split([' ', '(', '{']).next().unwrap_or_default().to_string()
    };
    Some(match header.data_type {
        DataType::Ack if payload.is_empty() => (0, "Ack".to_string()),
        DataType::Group => {
            let it = GroupPayload::parse(payload)?;
            (
                GroupPayload::emit(it.join, it.id, it.members(), buf)?,
                std::format!("Group {}", it.join),
            )
        }
        DataType::ControlBind | DataType::ControlData => {
            let it = ControlMessage::parse(false, payload)?;
            assert_eq!(it.link, None::<ControlLink>);
            (it.emit(buf)?, kind(&header.data_type))
        }
        DataType::Prov => {
            let it = ProvMessage::parse(payload, Compat::default())?;
            (it.emit(buf, Compat::default())?, kind(&it))
        }
        DataType::DebugLog | DataType::DebugCommand => {
            (debug::emit(debug::text(payload), buf)?, kind(&header.data_type))
        }
        DataType::Security | DataType::SecurityStatus => match SecurityMessage::parse(payload)? {
            SecurityMessage::Handshake(bytes) => {
                let it = SessionMessage::parse(bytes)?;
                (it.emit_message(buf)?, kind(&it))
            }
            it => (it.emit(buf)?, kind(&it)),
        },
        _ => return None,
    })
}

#[test]
fn what_the_components_own_c_sent_is_read_and_written_again() {
    let mut kinds = BTreeMap::<String, usize>::new();
    for SentFrame { transmitter, channel, data, .. } in frames() {
        let (header, payload) = Header::parse(&data).expect("a header");
        assert_eq!((header.version, usize::from(header.size)), (VERSION, payload.len()));
        // A forwarded frame has another transmitter than source.
        assert!(header.src == transmitter || header.config.ttl > 0, "{header:?}");
        assert!([channel, 0, 15].contains(&header.config.channel), "{header:?}");
        let mut head = header.emit();
        head[0] |= data[0] & 0xC0;
        assert_eq!(head[..], data[..HEADER_LEN]);
        let mut buf = [0xEE; DATA_MAX];
        let kind = match header.data_type {
            DataType::Data if header.config.security => "sealed".to_string(),
            DataType::Data => "user's".to_string(),
            _ => {
                let (len, kind) =
                    rewrite(&header, payload, &mut buf).unwrap_or_else(|| panic!("{header:?}"));
                assert_eq!(&buf[..len], payload, "{kind}");
                kind
            }
        };
        *kinds.entry(kind).or_default() += 1;
    }
    let kinds: Vec<_> = kinds.iter().map(|(kind, n)| (kind.as_str(), *n)).collect();
    assert_eq!(
        kinds,
        [
            ("Ack", 10),
            ("Beacon", 14),
            ("Command0", 6),
            ("Command1", 6),
            ("ControlBind", 4),
            ("ControlData", 6),
            ("DebugCommand", 12),
            ("DebugLog", 4),
            ("Device", 2),
            ("Group false", 8),
            ("Group true", 10),
            ("Info", 4),
            ("Key", 2),
            ("KeyResponse", 2),
            ("Request", 4),
            ("Response0", 6),
            ("Response1", 2),
            ("Wifi", 2),
            ("sealed", 4),
            ("user's", 8),
        ]
    );
}

/// Checks that a forwarded frame is another's, with a hop less and nothing else changed.
#[test]
fn who_forwards_counts_the_hop() {
    let all = frames();
    let mut forwarded = 0;
    for frame in &all {
        let (header, _) = Header::parse(&frame.data).expect("a header");
        if header.src == frame.transmitter {
            continue;
        }
        let before = all.iter().filter(|it| it.transmitter == header.src).find(|it| {
            let mut data = it.data.clone();
            Header::count_hop(&mut data);
            data == frame.data
        });
        assert!(before.is_some(), "nobody sent {header:?} first");
        forwarded += 1;
    }
    assert_eq!(forwarded, 6);
}

/// Checks that each frame, on the air with its address 1 and FCS, comes back.
#[test]
fn on_the_air_its_data_is_the_same() {
    for (n, SentFrame { transmitter, receiver, data, .. }) in frames().into_iter().enumerate() {
        let sent = ActionFrame {
            receiver,
            transmitter,
            sequence: n as u16,
            retry: n % 2 == 1,
            random: [1, 2, 3, n as u8],
            version: EspNowVersion::V1,
        };
        let mut buf = [0; 400];
        let len = sent.emit_with_fcs(&data, &mut buf).expect("it fits");
        let mpdu = mpdu::check_fcs(&buf[..len]).expect("a right FCS");
        let (read, elements) = frame::parse(mpdu).expect("a frame of ESP-NOW");
        assert_eq!(read, sent);
        assert_eq!(elements.as_slice(), Some(&data[..]));
        buf[40] ^= 1;
        assert_eq!(mpdu::check_fcs(&buf[..len]), None);
    }
}
