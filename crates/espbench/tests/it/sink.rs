//! A sink that keeps everything in memory.

use espbench::target::Sink;
use espbench_measure::cell::{Cell, Origin};
use espbench_measure::run::{Recorded, Site};
use espbench_measure::summary::{SummaryContext, summarize};
use espbench_model::sample::{Cause, Fate, Interval, Link, Observer, Probe, Sample};
use espbench_model::workload::Workload;
use std::collections::BTreeMap;

#[derive(Default)]
pub struct KeptSamples {
    pub samples: Vec<Sample>,
    pub counters: BTreeMap<String, u64>,
    pub facts: BTreeMap<String, String>,
    /// Say stop once there are so many samples.
    pub stop_after: Option<usize>,
    /// Action once there are so many samples.
    pub act: Option<(usize, Box<dyn FnOnce() + Send>)>,
}

impl Sink for KeptSamples {
    fn sample(&mut self, sample: Sample) {
        self.samples.push(sample);
        if let Some((_, act)) = self.act.take_if(|it| self.samples.len() >= it.0) {
            act();
        }
    }

    fn count(&mut self, name: &str, by: u64) {
        *self.counters.entry(name.into()).or_default() += by;
    }

    fn fact(&mut self, name: &str, value: String) {
        self.facts.insert(name.into(), value);
    }

    fn cancelled(&self) -> bool {
        self.stop_after.is_some_and(|most| self.samples.len() >= most)
    }
}

impl KeptSamples {
    /// Creates a sink that acts once there are so many samples.
    pub fn doing_after(count: usize, act: impl FnOnce() + Send + 'static) -> Self {
        Self { act: Some((count, Box::new(act))), ..Self::default() }
    }

    /// Returns the probes that are no connections.
    pub fn probes(&self) -> impl Iterator<Item = &Probe> {
        self.all_probes().filter(|probe| probe.link != Link::CONNECTIONS)
    }

    pub fn connections(&self) -> Vec<&Probe> {
        self.all_probes().filter(|probe| probe.link == Link::CONNECTIONS).collect()
    }

    fn all_probes(&self) -> impl Iterator<Item = &Probe> {
        self.samples.iter().filter_map(|sample| match sample {
            Sample::Probe(probe) => Some(probe),
            Sample::Interval(_) => None,
        })
    }

    pub fn intervals(&self, observer: Observer) -> Vec<Interval> {
        let of = |sample: &Sample| match sample {
            Sample::Interval(i) if i.observer == observer => Some(*i),
            _ => None,
        };
        self.samples.iter().filter_map(of).collect()
    }

    pub fn lost(&self) -> Vec<Cause> {
        let lost = |probe: &Probe| match probe.fate {
            Fate::Lost(cause) => Some(cause),
            _ => None,
        };
        self.probes().filter_map(lost).collect()
    }

    /// Returns the result cells.
    pub fn cells(self, workload: Workload) -> Vec<Cell> {
        let Self { samples, counters, facts, .. } = self;
        let recorded =
            Recorded { ordinal: 0, repetition: 0, workload, samples, counters, facts, error: None };
        let site = Site::default();
        summarize(&recorded, &SummaryContext { site: &site, origin: Origin::Measured, seed: 1 })
    }
}
