//! Captures: pcap (libpcap's file format) and pcapng, of IEEE 802.11 behind radiotap headers.
//!
//! A frame that was sent again has the retry bit, and its attempts have one sequence number; a number that is
//! missing is a frame of which no attempt was heard. So where frames were captured at a receiver, their
//! number and the numbers that are missing tell the share that arrives; and of a link between two others, each
//! retry is an attempt that was not acknowledged.

use super::TraceError;
use super::windows::{Sighting, TraceWindows};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::ToString as _;
use alloc::vec::Vec;
use espbench_ieee80211::mac::Mac;
use espbench_ieee80211::mpdu::MacHeader;
use espbench_ieee80211::radiotap::Radiotap;

/// The longest packet or block that is read.
const MOST_BLOCK: usize = 1 << 20;
/// `LINKTYPE_IEEE802_11_RADIOTAP`.
const RADIOTAP: u32 = 127;
/// The most interfaces of a section, and the most senders whose numbers are followed.
const MOST_INTERFACES: usize = 256;
const MOST_SENDERS: usize = 10_000;
/// Missing numbers from which on a sender is taken to have started again.
const RESTART: u16 = 256;

/// Type of a section header of pcapng, the same in both orders of bytes.
const SECTION: u32 = 0x0A0D_0D0A;
const SECTION_ORDER: u32 = 0x1A2B_3C4D;

/// Kind of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileForm {
    Unknown,
    Pcap { swapped: bool, ticks: u64 },
    Pcapng { swapped: bool },
}

/// An interface of pcapng.
#[derive(Clone, Copy, Debug)]
struct Interface {
    radiotap: bool,
    /// Ticks a second.
    ticks: u64,
}

/// Reader of a capture.
#[derive(Debug)]
pub struct CaptureReader {
    form: FileForm,
    left: Vec<u8>,
    interfaces: Vec<Interface>,
    /// The last sequence number of a sender, by whether it is of data.
    last: BTreeMap<(Mac, bool), u16>,
    read: u64,
}

impl Default for CaptureReader {
    fn default() -> Self {
        let (interfaces, last) = (Vec::new(), BTreeMap::new());
        Self { form: FileForm::Unknown, left: Vec::new(), interfaces, last, read: 0 }
    }
}

fn word(bytes: &[u8], at: usize, swapped: bool) -> Option<u32> {
    let word = bytes.get(at..)?.first_chunk().copied()?;
    Some(if swapped { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) })
}

fn half(bytes: &[u8], at: usize, swapped: bool) -> Option<u16> {
    let half = bytes.get(at..)?.first_chunk().copied()?;
    Some(if swapped { u16::from_be_bytes(half) } else { u16::from_le_bytes(half) })
}

impl CaptureReader {
    /// Returns whether a file with these first bytes is a capture.
    #[must_use]
    pub fn knows(first: &[u8]) -> bool {
        let magic = word(first, 0, false).unwrap_or_default();
        let all = [0xA1B2_C3D4, 0xD4C3_B2A1, 0xA1B2_3C4D, 0x4D3C_B2A1, SECTION];
        all.contains(&magic)
    }

    /// Takes bytes.
    ///
    /// # Errors
    /// They are no capture of IEEE 802.11 with radiotap.
    pub fn push(&mut self, bytes: &[u8], windows: &mut TraceWindows) -> Result<(), TraceError> {
        // In parts, so that the buffer holds no more than one block and a part.
        for part in bytes.chunks(1 << 16) {
            self.left.extend_from_slice(part);
            let mut at = 0;
            while let Some(used) = self.block(at, windows)? {
                at += used;
                self.read += used as u64;
            }
            self.left.drain(..at);
        }
        Ok(())
    }

    /// Takes the end of the capture. A last packet that is cut is left out.
    ///
    /// # Errors
    /// There was nothing but the begin of a header.
    pub fn finish(&self) -> Result<(), TraceError> {
        if self.form == FileForm::Unknown {
            Err(self.wrong("the file ends in its header"))
        } else {
            Ok(())
        }
    }

    fn wrong(&self, what: &str) -> TraceError {
        TraceError::new(format!("byte {}: {what}", self.read))
    }

    /// Reads what stands at `at`, and returns its length; `None` where more bytes are needed.
    fn block(
        &mut self,
        at: usize,
        windows: &mut TraceWindows,
    ) -> Result<Option<usize>, TraceError> {
        match self.form {
            FileForm::Unknown => self.head(at),
            FileForm::Pcap { swapped, ticks } => self.record(at, swapped, ticks, windows),
            FileForm::Pcapng { swapped } => self.pcapng(at, swapped, windows),
        }
    }

    fn head(&mut self, at: usize) -> Result<Option<usize>, TraceError> {
        let Some(magic) = word(&self.left, at, false) else { return Ok(None) };
        if magic == SECTION {
            self.form = FileForm::Pcapng { swapped: false };
            return Ok(Some(0));
        }
        let (swapped, ticks) = match magic {
            0xA1B2_C3D4 => (false, 1_000_000),
            0xA1B2_3C4D => (false, 1_000_000_000),
            0xD4C3_B2A1 => (true, 1_000_000),
            0x4D3C_B2A1 => (true, 1_000_000_000),
            _ => return Err(self.wrong("neither pcap nor pcapng begins so")),
        };
        let Some(link) = word(&self.left, at + 20, swapped) else { return Ok(None) };
        if link & 0xFFFF != RADIOTAP {
            return Err(self.wrong(&no_radiotap(link)));
        }
        self.form = FileForm::Pcap { swapped, ticks };
        Ok(Some(24))
    }

    fn record(
        &mut self,
        at: usize,
        swapped: bool,
        ticks: u64,
        windows: &mut TraceWindows,
    ) -> Result<Option<usize>, TraceError> {
        let Some(length) = word(&self.left, at + 8, swapped) else { return Ok(None) };
        let length = length as usize;
        if length > MOST_BLOCK {
            return Err(self.wrong("a packet is longer than a megabyte"));
        }
        let (begin, end) = (at + 16, at + 16 + length);
        if self.left.len() < end {
            return Ok(None);
        }
        let part = |offset| u64::from(word(&self.left, at + offset, swapped).unwrap_or_default());
        let fraction_ns = u128::from(part(4)) * 1_000_000_000 / u128::from(ticks);
        let at_ns = part(0).saturating_mul(1_000_000_000).saturating_add(fraction_ns as u64);
        let packet = self.left.get(begin..end).unwrap_or_default().to_vec();
        self.packet(at_ns, &packet, windows);
        Ok(Some(16 + length))
    }

    fn pcapng(
        &mut self,
        at: usize,
        mut swapped: bool,
        windows: &mut TraceWindows,
    ) -> Result<Option<usize>, TraceError> {
        let Some(kind) = word(&self.left, at, swapped) else { return Ok(None) };
        if kind == SECTION {
            let Some(order) = word(&self.left, at + 8, false) else { return Ok(None) };
            swapped = order != SECTION_ORDER;
            if swapped && order.swap_bytes() != SECTION_ORDER {
                return Err(self.wrong("a section of pcapng without its order of bytes"));
            }
            self.form = FileForm::Pcapng { swapped };
        }
        let Some(length) = word(&self.left, at + 4, swapped) else { return Ok(None) };
        let length = length as usize;
        if length < 12 || !length.is_multiple_of(4) || length > MOST_BLOCK {
            return Err(self.wrong(&format!("a block of pcapng with a length of {length}")));
        }
        let Some(block) = self.left.get(at..at + length) else { return Ok(None) };
        let body = block.get(8..length - 4).unwrap_or_default().to_vec();
        match kind {
            SECTION => self.interfaces.clear(),
            1 if self.interfaces.len() < MOST_INTERFACES => {
                let radiotap = half(&body, 0, swapped).map(u32::from) == Some(RADIOTAP);
                self.interfaces.push(Interface { radiotap, ticks: ticks_of(&body, swapped) });
            }
            6 => self.enhanced(&body, swapped, windows)?,
            // Simple packets have no time; names and statistics tell nothing here.
            _ => {}
        }
        Ok(Some(length))
    }

    fn enhanced(
        &mut self,
        body: &[u8],
        swapped: bool,
        windows: &mut TraceWindows,
    ) -> Result<(), TraceError> {
        let at = |offset| word(body, offset, swapped);
        let [Some(number), Some(high), Some(low), Some(length)] = [at(0), at(4), at(8), at(12)]
        else {
            return Err(self.wrong("a packet's block is too short"));
        };
        let Some(&Interface { radiotap, ticks }) = self.interfaces.get(number as usize) else {
            return Err(self.wrong(&format!("interface {number} was not described")));
        };
        if !radiotap {
            return Err(self.wrong(&no_radiotap(0)));
        }
        let time = u128::from(high) << 32 | u128::from(low);
        let at_ns = (time * 1_000_000_000 / u128::from(ticks)).min(u128::from(u64::MAX)) as u64;
        let packet = body.get(20..20_usize.saturating_add(length as usize)).unwrap_or_default();
        let packet = packet.to_vec();
        self.packet(at_ns, &packet, windows);
        Ok(())
    }

    /// Takes a packet: a radiotap header and a frame.
    fn packet(&mut self, at_ns: u64, packet: &[u8], windows: &mut TraceWindows) {
        let frame = Radiotap::parse(packet)
            .filter(|(head, _)| !head.bad_fcs())
            .and_then(|(head, frame)| Some((head, MacHeader::parse(frame)?.0)));
        // Control frames have no sequence number.
        let numbered =
            |it: &(Radiotap, MacHeader)| it.1.control.0 & 0x0C != 0x04 && it.1.fragment == 0;
        let Some((head, mac)) = frame.filter(numbered) else { return windows.useless() };
        let retry = mac.control.retry();
        let is_data = mac.control.0 & 0x0C == 0x08;
        let missing = self.missing((mac.transmitter, is_data), mac.sequence);
        let from = mac.transmitter.to_string();
        let rssi_dbm = head.signal.map(f64::from);
        let heard_here = windows.settings().at.is_some() && !windows.is_here(&from);
        let again = f64::from(u8::from(retry && missing.is_some()));
        if heard_here {
            // All that was sent should have been heard here; a first retry tells of an attempt before it.
            let sent = 1.0 + again + f64::from(missing.unwrap_or(0));
            windows.add(&Sighting { at_ns, from, to: None, rssi_dbm, sent, arrived: 1.0 });
            return;
        }
        if mac.receiver.0[0] & 1 != 0 {
            return windows.useless();
        }
        // Each further attempt with one number says that nothing was acknowledged before. How strong it
        // arrives, the sender's own radio does not tell.
        let (sent, arrived) = if missing.is_some() { (1.0 + again, 1.0) } else { (1.0, 0.0) };
        let rssi_dbm = rssi_dbm.filter(|_| windows.settings().at.is_none());
        let to = Some(mac.receiver.to_string());
        windows.add(&Sighting { at_ns, from, to, rssi_dbm, sent, arrived });
    }

    /// Returns how many numbers before this one were not heard; `None` for one that was heard before.
    fn missing(&mut self, sender: (Mac, bool), number: u16) -> Option<u16> {
        if self.last.len() >= MOST_SENDERS && !self.last.contains_key(&sender) {
            return Some(0);
        }
        let Some(last) = self.last.insert(sender, number) else { return Some(0) };
        let step = number.wrapping_sub(last) & 0x0FFF;
        match step {
            0 => None,
            1..=RESTART => Some(step - 1),
            _ => Some(0),
        }
    }
}

fn no_radiotap(link: u32) -> alloc::string::String {
    format!(
        "link type {link} is not 127, IEEE 802.11 behind radiotap headers: capture in monitor mode"
    )
}

/// Returns the ticks a second of an interface: the option `if_tsresol`.
fn ticks_of(body: &[u8], swapped: bool) -> u64 {
    let mut at = 8;
    while let (Some(code), Some(length)) = (half(body, at, swapped), half(body, at + 2, swapped)) {
        if code == 0 {
            break;
        }
        if code == 9
            && let Some(&resolution) = body.get(at + 4)
        {
            let power = u32::from(resolution & 0x7F);
            let base: u64 = if resolution & 0x80 == 0 { 10 } else { 2 };
            return base.checked_pow(power).unwrap_or(1_000_000).max(1);
        }
        at += 4 + usize::from(length).next_multiple_of(4);
    }
    1_000_000
}
