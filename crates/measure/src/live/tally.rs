//! Fates of a cell's probes so far, and whether anything was measured at all.

use crate::kind;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use espbench_model::sample::{Cause, Fate, Sample};
use espbench_model::text::counted;
use espbench_model::workload::Workload;

/// Counts of samples, each fate apart: only what came back whole and in time is delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FateCounts {
    /// Probes that came back, or arrived, whole and in time.
    pub delivered: u64,
    /// Probes that did not come; without those that the user's stop left open.
    pub lost: u64,
    /// Probes that came after their time-out.
    pub late: u64,
    /// Probes that came back with other content than was sent.
    pub corrupt: u64,
    /// Further copies of probes that had come.
    pub duplicate: u64,
    /// Intervals of streams.
    pub intervals: u64,
    /// Payload bytes of all intervals, whoever observed them.
    pub bytes: u64,
    /// Datagrams or messages of all intervals.
    pub datagrams: u64,
}

/// Rule by which a late probe counts in the share that is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LateProbes {
    /// The probe came: it is not lost, and counted apart.
    Apart,
    /// The device counts it as lost, after its time-out.
    Lost,
    /// The probe was recorded as lost before: its coming is a further sample of it.
    Again,
}

/// Returns how many probes are lost, and of how many: the definition of `loss` for every kind of test.
/// What comes back changed is lost (RFC 7680 section 2.5).
pub(crate) const fn loss_of(
    [delivered, lost, late, corrupt]: [u64; 4],
    rule: LateProbes,
) -> (u64, u64) {
    let missing = lost + corrupt;
    match rule {
        LateProbes::Apart => (missing, delivered + missing + late),
        LateProbes::Lost => (missing + late, delivered + missing + late),
        LateProbes::Again => (missing, delivered + missing),
    }
}

impl FateCounts {
    /// Returns how many probes are lost, and of how many.
    #[must_use]
    pub const fn loss_of(&self, late: LateProbes) -> (u64, u64) {
        loss_of([self.delivered, self.lost, self.late, self.corrupt], late)
    }

    /// Counts a sample.
    pub fn add(&mut self, sample: &Sample) {
        match sample {
            // That a connection opened, or an echo came back, measures nothing of the messages or streams.
            Sample::Probe(probe) if probe.link.is_beside() => {}
            Sample::Probe(probe) => match probe.fate {
                Fate::Delivered => self.delivered += 1,
                Fate::Lost(Cause::Stopped) => {}
                Fate::Lost(_) => self.lost += 1,
                Fate::Late => self.late += 1,
                Fate::Corrupt => self.corrupt += 1,
                Fate::Duplicate => self.duplicate += 1,
            },
            Sample::Interval(interval) => {
                self.intervals += 1;
                self.bytes = self.bytes.saturating_add(interval.bytes);
                let datagrams = interval.arrived().unwrap_or_default();
                self.datagrams = self.datagrams.saturating_add(datagrams);
            }
        }
    }

    /// Counts samples.
    #[must_use]
    pub fn of(samples: &[Sample]) -> Self {
        let mut counts = Self::default();
        samples.iter().for_each(|sample| counts.add(sample));
        counts
    }

    /// Returns how many probes have a fate, each counted once.
    #[must_use]
    pub const fn known(&self) -> u64 {
        self.delivered + self.lost + self.late + self.corrupt
    }

    /// Returns whether a probe has come or was lost.
    #[must_use]
    pub const fn has_probes(&self) -> bool {
        self.delivered + self.lost + self.late + self.corrupt + self.duplicate > 0
    }

    /// Returns whether no sample has come.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns why a cell that was carried out to its end has no result, in words that say what to
    /// do; `None` where something was measured. A cell without one valid sample has failed.
    #[must_use]
    pub fn nothing(&self, workload: &Workload) -> Option<String> {
        if kind::of(workload).is_heard() && self.delivered + self.duplicate == 1 {
            let why = "one message came, and a rate takes two; listen for longer";
            return Some(format!("nothing was measured: {why}"));
        }
        if self.delivered > 0 || self.bytes > 0 || self.datagrams > 0 {
            return None;
        }
        let probes = self.lost + self.late + self.corrupt;
        let why = match (probes, self.intervals) {
            (0, 0) => "no sample was taken; measure for longer, or more probes".into(),
            (0, n) => format!(
                "no byte was moved in {}; check the peer",
                counted(n, "interval", "intervals")
            ),
            _ => self.none_of(probes, workload),
        };
        Some(format!("nothing was measured: {why}"))
    }

    fn none_of(&self, probes: u64, workload: &Workload) -> String {
        let is_echo = kind::of(workload).is_echo();
        let what = if is_echo { "probes none came back" } else { "messages none arrived" };
        let hint = match () {
            () if self.corrupt > 0 && is_echo => {
                "check that the device sends each datagram back unchanged"
            }
            () if self.corrupt > 0 => "check what sends on that topic or port",
            () if self.late > 0 => "raise the time-out",
            () => "check the device and the link",
        };
        let told = [(self.lost, "lost"), (self.late, "late"), (self.corrupt, "corrupt")];
        format!("of {probes} {what} as sent and in time ({}); {hint}", listed(&told))
    }
}

fn listed(counts: &[(u64, &str)]) -> String {
    let some = counts.iter().filter(|(n, _)| *n > 0);
    some.map(|(n, name)| format!("{n} {name}")).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for FateCounts {
    /// Writes `950 delivered, 0 lost, 50 corrupt`, or `12 intervals`; nothing before the first
    /// sample.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let probes = self.delivered + self.lost + self.late + self.corrupt + self.duplicate;
        if probes == 0 {
            return if self.intervals == 0 {
                Ok(())
            } else {
                write!(f, "{}", counted(self.intervals, "interval", "intervals"))
            };
        }
        write!(f, "{} delivered, {} lost", self.delivered, self.lost)?;
        let copies = if self.duplicate == 1 { "duplicate" } else { "duplicates" };
        let others = [(self.late, "late"), (self.corrupt, "corrupt"), (self.duplicate, copies)];
        for (n, name) in others.iter().filter(|it| it.0 > 0) {
            write!(f, ", {n} {name}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::defaults;
    use alloc::string::ToString;
    use espbench_model::sample::{Interval, Probe};

    fn of(fates: &[Fate]) -> FateCounts {
        let mut tally = FateCounts::default();
        for &fate in fates {
            tally.add(&Sample::Probe(Probe { fate, ..Probe::default() }));
        }
        tally
    }

    #[test]
    fn each_fate_is_counted_apart() {
        let lost = Fate::Lost(Cause::Unknown);
        let all =
            [Fate::Delivered, Fate::Corrupt, Fate::Corrupt, Fate::Duplicate, Fate::Late, lost];
        assert_eq!(of(&all).to_string(), "1 delivered, 1 lost, 1 late, 2 corrupt, 1 duplicate");
        assert_eq!(of(&[Fate::Lost(Cause::Stopped)]).to_string(), "");
    }

    #[test]
    fn a_cell_without_one_valid_sample_has_measured_nothing() {
        let echo = defaults("udp-echo").unwrap();
        let why = |fates: &[Fate]| of(fates).nothing(&echo);
        assert_eq!(why(&[Fate::Delivered, Fate::Corrupt]), None);
        assert_eq!(
            why(&[Fate::Corrupt, Fate::Corrupt, Fate::Lost(Cause::Unknown)]).unwrap(),
            "nothing was measured: of 3 probes none came back as sent and in time (1 lost, 2 corrupt); \
             check that the device sends each datagram back unchanged"
        );
        assert!(why(&[Fate::Late]).unwrap().ends_with("(1 late); raise the time-out"));
        assert!(why(&[]).unwrap().contains("no sample was taken"));
        // A copy of what never came is no measurement.
        assert!(why(&[Fate::Duplicate]).is_some());
    }

    #[test]
    fn one_message_of_a_device_is_no_rate() {
        use espbench_model::workload::MqttMode;
        let Some(Workload::MqttRate(mut work)) = defaults("mqtt-rate") else { unreachable!() };
        work.mode = MqttMode::Listen;
        let why = |fates: &[Fate]| of(fates).nothing(&Workload::MqttRate(work));
        let one = "nothing was measured: one message came, and a rate takes two; listen for longer";
        assert_eq!(why(&[Fate::Delivered]).as_deref(), Some(one));
        assert_eq!(why(&[Fate::Delivered, Fate::Duplicate]), None);
    }

    #[test]
    fn streams_that_moved_no_byte_have_measured_nothing() {
        let iperf = defaults("iperf").unwrap();
        let mut tally = FateCounts::default();
        tally.add(&Sample::Interval(Interval::default()));
        assert!(tally.nothing(&iperf).unwrap().contains("no byte was moved in 1 interval;"));
        tally.add(&Sample::Interval(Interval { bytes: 1, ..Interval::default() }));
        assert_eq!(tally.nothing(&iperf), None);
    }
}
