//! Files of captures: pcap (libpcap's format) and pcapng, in any order of bytes and resolution of time.
//!
//! | module | contents |
//! |---|---|
//! | `pcap` | the header and the records of pcap |
//! | `pcapng` | the blocks of pcapng, with several interfaces and sections |
//!
//! Bytes come in chunks of any size. No more than one packet and a chunk's part is kept.

mod pcap;
mod pcapng;

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::fmt;

/// The longest packet that is read: four times what capturing programs keep.
const MOST_PACKET: usize = 1 << 20;

/// Bytes that are looked at once.
const PART: usize = 1 << 17;

/// Type of what packets begin with (tcpdump.org, "Link-layer header types").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkType {
    /// 0: BSD loopback, a family before the packet.
    Loopback,
    /// 1: Ethernet.
    Ethernet,
    /// 101, 228, 229 and two old numbers: IP packets.
    RawIp,
    /// 105: frames of IEEE 802.11.
    Ieee80211,
    /// 113: Linux "cooked".
    LinuxSll,
    /// 127: frames of IEEE 802.11 behind radiotap.
    Radiotap,
    /// 192: frames behind PPI.
    Ppi,
    /// 276: Linux "cooked", version 2.
    LinuxSll2,
    /// Any other.
    Other(u16),
}

impl LinkType {
    /// Returns the type of a number.
    #[must_use]
    pub const fn of(number: u16) -> Self {
        match number {
            0 => Self::Loopback,
            1 => Self::Ethernet,
            12 | 14 | 101 | 228 | 229 => Self::RawIp,
            105 => Self::Ieee80211,
            113 => Self::LinuxSll,
            127 => Self::Radiotap,
            192 => Self::Ppi,
            276 => Self::LinuxSll2,
            other => Self::Other(other),
        }
    }

    /// Returns whether its frames are of IEEE 802.11.
    #[must_use]
    pub const fn is_air(self) -> bool {
        matches!(self, Self::Ieee80211 | Self::Radiotap | Self::Ppi)
    }
}

/// A packet of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapturedPacket<'a> {
    /// Number of the packet in its file, from 1, as Wireshark counts.
    pub number: u64,
    /// Time in nanoseconds since 1970; `None` where the file does not tell it.
    pub at_ns: Option<u64>,
    /// Interface that captured it, counted over the file's sections; 0 in pcap.
    pub interface: u32,
    /// Type of its first header.
    pub link: LinkType,
    /// Octets that the packet had; more than there are bytes where it was cut.
    pub octets: u32,
    /// Whether the file says that the checksum was wrong.
    pub bad: bool,
    /// Octets of the frame check sequence at its end; `None` where the file does not tell.
    pub fcs: Option<u8>,
    /// Whether the file says that a lab has simulated it.
    pub simulated: bool,
    /// The bytes that were kept.
    pub bytes: &'a [u8],
}

/// Fault of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureFault {
    /// Neither pcap nor pcapng begins so.
    Form,
    /// The file ends in its header.
    Head,
    /// A packet is longer than a megabyte.
    Length,
    /// A block of pcapng has a length that no block has.
    Block,
    /// A section of pcapng does not tell its order of bytes.
    Order,
    /// A packet names an interface that was not described.
    Interface,
}

/// Fault with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaptureError {
    /// The fault.
    pub fault: CaptureFault,
    /// Place in the file, in bytes from its begin.
    pub at: u64,
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.fault {
            CaptureFault::Form => "neither pcap nor pcapng begins so",
            CaptureFault::Head => "the file ends in its header",
            CaptureFault::Length => "a packet is longer than a megabyte",
            CaptureFault::Block => "a block of pcapng has a length that no block has",
            CaptureFault::Order => "a section of pcapng does not tell its order of bytes",
            CaptureFault::Interface => "a packet names an interface that was not described",
        };
        write!(f, "byte {}: {what}", self.at)
    }
}

impl core::error::Error for CaptureError {}

/// Kind of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileForm {
    Unknown,
    Pcap(pcap::PcapHead),
    Pcapng { swapped: bool },
}

/// Reader of a capture.
///
/// ```
/// use espbench_capture::file::CaptureReader;
/// let mut file = 0xA1B2_C3D4_u32.to_be_bytes().to_vec();
/// file.extend([0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 101]);
/// file.extend([0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 1, 0x45]);
/// let mut times = Vec::new();
/// let mut reader = CaptureReader::default();
/// for byte in file {
///     reader.push(&[byte], &mut |it| times.push(it.at_ns)).unwrap();
/// }
/// assert_eq!(times, [Some(1_000_005_000)]);
/// ```
#[derive(Debug)]
pub struct CaptureReader {
    form: FileForm,
    left: Vec<u8>,
    interfaces: Vec<pcapng::Interface>,
    /// Interfaces of the sections before.
    earlier_interfaces: u32,
    /// Bytes of a block that are passed over.
    skip: u64,
    packets: u64,
    read: u64,
    skipped: u64,
    /// Whether all sections so far are of a simulated lab; `None` without a section.
    simulated: Option<bool>,
}

impl Default for CaptureReader {
    fn default() -> Self {
        let (left, interfaces) = (Vec::new(), Vec::new());
        Self {
            form: FileForm::Unknown,
            left,
            interfaces,
            earlier_interfaces: 0,
            skip: 0,
            packets: 0,
            read: 0,
            skipped: 0,
            simulated: None,
        }
    }
}

/// Operating system in the section header of a capture that espbench's lab writes: nothing of it was on a real air.
pub const VIRTUAL_TIME: &str = "virtual time";

/// Receiver of packets.
type Sink<'s> = dyn FnMut(&CapturedPacket<'_>) + 's;

pub(crate) fn word(bytes: &[u8], at: usize, swapped: bool) -> Option<u32> {
    let word = bytes.get(at..)?.first_chunk().copied()?;
    Some(if swapped { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) })
}

pub(crate) fn half(bytes: &[u8], at: usize, swapped: bool) -> Option<u16> {
    let half = bytes.get(at..)?.first_chunk().copied()?;
    Some(if swapped { u16::from_be_bytes(half) } else { u16::from_le_bytes(half) })
}

impl CaptureReader {
    /// Returns whether a file with these first bytes is a capture.
    #[must_use]
    pub fn knows(first: &[u8]) -> bool {
        let magic = word(first, 0, false).unwrap_or_default();
        magic == pcapng::SECTION || pcap::order(magic).is_some()
    }

    /// Takes bytes, and hands on the packets that are whole.
    ///
    /// # Errors
    /// The file is none of the two formats, or damaged. What was handed on before stays true.
    pub fn push(&mut self, bytes: &[u8], sink: &mut Sink<'_>) -> Result<(), CaptureError> {
        for part in bytes.chunks(PART) {
            let mut left = core::mem::take(&mut self.left);
            let data = if left.is_empty() {
                Cow::Borrowed(part)
            } else {
                left.extend_from_slice(part);
                Cow::Owned(left)
            };
            let used = self.parts(&data, sink)?;
            self.left = match data {
                Cow::Borrowed(bytes) => bytes.get(used..).unwrap_or_default().to_vec(),
                Cow::Owned(mut bytes) => {
                    bytes.drain(..used);
                    bytes
                }
            };
        }
        Ok(())
    }

    /// Takes the end of the file. Returns whether its last packet is cut.
    ///
    /// # Errors
    /// There was nothing but the begin of a header.
    pub fn finish(&self) -> Result<bool, CaptureError> {
        if self.form == FileForm::Unknown {
            return Err(self.wrong(CaptureFault::Head));
        }
        Ok(!self.left.is_empty() || self.skip > 0)
    }

    /// Returns the bytes that were read.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.read
    }

    /// Returns whether the file says that it is of a simulated lab.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.simulated == Some(true)
    }

    /// Returns the blocks that were passed over for their length.
    #[must_use]
    pub const fn skipped(&self) -> u64 {
        self.skipped
    }

    fn wrong(&self, fault: CaptureFault) -> CaptureError {
        CaptureError { fault, at: self.read }
    }

    /// Reads what is whole, and returns its length.
    fn parts(&mut self, data: &[u8], sink: &mut Sink<'_>) -> Result<usize, CaptureError> {
        let mut at = 0;
        loop {
            if self.skip > 0 {
                let now = self.skip.min((data.len() - at) as u64);
                self.skip -= now;
                self.read += now;
                at += now as usize;
            }
            let rest = data.get(at..).unwrap_or_default();
            let used = match self.form {
                FileForm::Unknown => self.head(rest)?,
                FileForm::Pcap(head) => self.record(rest, head, sink)?,
                FileForm::Pcapng { swapped } => self.block(rest, swapped, sink)?,
            };
            let Some(used) = used else { return Ok(at) };
            at += used;
            self.read += used as u64;
        }
    }

    /// Reads the file's header. Of pcapng it is a block, which is read again.
    fn head(&mut self, data: &[u8]) -> Result<Option<usize>, CaptureError> {
        let Some(magic) = word(data, 0, false) else { return Ok(None) };
        if magic == pcapng::SECTION {
            self.form = FileForm::Pcapng { swapped: false };
            return Ok(Some(0));
        }
        if pcap::order(magic).is_none() {
            return Err(self.wrong(CaptureFault::Form));
        }
        let Some(head) = pcap::PcapHead::parse(data) else { return Ok(None) };
        self.form = FileForm::Pcap(head);
        Ok(Some(pcap::HEAD_LEN))
    }
}

#[cfg(test)]
pub(crate) mod tests;
