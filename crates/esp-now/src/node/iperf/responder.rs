//! The responder: answers pings, counts messages, answers STOP. On the device it works inside the
//! component's main task.

use super::figure::{Fixed2, int};
use super::stream::{close_intervals, close_stream};
use super::{
    IperfDropped, MessageQueue, QueuedMessage, TAG, TestSetup, error_name, micros, millis_since,
};
use crate::component::FrameConfig;
use crate::component::iperf::{IPERF_LEN, IperfHead, IperfKind};
use crate::node::print::LogLevel;
use crate::node::task::{Cx, SendRequest, TaskStep, TransmitOutcome};
use espbench_ieee80211::mac::Mac;
use espbench_model::flow::{DatagramOrder, FlowCounts, FlowMeter, Tracker};
use espbench_model::sample::{Link, Observer};
use espbench_model::time::{Duration, Instant};

/// Silence after which a recorded flow gives way to another initiator's.
const SILENCE: Duration = Duration::from_secs(3);
/// Greatest number of messages that the number in a STOP adds to the losses; a larger one is not
/// believed.
const TAIL_MAX: u64 = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnswerPhase {
    Free,
    Wanted,
    InFlight,
}

/// State of one throughput test for the record.
#[derive(Debug)]
struct ReceivedFlow {
    from: Mac,
    last: Instant,
    /// Whether message 0 has come.
    zero: bool,
    /// Tracker of the messages' numbers, each plus one.
    tracker: Tracker<4>,
    meter: FlowMeter,
    bytes: u64,
    /// Number of messages missing at the end, according to STOP.
    tail: u64,
    /// Whether STOP has come.
    stopped: bool,
    /// Whether the flow is over and to be recorded up to the last arrival.
    over: bool,
}

impl ReceivedFlow {
    fn new(from: Mac, at: Instant, interval: Duration) -> Self {
        Self {
            from,
            last: at,
            zero: false,
            tracker: Tracker::default(),
            meter: FlowMeter::new(Link(0), Observer::Receiver, interval, at),
            bytes: 0,
            tail: 0,
            stopped: false,
            over: false,
        }
    }

    fn counts(&self) -> FlowCounts {
        FlowCounts {
            bytes: self.bytes,
            datagrams: Some(self.tracker.received()),
            lost: Some(self.tracker.lost() + self.tail),
            out_of_order: Some(self.tracker.out_of_order()),
            duplicates: Some(self.tracker.duplicates()),
            ..FlowCounts::default()
        }
    }

    /// Returns whether a message 0 that comes now begins another test.
    fn is_restart(&self) -> bool {
        // If message 0 never came, a delayed one belongs to this test unless its number has left
        // the window.
        if self.zero { self.tracker.next() > 2 } else { self.tracker.next() > 256 }
    }

    /// Returns whether nothing but message 0 came: an initiator repeats it when its STOP was not
    /// answered, and it is no test.
    fn is_ghost(&self) -> bool {
        self.zero && self.tracker.next() == 2 && !self.stopped
    }
}

/// State of the responder. The counters are static on the device: they outlive `-a` and `-s`, and
/// go on where message 0 of a test was lost.
#[derive(Debug)]
pub(super) struct IperfResponder {
    phase: AnswerPhase,
    answer: Option<(IperfHead, u16)>,
    start: Instant,
    count: u32,
    report_at: Instant,
    report_count: u32,
    interval: Duration,
    flow: Option<ReceivedFlow>,
    /// Time at which the pin fell for the ping that is answered.
    fell: Instant,
}

impl Default for IperfResponder {
    fn default() -> Self {
        Self {
            phase: AnswerPhase::Free,
            answer: None,
            start: Instant::ZERO,
            count: 0,
            report_at: Instant::ZERO,
            report_count: 0,
            interval: Duration::ZERO,
            flow: None,
            fell: Instant::ZERO,
        }
    }
}

impl IperfResponder {
    /// Executes `-s`: starts the responder.
    pub(super) fn open(&mut self, interval: u16) {
        self.phase = AnswerPhase::Free;
        self.answer = None;
        self.interval = Duration::from_secs(u64::from(interval));
        if let Some(flow) = &mut self.flow {
            flow.over = true;
        }
    }

    /// Records the rest of a flow after `-a`.
    pub(super) fn close(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        if let Some(flow) = &mut self.flow {
            flow.over = true;
        }
        if self.record_over(cx) { TaskStep::Idle } else { TaskStep::Until(cx.now) }
    }

    pub(super) fn run(
        &mut self,
        cx: &mut Cx<'_>,
        setup: &mut TestSetup,
        queue: &mut MessageQueue,
        dropped: &mut IperfDropped,
    ) -> TaskStep {
        loop {
            match self.phase {
                AnswerPhase::Wanted => return TaskStep::Send,
                AnswerPhase::InFlight => return TaskStep::Idle,
                AnswerPhase::Free => {}
            }
            if !self.record_over(cx) {
                return TaskStep::Until(cx.now);
            }
            let Some(heard) = queue.front().copied() else { return TaskStep::Idle };
            if !self.record(cx, &heard, dropped) {
                return TaskStep::Until(cx.now);
            }
            let _ = queue.pop_front();
            self.take(cx, setup, &heard);
        }
    }

    /// Handles a message as the component does.
    fn take(&mut self, cx: &mut Cx<'_>, setup: &mut TestSetup, heard: &QueuedMessage) {
        setup.peer = heard.from;
        let interval = Duration::from_secs(u64::from(setup.interval));
        self.count = self.count.wrapping_add(1);
        if heard.head.seq == 0 {
            self.count = 0;
            self.start = cx.now;
            self.report_at = cx.now + interval;
            self.report_count = 0;
        }
        match heard.head.kind {
            IperfKind::Bandwidth if cx.now >= self.report_at => {
                self.print_interval(cx, setup, heard);
                self.report_at = cx.now + interval;
                self.report_count = self.count;
            }
            IperfKind::Ping => {
                setup.pin(cx, false);
                self.fell = cx.now;
                self.reply(IperfHead { kind: IperfKind::PingAck, ..heard.head }, heard.len);
            }
            IperfKind::Stop => {
                self.print_total(cx, heard);
                let head = IperfHead { kind: IperfKind::StopAck, seq: self.count };
                self.reply(head, IPERF_LEN as u16);
            }
            _ => {}
        }
    }

    fn reply(&mut self, head: IperfHead, len: u16) {
        self.answer = Some((head, len));
        self.phase = AnswerPhase::Wanted;
    }

    pub(super) fn compose(
        &mut self,
        cx: &mut Cx<'_>,
        setup: &TestSetup,
        payload: &mut [u8],
    ) -> Option<SendRequest> {
        if self.phase != AnswerPhase::Wanted {
            return None;
        }
        self.phase = AnswerPhase::InFlight;
        let emitted = self.answer.and_then(|(head, len)| head.emit(payload, usize::from(len)));
        let (Some((head, _)), Some(len)) = (self.answer, emitted) else {
            self.sent(cx, setup, TransmitOutcome::Refused);
            return None;
        };
        let config = if head.kind == IperfKind::StopAck {
            FrameConfig { filter_adjacent: true, ..FrameConfig::UNICAST }
        } else {
            setup.config
        };
        Some(setup.outgoing(cx, config, len))
    }

    pub(super) fn sent(&mut self, cx: &mut Cx<'_>, setup: &TestSetup, outcome: TransmitOutcome) {
        if self.phase != AnswerPhase::InFlight {
            return;
        }
        self.phase = AnswerPhase::Free;
        let Some((head, _)) = self.answer.take() else { return };
        let ping = head.kind == IperfKind::PingAck;
        if ping {
            setup.pin(cx, true);
            setup.log_edges(cx, head.seq, self.fell, Some(cx.now));
        }
        if !outcome.is_done() {
            let (name, line) = (error_name(outcome), if ping { 401 } else { 424 });
            let text =
                format_args!("[espnow_iperf_responder, {line}] <{name}> <{name}> espnow_send");
            cx.log(LogLevel::Warn, TAG, text);
        }
    }

    fn print_interval(&self, cx: &mut Cx<'_>, setup: &TestSetup, heard: &QueuedMessage) {
        let interval = setup.interval;
        let end = (micros(self.report_at).wrapping_sub(micros(self.start)) / 1_000_000) as u32;
        let messages = self.count.wrapping_sub(self.report_count);
        let size = f64::from(messages.wrapping_mul(u32::from(heard.len))) / 1e6;
        let bits = Fixed2(size * 8.0 / f64::from(interval));
        let (from, to) = (int(end.wrapping_sub(u32::from(interval))), int(end));
        let (peer, rssi, size) = (setup.peer, heard.rssi, Fixed2(size));
        let text =
            format_args!("[{peer}]  {from:2}-{to:2} sec  {size} MBytes  {bits} Mbps  {rssi} dbm");
        cx.log(LogLevel::Info, TAG, text);
    }

    fn print_total(&self, cx: &mut Cx<'_>, heard: &QueuedMessage) {
        let total = heard.head.seq.wrapping_add(1);
        let lost = total.wrapping_sub(self.count);
        let size = f64::from(total.wrapping_mul(u32::from(heard.len))) / 1e6;
        let ms = millis_since(cx.now, self.start);
        let bits = Fixed2(size * 8.0 * 1000.0 / f64::from(ms));
        let spacing = Fixed2(f64::from(ms) / f64::from(self.count));
        let percent = Fixed2(f64::from(lost) * 100.0 / f64::from(total));
        let (size, seconds, lost, total) = (Fixed2(size), ms / 1000, int(lost), int(total));
        let head = "[ ID] Interval      Transfer       Bandwidth      Jitter   \
                    Lost/Total Datagrams";
        cx.log(LogLevel::Info, TAG, format_args!("{head}"));
        let text = format_args!(
            "[000] {:2}-{seconds:2} sec    {size} MBytes    {bits} Mbps    {spacing} ms    \
             {lost}/{total} ({percent}%)",
            0
        );
        cx.log(LogLevel::Info, TAG, text);
    }

    /// Records a message; returns false if there is no room for the samples that come first.
    fn record(
        &mut self,
        cx: &mut Cx<'_>,
        heard: &QueuedMessage,
        dropped: &mut IperfDropped,
    ) -> bool {
        match heard.head.kind {
            IperfKind::Bandwidth => self.record_message(cx, heard, dropped),
            IperfKind::Stop => self.record_stop(cx, heard),
            _ => true,
        }
    }

    fn record_message(
        &mut self,
        cx: &mut Cx<'_>,
        heard: &QueuedMessage,
        dropped: &mut IperfDropped,
    ) -> bool {
        let zero = heard.head.seq == 0;
        if let Some(flow) = &mut self.flow {
            let stranger = flow.from != heard.from;
            if stranger && heard.at.since(flow.last) < SILENCE {
                dropped.strangers = dropped.strangers.saturating_add(1);
                return true;
            }
            flow.over = stranger || (zero && flow.is_restart());
            if !self.record_over(cx) {
                return false;
            }
        }
        let interval = self.interval;
        let flow =
            self.flow.get_or_insert_with(|| ReceivedFlow::new(heard.from, heard.at, interval));
        let counts = flow.counts();
        if !close_intervals(&mut flow.meter, cx, heard.at, &counts) {
            return false;
        }
        let arrival = flow.tracker.take(i64::from(heard.head.seq) + 1);
        if matches!(arrival, DatagramOrder::Ahead | DatagramOrder::Late) {
            flow.bytes += u64::from(heard.len);
        }
        flow.zero |= zero;
        flow.last = heard.at;
        true
    }

    fn record_stop(&mut self, cx: &mut Cx<'_>, heard: &QueuedMessage) -> bool {
        let Some(flow) = self.flow.as_mut().filter(|flow| flow.from == heard.from) else {
            return true;
        };
        // All numbers below that of STOP were sent.
        let tail = u64::from(heard.head.seq).saturating_sub(flow.tracker.next() - 1);
        flow.tail = if tail > TAIL_MAX { 0 } else { tail };
        flow.last = heard.at;
        (flow.stopped, flow.over) = (true, true);
        self.record_over(cx)
    }

    /// Records the end of a flow that is over, if one is; returns false if there is no room.
    fn record_over(&mut self, cx: &mut Cx<'_>) -> bool {
        let Some(flow) = self.flow.as_mut().filter(|flow| flow.over) else { return true };
        let counts = flow.counts();
        if !flow.is_ghost() && !close_stream(&mut flow.meter, cx, flow.last, &counts) {
            return false;
        }
        self.flow = None;
        true
    }
}
