//! Ping: one probe for each line.

use super::super::item::iperf::Statistics;
use super::device::{DeviceSession, TestState};
use super::links::Count;
use super::result::{IperfRun, PingResult, TestResult, UnfinishedReason};
use super::{LineContext, before};
use espbench_ieee80211::mac::Mac;
use espbench_model::sample::{Cause, Fate, Probe, Sample};
use espbench_model::time::{Duration, Instant};

/// Time for which the component waits for an answer (reference, 7.4).
const TIMEOUT: Duration = Duration::from_secs(3);

impl DeviceSession {
    /// Takes the answer to a ping: payload in bytes and round trip in milliseconds.
    pub(super) fn reply<const N: usize>(
        &mut self,
        cx: &mut LineContext<'_, N>,
        from: Mac,
        seq: u32,
        (bytes, ms): (u32, u32),
    ) {
        let test = self.enter_ping(cx, seq);
        test.peer = Some(from);
        test.len.get_or_insert(bytes);
        self.tell_loss(cx);
        let at = stamped(cx);
        let sent = at.map(|at| before(at, Duration::from_millis(u64::from(ms))));
        let probe = Probe {
            bytes,
            due: sent.unwrap_or_default(),
            sent,
            received: at,
            fate: Fate::Delivered,
            ..Probe::default()
        };
        if let Some(probe) = self.placed(cx, seq, probe) {
            cx.made.sample(Sample::Probe(probe));
        }
        let Some(test) = &mut self.test else { return };
        test.ping.replies = test.ping.replies.saturating_add(1);
        test.ping.stale = None;
        answered(test, seq, at);
    }

    /// Takes a ping that was not answered in time. It is held back until the next one has its fate,
    /// since its answer may come late. The component prints the number in its buffer, where a late
    /// answer has put its own over that of the ping which waits.
    pub(super) fn unreachable<const N: usize>(
        &mut self,
        cx: &mut LineContext<'_, N>,
        printed: u32,
    ) {
        let stale = self.test.as_mut().and_then(|test| test.ping.stale.take());
        let stale = stale.filter(|&(waiting, answered)| answered == printed && printed < waiting);
        let seq = stale.map_or(printed, |(waiting, _)| waiting);
        self.enter_ping(cx, seq);
        self.tell_loss(cx);
        let at = stamped(cx);
        let Some(test) = &mut self.test else { return };
        let due = test.ping.over.or(at.map(|at| before(at, TIMEOUT))).unwrap_or_default();
        let fate = Fate::Lost(Cause::Unknown);
        test.ping.lost = Some((seq, Probe { due, fate, ..Probe::default() }));
        test.ping.unreachable = test.ping.unreachable.saturating_add(1);
        answered(test, seq, at);
    }

    /// Takes an answer that came while the device waited for that of a later ping.
    pub(super) fn stale<const N: usize>(
        &mut self,
        cx: &mut LineContext<'_, N>,
        bytes: u32,
        waiting: u32,
        answered: u32,
    ) {
        let at = stamped(cx);
        let test = self.enter(cx, IperfRun::Ping);
        test.ping.late = test.ping.late.saturating_add(1);
        test.ping.stale = Some((waiting, answered));
        let fresh = answered < waiting && test.ping.last.is_none_or(|last| answered > last);
        let late = Probe { bytes, received: at, fate: Fate::Late, ..Probe::default() };
        let late = match test.ping.lost {
            Some((seq, probe)) if seq == answered => {
                test.ping.lost = None;
                Some(Probe { due: probe.due, ..late })
            }
            // The line of its loss is missing in the transcript.
            None if fresh => {
                test.ping.last = Some(answered);
                Some(Probe { due: at.unwrap_or_default(), ..late })
            }
            _ => None,
        };
        let late = late.and_then(|probe| self.placed(cx, answered, probe));
        match late {
            Some(probe) => cx.made.sample(Sample::Probe(probe)),
            None => cx.counts.late_untold = cx.counts.late_untold.saturating_add(1),
        }
    }

    /// Takes the last line of the report.
    pub(super) fn statistics<const N: usize>(
        &mut self,
        cx: &mut LineContext<'_, N>,
        printed: Statistics,
    ) {
        self.enter(cx, IperfRun::Ping);
        self.tell_loss(cx);
        let known = self.test.as_ref().is_some_and(|test| test.peer.is_some());
        let link = if known { self.link(cx) } else { None };
        let test = self.test.take().unwrap_or_default();
        let ping = test.ping;
        let seen = ping.replies.saturating_add(ping.unreachable);
        cx.made.finding(TestResult::Ping(PingResult {
            device: self.own,
            link,
            printed,
            len: test.len,
            replies: ping.replies,
            unreachable: ping.unreachable,
            late: ping.late,
            missing: printed.transmitted.saturating_sub(seen),
        }));
    }

    /// Emits the loss that was held back.
    pub(super) fn tell_loss<const N: usize>(&mut self, cx: &mut LineContext<'_, N>) {
        let Some(test) = &mut self.test else { return };
        let bytes = test.len.unwrap_or_default();
        let Some((seq, probe)) = test.ping.lost.take() else { return };
        if let Some(probe) = self.placed(cx, seq, Probe { bytes, ..probe }) {
            cx.made.sample(Sample::Probe(probe));
        }
    }

    /// Returns the test that ping `seq` belongs to. Numbers only go up: a lower one is of a new
    /// run.
    fn enter_ping<const N: usize>(
        &mut self,
        cx: &mut LineContext<'_, N>,
        seq: u32,
    ) -> &mut TestState {
        let last = self.enter(cx, IperfRun::Ping).ping.last;
        if last.is_some_and(|last| seq <= last) {
            self.begin_again(cx, Some(UnfinishedReason::Another));
        }
        self.test.get_or_insert_default()
    }

    /// Returns `probe` with its link and its sequence number there.
    fn placed<const N: usize>(
        &mut self,
        cx: &mut LineContext<'_, N>,
        seq: u32,
        probe: Probe,
    ) -> Option<Probe> {
        let link = self.link(cx)?;
        let test = self.test.as_mut()?;
        let known = test.ping.base.filter(|base| base.0 == link);
        let (_, base) = known.unwrap_or_else(|| (link, cx.links.next(link, Count::Probe)));
        let own = u64::from(seq);
        // Within a run numbers only go up. Two devices that claim one address still get numbers of
        // their own.
        let seq = base.saturating_add(own).max(cx.links.next(link, Count::Probe));
        test.ping.base = Some((link, seq.saturating_sub(own)));
        cx.links.used(link, Count::Probe, seq);
        Some(Probe { link, seq, ..probe })
    }
}

/// Returns the line's time; counts the line if it has none.
fn stamped<const N: usize>(cx: &mut LineContext<'_, N>) -> Option<Instant> {
    cx.counts.unstamped = cx.counts.unstamped.saturating_add(u32::from(cx.at.is_none()));
    cx.at
}

fn answered(test: &mut TestState, seq: u32, at: Option<Instant>) {
    test.lines = test.lines.saturating_add(1);
    test.ping.last = Some(seq);
    test.ping.over = at.or(test.ping.over);
}
