//! Several lines together: samples and results, with the component's miscounts corrected.
//!
//! | module | contents |
//! |---|---|
//! | `device` | one device of a transcript, and the test that it runs |
//! | `flow` | throughput: one interval for each line, and the final report |
//! | `job` | upgrades and handshakes, whose result follows from several lines; and `sec_test` |
//! | `links` | the numbers of links, by their pairs of addresses |
//! | `ping` | ping: one probe for each line |
//! | `result` | results: the report of a test that is over |
//!
//! # What the lines mean
//!
//! | printed | true | here |
//! |---|---|---|
//! | `time=5 ms` of a ping | at least 5 and less than 6 ms, with the wait for the own send callback | `received` is the line's time, `sent` that minus the round trip; both are whole milliseconds, see [`Resolution::ROUND_TRIP`] |
//! | `Destination Host Unreachable` | no answer within 3 s | lost, cause unknown, `sent` unknown; `due` is when the ping before it was over, since there is no pause between pings |
//! | `data_size: …, recv_seq: 4` | ping 4 was answered after its time | 4 is [`Fate::Late`](espbench_model::sample::Fate::Late) instead of lost |
//! | `min: -1`, `average nan ms` | no answer at all | `None` |
//! | `Jitter` | time divided by messages | never a jitter; [`Final::spacing_ns`] |
//! | `7/100` lost in a final report | 6, at both ends; of 100 at the initiator, of 99 at the responder | [`ThroughputResult::lost`], [`ThroughputResult::total`] |
//! | `Transfer`, `Bandwidth` in the responder's final report | the messages sent | the sample has the messages received; [`Final`] has the printed figures |
//! | `ESP-NOW window size: 230 bytes` | a fixed text | nothing |
//!
//! A responder resets its counters when it hears message 0. If that is lost, they go on from the
//! run before: then the figures cannot be corrected and `lost` is `None`, as far as the lines show
//! it (times that do not start at 0, a loss below 1, or more lost than sent). In a first run they
//! do not show it, and one loss is missing.
//!
//! If STOP or its answer is lost there is no final report: [`Unfinished`].
//!
//! # Devices, links and clocks
//!
//! A transcript may hold lines of many devices: those of the console itself, and those that a
//! monitor heard over the air. A [`Link`](espbench_model::sample::Link) is a directed pair of addresses;
//! [`TranscriptSession::links`] maps them. The console's own address is known from the first line that names
//! it. Times are on the clock of the device that printed the line, which starts again when the
//! device does.
//!
//! A sequence number counts on the link: a second run continues where the first has ended.

mod device;
mod flow;
mod job;
mod links;
mod ping;
mod result;

pub use links::LinkEnds;
pub use result::{
    CryptoResult, HandshakeResult, IperfRun, PingResult, Resolution, Rounding, TestResult,
    ThroughputResult, Unfinished, UnfinishedReason, UpdateResult,
};

use super::item::{self, TranscriptEntry, TranscriptItem};
use device::DeviceSession;
use espbench_model::sample::Sample;
use espbench_model::time::{Duration, Instant};
use heapless::Vec;
use links::LinkTable;

#[cfg(doc)]
use super::item::iperf::Final;

/// Milliseconds by which a line's time must lie before that of the line before to show a restart;
/// lines of two tasks may change places by less.
const BACK: u32 = 1000;

/// Samples and results of one line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SessionOutput {
    /// Samples, in order.
    pub samples: [Option<Sample>; 2],
    /// Results, in order.
    pub findings: [Option<TestResult>; 2],
}

impl SessionOutput {
    fn sample(&mut self, sample: Sample) {
        if let Some(free) = self.samples.iter_mut().find(|s| s.is_none()) {
            *free = Some(sample);
        }
    }

    fn finding(&mut self, finding: TestResult) {
        if let Some(free) = self.findings.iter_mut().find(|f| f.is_none()) {
            *free = Some(finding);
        }
    }

    fn is_empty(&self) -> bool {
        self.samples.iter().all(Option::is_none) && self.findings.iter().all(Option::is_none)
    }
}

/// Counts of what could not be made into a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionCounts {
    /// Lines of devices for which there was no room.
    pub devices_full: u32,
    /// Samples of links for which there was no room.
    pub links_full: u32,
    /// Report lines without a time: a probe then has no timestamps, an interval those of its text.
    pub unstamped: u32,
    /// Late answers to pings whose fate had already been reported.
    pub late_untold: u32,
    /// Intervals and totals whose figures are impossible, or cannot be corrected: they yield no
    /// sample.
    pub impossible: u32,
    /// Restarts seen: by their lines, or because the time went back.
    pub restarts: u32,
}

/// Converter of entries into samples and results, for up to `N` devices and `N` links. See the
/// [module](self).
#[derive(Clone, Debug)]
pub struct TranscriptSession<const N: usize = 128> {
    devices: Vec<DeviceSession, N>,
    links: LinkTable<N>,
    counts: SessionCounts,
}

impl<const N: usize> Default for TranscriptSession<N> {
    fn default() -> Self {
        Self::new()
    }
}

/// Context of a part of the session: everything but the device.
struct LineContext<'a, const N: usize> {
    links: &'a mut LinkTable<N>,
    counts: &'a mut SessionCounts,
    made: &'a mut SessionOutput,
    /// Time of the line.
    at: Option<Instant>,
}

impl<const N: usize> TranscriptSession<N> {
    /// Creates a session without any knowledge.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            devices: Vec::new(),
            links: LinkTable::new(),
            counts: SessionCounts {
                devices_full: 0,
                links_full: 0,
                unstamped: 0,
                late_untold: 0,
                impossible: 0,
                restarts: 0,
            },
        }
    }

    /// Returns the ends of each link, in the order of their numbers.
    pub fn links(&self) -> impl Iterator<Item = LinkEnds> + '_ {
        self.links.ends()
    }

    /// Returns the counts of what could not be made into a sample.
    #[must_use]
    pub const fn counts(&self) -> &SessionCounts {
        &self.counts
    }

    /// Takes the next entry of the transcript.
    pub fn take(&mut self, entry: &TranscriptEntry<'_>) -> SessionOutput {
        let mut made = SessionOutput::default();
        let line = &entry.line;
        if matches!(
            entry.item,
            TranscriptItem::Prompt | TranscriptItem::Echo | TranscriptItem::Query(_)
        ) {
            return made;
        }
        let remote = line.remote.map(|remote| remote.mac);
        let Some(at) = self.device(remote) else {
            self.counts.devices_full = self.counts.devices_full.saturating_add(1);
            return made;
        };
        let Some(device) = self.devices.get_mut(at) else { return made };
        let mut cx = LineContext {
            links: &mut self.links,
            counts: &mut self.counts,
            made: &mut made,
            at: line.log.map(|log| milliseconds(log.ms)),
        };
        let ms = line.log.map(|log| log.ms);
        if device.has_restarted(ms, &entry.item) {
            cx.counts.restarts = cx.counts.restarts.saturating_add(1);
            device.end_run(&mut cx, UnfinishedReason::Restarted);
            device.jobs = job::Jobs::default();
        }
        match &entry.item {
            TranscriptItem::Iperf(iperf) => device.iperf(&mut cx, iperf),
            TranscriptItem::Device(item::DeviceLine::Own(mac, _)) => device.own = Some(*mac),
            item => {
                if let Some(finding) = device.jobs.take(device.own, item) {
                    cx.made.finding(finding);
                }
            }
        }
        made
    }

    /// Ends the transcript and returns the tests that were not finished. Call it until it returns
    /// `None`.
    pub fn finish(&mut self) -> Option<SessionOutput> {
        for device in &mut self.devices {
            let mut made = SessionOutput::default();
            let (links, counts) = (&mut self.links, &mut self.counts);
            device.end_run(
                &mut LineContext { links, counts, made: &mut made, at: None },
                UnfinishedReason::End,
            );
            if !made.is_empty() {
                return Some(made);
            }
        }
        None
    }

    /// Returns the index of a device; a new one if there is room.
    fn device(&mut self, remote: Option<espbench_ieee80211::mac::Mac>) -> Option<usize> {
        let known = self.devices.iter().position(|device| device.remote == remote);
        known.or_else(|| {
            self.devices.push(DeviceSession::new(remote)).ok()?;
            self.devices.len().checked_sub(1)
        })
    }
}

/// Returns the instant of a log line's time.
fn milliseconds(ms: u32) -> Instant {
    Instant::from_nanos(u64::from(ms) * 1_000_000)
}

/// Returns `at` less `by`; the start of the clock if that is earlier.
fn before(at: Instant, by: Duration) -> Instant {
    Instant::ZERO.after(at.since(Instant::ZERO.after(by)))
}

#[cfg(test)]
mod tests;
