//! A capture of the frames of `espnow talk`.

use super::pcapng::{PcapngPacket, PcapngSection, PcapngWriter};
use crate::TOOL;
use esp_now::frame::{ActionFrame, EspNowVersion, MPDU_MAX};
use espbench_dot11::radio::timing::SIFS_NS;
use espbench_dot11::radio::{Airtime, Hr, WifiMode};
use espbench_ieee80211::mpdu::AckFrame;
use espbench_ieee80211::radiotap::{ChannelField, Radiotap};
use espbench_model::time::Instant;
use espbench_sim::lab::ideal::dsss_1m;
use espbench_sim::lab::nodes::note::{FrameOnAir, MissReason, Note, Watch};
use std::io::{self, Write};
use std::time::Duration;

/// Long preamble and header, before the first bit of the frame.
const PREAMBLE: Duration = Duration::from_nanos(Airtime::of(WifiMode::Hr(Hr::M1), 0).lead_ns());
/// Between a frame and its acknowledgement.
const SIFS: Duration = Duration::from_nanos(SIFS_NS);

/// Writes a capture, as a monitor would make it that hears everything: frames that nobody gets,
/// each attempt of the MAC, and the MAC's acknowledgements.
#[derive(Debug)]
pub struct Capture<W> {
    out: PcapngWriter<W>,
    failed: Option<io::Error>,
}

impl<W: Write> Capture<W> {
    /// Begins a capture.
    ///
    /// # Errors
    /// The writer's.
    pub fn new(out: W) -> io::Result<Self> {
        let section = PcapngSection {
            hardware: "simulated: nothing of this was on a real air",
            application: TOOL,
            ..PcapngSection::default()
        };
        let mut out = PcapngWriter::new(out, &section)?;
        out.interface("talk", "an ideal medium, heard as a monitor would that hears everything")?;
        Ok(Self { out, failed: None })
    }

    /// Ends it and gives the number of packets.
    ///
    /// # Errors
    /// The first that the writer had.
    pub fn finish(self) -> io::Result<u64> {
        self.failed.map_or_else(|| self.out.finish(), Err)
    }

    fn frame(&mut self, on_air: &FrameOnAir<'_>) -> io::Result<()> {
        let mpdu = ActionFrame {
            receiver: on_air.to,
            transmitter: on_air.from,
            sequence: on_air.sequence,
            retry: on_air.attempt > 1,
            random: random(on_air),
            version: EspNowVersion::of_data(on_air.data.len()),
        };
        let mut buf = [0; MPDU_MAX];
        let len = mpdu.emit_with_fcs(on_air.data, &mut buf).unwrap_or(0);
        let end = on_air.started + dsss_1m(on_air.data.len(), false);
        self.packet(on_air.started + PREAMBLE, end, on_air.channel, &buf[..len])?;
        let duplicate = on_air.missed.iter().any(|(_, why)| *why == MissReason::Duplicate);
        if on_air.acknowledged.is_some() && (duplicate || !on_air.heard.is_empty()) {
            let ack = AckFrame { duration: 0, receiver: on_air.from };
            let begin = end + SIFS + PREAMBLE;
            self.packet(begin, on_air.started + on_air.took, on_air.channel, &ack.emit())?;
        }
        Ok(())
    }

    fn packet(&mut self, tsft: Instant, at: Instant, channel: u8, frame: &[u8]) -> io::Result<()> {
        let radiotap = Radiotap {
            tsft: Some(tsft.as_nanos() / 1000),
            flags: Some(Radiotap::FCS_AT_END),
            rate: Some(Radiotap::RATE_1M),
            channel: Some(ChannelField::cck(channel)),
            ..Radiotap::default()
        };
        let mut head = [0; Radiotap::EMIT_MAX];
        let head_len = radiotap.emit(&mut head).unwrap_or(0);
        let parts = [&head[..head_len], frame];
        self.out.packet(&PcapngPacket { at, parts, bad: false, comment: "" })
    }
}

/// Returns the random value of a frame: new for each, the same for its retries and in each run.
fn random(on_air: &FrameOnAir<'_>) -> [u8; 4] {
    let mixed = on_air.number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed >> 32) as u32).to_le_bytes()
}

impl<W: Write> Watch for Capture<W> {
    fn note(&mut self, _: Instant, note: &Note<'_>) {
        if let (Note::Air(on_air), None) = (note, &self.failed) {
            self.failed = self.frame(on_air).err();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::pcapng::tests::read;
    use super::*;
    use espbench_ieee80211::mac::Mac;
    use espbench_sim::lab::nodes::NodeId;

    #[test]
    fn header_frame_and_acknowledgement() {
        let mut bytes = Vec::new();
        let mut capture = Capture::new(&mut bytes).unwrap();
        let started = Instant::ZERO + Duration::from_millis(1500);
        let note = Note::Air(FrameOnAir {
            number: 1,
            attempt: 2,
            sequence: 3,
            started,
            took: dsss_1m(25, true),
            node: NodeId(0),
            from: Mac([2, 0, 0, 0, 0, 1]),
            to: Mac([2, 0, 0, 0, 0, 2]),
            channel: 6,
            data: &[7; 25],
            heard: &[NodeId(1)],
            missed: &[],
            acknowledged: Some(false),
        });
        capture.note(started, &note);
        assert_eq!(capture.finish().unwrap(), 2);
        let blocks = read(&bytes);
        let packet = |at: usize| {
            let body = &blocks[2 + at].body;
            let word = |at: usize| u32::from_le_bytes(body[at..at + 4].try_into().unwrap());
            let time = u64::from(word(4)) << 32 | u64::from(word(8));
            (time, body[20..20 + word(12) as usize].to_vec())
        };
        let (time, bytes) = packet(0);
        let took = Duration::from_micros(192 + 8 * (43 + 25));
        assert_eq!(time, (started + took).as_nanos());
        let (radiotap, frame) = Radiotap::parse(&bytes).unwrap();
        assert_eq!(radiotap.channel.and_then(ChannelField::number), Some(6));
        assert_eq!((frame.len(), frame[1] & 8), (43 + 25, 8), "a retry");
        let (_, bytes) = packet(1);
        assert_eq!(Radiotap::parse(&bytes).unwrap().1.len(), 14);
    }
}
