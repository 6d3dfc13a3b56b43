//! Content of a line.
//!
//! Every report line of the reference's sections 7.3 to 7.7 has a type of its own, whose
//! documentation quotes the line as the component's `printf` has it. A line that is none of them is
//! [`TranscriptItem::Other`]; its text stands in [`TranscriptEntry::line`], so nothing is lost. So is a line whose end
//! is missing, since a number at its end may be half a number.
//!
//! | module | lines of |
//! |---|---|
//! | [`command`] | commands that could not be parsed or executed |
//! | [`control`] | `control` |
//! | [`device`] | the device itself: versions, memory, Wi-Fi, restarts |
//! | [`iperf`] | `espnow_iperf` |
//! | [`ota`] | `ota` and the upgrade |
//! | [`provisioning`] | `provisioning` |
//! | [`security`] | `security`, the handshake and `sec_test` |

pub mod command;
pub mod control;
pub mod device;
pub mod iperf;
pub mod ota;
pub mod provisioning;
pub mod security;

pub use command::{Problem, UsageError};
pub use control::ControlLine;
pub use device::DeviceLine;
pub use iperf::IperfLine;
pub use ota::OtaLine;
pub use provisioning::ProvisioningLine;
pub use security::{CryptoLine, SecurityLine};

use super::line::ConsoleLine;
use super::lines::{Query, TranscriptPiece};
use super::scan::LineCursor;
use espbench_ieee80211::mac::Mac;

/// A piece of a transcript: the line it stands in and its content.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TranscriptEntry<'a> {
    /// Parts of the line; for a prompt, echo or query, only the text.
    pub line: ConsoleLine<'a>,
    /// Content of the line.
    pub item: TranscriptItem<'a>,
}

/// Content of a piece of a transcript.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TranscriptItem<'a> {
    /// The device waits for a command.
    Prompt,
    /// Command as it was typed; in [`TranscriptEntry::line`].
    Echo,
    /// The device waits for its terminal's answer.
    Query(Query),
    /// Line of `espnow_iperf`: ping and throughput.
    Iperf(IperfLine<'a>),
    /// Line of `sec_test`.
    Crypto(CryptoLine),
    /// Line of `ota` or of the upgrade itself.
    Ota(OtaLine<'a>),
    /// Line of `security` or of the handshake itself.
    Security(SecurityLine<'a>),
    /// Devices that answered a scan of `ota` or `security`.
    Devices(DeviceList<'a>),
    /// Line of `provisioning`.
    Provisioning(ProvisioningLine<'a>),
    /// Line of `control`.
    Control(ControlLine),
    /// Line about the device itself: versions, memory, Wi-Fi, restarts.
    Device(DeviceLine<'a>),
    /// Line of the example `get-started`.
    Example(Example<'a>),
    /// Command that could not be parsed or executed.
    Problem(Problem<'a>),
    /// Rule or head of a table.
    Heading,
    /// Any other line.
    Other,
}

/// `info, num: %d, list: <MAC>|<MAC>|…`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceList<'a> {
    /// Number of devices.
    pub num: u32,
    list: &'a str,
}

impl<'a> DeviceList<'a> {
    /// Returns the addresses in the line; fewer than [`num`](Self::num) if it was cut.
    pub fn macs(&self) -> impl Iterator<Item = Mac> + use<'a> {
        self.list.split('|').filter_map(|mac| Mac::parse(mac.trim().as_bytes()))
    }
}

/// Lines of the example `get-started`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Example<'a> {
    /// `espnow_send, count: %u, size: %u, data: %s`
    Sent {
        /// Number of the message.
        count: u32,
        /// Length in bytes.
        size: u32,
        /// Text sent.
        data: &'a str,
    },
    /// `espnow_recv, <%u> [<MAC>][%d][%d][%u]: %.*s`
    Received {
        /// Number of messages received so far.
        count: u32,
        /// Address of the sender.
        from: Mac,
        /// Channel.
        channel: u8,
        /// Signal strength, in dBm.
        rssi: i8,
        /// Length in bytes.
        size: u32,
        /// Text received.
        data: &'a str,
    },
}

impl<'a> TranscriptEntry<'a> {
    /// Parses a piece of a transcript.
    #[must_use]
    pub fn of(piece: TranscriptPiece<'a>) -> Self {
        let plain = |text| ConsoleLine { remote: None, log: None, text, cut: false };
        match piece {
            TranscriptPiece::Line { text, cut } => {
                let line = ConsoleLine::parse(text, cut);
                Self { line, item: TranscriptItem::of(&line) }
            }
            TranscriptPiece::Prompt => Self { line: plain(""), item: TranscriptItem::Prompt },
            TranscriptPiece::Echo(text) => Self { line: plain(text), item: TranscriptItem::Echo },
            TranscriptPiece::Query(query) => {
                Self { line: plain(""), item: TranscriptItem::Query(query) }
            }
        }
    }
}

impl<'a> TranscriptItem<'a> {
    /// Parses a line.
    #[must_use]
    pub fn of(line: &ConsoleLine<'a>) -> Self {
        if line.cut {
            return devices(line).map_or(Self::Other, Self::Devices);
        }
        Self::report(line)
            .or_else(|| Self::report(&ConsoleLine { text: command::checked(line)?, ..*line }))
            .or_else(|| command::read(line).map(Self::Problem))
            .or_else(|| heading(line.text).then_some(Self::Heading))
            .unwrap_or(Self::Other)
    }

    /// Parses a report line.
    fn report(line: &ConsoleLine<'a>) -> Option<Self> {
        None.or_else(|| iperf::read(line).map(Self::Iperf))
            .or_else(|| security::read_crypto(line).map(Self::Crypto))
            .or_else(|| devices(line).map(Self::Devices))
            .or_else(|| ota::read(line).map(Self::Ota))
            .or_else(|| security::read(line).map(Self::Security))
            .or_else(|| provisioning::read(line).map(Self::Provisioning))
            .or_else(|| control::read(line).map(Self::Control))
            .or_else(|| device::read(line).map(Self::Device))
            .or_else(|| example(line).map(Self::Example))
    }
}

fn devices<'a>(line: &ConsoleLine<'a>) -> Option<DeviceList<'a>> {
    let mut s = LineCursor::new(line.text);
    s.lit("info, num: ")?;
    let num = s.int()?;
    s.lit(", list:")?;
    Some(DeviceList { num, list: s.rest() })
}

fn example<'a>(line: &ConsoleLine<'a>) -> Option<Example<'a>> {
    let mut s = LineCursor::new(line.text);
    if s.maybe("espnow_send, count: ") {
        let count = s.int()?;
        s.lit(", size: ")?;
        let size = s.int()?;
        s.lit(", data:")?;
        return Some(Example::Sent { count, size, data: s.rest().trim_start_matches(' ') });
    }
    s.lit("espnow_recv, <")?;
    let count = s.int()?;
    s.lit("> [")?;
    let from = s.mac()?;
    s.lit("][")?;
    let channel = s.int()?;
    s.lit("][")?;
    let rssi = s.int()?;
    s.lit("][")?;
    let size = s.int()?;
    s.lit("]:")?;
    let data = s.rest();
    Some(Example::Received { count, from, channel, rssi, size, data: data.trim_start_matches(' ') })
}

/// Returns whether a line is a rule of dashes, or a row of a table with no address in it.
fn heading(text: &str) -> bool {
    let text = text.trim();
    let rule = text.len() >= 8 && text.bytes().all(|b| b == b'-');
    rule || (text.len() > 2 && text.starts_with('|') && text.ends_with('|'))
}
