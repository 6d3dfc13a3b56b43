//! `-y C`: rows on stdout as iperf 2.1.8 writes them.

use crate::sys::localtime;
use espbench_measure::kind::iperf::lines::csv;
use espbench_model::sample::{Interval, Observer};
use std::net::SocketAddr;
use std::time::{SystemTime, UNIX_EPOCH};

/// A stream whose intervals become rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowStream {
    /// Address of this side.
    pub(super) local: SocketAddr,
    /// The other side's.
    pub(super) peer: SocketAddr,
    /// Number of the stream.
    pub(super) id: u32,
    /// Whether it is of datagrams.
    pub(super) udp: bool,
    /// `-e`: times with milliseconds.
    pub(super) enhanced: bool,
}

impl RowStream {
    /// Returns the row of an interval that ended just now, with its line feed; nothing for a peer's
    /// report.
    pub(super) fn row(&self, interval: &Interval) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let [year, month, day, hour, minute, second] =
            localtime::fields(i64::try_from(now.as_secs()).unwrap_or_default());
        let mut time = format!("{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}");
        if self.enhanced {
            time += &format!(".{:03}", now.subsec_millis());
        }
        // The sender comes first, whoever prints.
        let (from, to) = match interval.observer {
            Observer::Receiver => (self.peer, self.local),
            Observer::Sender | Observer::Peer => (self.local, self.peer),
        };
        let (from_ip, to_ip) = (from.ip().to_string(), to.ip().to_string());
        let row = csv::CsvStream {
            time: &time,
            ends: [(&from_ip, from.port()), (&to_ip, to.port())],
            id: self.id,
            udp: self.udp,
        };
        csv::row(&row, interval).map_or_else(String::new, |row| row + "\n")
    }
}
