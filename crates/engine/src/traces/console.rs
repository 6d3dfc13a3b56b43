//! Console logs: the esp-now component's lines that say how strong a frame arrived. A ping that was not
//! answered is a loss of the link to which its last answer belongs.

use super::windows::{Sighting, TraceWindows};
use alloc::string::{String, ToString as _};
use esp_now::transcript::item::{Example, IperfLine};
use esp_now::transcript::{LineSplitter, TranscriptEntry, TranscriptItem};
use espbench_ieee80211::mac::Mac;

/// Reader of a console's log.
#[derive(Debug, Default)]
pub struct ConsoleReader {
    lines: LineSplitter<512>,
    /// Sender of the last answer, and the number of the last message of the example.
    last: Option<Mac>,
    count: Option<u32>,
    /// Time of the last line that had one.
    at_ns: u64,
}

impl ConsoleReader {
    /// Takes bytes.
    pub fn push(&mut self, bytes: &[u8], windows: &mut TraceWindows) {
        let mut rest = bytes;
        while let Some(piece) = self.lines.next(&mut rest) {
            let entry = TranscriptEntry::of(piece);
            if let Some(log) = entry.line.log {
                self.at_ns = u64::from(log.ms) * 1_000_000;
            }
            take(&entry.item, (&mut self.last, &mut self.count), self.at_ns, windows);
        }
    }

    /// Takes the end of the log.
    pub fn finish(&mut self, windows: &mut TraceWindows) {
        self.push(b"\n", windows);
    }
}

fn take(
    item: &TranscriptItem<'_>,
    (last, count): (&mut Option<Mac>, &mut Option<u32>),
    at_ns: u64,
    windows: &mut TraceWindows,
) {
    let mut add = |from: String, rssi_dbm, sent, arrived| {
        windows.add(&Sighting { at_ns, from, to: None, rssi_dbm, sent, arrived });
    };
    match *item {
        TranscriptItem::Iperf(IperfLine::Reply { from, rssi, .. }) => {
            *last = Some(from);
            add(from.to_string(), Some(f64::from(rssi)), 1.0, 1.0);
        }
        TranscriptItem::Iperf(IperfLine::Unreachable(_)) => {
            if let Some(from) = *last {
                add(from.to_string(), None, 1.0, 0.0);
            }
        }
        TranscriptItem::Example(Example::Received { count: number, from, rssi, .. }) => {
            // The example counts what it received, so nothing tells what was lost.
            let first = *count != Some(number);
            *count = Some(number);
            if first {
                add(from.to_string(), Some(f64::from(rssi)), 0.0, 0.0);
            }
        }
        _ => {}
    }
}
