//! ESP-NOW of a pair, and the frames of Espressif's esp-now component in it.
//!
//! Not all ESP-NOW is the component's: data counts as a frame of it where the header's version is right and its
//! length is that of the payload.

use super::link::SeenFrames;
use crate::link::AirCapture80211;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use esp_now::component::header::VERSION;
use esp_now::component::iperf::{IperfHead, IperfKind};
use esp_now::component::sealed::{NONCE_LEN, Sealer};
use esp_now::component::time_sync::{TimeSyncKind, TimeSyncMessage};
use esp_now::component::{DataType, Header, debug};
use esp_now::frame::{self, CATEGORY, DATA_MAX, ELEMENT_ID, ELEMENT_TYPE, EspNowVersion, OUI};
use espbench_ieee80211::mac::Mac;
use espbench_ieee80211::mpdu::{FCS_LEN, FrameControl};
use espbench_ieee80211::view::MpduView;

/// The most keys.
const MOST_KEYS: usize = 64;

/// Decoded frames that are kept.
const MOST_FRAMES: usize = 200;

/// Packet ids that are remembered of a pair, for copies.
const COPIES: usize = 32;

/// Longest text of a decoded frame, in characters.
const TEXT: usize = 80;

/// Keys with which the component has encrypted.
#[derive(Debug, Default)]
pub struct CaptureKeys {
    keys: Vec<(Sealer, Option<[u8; NONCE_LEN]>)>,
}

/// Fault of a file of keys: its line, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyFileFault {
    /// A line that is no key.
    Line(usize),
    /// No key is in it.
    Empty,
    /// More keys than are tried.
    Many,
}

impl CaptureKeys {
    /// Reads a file of keys. A line has the 32 hexadecimal digits of the AES key; up to component 2.2 the 16 of the
    /// constant nonce behind it. Blank lines and those that begin with `#` are passed over.
    ///
    /// # Errors
    /// A line is none of these, there is no key, or there are more than 64.
    pub fn read(text: &str) -> Result<Self, KeyFileFault> {
        let mut keys = Vec::new();
        for (line, number) in text.lines().zip(1..) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let mut words = line.split_whitespace();
            let key = words.next().and_then(hex).ok_or(KeyFileFault::Line(number))?;
            let nonce = match words.next() {
                Some(word) => Some(hex(word).ok_or(KeyFileFault::Line(number))?),
                None => None,
            };
            if words.next().is_some() {
                return Err(KeyFileFault::Line(number));
            }
            keys.push((Sealer::new(&key), nonce));
        }
        match keys.len() {
            0 => Err(KeyFileFault::Empty),
            1..=MOST_KEYS => Ok(Self { keys }),
            _ => Err(KeyFileFault::Many),
        }
    }

    /// Returns whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Decrypts a payload with the key that fits.
    fn open<'b>(&self, payload: &[u8], buf: &'b mut [u8]) -> Option<&'b [u8]> {
        for (sealer, nonce) in &self.keys {
            let sealed = buf.get_mut(..payload.len())?;
            sealed.copy_from_slice(payload);
            if let Some(len) = sealer.open(nonce.as_ref(), sealed) {
                return buf.get(..len);
            }
        }
        None
    }
}

/// Returns the octets of hexadecimal digits, with or without colons.
fn hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut out = [0; N];
    let mut digits = text.chars().filter(|it| *it != ':').map(|it| it.to_digit(16));
    for octet in &mut out {
        *octet = (digits.next()?? * 16 + digits.next()??) as u8;
    }
    digits.next().is_none().then_some(out)
}

/// Record of a pair's ESP-NOW data.
#[derive(Debug, Default)]
pub struct EspNowPair {
    /// Bytes of data in first attempts.
    pub bytes: u64,
    /// Messages of version 2.
    pub version_2: u64,
    /// Messages of the component, by data type.
    pub types: [u64; 16],
    /// Messages of the component that repeat a packet id: copies of one send.
    pub copies: u64,
    /// Messages of the component whose originator is another: forwarded.
    pub forwarded: u64,
    /// Encrypted messages, and those of them that a key opened.
    pub sealed: u64,
    /// Encrypted messages that a key opened.
    pub opened: u64,
    /// Messages whose last element says that more follows.
    pub incomplete: u64,
    /// Messages that the MAC has encrypted.
    pub protected: u64,
    /// Messages that were cut: their data is counted by its length, and not decoded.
    pub cut: u64,
    recent: Vec<(Mac, DataType, u16)>,
}

impl EspNowPair {
    /// Returns the messages of the component.
    #[must_use]
    pub fn component(&self) -> u64 {
        self.types.iter().sum()
    }
}

/// A decoded frame of the component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EspNowLine {
    /// Number of the frame.
    pub number: u64,
    /// Time since 1970.
    pub at_ns: Option<u64>,
    /// Radio that sent.
    pub transmitter: Mac,
    /// The header.
    pub header: Header,
    /// Octets of the payload, decrypted where a key fits.
    pub length: usize,
    /// Content in words; `None` where it is encrypted and no key fits.
    pub content: Option<String>,
}

/// Decoded frames of the component, the first of them.
#[derive(Debug, Default)]
pub struct EspNowFrames {
    /// The frames.
    pub lines: Vec<EspNowLine>,
    /// All that there were.
    pub seen: SeenFrames,
}

/// Returns the name of a data type, as the documents of the component have it.
#[must_use]
pub const fn type_name(data_type: DataType) -> &'static str {
    match data_type {
        DataType::Ack => "ack",
        DataType::Forward => "forward",
        DataType::Group => "group",
        DataType::Prov => "prov",
        DataType::ControlBind => "control-bind",
        DataType::ControlData => "control-data",
        DataType::OtaStatus => "ota-status",
        DataType::OtaData => "ota-data",
        DataType::DebugLog => "debug-log",
        DataType::DebugCommand => "debug-command",
        DataType::Data => "data",
        DataType::SecurityStatus => "security-status",
        DataType::Security => "security",
        DataType::SecurityData => "security-data",
        DataType::TimeSync => "time-sync",
        DataType::Reserved => "iperf",
    }
}

/// Returns the component's header and payload of ESP-NOW data, where it is the component's.
#[must_use]
pub fn component(data: &[u8]) -> Option<(Header, &[u8])> {
    let (header, payload) = Header::parse(data)?;
    let is_ours = header.version == VERSION && usize::from(header.size) == payload.len() % 256;
    is_ours.then_some((header, payload))
}

/// A frame as it was heard.
pub(super) struct EspNowHeard<'a> {
    pub(super) number: u64,
    pub(super) at_ns: Option<u64>,
    pub(super) transmitter: Mac,
    pub(super) content: EspNowContent<'a>,
}

/// Content of a frame of ESP-NOW.
#[derive(Clone, Copy, Debug)]
pub(super) enum EspNowContent<'a> {
    /// Elements, whole.
    Whole(frame::VendorElements<'a>),
    /// The lengths of data that the heads of its elements tell; the frame was cut behind the first of them.
    Cut(usize),
    /// Encrypted by the MAC.
    Protected,
}

impl<'a> EspNowContent<'a> {
    /// Finds it in a frame; `None` for all other frames. A frame that the MAC has encrypted is taken for ESP-NOW where
    /// address 3 is that of all, as Espressif's guide has it: action frames of a network have its address there.
    pub(super) fn of(view: &MpduView<'a>, air: &AirCapture80211<'a>) -> Option<Self> {
        if !view.control.is(FrameControl::ACTION) {
            return None;
        }
        if view.control.protected() {
            let to_all = view.third.is_some_and(Mac::is_broadcast);
            return (to_all && view.is_unicast()).then_some(Self::Protected);
        }
        // A cut may be between two elements.
        let whole = |bytes| {
            let found = frame::parse(bytes).filter(|it| !air.cut || it.1.complete());
            found.map(|it| Self::Whole(it.1))
        };
        if let Some(it) = whole(air.frame) {
            return Some(it);
        }
        if air.cut {
            return stated(view.body).map(Self::Cut);
        }
        // An ESP32's own sniffer counts the FCS in the length, and what is in its place may be anything. And a header may
        // say that there is no FCS, though there is.
        let shorter = air.frame.len().checked_sub(FCS_LEN).filter(|_| !air.had_fcs)?;
        whole(air.frame.get(..shorter)?)
    }
}

/// Returns the length of data that elements name in a body that was cut; `None` where the body does not show that it is
/// ESP-NOW.
fn stated(body: &[u8]) -> Option<usize> {
    let [a, b, c] = OUI;
    let (head, mut rest) = body.split_first_chunk::<8>()?;
    if head[..4] != [CATEGORY, a, b, c] {
        return None;
    }
    let mut length = None;
    while let [id, len, behind @ ..] = rest {
        if *id == ELEMENT_ID && behind.starts_with(&[a, b, c, ELEMENT_TYPE]) {
            *length.get_or_insert(0) += usize::from(*len).saturating_sub(5);
        }
        rest = behind.get(usize::from(*len)..).unwrap_or_default();
    }
    length
}

/// Takes the first attempt of a message.
pub(super) fn take(
    heard: &EspNowHeard<'_>,
    pair: &mut EspNowPair,
    frames: &mut EspNowFrames,
    keys: &CaptureKeys,
) {
    let elements = match heard.content {
        EspNowContent::Whole(it) => it,
        EspNowContent::Cut(bytes) => {
            pair.cut += 1;
            pair.bytes += bytes as u64;
            return;
        }
        EspNowContent::Protected => return pair.protected += 1,
    };
    pair.bytes += elements.len() as u64;
    pair.version_2 += u64::from(elements.version() == EspNowVersion::V2);
    pair.incomplete += u64::from(!elements.complete());
    let mut gathered = [0; DATA_MAX];
    let Some(data) = elements.gather(&mut gathered) else { return };
    let Some((header, payload)) = component(data) else { return };
    let kind = header.data_type;
    if let Some(count) = pair.types.get_mut(kind as usize) {
        *count += 1;
    }
    let id = (header.src, kind, header.magic);
    if pair.recent.contains(&id) {
        pair.copies += 1;
    } else {
        if pair.recent.len() >= COPIES {
            pair.recent.remove(0);
        }
        pair.recent.push(id);
    }
    pair.forwarded += u64::from(header.src != heard.transmitter);
    let mut opened = [0; DATA_MAX];
    let plain = if header.config.security {
        pair.sealed += 1;
        let plain = keys.open(payload, &mut opened);
        pair.opened += u64::from(plain.is_some());
        plain
    } else {
        Some(payload)
    };
    frames.seen.add(heard.number);
    if frames.lines.len() < MOST_FRAMES {
        frames.lines.push(EspNowLine {
            number: heard.number,
            at_ns: heard.at_ns,
            transmitter: heard.transmitter,
            header,
            length: plain.unwrap_or(payload).len(),
            content: plain.map(|it| words(kind, it)),
        });
    }
}

/// Returns a payload in words.
fn words(kind: DataType, payload: &[u8]) -> String {
    match kind {
        DataType::Ack => "acknowledges the packet id".into(),
        DataType::DebugLog | DataType::DebugCommand => quoted(debug::text(payload)),
        DataType::Data => match core::str::from_utf8(payload) {
            Ok(text) if text.chars().all(|it| !it.is_control()) => quoted(payload),
            _ => octets(payload),
        },
        DataType::TimeSync => match TimeSyncMessage::parse(payload) {
            Some(it) if payload.len() == 18 && it.kind == TimeSyncKind::Broadcast => {
                format!("time {} us", it.timestamp_us)
            }
            Some(it) if payload.len() == 18 && it.kind == TimeSyncKind::Request => {
                "asks for the time".into()
            }
            _ => iperf(payload),
        },
        DataType::Reserved | DataType::SecurityData => iperf(payload),
        _ => octets(payload),
    }
}

fn iperf(payload: &[u8]) -> String {
    match IperfHead::parse(payload) {
        Some(it) => format!("{} number {}, {} octets", iperf_kind(it.kind), it.seq, payload.len()),
        None => octets(payload),
    }
}

const fn iperf_kind(kind: IperfKind) -> &'static str {
    match kind {
        IperfKind::Bandwidth => "throughput",
        IperfKind::Stop => "stop",
        IperfKind::StopAck => "answer to stop",
        IperfKind::Ping => "ping",
        IperfKind::PingAck => "answer to ping",
        IperfKind::Other(_) => "message",
    }
}

fn quoted(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let shown: String = text.trim_end().chars().take(TEXT).flat_map(char::escape_default).collect();
    format!("\"{shown}\"")
}

fn octets(payload: &[u8]) -> String {
    let shown: Vec<String> = payload.iter().take(16).map(|it| format!("{it:02x}")).collect();
    let more = if payload.len() > 16 { " ..." } else { "" };
    format!("{} octets {}{more}", payload.len(), shown.join(" "))
}
