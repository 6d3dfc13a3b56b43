//! A whole capture, as it streams by.

use crate::air::AirAnalysis;
use crate::air::esp_now::CaptureKeys;
use crate::course::CaptureCourse;
use crate::file::{CaptureError, CaptureReader, CapturedPacket, LinkType};
use crate::link::{LinkContent, content};
use crate::tcp::{TcpAnalysis, TcpFlow};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// EtherTypes of IP.
const IP: [u16; 2] = [0x0800, 0x86DD];

/// Link types that are counted.
const MOST_LINK_TYPES: usize = 64;

/// Analysis of a capture, in bounded memory.
///
/// ```
/// use espbench_capture::analysis::CaptureAnalysis;
/// let mut analysis = CaptureAnalysis::default();
/// assert!(analysis.push(b"GIF89a").is_err());
/// ```
#[derive(Debug, Default)]
pub struct CaptureAnalysis {
    reader: CaptureReader,
    seen: CaptureSummary,
}

/// Facts that a capture told.
#[derive(Debug, Default)]
pub struct CaptureSummary {
    /// Packets.
    pub packets: u64,
    /// Octets of the file.
    pub file_octets: u64,
    /// Whether the file says that a lab has simulated it.
    pub simulated: bool,
    /// Packets of which the file has not all octets.
    pub cut_packets: u64,
    /// Packets by link type.
    pub links: BTreeMap<LinkType, u64>,
    /// Packets that are neither of IEEE 802.11 nor of IP.
    pub others: u64,
    /// Those of them whose link type is unknown, or whose radio header cannot be read.
    pub unread: u64,
    /// First and last time, in nanoseconds since 1970.
    pub times: Option<(u64, u64)>,
    /// Packets whose time is before that of the one before.
    pub back: u64,
    /// Longest step back of the time, in nanoseconds.
    pub back_ns: u64,
    /// Whether the file ends within a packet.
    pub cut: bool,
    /// Fault that ended the reading before the file's end.
    pub fault: Option<CaptureError>,
    /// Frames of IEEE 802.11.
    pub air: AirAnalysis,
    /// Packets of IP.
    pub tcp: TcpAnalysis,
    /// Connections.
    pub flows: Vec<TcpFlow>,
    /// Course of the octets of IP.
    pub ip_course: CaptureCourse,
    last_ns: Option<u64>,
}

impl CaptureAnalysis {
    /// Begins an analysis that decrypts ESP-NOW with these keys.
    #[must_use]
    pub fn new(keys: CaptureKeys) -> Self {
        let seen = CaptureSummary { air: AirAnalysis::new(keys), ..CaptureSummary::default() };
        Self { seen, ..Self::default() }
    }

    /// Takes bytes.
    ///
    /// # Errors
    /// The file is no capture, or damaged: what was read before is kept.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), CaptureError> {
        let Self { reader, seen } = self;
        reader.push(bytes, &mut |packet| seen.take(packet))
    }

    /// Takes the end of the file, or the fault that ended it.
    ///
    /// # Errors
    /// Nothing was read.
    pub fn finish(mut self, fault: Option<CaptureError>) -> Result<CaptureSummary, CaptureError> {
        self.seen.file_octets = self.reader.bytes();
        self.seen.fault = fault;
        self.seen.simulated = self.reader.is_simulated();
        match (fault, self.reader.finish()) {
            (Some(fault), _) | (None, Err(fault)) if self.seen.packets == 0 => return Err(fault),
            (_, cut) => self.seen.cut = cut.unwrap_or(true),
        }
        self.seen.air.finish(self.seen.times.map(|it| it.1));
        self.seen.flows = self.seen.tcp.finish();
        Ok(self.seen)
    }
}

impl CaptureSummary {
    fn take(&mut self, packet: &CapturedPacket<'_>) {
        self.packets += 1;
        self.cut_packets += u64::from(packet.octets as usize > packet.bytes.len());
        if self.links.len() < MOST_LINK_TYPES || self.links.contains_key(&packet.link) {
            *self.links.entry(packet.link).or_default() += 1;
        }
        if let Some(at) = packet.at_ns {
            let (first, last) = self.times.unwrap_or((at, at));
            self.times = Some((first.min(at), last.max(at)));
            let back = self.last_ns.map_or(0, |it| it.saturating_sub(at));
            self.back += u64::from(back > 0);
            self.back_ns = self.back_ns.max(back);
            self.last_ns = Some(at);
        }
        match content(packet) {
            LinkContent::Air(air) => {
                self.air.radios.at_once |= packet.simulated;
                if !self.air.take(packet.number, packet.at_ns, &air) {
                    return;
                }
                let view = air.view().filter(|it| !self.air.is_relayed(it));
                let packets = view.into_iter().flat_map(|it| it.packets());
                for (_, bytes) in packets.filter(|it| IP.contains(&it.0)) {
                    self.ip(packet, bytes, bytes.len() as u64);
                }
            }
            LinkContent::Ip(bytes) => self.ip(packet, bytes, packet.octets.into()),
            LinkContent::Other => {
                self.others += 1;
                let is_known = !packet.link.is_air() && !matches!(packet.link, LinkType::Other(_));
                self.unread += u64::from(!is_known);
            }
        }
    }

    fn ip(&mut self, packet: &CapturedPacket<'_>, bytes: &[u8], octets: u64) {
        self.ip_course.add(packet.at_ns.unwrap_or_default(), 0, octets);
        self.tcp.take(packet.number, packet.at_ns, bytes);
    }

    /// Returns the time from the first to the last packet, in seconds.
    #[must_use]
    pub fn seconds(&self) -> Option<f64> {
        self.times.map(|(first, last)| (last - first) as f64 / 1e9).filter(|it| *it > 0.0)
    }

    /// Returns the share of time in which frames of a channel were on the air, of the time for which it was heard; `None`
    /// where no frame tells its rate, and where that time is shorter than its frames.
    #[must_use]
    pub fn busy(&self, channel: u8) -> Option<f64> {
        let air_ns = self.air.channels.get(&channel)?.air_ns;
        let heard_ns = match self.air.heard_ns(channel) {
            Some(ns) => (air_ns <= ns).then_some(ns as f64)?,
            None => self.seconds()? * 1e9,
        };
        (self.air.unrated < self.air.frames && heard_ns > 0.0).then(|| air_ns as f64 / heard_ns)
    }

    /// Returns the share of the busiest channel.
    #[must_use]
    pub fn busy_share(&self) -> Option<f64> {
        self.air.channels.keys().filter_map(|it| self.busy(*it)).max_by(f64::total_cmp)
    }

    /// Returns whether the file tells of a link at all.
    #[must_use]
    pub fn tells(&self) -> bool {
        self.air.frames > self.air.malformed + self.air.bad.frames || self.tcp.packets[0] > 0
    }
}
