//! Capture files: what was on a fleet's air, for Wireshark and tshark.
//!
//! The classic format of libpcap (draft-ietf-opsawg-pcap), little-endian. The crate `pcap-file`
//! would do it too; its 2.0 is of 2023 and its 3.0 not released, and these are two fixed headers.
//!
//! | offset | bytes | field of the file header |
//! |---|---|---|
//! | 0 | 4 | 0xA1B2C3D4: timestamps in microseconds |
//! | 4 | 2, 2 | version 2.4 |
//! | 8 | 4, 4 | reserved |
//! | 16 | 4 | longest packet that is kept |
//! | 20 | 4 | link type 127: radiotap, then IEEE 802.11 (`LINKTYPE_IEEE802_11_RADIOTAP`) |
//!
//! | offset | bytes | field before each packet |
//! |---|---|---|
//! | 0 | 4, 4 | seconds and microseconds |
//! | 8 | 4, 4 | bytes that follow; bytes that the packet had |

use espbench_proto::time::Instant;
use espbench_proto::wire::esp_now::{MPDU_MAX, Mpdu, Version};
use espbench_proto::wire::ieee80211::Ack;
use espbench_proto::wire::radiotap::{Channel, Radiotap};
use espbench_sim::radio::timing::SIFS_NS;
use espbench_sim::radio::{Airtime, Hr, Mode};
use espbench_sim::talk::medium::dsss_1m;
use espbench_sim::talk::note::{Note, OnAir, Watch, Why};
use std::io::{self, Write};
use std::time::Duration;

/// Long preamble and header, before the first bit of the frame.
const PREAMBLE: Duration = Duration::from_nanos(Airtime::of(Mode::Hr(Hr::M1), 0).lead_ns());
/// Between a frame and its acknowledgement.
const SIFS: Duration = Duration::from_nanos(SIFS_NS);
/// Longest packet that is kept: far more than radiotap and the longest frame have.
const SNAP_LEN: u32 = 65_535;
const LINK_TYPE: u32 = 127;

/// Writes a capture, as a monitor would make it that hears everything: frames that nobody gets,
/// each attempt of the MAC, and the MAC's acknowledgements.
#[derive(Debug)]
pub struct Capture<W> {
    out: W,
    /// Packets written.
    pub packets: u64,
    failed: Option<io::Error>,
}

impl<W: Write> Capture<W> {
    /// Begins a capture.
    ///
    /// # Errors
    /// The writer's.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(&0xA1B2_C3D4_u32.to_le_bytes())?;
        out.write_all(&[2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0])?;
        out.write_all(&SNAP_LEN.to_le_bytes())?;
        out.write_all(&LINK_TYPE.to_le_bytes())?;
        Ok(Self { out, packets: 0, failed: None })
    }

    /// Ends it and gives the number of packets.
    ///
    /// # Errors
    /// The first that the writer had.
    pub fn finish(mut self) -> io::Result<u64> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.out.flush()?;
        Ok(self.packets)
    }

    fn frame(&mut self, on_air: &OnAir<'_>) -> io::Result<()> {
        let mpdu = Mpdu {
            receiver: on_air.to,
            transmitter: on_air.from,
            sequence: on_air.sequence,
            retry: on_air.attempt > 1,
            random: random(on_air),
            version: Version::of_data(on_air.data.len()),
        };
        let mut buf = [0; MPDU_MAX];
        let len = mpdu.emit_with_fcs(on_air.data, &mut buf).unwrap_or(0);
        let end = on_air.started + dsss_1m(on_air.data.len(), false);
        self.packet(on_air.started + PREAMBLE, end, on_air.channel, &buf[..len])?;
        let duplicate = on_air.missed.iter().any(|(_, why)| *why == Why::Duplicate);
        if on_air.acknowledged.is_some() && (duplicate || !on_air.heard.is_empty()) {
            let ack = Ack { duration: 0, receiver: on_air.from };
            let begin = end + SIFS + PREAMBLE;
            self.packet(begin, on_air.started + on_air.took, on_air.channel, &ack.emit())?;
        }
        Ok(())
    }

    fn packet(&mut self, tsft: Instant, at: Instant, channel: u8, frame: &[u8]) -> io::Result<()> {
        let micros = |at: Instant| at.as_nanos() / 1000;
        let radiotap = Radiotap {
            tsft: Some(micros(tsft)),
            flags: Some(Radiotap::FCS_AT_END),
            rate: Some(Radiotap::RATE_1M),
            channel: Some(Channel::cck(channel)),
            ..Radiotap::default()
        };
        let mut head = [0; Radiotap::EMIT_MAX];
        let head_len = radiotap.emit(&mut head).unwrap_or(0);
        let len = (head_len + frame.len()) as u32;
        let (seconds, micros) = (micros(at) / 1_000_000, micros(at) % 1_000_000);
        for field in [seconds as u32, micros as u32, len, len] {
            self.out.write_all(&field.to_le_bytes())?;
        }
        self.out.write_all(&head[..head_len])?;
        self.out.write_all(frame)?;
        self.packets += 1;
        Ok(())
    }
}

/// The random value of a frame: new for each, the same for its retries and in each run.
fn random(on_air: &OnAir<'_>) -> [u8; 4] {
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
    use super::*;
    use espbench_proto::wire::mac::Mac;
    use espbench_sim::talk::NodeId;

    #[test]
    fn header_frame_and_acknowledgement() {
        let mut bytes = Vec::new();
        let mut capture = Capture::new(&mut bytes).unwrap();
        let started = Instant::ZERO + Duration::from_millis(1500);
        let note = Note::Air(OnAir {
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
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!([0, 16, 20].map(word), [0xA1B2_C3D4, SNAP_LEN, 127]);
        let (time, len) = ([24, 28].map(word), word(32) as usize);
        assert_eq!((time, word(36) as usize), ([1, 500_000 + 192 + 8 * (43 + 25)], len));
        let (radiotap, frame) = Radiotap::parse(&bytes[40..40 + len]).unwrap();
        assert_eq!(radiotap.channel.and_then(Channel::number), Some(6));
        assert_eq!((frame.len(), frame[1] & 8), (43 + 25, 8), "a retry");
        let rest = &bytes[40 + len..];
        assert_eq!(rest.len(), 16 + (len - frame.len()) + 14);
    }
}
