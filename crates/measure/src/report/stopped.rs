//! Cells that the user stopped, and how far they had come.

use super::Report;
use crate::cell::Origin;
use crate::digits;
use crate::kind;
use crate::label;
use crate::live::FateCounts;
use crate::run::Recorded;
use alloc::format;
use alloc::string::{String, ToString as _};
use espbench_model::sample::{Link, Sample};
use espbench_model::text::count;
use espbench_model::time::Instant;
use serde::{Deserialize, Serialize};

/// Unit of cells that go by time.
const SECONDS: &str = "s";

/// Unit of searches.
const TRIES: &str = "tries";

/// A cell that the user stopped before its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoppedCell {
    /// Name of the cell, in words.
    pub place: String,
    /// Amount that was done: probes whose fate is known, or seconds.
    pub done: f64,
    /// Amount that the plan asked for; none where it is not known before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<f64>,
    /// Unit of both: `probes`, `tries` of a search, or `s`.
    pub unit: String,
    /// Parts of the time that the plan asked for, in words, such as `12 runs of 60 s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_of: Option<String>,
    /// Parts of the cell that were measured.
    #[serde(default, skip_serializing_if = "StoppedWith::is_figures")]
    pub with: StoppedWith,
}

/// Parts of a stopped cell that were measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StoppedWith {
    /// Samples of the test itself.
    #[default]
    Figures,
    /// Echoes over the idle link, and nothing of the test itself.
    IdleLink,
    /// Not one message of a device that is listened to.
    NoMessage,
    /// Nothing.
    Nothing,
}

impl StoppedWith {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
    const fn is_figures(&self) -> bool {
        matches!(self, Self::Figures)
    }

    /// Tells what there is of a cell of which so much was done.
    fn of(recorded: &Recorded, done: f64) -> Self {
        let is_of_test = |it: &Sample| !matches!(it, Sample::Probe(it) if it.link.is_beside());
        match done > 0.0 {
            true if recorded.samples.iter().any(is_of_test) => Self::Figures,
            true => Self::IdleLink,
            false if kind::of(&recorded.workload).is_heard() => Self::NoMessage,
            false => Self::Nothing,
        }
    }

    /// Returns the words behind how far the cell had come; beside others they are of this one.
    const fn words(self, is_only: bool) -> &'static str {
        match self {
            Self::Figures => "",
            Self::IdleLink => ": only the idle link was measured",
            Self::NoMessage | Self::Nothing if is_only => ": nothing was measured",
            Self::NoMessage | Self::Nothing => ": nothing of it was measured",
        }
    }
}

impl StoppedCell {
    /// Tells how far a cell had come; `None` of one that was not stopped.
    pub(super) fn of(recorded: &Recorded) -> Option<Self> {
        if !recorded.is_stopped() {
            return None;
        }
        let kind = kind::of(&recorded.workload);
        let (done, of, unit) = match (kind.tries(recorded), kind.probes()) {
            // Each try has a clock of its own.
            (Some(tries), _) => (tries as f64, None, TRIES),
            (None, Some(probes)) => {
                (FateCounts::of(&recorded.samples).known() as f64, Some(probes as f64), "probes")
            }
            (None, None) => {
                let all = kind.ends_by_plan().then(|| kind.expected().as_secs_f64());
                (last(&recorded.samples).since(Instant::default()).as_secs_f64(), all, SECONDS)
            }
        };
        let made_of = of.and_then(|_| kind.made_of()).filter(|_| kind.probes().is_none());
        let with = StoppedWith::of(recorded, done);
        Some(Self { place: label::of(recorded), done, of, unit: unit.into(), made_of, with })
    }

    /// Says how far it had come, such as `20 of 1000 probes`; the time of a lab is not that of a clock on the wall.
    #[must_use]
    pub fn words(&self, origin: Origin) -> String {
        let Self { done, of, unit, made_of, .. } = self;
        let unit = if unit == TRIES && *done == 1.0 { "try" } else { unit };
        // Probes are whole; of seconds three digits are enough.
        let done =
            if libm::floor(*done) == *done { done.to_string() } else { digits::three(*done) };
        let of = of.map(|it| format!(" of {it}")).unwrap_or_default();
        let is_virtual = self.unit == SECONDS && !origin.is_real_time();
        let time = if is_virtual { " of virtual time" } else { "" };
        let made_of = made_of.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
        format!("{done}{of} {unit}{time}{made_of}")
    }
}

/// Returns when the last sample was taken, on the clock that started with the cell.
fn last(samples: &[Sample]) -> Instant {
    let at = |sample: &Sample| match sample {
        // That a connection opened measures nothing.
        Sample::Probe(probe) if probe.link == Link::CONNECTIONS => None,
        Sample::Probe(probe) => Some(probe.received.or(probe.sent).unwrap_or(probe.due)),
        Sample::Interval(interval) => Some(interval.end),
    };
    samples.iter().filter_map(at).max().unwrap_or_default()
}

impl Report {
    /// Says what the report lacks of what was asked: that of a run that was cut short, or of a prediction that was
    /// stopped; `None` of a whole one.
    #[must_use]
    pub fn lacks(&self) -> Option<String> {
        let stopped = || "The prediction was stopped before its end. Ask it again for the rest";
        let is_stopped = self.incomplete && self.prediction.is_some();
        self.cut_short().or_else(|| is_stopped.then(|| stopped().into()))
    }

    /// Says that the run was cut short, and how to complete it; `None` of a run that was not.
    #[must_use]
    pub fn cut_short(&self) -> Option<String> {
        // A prediction says itself what of it is missing: there is nothing to resume.
        if !self.incomplete || self.prediction.is_some() {
            return None;
        }
        let resume = format!("espbench run --resume {}", self.run.name);
        let not_begun = self.missing.saturating_sub(self.stopped.len());
        let has_repetitions = self.plans().iter().any(|it| it.repetitions > 1);
        let cells = |n| match (has_repetitions, n) {
            (false, _) => count(n, "cell").to_string(),
            (true, 1) => "1 repetition of a cell".into(),
            (true, _) => format!("{n} repetitions of cells"),
        };
        let Some(first) = self.stopped.first() else {
            let are = if not_begun == 1 { "is" } else { "are" };
            return Some(format!(
                "The run was cut short: {} of its plan {are} missing. Complete it with {resume}",
                cells(not_begun)
            ));
        };
        let is_only = self.losses.len() <= 1;
        let place = if is_only { String::new() } else { format!(" in {}", first.place) };
        let further = match not_begun {
            0 => String::new(),
            n => format!("; {} not begun", cells(n)),
        };
        // The time of listening begins with the first message.
        let (when, but) = match first.with {
            StoppedWith::NoMessage => ("before the first message came".into(), ""),
            with => (format!("after {}", first.words(self.run.origin)), with.words(is_only)),
        };
        Some(format!("Stopped {when}{place}{but}{further}. All of it: {resume}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::defaults;
    use alloc::collections::BTreeMap;
    use alloc::vec::Vec;
    use espbench_model::fact;
    use espbench_model::sample::{Interval, Observer, Probe};
    use espbench_model::time::Duration;
    use espbench_model::workload::{Latency, MqttMode, Workload};

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn stopped(workload: Workload, samples: &[Sample]) -> StoppedCell {
        let recorded = Recorded {
            ordinal: 0,
            repetition: 0,
            workload,
            samples: samples.to_vec(),
            counters: BTreeMap::new(),
            facts: [(fact::STOPPED.into(), String::new())].into(),
            error: None,
        };
        StoppedCell::of(&recorded).unwrap()
    }

    fn interval(end: Instant) -> Sample {
        Sample::Interval(Interval { end, bytes: 1, ..Interval::default() })
    }

    #[test]
    fn time_of_several_runs_is_explained_and_that_of_a_lab_is_virtual() {
        let Some(Workload::TcpRate(mut rate)) = defaults("tcp-rate") else { unreachable!() };
        (rate.runs, rate.discard, rate.run_time) = (10, 2, Duration::from_secs(60));
        let cell = stopped(Workload::TcpRate(rate), &[interval(at(2740))]);
        assert_eq!(cell.words(Origin::Measured), "2.74 of 720 s (12 runs of 60 s)");
        let virtual_time = "2.74 of 720 s of virtual time (12 runs of 60 s)";
        assert_eq!(cell.words(Origin::Simulated), virtual_time);
        let echo = stopped(defaults("udp-echo").unwrap(), &[]);
        assert!(echo.words(Origin::Simulated).ends_with("probes"), "{echo:?}");
        assert_eq!((echo.made_of, echo.with), (None, StoppedWith::Nothing));
    }

    /// Echoes over the idle link come before the streams: their figure stands below the line.
    #[test]
    fn an_idle_link_that_was_measured_is_something() {
        let Some(Workload::Iperf(mut iperf)) = defaults("iperf") else { unreachable!() };
        iperf.latency = Some(Latency::DEFAULT);
        let echo = Sample::Probe(Probe {
            link: Link::IDLE,
            sent: Some(at(1200)),
            received: Some(at(1250)),
            ..Probe::default()
        });
        let cell = stopped(Workload::Iperf(iperf), &[echo]);
        assert_eq!(cell.with, StoppedWith::IdleLink);
        assert_eq!(cell.words(Origin::Measured), "1.25 of 15 s (5 s idle and 10 s)");
        let both = stopped(Workload::Iperf(iperf), &[echo, interval(at(6000))]);
        assert_eq!(both.with, StoppedWith::Figures);
    }

    #[test]
    fn a_search_says_how_many_rates_were_tried() {
        let Some(Workload::MqttRate(mut search)) = defaults("mqtt-rate") else { unreachable!() };
        search.mode = MqttMode::Search { low: 10.0, high: 1000.0 };
        let total = Interval { total: true, end: at(2000), ..Interval::default() };
        let of = |observer| Sample::Interval(Interval { observer, ..total });
        let one = [of(Observer::Sender), of(Observer::Receiver)];
        let told = |samples: &[Sample]| {
            stopped(Workload::MqttRate(search), samples).words(Origin::Measured)
        };
        assert_eq!(told(&one), "1 try");
        assert_eq!(told(&[one, one].concat()), "2 tries");
    }

    #[test]
    fn a_listener_says_that_no_message_came() {
        let Some(Workload::MqttRate(mut listen)) = defaults("mqtt-rate") else { unreachable!() };
        listen.mode = MqttMode::Listen;
        let accepted = Probe { link: Link::CONNECTIONS, sent: Some(at(3)), ..Probe::default() };
        let cell = stopped(Workload::MqttRate(listen), &[Sample::Probe(accepted)]);
        assert_eq!(cell.with, StoppedWith::NoMessage);
        let one = Probe { received: Some(at(900)), ..Probe::default() };
        let cell = stopped(Workload::MqttRate(listen), &[Sample::Probe(one)]);
        assert_eq!(cell.with, StoppedWith::Figures);
        let all: Vec<StoppedCell> = [cell].into();
        assert!(serde_json::to_string(&all).unwrap().contains("\"done\":0.9"));
    }
}
