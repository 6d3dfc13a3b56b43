//! What a line says.
//!
//! Every report line of the reference's sections 7.3 to 7.7 has a type of its own. A line that is
//! none of them is [`Item::Other`]; its text stands in [`Entry::line`], so nothing is lost. So is a
//! line whose end is missing, since a number at its end may be half a number.

pub mod command;
pub mod control;
pub mod device;
pub mod iperf;
pub mod ota;
pub mod provisioning;
pub mod security;

pub use command::{Problem, Usage};
pub use control::Control;
pub use device::Device;
pub use iperf::Iperf;
pub use ota::Ota;
pub use provisioning::Provisioning;
pub use security::{Crypto, Security};

use super::line::Line;
use super::lines::{Piece, Query};
use super::scan::Scan;
use crate::wire::mac::Mac;

/// One piece of a transcript: the line it stands in and what it says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry<'a> {
    /// The line in its parts; of a prompt, echo or query, only the text.
    pub line: Line<'a>,
    /// What it says.
    pub item: Item<'a>,
}

/// What a piece of a transcript says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Item<'a> {
    /// The device waits for a command.
    Prompt,
    /// A command as it was typed; in [`Entry::line`].
    Echo,
    /// The device waits for its terminal's answer.
    Query(Query),
    /// `espnow_iperf`: ping and throughput.
    Iperf(Iperf<'a>),
    /// `sec_test`.
    Crypto(Crypto),
    /// `ota` and the update itself.
    Ota(Ota<'a>),
    /// `security` and the handshake itself.
    Security(Security<'a>),
    /// Devices that answered a scan of `ota` or `security`.
    Devices(DeviceList<'a>),
    /// `provisioning`.
    Provisioning(Provisioning<'a>),
    /// `control`.
    Control(Control),
    /// The device itself: versions, memory, Wi-Fi, restarts.
    Device(Device<'a>),
    /// The example `get-started`.
    Example(Example<'a>),
    /// A command that could not be read or run.
    Problem(Problem<'a>),
    /// A rule or the head of a table.
    Heading,
    /// None of these.
    Other,
}

/// `info, num: %d, list: <MAC>|<MAC>|…`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceList<'a> {
    /// How many.
    pub num: u32,
    list: &'a str,
}

impl<'a> DeviceList<'a> {
    /// The addresses that stand in the line; fewer than [`num`](Self::num) if it was cut.
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
        /// Bytes.
        size: u32,
        /// The text sent.
        data: &'a str,
    },
    /// `espnow_recv, <%u> [<MAC>][%d][%d][%u]: %.*s`
    Received {
        /// Messages received so far.
        count: u32,
        /// The sender.
        from: Mac,
        /// Channel.
        channel: u8,
        /// Signal strength, dBm.
        rssi: i8,
        /// Bytes.
        size: u32,
        /// The text received.
        data: &'a str,
    },
}

impl<'a> Entry<'a> {
    /// What `piece` says.
    #[must_use]
    pub fn of(piece: Piece<'a>) -> Self {
        let plain = |text| Line { remote: None, log: None, text, cut: false };
        match piece {
            Piece::Line { text, cut } => {
                let line = Line::parse(text, cut);
                Self { line, item: Item::of(&line) }
            }
            Piece::Prompt => Self { line: plain(""), item: Item::Prompt },
            Piece::Echo(text) => Self { line: plain(text), item: Item::Echo },
            Piece::Query(query) => Self { line: plain(""), item: Item::Query(query) },
        }
    }
}

impl<'a> Item<'a> {
    /// What the line says.
    #[must_use]
    pub fn of(line: &Line<'a>) -> Self {
        if line.cut {
            return devices(line).map_or(Self::Other, Self::Devices);
        }
        Self::report(line)
            .or_else(|| Self::report(&Line { text: command::checked(line)?, ..*line }))
            .or_else(|| command::read(line).map(Self::Problem))
            .or_else(|| heading(line.text).then_some(Self::Heading))
            .unwrap_or(Self::Other)
    }

    /// What a report line says.
    fn report(line: &Line<'a>) -> Option<Self> {
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

fn devices<'a>(line: &Line<'a>) -> Option<DeviceList<'a>> {
    let mut s = Scan::new(line.text);
    s.lit("info, num: ")?;
    let num = s.int()?;
    s.lit(", list:")?;
    Some(DeviceList { num, list: s.rest() })
}

fn example<'a>(line: &Line<'a>) -> Option<Example<'a>> {
    let mut s = Scan::new(line.text);
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

/// A rule of dashes, or a row of a table with no address in it.
fn heading(text: &str) -> bool {
    let text = text.trim();
    let rule = text.len() >= 8 && text.bytes().all(|b| b == b'-');
    rule || (text.len() > 2 && text.starts_with('|') && text.ends_with('|'))
}
