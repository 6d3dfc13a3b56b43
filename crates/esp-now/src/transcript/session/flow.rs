//! Throughput: one interval for each line, and the final report.

use super::super::item::iperf::{Final, IntervalLine, IperfRole};
use super::device::{DeviceSession, FlowProgress, TestState};
use super::links::Count;
use super::result::{IperfRun, TestResult, ThroughputResult, UnfinishedReason};
use super::{LineContext, before};
use espbench_model::sample::{Interval, Observer, Sample};
use espbench_model::time::{Duration, Instant};

impl DeviceSession {
    /// Takes a periodic line.
    pub(super) fn interval<const N: usize>(
        &mut self,
        cx: &mut LineContext<'_, N>,
        run: IperfRun,
        span: &IntervalLine,
    ) {
        let to = self.enter(cx, run).flow.to;
        if to.is_some_and(|to| span.from < to) {
            self.begin_again(cx, Some(UnfinishedReason::Another));
        }
        let test = self.test.get_or_insert_default();
        test.peer = Some(span.peer);
        test.lines = test.lines.saturating_add(1);
        let (start, end) = times(&test.flow, cx.at, span.from, span.to);
        let flow = &mut test.flow;
        *flow = FlowProgress {
            first: flow.first.or(Some(span.from)),
            to: Some(span.to),
            start: flow.start.or(Some(start)),
            end: Some(end),
        };
        let Ok(bytes) = u64::try_from(span.bytes) else { return impossible(cx) };
        self.emit(cx, run, Interval { start, end, bytes, ..Interval::default() });
    }

    /// Takes the final report.
    pub(super) fn report<const N: usize>(&mut self, cx: &mut LineContext<'_, N>, printed: &Final) {
        let run = match printed.role {
            IperfRole::Initiator => IperfRun::Sending,
            IperfRole::Responder => IperfRun::Receiving,
        };
        let test = *self.enter(cx, run);
        let link = self.link(cx);
        // A responder's times start at 0 with message 0.
        let continued = run == IperfRun::Receiving && test.flow.first.unwrap_or(printed.from) != 0;
        let right = put_right(printed).filter(|_| !continued);
        cx.made.finding(TestResult::Throughput(ThroughputResult {
            device: self.own,
            link,
            printed: *printed,
            total: right.map(|right| right.total),
            lost: right.map(|right| right.lost),
            continued,
            len: test.len,
            intervals: test.lines,
        }));
        match total(&test, cx.at, printed, right) {
            Some(total) => self.emit(cx, run, total),
            None => impossible(cx),
        }
        match run {
            // The responder goes on listening.
            IperfRun::Receiving => self.begin_again(cx, None),
            IperfRun::Sending | IperfRun::Ping => self.test = None,
        }
    }

    /// Gives an interval its link and number, and emits it.
    fn emit<const N: usize>(
        &mut self,
        cx: &mut LineContext<'_, N>,
        run: IperfRun,
        interval: Interval,
    ) {
        if cx.at.is_none() {
            cx.counts.unstamped = cx.counts.unstamped.saturating_add(1);
        }
        let Some(link) = self.link(cx) else { return };
        let (observer, count) = match run {
            IperfRun::Receiving => (Observer::Receiver, Count::ReceiverInterval),
            IperfRun::Sending | IperfRun::Ping => (Observer::Sender, Count::SenderInterval),
        };
        let seq = cx.links.next(link, count);
        cx.links.used(link, count, seq);
        cx.made.sample(Sample::Interval(Interval { link, seq, observer, ..interval }));
    }
}

/// Corrected counts of a final report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Right {
    total: u64,
    lost: u64,
}

/// Corrects the counts: both ends report one loss too many; the responder counts STOP as a message,
/// too (reference, 7.4).
fn put_right(printed: &Final) -> Option<Right> {
    let stop = i64::from(printed.role == IperfRole::Responder);
    let lost = u64::try_from(printed.lost.checked_sub(1)?).ok()?;
    let total = u64::try_from(printed.total.checked_sub(stop)?).ok()?;
    (lost <= total).then_some(Right { total, lost })
}

/// Computes the sum over the whole test, as far as it is known.
fn total(
    test: &TestState,
    at: Option<Instant>,
    printed: &Final,
    right: Option<Right>,
) -> Option<Interval> {
    let sent = u64::try_from(printed.bytes).ok()?;
    let (bytes, datagrams) = match printed.role {
        IperfRole::Initiator => (exact(sent, test.len, right), right.map(|right| right.total)),
        // The printed figure is for the messages sent; the sample counts those received.
        IperfRole::Responder => {
            let right = right?;
            let came = right.total.saturating_sub(right.lost);
            // STOP counts as a message there, too.
            let counted = right.total.saturating_add(1);
            let bytes = u128::from(sent) * u128::from(came) / u128::from(counted);
            (u64::try_from(bytes).ok()?, Some(came))
        }
    };
    let whole = seconds(printed.to.saturating_sub(printed.from));
    let start = match (test.flow.start, at) {
        (Some(start), _) => start,
        (None, Some(at)) => before(at, whole),
        (None, None) => Instant::ZERO.after(seconds(printed.from)),
    };
    let lost = right.map(|right| right.lost);
    let end = start.after(whole);
    Some(Interval { total: true, start, end, bytes, datagrams, lost, ..Interval::default() })
}

/// Computes the bytes sent: messages times their length where that agrees with the printed figure,
/// which has steps of 10,000.
fn exact(printed: u64, len: Option<u32>, right: Option<Right>) -> u64 {
    let product = len.zip(right).and_then(|(len, right)| right.total.checked_mul(u64::from(len)));
    product.filter(|product| product.abs_diff(printed) <= 5_000).unwrap_or(printed)
}

/// Returns start and end: from the end of the line before to this line's time; by the seconds in
/// the text where one of them is missing.
fn times(flow: &FlowProgress, at: Option<Instant>, from: i32, to: i32) -> (Instant, Instant) {
    let Some(at) = at else {
        return (Instant::ZERO.after(seconds(from)), Instant::ZERO.after(seconds(to.max(from))));
    };
    let joined = flow.end.filter(|end| flow.to == Some(from) && *end <= at);
    (joined.unwrap_or_else(|| before(at, seconds(to.saturating_sub(from)))), at)
}

fn seconds(seconds: i32) -> Duration {
    Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
}

fn impossible<const N: usize>(cx: &mut LineContext<'_, N>) {
    cx.counts.impossible = cx.counts.impossible.saturating_add(1);
}
