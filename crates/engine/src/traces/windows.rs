//! Frames to measurements: what was seen of each link in each window of time.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::time::Duration;

/// The most links of a trace, and the most measurements of all of them: as many as a lab reads.
const MOST_LINKS: usize = 10_000;
const MOST_ROWS: usize = 2_000_000;
/// The longest trace that a lab reads: a year.
const MOST_NS: u64 = 366 * 86_400 * 1_000_000_000;

/// Settings of a conversion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceSettings {
    /// Time that one measurement is of.
    pub window: Duration,
    /// Station at which frames were captured; without it each frame counts for its receiver.
    pub at: Option<String>,
    /// Names of stations by what the source calls them, such as an address in lower case.
    pub names: Vec<(String, String)>,
}

/// Frames that were seen of a link at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Sighting {
    /// Time in nanoseconds, on the source's clock.
    pub at_ns: u64,
    /// Sender, as the source calls it.
    pub from: String,
    /// Receiver, likewise; `None`: where it was captured.
    pub to: Option<String>,
    /// Received signal strength in dBm.
    pub rssi_dbm: Option<f64>,
    /// Transmissions that the sighting tells of.
    pub sent: f64,
    /// Those of them that arrived.
    pub arrived: f64,
}

/// Counts of what became of the source's frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceCounts {
    /// Sightings that are in the trace.
    pub used: u64,
    /// Frames that tell nothing of a link: to all without a station that captured, without an address, or
    /// with a wrong checksum.
    pub useless: u64,
    /// Sightings without a place: the trace had as many links or measurements as it may have, or its times went
    /// back by more than a window.
    pub dropped: u64,
}

/// The longest time without a measurement of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceGap {
    /// Sender and receiver.
    pub link: (String, String),
    /// Windows with measurements.
    pub windows: usize,
    /// Windows without one between the first and the last of the trace.
    pub missing: u64,
    /// Longest run of such windows.
    pub longest: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Window {
    number: u64,
    rssi_sum: f64,
    rssi_count: u32,
    sent: f64,
    arrived: f64,
}

/// Measurements of links, window by window.
#[derive(Debug)]
pub struct TraceWindows {
    settings: TraceSettings,
    begin_ns: Option<u64>,
    links: BTreeMap<(String, String), Vec<Window>>,
    rows: usize,
    counts: TraceCounts,
}

impl TraceWindows {
    /// Creates an empty trace.
    #[must_use]
    pub const fn new(settings: TraceSettings) -> Self {
        let counts = TraceCounts { used: 0, useless: 0, dropped: 0 };
        Self { settings, begin_ns: None, links: BTreeMap::new(), rows: 0, counts }
    }

    /// Returns the settings.
    #[must_use]
    pub const fn settings(&self) -> &TraceSettings {
        &self.settings
    }

    /// Returns the counts.
    #[must_use]
    pub const fn counts(&self) -> TraceCounts {
        self.counts
    }

    /// Returns whether a sender is the station at which frames were captured.
    pub(super) fn is_here(&self, sender: &str) -> bool {
        self.settings.at.as_deref().is_some_and(|at| at == self.name(sender))
    }

    /// Takes note of a frame that tells nothing.
    pub const fn useless(&mut self) {
        self.counts.useless += 1;
    }

    fn name(&self, name: &str) -> String {
        let known = self.settings.names.iter().find(|it| it.0.eq_ignore_ascii_case(name));
        known.map_or_else(|| name.to_string(), |it| it.1.clone())
    }

    /// Takes a sighting.
    pub fn add(&mut self, seen: &Sighting) {
        let to = seen.to.as_ref().map(|it| self.name(it)).or_else(|| self.settings.at.clone());
        let from = self.name(&seen.from);
        let Some(to) = to.filter(|it| *it != from) else { return self.useless() };
        let begin = *self.begin_ns.get_or_insert(seen.at_ns);
        let window = (self.settings.window.as_nanos() as u64).max(1);
        let since = seen.at_ns.saturating_sub(begin);
        let is_new = !self.links.contains_key(&(from.clone(), to.clone()));
        if since > MOST_NS || self.rows >= MOST_ROWS || is_new && self.links.len() >= MOST_LINKS {
            self.counts.dropped += 1;
            return;
        }
        let number = since / window;
        let list = self.links.entry((from, to)).or_default();
        let at = list.len();
        let place = match list.last() {
            Some(last) if last.number == number => at - 1,
            // Frames of several interfaces may be out of order by a little.
            Some(last) if last.number > number => {
                match list.binary_search_by_key(&number, |it| it.number) {
                    Ok(place) => place,
                    Err(_) => {
                        self.counts.dropped += 1;
                        return;
                    }
                }
            }
            _ => {
                list.push(Window { number, ..Window::default() });
                self.rows += 1;
                at
            }
        };
        if let Some(own) = list.get_mut(place) {
            own.sent += seen.sent;
            own.arrived += seen.arrived;
            if let Some(rssi) = seen.rssi_dbm {
                own.rssi_sum += rssi;
                own.rssi_count += 1;
            }
        }
        self.counts.used += 1;
    }

    /// Returns the links with the times for which they were not measured.
    #[must_use]
    pub fn gaps(&self) -> Vec<TraceGap> {
        let last = self.links.values().filter_map(|it| it.last()).map(|it| it.number).max();
        let all = last.map_or(0, |it| it + 1);
        let gap = |(link, list): (&(String, String), &Vec<Window>)| {
            let ends = list.iter().map(|it| it.number).chain([all]);
            let begins = core::iter::once(0).chain(list.iter().map(|it| it.number + 1));
            let longest = begins.zip(ends).map(|(a, b)| b.saturating_sub(a)).max().unwrap_or(0);
            let windows = list.len();
            TraceGap { link: link.clone(), windows, missing: all - windows as u64, longest }
        };
        self.links.iter().map(gap).collect()
    }

    /// Writes the trace as a lab reads it, sorted by time.
    #[must_use]
    pub fn csv(&self) -> String {
        let mut rows: Vec<(u64, &(String, String), &Window)> = Vec::with_capacity(self.rows);
        for (link, list) in &self.links {
            rows.extend(list.iter().map(|it| (it.number, link, it)));
        }
        rows.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)));
        let window_s = self.settings.window.as_nanos() as f64 / 1e9;
        let mut text = String::from("time_s,from,to,rssi_dbm,delivery\n");
        for (number, (from, to), it) in rows {
            let rssi = (it.rssi_count > 0).then(|| it.rssi_sum / f64::from(it.rssi_count));
            let rssi =
                rssi.map_or_else(String::new, |rssi| format!("{:.1}", rssi.clamp(-127.0, 20.0)));
            let share = (it.sent > 0.0).then(|| (it.arrived / it.sent).clamp(0.0, 1.0));
            let share = share.map_or_else(String::new, |share| format!("{share:.4}"));
            if rssi.is_empty() && share.is_empty() {
                continue;
            }
            let time = libm::rint(number as f64 * window_s * 1e6) / 1e6;
            text += &format!("{time},{},{},{rssi},{share}\n", field(from), field(to));
        }
        text
    }

    /// Returns whether nothing was measured.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }
}

/// Returns a name as a field of CSV (RFC 4180).
fn field(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.into()
    }
}
