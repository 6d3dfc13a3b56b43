//! A conversation that one can read: what happened, as values that print as lines.
//!
//! | sign | line |
//! |---|---|
//! | `$` | a command was typed |
//! | `\|` | the console printed |
//! | `>` | a frame was on the air |
//! | `<` | a frame came late or twice |
//! | `*` | an event, a sample, a channel, a start or a reset; a frame that the driver refused |

use crate::lab::nodes::device::NodeId;
use crate::lab::nodes::note::{FrameOnAir, MissReason, Note, Watch};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use esp_now::component::{DataType, Header};
use esp_now::node::task::EspNowEvent;
use espbench_ieee80211::mac::Mac;
use espbench_model::sample::Sample;
use espbench_model::time::Instant;
use espbench_model::untrusted::Untrusted;

/// The kinds of lines that a transcript keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TalkFilter {
    /// Frames, arrivals and refusals.
    pub frames: bool,
    /// Consoles: lines and commands.
    pub consoles: bool,
    /// Events, starts, resets.
    pub events: bool,
    /// Samples.
    pub samples: bool,
    /// Channels.
    pub channels: bool,
}

impl TalkFilter {
    /// Everything.
    pub const ALL: Self =
        Self { frames: true, consoles: true, events: true, samples: true, channels: true };
    /// Consoles and events.
    pub const TALK: Self =
        Self { frames: false, consoles: true, events: true, samples: false, channels: false };
    /// Nothing.
    pub const NOTHING: Self =
        Self { frames: false, consoles: false, events: false, samples: false, channels: false };
}

impl Default for TalkFilter {
    fn default() -> Self {
        Self::TALK
    }
}

/// A frame that was on the air.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameEntry {
    /// Number of the frame in this conversation.
    pub number: u64,
    /// Attempt of the MAC, from 1.
    pub attempt: u8,
    /// Address 1.
    pub to: Mac,
    /// The component's header, where it is one.
    pub header: Option<Header>,
    /// Bytes of ESP-NOW data.
    pub len: usize,
    /// The channel.
    pub channel: u8,
    /// Nodes that got it.
    pub heard: Vec<NodeId>,
    /// Nodes that did not get it, and why.
    pub missed: Vec<(NodeId, MissReason)>,
    /// Whether the MAC's acknowledgement came back.
    pub acknowledged: Option<bool>,
}

/// The event that a line tells.
#[derive(Clone, Debug, PartialEq)]
pub enum TalkEvent {
    /// A frame was on the air.
    Frame(FrameEntry),
    /// A frame was handed over, late or once more.
    Arrived(u64),
    /// The driver refused a frame of so many bytes.
    Refused(usize),
    /// A line on the console.
    Printed(String),
    /// A command was typed.
    Typed(String),
    /// The node told its application.
    Event(EspNowEvent),
    /// The application got a payload.
    Data {
        /// The originator.
        from: Mac,
        /// Bytes.
        len: usize,
        /// Signal strength, dBm.
        rssi: i8,
        /// Channel.
        channel: u8,
    },
    /// The node recorded.
    Sample(Sample),
    /// The node tuned its radio.
    Tuned(u8),
    /// Switched on, after so many resets.
    Started(u32),
    /// Reset.
    Reset,
}

/// A line of a transcript.
#[derive(Clone, Debug, PartialEq)]
pub struct TalkEntry {
    /// Time on the fleet's clock.
    pub at: Instant,
    /// Node of the event.
    pub node: NodeId,
    /// Event.
    pub what: TalkEvent,
}

impl TalkEntry {
    /// Makes a line of an event, if such lines are shown.
    #[must_use]
    pub fn of(at: Instant, note: &Note<'_>, show: TalkFilter) -> Option<Self> {
        let (node, what) = match *note {
            Note::Air(on_air) if show.frames => {
                (on_air.node, TalkEvent::Frame(FrameEntry::of(&on_air)))
            }
            Note::Arrived { node, number } if show.frames => (node, TalkEvent::Arrived(number)),
            Note::Refused { node, len } if show.frames => (node, TalkEvent::Refused(len)),
            Note::Printed { node, text } if show.consoles => {
                (node, TalkEvent::Printed(text.into()))
            }
            Note::Typed { node, text } if show.consoles => (node, TalkEvent::Typed(text.into())),
            Note::Event { node, event } if show.events => (node, TalkEvent::Event(event)),
            Note::Data { node, from, data, rssi, channel } if show.events => {
                (node, TalkEvent::Data { from, len: data.len(), rssi, channel })
            }
            Note::Sample { node, sample } if show.samples => (node, TalkEvent::Sample(*sample)),
            Note::Tuned { node, channel } if show.channels => (node, TalkEvent::Tuned(channel)),
            Note::Started { node, resets } if show.events => (node, TalkEvent::Started(resets)),
            Note::Reset { node } if show.events => (node, TalkEvent::Reset),
            _ => return None,
        };
        Some(Self { at, node, what })
    }
}

impl FrameEntry {
    fn of(on_air: &FrameOnAir<'_>) -> Self {
        Self {
            number: on_air.number,
            attempt: on_air.attempt,
            to: on_air.to,
            header: Header::parse(on_air.data).map(|(header, _)| header),
            len: on_air.data.len(),
            channel: on_air.channel,
            heard: on_air.heard.into(),
            missed: on_air.missed.into(),
            acknowledged: on_air.acknowledged,
        }
    }
}

/// A console's part of a transcript's line, as it was printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintedTalk<'a> {
    /// Name of the node.
    pub node: &'a str,
    /// Text that the console shows: a line, or a prompt with the command that was typed. `None`: something else happened.
    pub shown: Option<(TalkSource, &'a str)>,
}

/// Source of what a console shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TalkSource {
    /// The device printed it.
    Printed,
    /// Typed text.
    Typed,
}

impl<'a> PrintedTalk<'a> {
    /// Reads a line that a [`TalkEntry`] printed; `None` for any other line.
    #[must_use]
    pub fn of(line: &'a str) -> Option<Self> {
        let (at, rest) = line.trim_start().split_once(' ')?;
        let (seconds, micros) = at.split_once('.')?;
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
        let (node, rest) = rest.trim_start().split_once(' ')?;
        let number = node.strip_prefix("node")?;
        if !(digits(seconds) && digits(micros) && micros.len() == 6 && digits(number)) {
            return None;
        }
        let (sign, text) = rest.split_at_checked(1)?;
        let text = text.strip_prefix(' ').unwrap_or(text);
        let shown = match sign {
            "|" => Some((TalkSource::Printed, text)),
            "$" => Some((TalkSource::Typed, text)),
            ">" | "<" | "*" => None,
            _ => return None,
        };
        Some(Self { node, shown })
    }
}

/// Lines in the order in which they happened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    /// The lines.
    pub entries: Vec<TalkEntry>,
    /// Kinds of lines that are kept.
    pub show: TalkFilter,
}

impl Transcript {
    /// Creates an empty transcript that keeps these kinds.
    #[must_use]
    pub const fn new(show: TalkFilter) -> Self {
        Self { entries: Vec::new(), show }
    }
}

impl Watch for Transcript {
    fn note(&mut self, at: Instant, note: &Note<'_>) {
        self.entries.extend(TalkEntry::of(at, note, self.show));
    }
}

impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entries.iter().try_for_each(|entry| writeln!(f, "{entry}"))
    }
}

impl fmt::Display for TalkEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.at.as_nanos() / 1000;
        write!(f, "{:>5}.{:06}  ", micros / 1_000_000, micros % 1_000_000)?;
        f.write_str(NodeColumn(self.node).pad())?;
        write!(f, "{} ", self.node)?;
        match &self.what {
            TalkEvent::Frame(frame) => write!(f, "> {frame}"),
            TalkEvent::Arrived(number) => write!(f, "< frame {number}"),
            TalkEvent::Refused(len) => write!(f, "* refused by the driver: a frame of {len} B"),
            TalkEvent::Printed(text) => write!(f, "| {}", Untrusted::line(text)),
            TalkEvent::Typed(text) => write!(f, "$ {}", Untrusted::line(text)),
            TalkEvent::Event(event) => write!(f, "* {event:?}"),
            TalkEvent::Data { from, len, rssi, channel } => {
                let from = Address(*from);
                write!(f, "* {len} B of data from {from}, {rssi} dBm, channel {channel}")
            }
            TalkEvent::Sample(sample) => write!(f, "* {sample:?}"),
            TalkEvent::Tuned(channel) => write!(f, "* channel {channel}"),
            TalkEvent::Started(0) => f.write_str("* on"),
            TalkEvent::Started(resets) => write!(f, "* on after reset {resets}"),
            TalkEvent::Reset => f.write_str("* reset"),
        }
    }
}

/// Puts the names of up to a thousand nodes into one column.
struct NodeColumn(NodeId);

impl NodeColumn {
    const fn pad(&self) -> &'static str {
        match self.0.0 {
            0..=9 => "  ",
            10..=99 => " ",
            _ => "",
        }
    }
}

impl fmt::Display for FrameEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "frame {} to {}", self.number, Address(self.to))?;
        if let Some(header) = &self.header {
            write!(f, ": {} {:04x}", type_name(header.data_type), header.magic)?;
            if header.dest != self.to {
                write!(f, " for {}", Address(header.dest))?;
            }
        }
        write!(f, ", {} B, channel {}", self.len, self.channel)?;
        if self.attempt > 1 {
            write!(f, ", attempt {}", self.attempt)?;
        }
        match (&self.heard[..], self.acknowledged) {
            (_, Some(_)) => {}
            ([], None) => f.write_str("; heard by nobody")?,
            ([one], None) => write!(f, "; heard by {one}")?,
            (several, None) => write!(f, "; heard by {}", several.len())?,
        }
        for (node, why) in &self.missed {
            match self.acknowledged {
                None => write!(f, ", {} at {node}", why.name())?,
                Some(_) => write!(f, "; {}", why.name())?,
            }
        }
        match self.acknowledged {
            Some(true) => f.write_str("; acknowledged"),
            Some(false) => f.write_str("; not acknowledged"),
            None => Ok(()),
        }
    }
}

/// An address as a person knows it: a node, everybody, a group by its name.
struct Address(Mac);

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mac(bytes) = self.0;
        let [.., high, low] = bytes;
        let node = NodeId(u16::from_be_bytes([high, low]).wrapping_sub(1));
        let text = bytes.trim_ascii_end();
        let text = text.split(|b| *b == 0).next().unwrap_or_default();
        let named = !text.is_empty()
            && text.iter().all(u8::is_ascii_graphic)
            && bytes[text.len()..].iter().all(|b| *b == 0);
        match core::str::from_utf8(text) {
            _ if self.0.is_broadcast() => f.write_str("all"),
            _ if node.mac() == self.0 => node.fmt(f),
            Ok(name) if named => write!(f, "group {name}"),
            _ => self.0.fmt(f),
        }
    }
}

/// Returns the name of a type in the component's source.
#[must_use]
pub const fn type_name(data_type: DataType) -> &'static str {
    match data_type {
        DataType::Ack => "ACK",
        DataType::Forward => "FORWARD",
        DataType::Group => "GROUP",
        DataType::Prov => "PROV",
        DataType::ControlBind => "CONTROL_BIND",
        DataType::ControlData => "CONTROL_DATA",
        DataType::OtaStatus => "OTA_STATUS",
        DataType::OtaData => "OTA_DATA",
        DataType::DebugLog => "DEBUG_LOG",
        DataType::DebugCommand => "DEBUG_COMMAND",
        DataType::Data => "DATA",
        DataType::SecurityStatus => "SECURITY_STATUS",
        DataType::Security => "SECURITY",
        DataType::SecurityData => "SECURITY_DATA",
        DataType::TimeSync => "TIMESYNC",
        DataType::Reserved => "RESERVED",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;
    use std::vec;

    fn text(what: TalkEvent) -> String {
        TalkEntry { at: Instant::from_nanos(1_234_567_000), node: NodeId(3), what }.to_string()
    }

    #[test]
    fn lines_as_a_person_reads_them() {
        let data = [
            0x2a, 5, 0x34, 0x12, 1, 0x88, 2, 0, 0x4f, 0x54, 0x41, 0, 0, 0, 0x24, 0x0a, 0xc4, 0, 0,
            1, 104,
        ];
        let header = Header::parse(&data).map(|(header, _)| header);
        let mut frame = FrameEntry {
            number: 7,
            attempt: 1,
            to: Mac::BROADCAST,
            header,
            len: 25,
            channel: 6,
            heard: vec![NodeId(1), NodeId(2)],
            missed: vec![(NodeId(4), MissReason::Loss)],
            acknowledged: None,
        };
        assert_eq!(
            text(TalkEvent::Frame(frame.clone())),
            "    1.234567    node3 > frame 7 to all: DATA 1234 for group OTA, 25 B, channel 6; heard by 2, lost at node4"
        );
        (frame.to, frame.acknowledged, frame.attempt) = (NodeId(4).mac(), Some(false), 2);
        (frame.header, frame.heard) = (None, vec![]);
        assert_eq!(
            text(TalkEvent::Frame(frame)),
            "    1.234567    node3 > frame 7 to node4, 25 B, channel 6, attempt 2; lost; not acknowledged"
        );
        let printed = text(TalkEvent::Printed("a\x1b[31m\tb".into()));
        assert_eq!(printed, "    1.234567    node3 | a\u{FFFD}[31m b");
    }

    #[test]
    fn addresses_are_named() {
        for (mac, name) in [
            (Mac::BROADCAST, "all"),
            (NodeId(99).mac(), "node99"),
            (Mac(*b"PROV\0\0"), "group PROV"),
            (Mac([1, 2, 3, 4, 5, 6]), "01:02:03:04:05:06"),
            (Mac::ZERO, "00:00:00:00:00:00"),
        ] {
            assert_eq!(Address(mac).to_string(), name);
        }
    }
}
