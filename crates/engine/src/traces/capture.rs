//! Captures: frames of IEEE 802.11 behind radiotap or PPI, or bare.
//!
//! A frame that was sent again has the retry bit, and its attempts have one sequence number; a number that is
//! missing is a frame of which no attempt was heard. So where frames were captured at a receiver, their
//! number and the numbers that are missing tell the share that arrives; and of a link between two others, each
//! retry is an attempt that was not acknowledged.

use super::TraceError;
use super::windows::{Sighting, TraceWindows};
use alloc::collections::BTreeMap;
use alloc::string::ToString as _;
use espbench_capture::file::{CaptureReader, CapturedPacket};
use espbench_capture::link::{LinkContent, content};
use espbench_ieee80211::mac::Mac;
use espbench_ieee80211::view::{MpduType, MpduView};

/// The most senders whose numbers are followed.
const MOST_SENDERS: usize = 10_000;
/// Missing numbers from which on a sender is taken to have started again.
const RESTART: u16 = 256;

/// Counter of sequence numbers: QoS frames of a receiver and class have one of their own.
type Counter = (Mac, Option<(Mac, u8)>);

/// Reader of a capture.
#[derive(Debug, Default)]
pub struct CaptureTrace {
    reader: CaptureReader,
    numbers: SenderNumbers,
}

/// Last sequence number of each sender.
#[derive(Debug, Default)]
struct SenderNumbers(BTreeMap<Counter, u16>);

impl CaptureTrace {
    /// Returns whether a file with these first bytes is a capture.
    #[must_use]
    pub fn knows(first: &[u8]) -> bool {
        CaptureReader::knows(first)
    }

    /// Takes bytes.
    ///
    /// # Errors
    /// They are no capture of IEEE 802.11.
    pub fn push(&mut self, bytes: &[u8], windows: &mut TraceWindows) -> Result<(), TraceError> {
        let Self { reader, numbers } = self;
        let mut wrong = None;
        let read = reader.push(bytes, &mut |packet| {
            if packet.link.is_air() {
                numbers.packet(packet, windows);
            } else if wrong.is_none() {
                wrong = Some(packet.number);
            }
        });
        read.map_err(|it| TraceError::new(it.to_string()))?;
        match wrong {
            None => Ok(()),
            Some(number) => Err(TraceError::new(alloc::format!(
                "packet {number} is no frame of IEEE 802.11 (link types 105, 127 and 192 are): capture in monitor mode"
            ))),
        }
    }

    /// Takes the end of the capture. A last packet that is cut is left out.
    ///
    /// # Errors
    /// There was nothing but the begin of a header.
    pub fn finish(&self) -> Result<(), TraceError> {
        let end = self.reader.finish().map_err(|it| TraceError::new(it.to_string()));
        end.map(|_| ())
    }
}

impl SenderNumbers {
    /// Takes a packet with its frame.
    fn packet(&mut self, packet: &CapturedPacket<'_>, windows: &mut TraceWindows) {
        let LinkContent::Air(air) = content(packet) else { return windows.useless() };
        let view = if air.bad { None } else { MpduView::parse(air.frame) };
        // Control frames have no sequence number.
        let found = view.and_then(|view| {
            let numbered = view.kind() != MpduType::Control && view.fragment == 0;
            Some((view, view.transmitter?, view.sequence.filter(|_| numbered)?))
        });
        let Some((view, transmitter, sequence)) = found else { return windows.useless() };
        let Some(at_ns) = packet.at_ns else { return windows.useless() };
        let retry = view.control.retry();
        let own = view.qos.map(|it| (view.receiver, (it & 0x0F) as u8));
        let missing = self.missing((transmitter, own), sequence);
        let from = transmitter.to_string();
        let rssi_dbm = air.radio.signal.map(f64::from);
        let heard_here = windows.settings().at.is_some() && !windows.is_here(&from);
        let again = f64::from(u8::from(retry && missing.is_some()));
        if heard_here {
            // All that was sent should have been heard here; a first retry tells of an attempt before it.
            let sent = 1.0 + again + f64::from(missing.unwrap_or(0));
            windows.add(&Sighting { at_ns, from, to: None, rssi_dbm, sent, arrived: 1.0 });
            return;
        }
        if !view.is_unicast() {
            return windows.useless();
        }
        // Each further attempt with one number says that nothing was acknowledged before. How strong it
        // arrives, the sender's own radio does not tell.
        let (sent, arrived) = if missing.is_some() { (1.0 + again, 1.0) } else { (1.0, 0.0) };
        let rssi_dbm = rssi_dbm.filter(|_| windows.settings().at.is_none());
        let to = Some(view.receiver.to_string());
        windows.add(&Sighting { at_ns, from, to, rssi_dbm, sent, arrived });
    }

    /// Returns how many numbers before this one were not heard; `None` for one that was heard before.
    fn missing(&mut self, sender: Counter, number: u16) -> Option<u16> {
        if self.0.len() >= MOST_SENDERS && !self.0.contains_key(&sender) {
            return Some(0);
        }
        let Some(last) = self.0.insert(sender, number) else { return Some(0) };
        let step = number.wrapping_sub(last) & 0x0FFF;
        match step {
            0 => None,
            1..=RESTART => Some(step - 1),
            _ => Some(0),
        }
    }
}
