//! One device of a transcript, and the test that it runs.

use super::super::item::iperf::{IperfLine, IperfRole};
use super::super::item::{self, TranscriptItem};
use super::job::Jobs;
use super::result::{IperfRun, TestResult, Unfinished, UnfinishedReason};
use super::{BACK, LineContext};
use espbench_ieee80211::mac::Mac;
use espbench_model::sample::{Link, Probe};
use espbench_model::time::Instant;

/// A device whose lines stand in the transcript.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeviceSession {
    /// Address in the monitor's prefix; `None` for the device at the console.
    pub(super) remote: Option<Mac>,
    /// Address of the device, once known.
    pub(super) own: Option<Mac>,
    pub(super) jobs: Jobs,
    pub(super) test: Option<TestState>,
    last_ms: Option<u32>,
}

/// State of a device's current test, according to its lines.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TestState {
    pub(super) run: Option<IperfRun>,
    pub(super) peer: Option<Mac>,
    pub(super) len: Option<u32>,
    pub(super) lines: u32,
    pub(super) ping: PingProgress,
    pub(super) flow: FlowProgress,
}

/// State of a ping test.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PingProgress {
    /// Link, and its sequence number of the run's ping 0.
    pub(super) base: Option<(Link, u64)>,
    /// Highest number of a ping whose fate is known.
    pub(super) last: Option<u32>,
    /// Time at which the ping before was over.
    pub(super) over: Option<Instant>,
    /// Loss that a late answer may still turn into a late probe, with the device's number of it.
    pub(super) lost: Option<(u32, Probe)>,
    /// Last late answer: the ping that waited, and the one that was answered.
    pub(super) stale: Option<(u32, u32)>,
    pub(super) replies: u32,
    pub(super) unreachable: u32,
    pub(super) late: u32,
}

/// State of a throughput test.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FlowProgress {
    /// Seconds in the first line and in the last one.
    pub(super) first: Option<i32>,
    pub(super) to: Option<i32>,
    /// Start of the first interval, end of the last one.
    pub(super) start: Option<Instant>,
    pub(super) end: Option<Instant>,
}

impl DeviceSession {
    pub(super) fn new(remote: Option<Mac>) -> Self {
        Self { remote, own: remote, jobs: Jobs::default(), test: None, last_ms: None }
    }

    /// Returns whether this line shows that the device has started again.
    pub(super) fn has_restarted(&mut self, ms: Option<u32>, item: &TranscriptItem<'_>) -> bool {
        use item::DeviceLine::{Panic, Reset};
        let told = matches!(item, TranscriptItem::Device(Reset { .. } | Panic(_)));
        let last = self.last_ms;
        self.last_ms = ms.or(last);
        let back = ms.zip(last).is_some_and(|(ms, last)| ms.saturating_add(BACK) < last);
        if told && ms.is_none() {
            // The times that follow are small, and no second restart.
            self.last_ms = None;
        }
        back || (told && last.is_some())
    }

    /// Takes a line of `espnow_iperf`.
    pub(super) fn iperf<const N: usize>(
        &mut self,
        cx: &mut LineContext<'_, N>,
        iperf: &IperfLine<'_>,
    ) {
        match *iperf {
            IperfLine::Initiator { own, peer } => {
                self.end_run(cx, UnfinishedReason::Another);
                self.own = Some(own);
                self.test = Some(TestState { peer: Some(peer), ..TestState::default() });
            }
            IperfLine::Responder(own) => {
                self.end_run(cx, UnfinishedReason::Another);
                self.own = Some(own);
                self.test =
                    Some(TestState { run: Some(IperfRun::Receiving), ..TestState::default() });
            }
            IperfLine::Settings { len, .. } => {
                self.test.get_or_insert_default().len = u32::try_from(len).ok();
            }
            IperfLine::Heading(IperfRole::Initiator) => {
                self.test.get_or_insert_default().run.get_or_insert(IperfRun::Sending);
            }
            IperfLine::Reply { bytes, from, seq, rssi: _, ms } => {
                self.reply(cx, from, seq, (bytes, ms));
            }
            IperfLine::Unreachable(seq) => self.unreachable(cx, seq),
            IperfLine::Stale { bytes, waiting, answered } => {
                self.stale(cx, bytes, waiting, answered)
            }
            IperfLine::PingOf(mac) => self.enter(cx, IperfRun::Ping).peer = Some(mac),
            IperfLine::Statistics(statistics) => self.statistics(cx, statistics),
            IperfLine::Sent(span, _) => self.interval(cx, IperfRun::Sending, &span),
            IperfLine::Received(span, _) => self.interval(cx, IperfRun::Receiving, &span),
            IperfLine::Final(report) => self.report(cx, &report),
            IperfLine::NoAnswer(_) => self.end_run(cx, UnfinishedReason::NoAnswer),
            IperfLine::Channel(_)
            | IperfLine::Window(_)
            | IperfLine::Heading(IperfRole::Responder)
            | IperfLine::Report
            | IperfLine::FinalHeading(_)
            | IperfLine::PingReport
            | IperfLine::Running
            | IperfLine::NoRole
            | IperfLine::Edges { .. }
            | IperfLine::QueueFull => {}
        }
    }

    /// Returns the test that this line belongs to: the current one, or one whose start is not in
    /// the transcript.
    pub(super) fn enter<const N: usize>(
        &mut self,
        cx: &mut LineContext<'_, N>,
        run: IperfRun,
    ) -> &mut TestState {
        let other = |test: &TestState| test.run.is_some_and(|now| now != run);
        if self.test.as_ref().is_some_and(other) {
            self.end_run(cx, UnfinishedReason::Another);
        }
        let test = self.test.get_or_insert_default();
        test.run = Some(run);
        test
    }

    /// Begins a new test like the current one, where no line announces it.
    pub(super) fn begin_again<const N: usize>(
        &mut self,
        cx: &mut LineContext<'_, N>,
        why: Option<UnfinishedReason>,
    ) {
        let Some(TestState { run, peer, len, .. }) = self.test else { return };
        if let Some(why) = why {
            self.end_run(cx, why);
        }
        self.test = Some(TestState { run, peer, len, ..TestState::default() });
    }

    /// Returns the link of the current test.
    pub(super) fn link<const N: usize>(&self, cx: &mut LineContext<'_, N>) -> Option<Link> {
        let test = self.test.as_ref()?;
        let link = match test.run {
            Some(IperfRun::Receiving) => cx.links.get(test.peer, self.own),
            _ => cx.links.get(self.own, test.peer),
        };
        if link.is_none() {
            cx.counts.links_full = cx.counts.links_full.saturating_add(1);
        }
        link
    }

    /// Ends the current test, which has no report.
    pub(super) fn end_run<const N: usize>(
        &mut self,
        cx: &mut LineContext<'_, N>,
        why: UnfinishedReason,
    ) {
        self.tell_loss(cx);
        let Some(test) = self.test else { return };
        // A responder goes on listening after its report, so this is no unfinished test.
        let listening = test.run == Some(IperfRun::Receiving) && test.lines == 0;
        if !listening {
            let link = if test.peer.is_some() { self.link(cx) } else { None };
            let (device, lines) = (self.own, test.lines);
            cx.made.finding(TestResult::Unfinished(Unfinished {
                device,
                link,
                run: test.run,
                why,
                lines,
            }));
        }
        self.test = None;
    }
}
