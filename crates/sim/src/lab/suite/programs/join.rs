//! A station joins its network over and over, as after a start or with the key of its password known.

use super::told::charged;
use super::{Cell, SuiteError};
use crate::lab::nodes::Conversation as _;
use crate::lab::scene::NetRole;
use crate::power::StateTimes;
use core::time::Duration;
use espbench_dot11::random::{Purpose, RngStream};
use espbench_dot11::wifi::{BEACON_INTERVAL, Joined};
use espbench_model::sample::{Cause, Fate, Probe, Sample};
use espbench_model::workload::WifiJoin;

/// Longest time of the frames that a station sends as it leaves.
const FAREWELL: Duration = Duration::from_millis(100);

impl Cell<'_, '_> {
    /// Carries it out. The charge is that of joining alone.
    pub(super) fn wifi_join(&mut self, work: &WifiJoin) -> Result<(), SuiteError> {
        if self.scene.devices[0].role != NetRole::Station {
            return self.unable("only a station joins a network: `role = \"station\"`");
        }
        let device = self.device;
        let mut random = RngStream::stream(self.seed, 0, Purpose::Arrival);
        let (begin, mut drawn) = (self.lab.now(), StateTimes::NONE);
        for number in 0..work.count + work.discard {
            if self.record.cancelled() {
                return Err(SuiteError::Cancelled);
            }
            // At any time between two beacons.
            let due = begin + work.interval * number + random.time_below(BEACON_INTERVAL);
            let due = due.max(self.lab.now());
            self.lab.run_until(due)?;
            if work.cold {
                self.lab.forget_key(device);
            }
            let before = self.lab.times(device).unwrap_or(StateTimes::NONE);
            self.lab.join(device);
            self.lab.run_till(work.timeout, |it| it.association(device).is_some())?;
            let probe = Probe { seq: u64::from(number), due, ..Probe::default() };
            let probe = match self.lab.association(device) {
                Some(joined) => stages(probe, &joined, self.lab.now()),
                None => Probe { fate: Fate::Lost(Cause::Disconnected), ..probe },
            };
            if let Some(seq) = probe.seq.checked_sub(work.discard.into()) {
                let after = self.lab.times(device).unwrap_or(StateTimes::NONE);
                drawn.add_all(&after.since(&before));
                self.record.sample(Sample::Probe(Probe { seq, ..probe }));
            }
            self.lab.leave(device);
            self.lab.run_for(FAREWELL)?;
        }
        charged(self.record, &self.scene.devices[0].draw(), &drawn);
        Ok(())
    }
}

/// Returns a join as a probe: see [`WifiJoin`].
fn stages(probe: Probe, joined: &Joined, now: espbench_model::time::Instant) -> Probe {
    Probe {
        queued: Some(joined.found),
        sent: Some(joined.authenticated),
        acked: Some(joined.associated),
        received: Some(now),
        fate: Fate::Delivered,
        ..probe
    }
}
