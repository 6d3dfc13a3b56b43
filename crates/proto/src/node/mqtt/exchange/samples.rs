//! The samples of a test, and their order.

use super::{Exchange, MqttPhase};
use crate::node::mqtt::Side;
use espbench_model::sample::{Interval, Observer, Sample};
use espbench_model::time::Instant;

impl Exchange<'_> {
    pub(super) fn poll_sample(&mut self, now: Instant) -> Option<Sample> {
        if self.subscriber.is_some()
            && let Some(interval) = self.meter.poll(now, self.settings.link)
        {
            return Some(Sample::Interval(interval));
        }
        if let Some(probe) = self.tracker.poll() {
            return Some(Sample::Probe(probe));
        }
        self.poll_total()
    }

    fn poll_total(&mut self) -> Option<Sample> {
        let MqttPhase::Closing { totals } = self.phase else { return None };
        self.phase = MqttPhase::Closing { totals: totals + 1 };
        if !self.meter.is_running() || totals == 3 || self.gathered.is_some() {
            self.phase = MqttPhase::Closed;
            for side in Side::BOTH {
                if let Some(connection) = self.connection(side) {
                    connection.disconnect();
                }
            }
            return None;
        }
        match totals {
            0 => self.meter.rest(self.settings.link).map(Sample::Interval),
            1 => Some(self.sent_total()),
            _ => self.received_total(),
        }
        .or_else(|| self.poll_total())
    }

    /// Sums up what came due, over the time in which it did.
    fn sent_total(&self) -> Sample {
        let due = self.tracker.counted();
        Sample::Interval(Interval {
            link: self.settings.link,
            total: true,
            observer: Observer::Sender,
            start: self.start,
            end: self.end,
            bytes: due * u64::from(self.settings.size),
            datagrams: Some(due),
            ..Interval::default()
        })
    }

    /// Sums up what arrived, until the last arrival.
    fn received_total(&self) -> Option<Sample> {
        let subscriber = self.subscriber.as_ref()?;
        let (gaps, came) = (subscriber.gaps(), subscriber.received_count());
        Some(Sample::Interval(Interval {
            link: self.settings.link,
            total: true,
            observer: Observer::Receiver,
            start: self.start,
            end: self.meter.last().max(self.start),
            bytes: came * u64::from(self.settings.size),
            datagrams: Some(came),
            lost: Some(self.tracker.counted().saturating_sub(came + self.unknown())),
            out_of_order: Some(gaps.reordered()),
            duplicates: Some(gaps.duplicates()),
            ..Interval::default()
        }))
    }
}
