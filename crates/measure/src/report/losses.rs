//! Counts what became of the probes of one cell.

use super::Losses;
use crate::kind;
use crate::label;
use crate::run::Recorded;
use alloc::string::String;
use espbench_model::fact;
use espbench_model::sample::{Cause, Fate, Interval, Observer, Sample};

impl Losses {
    /// Counts the losses of one recorded cell.
    #[must_use]
    pub fn of(recorded: &Recorded) -> Self {
        let mut losses = Self {
            place: label::of(recorded),
            counters: crate::air::other_counters(&recorded.counters),
            ..Self::default()
        };
        let kind = kind::of(&recorded.workload);
        let Some(told) = kind.told_losses(recorded) else { return losses };
        losses.probes(&told, kind.is_late_after_lost());
        if let Some(&copies) = recorded.counters.get(fact::DUPLICATES_NOT_KEPT).filter(|n| **n > 0)
        {
            losses.other(Fate::Duplicate.name(), copies);
        }
        // Where each probe was recorded, the receiver's totals count the same things again.
        if losses.probes == 0 {
            let sent = kind::of(&recorded.workload).sent(recorded);
            for sample in &recorded.samples {
                if let Sample::Interval(i) = sample {
                    losses.interval(i, sent.is_some());
                }
            }
            if let Some(sent) = sent {
                losses.probes = sent.sent;
                losses.lose(Cause::Unknown.name(), sent.lost());
            }
        }
        losses
    }

    /// Counts the losses of the probes among samples that belong to no plan.
    pub(crate) fn of_probes(place: String, samples: &[Sample]) -> Self {
        let mut losses = Self { place, ..Self::default() };
        losses.probes(samples, false);
        losses
    }

    /// Adds what another repetition of the same cell lost.
    pub(super) fn add(&mut self, other: &Self) {
        self.probes += other.probes;
        let counts = [
            (&mut self.causes, &other.causes),
            (&mut self.others, &other.others),
            (&mut self.counters, &other.counters),
        ];
        for (sum, more) in counts {
            for (name, n) in more {
                *sum.entry(name.clone()).or_default() += n;
            }
        }
    }

    /// Returns how many probes were lost.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.causes.values().sum()
    }

    /// Returns the share that was lost, in percent; 0 where there was nothing to lose.
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.probes == 0 { 0.0 } else { 100.0 * self.lost() as f64 / self.probes as f64 }
    }

    /// Returns whether nothing was lost and nothing else happened to probes.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.lost() == 0 && self.others.values().all(|&n| n == 0)
    }

    fn probes(&mut self, samples: &[Sample], is_late_after_lost: bool) {
        for sample in samples {
            if let Sample::Probe(probe) = sample
                && !probe.link.is_beside()
            {
                self.probe(probe.fate, is_late_after_lost);
            }
        }
    }

    fn probe(&mut self, fate: Fate, is_late_after_lost: bool) {
        // A further copy is not a further probe, and a probe that was not waited for is no trial of
        // the link.
        let again = match fate {
            Fate::Duplicate | Fate::Lost(Cause::Stopped) => true,
            // Where a late probe was recorded as lost before, it is a further sample of it.
            Fate::Late => is_late_after_lost,
            _ => false,
        };
        self.probes += u64::from(!again);
        match fate {
            Fate::Delivered => {}
            Fate::Lost(Cause::Stopped) => self.other(Cause::Stopped.name(), 1),
            Fate::Lost(cause) => self.lose(cause.name(), 1),
            // What arrives changed is counted as lost: RFC 7680 section 2.5.
            Fate::Corrupt => self.lose(fate.name(), 1),
            Fate::Late | Fate::Duplicate => self.other(fate.name(), 1),
        }
    }

    /// Counts a total; intervals would count twice. The receiving end knows what is missing; where
    /// this end sent, that is the peer's report. Numbers that a refused send used up are none of what was lost: where
    /// the sender counts, losses are its own.
    fn interval(&mut self, i: &Interval, sender_counts: bool) {
        // Without numbers nothing tells what is missing, or what came twice.
        if !i.total || i.observer == Observer::Sender || !i.is_numbered() {
            return;
        }
        let (Some(datagrams), Some(lost)) = (i.datagrams, i.lost) else {
            return;
        };
        if !sender_counts {
            self.probes += datagrams + lost;
            self.lose(Cause::Unknown.name(), lost);
        }
        for (name, n) in [("out-of-order", i.out_of_order), ("duplicate", i.duplicates)] {
            if let Some(n) = n.filter(|&n| n > 0) {
                self.other(name, n);
            }
        }
    }

    fn lose(&mut self, cause: &str, by: u64) {
        if by > 0 {
            *self.causes.entry(String::from(cause)).or_default() += by;
        }
    }

    fn other(&mut self, name: &str, by: u64) {
        *self.others.entry(String::from(name)).or_default() += by;
    }
}
