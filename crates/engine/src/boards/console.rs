//! The console of one board as a machine: bytes and time in, bytes, lines, samples and faults out.
//!
//! ```text
//! reset ─▶ Starting: boot log ─▶ prompt ─▶ Ready: command, echo, lines, prompt …
//!              └──────────── Failed(BoardFault) ◀──────────┘
//! ```
//!
//! [`Terminal`] answers the line editor and types; [`LineSplitter`] makes lines; [`TranscriptSession`]
//! makes samples of them. Here is whether the board works: whether it starts, crashes, starts
//! again, is garbled, or waits in its ROM.

use super::fault::BoardFault;
use super::learned::LearnedFacts;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use esp_now::transcript::item::{DeviceLine, IperfLine};
use esp_now::transcript::{
    LineSplitter, Query, SessionOutput, TranscriptEntry, TranscriptItem, TranscriptSession,
};
use espbench_ieee80211::mac::Mac;
use espbench_model::sample::Sample;
use espbench_model::time::Instant;
use espbench_sim::lab::live::late_of;
use espbench_sim::lab::nodes::terminal::{PAUSE, Terminal};
use espbench_sim::lab::suite::mark::{LineMark, MarkedLine};

/// Ctrl-U. The head of the first command would else be what is left of an answer that the line editor did not ask for.
const CLEAR_LINE: u8 = 0x15;

/// Bytes of the longest line: lists of a hundred devices.
const LINE: usize = 4096;
/// Lines that are kept until a test has read them.
const LINES: usize = 4096;
/// Samples that are kept until they are taken.
const SAMPLES: usize = 65_536;
/// Lines of a crash that are kept.
const BACKTRACE: usize = 8;
/// Longest time from a start to the prompt.
const START_MOST: Duration = Duration::from_secs(12);
/// Time after which a board that shows no prompt is asked for one by a carriage return.
const ASK: Duration = Duration::from_secs(3);
/// Time after a restart from which a prompt counts even if no line of the boot log was seen.
const MUTE_START: Duration = Duration::from_secs(6);
/// Time after which what was sent to get a prompt has been answered.
const ANSWERED: Duration = Duration::from_secs(1);
/// Bytes from which on it is judged whether they are text.
const JUDGED: u64 = 64;
/// Time that a crash has to be told to its end.
const CRASH_MOST: Duration = Duration::from_secs(2);

/// Stage of a board.
#[derive(Clone, Debug, PartialEq, Eq)]
enum BoardStage {
    /// The board was reset, or nothing is known of it yet.
    /// A prompt counts from `earliest` on: what was sent without being asked for is answered by then.
    Starting { since: Instant, booted: bool, asked: Instant, earliest: Instant },
    /// The board showed its prompt.
    Ready,
    /// The board crashed, and tells why.
    Crashing { reason: String, backtrace: Vec<String>, until: Instant },
    /// The board takes no part any more.
    Failed(BoardFault),
}

impl BoardStage {
    /// Returns the stage of a board that starts now, or whose start was before.
    const fn starting(now: Instant, booted: bool) -> Self {
        Self::Starting { since: now, booted, asked: now, earliest: now }
    }
}

/// Counts of what was not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConsoleDrops {
    /// Lines that no test had read before the buffer was full.
    pub lines: u64,
    /// Samples beyond the buffer.
    pub samples: u64,
}

/// The console of one board. See the [module](self).
#[derive(Debug)]
pub struct BoardConsole {
    terminal: Terminal,
    splitter: Box<LineSplitter<LINE>>,
    session: Box<TranscriptSession<2>>,
    learned: LearnedFacts,
    stage: BoardStage,
    lines: VecDeque<MarkedLine>,
    samples: Vec<Sample>,
    drops: ConsoleDrops,
    /// Bytes for the board.
    out: Vec<u8>,
    /// Time at which the carriage return of a command is due.
    enter: Option<Instant>,
    /// Whether an answer was sent that the line editor may not have asked for: then it stands on the line.
    unasked: bool,
    /// Time from which on commands are typed.
    hold: Option<Instant>,
    /// Device whose answers are taken; all, where none is named.
    peer: Option<Mac>,
    helping: bool,
    last: String,
    /// Whether the board has got the key since its start.
    keyed: bool,
    /// Bytes since the start, and those of them that are no text.
    bytes: u64,
    bad: u64,
    heard: Instant,
    /// Time of the last start that was seen, or of the reset.
    started: Instant,
    /// Whether the firmware has told its name since that start.
    named: bool,
    /// Time until which the board may start again by itself.
    restless: Instant,
}

impl BoardConsole {
    /// Creates the console of a board of which nothing is known.
    #[must_use]
    pub fn new(now: Instant) -> Self {
        Self {
            terminal: Terminal::default(),
            splitter: Box::default(),
            session: Box::default(),
            learned: LearnedFacts::default(),
            stage: BoardStage::starting(now, false),
            lines: VecDeque::new(),
            samples: Vec::new(),
            drops: ConsoleDrops::default(),
            out: Vec::new(),
            enter: None,
            unasked: false,
            hold: None,
            peer: None,
            helping: false,
            last: String::new(),
            keyed: false,
            bytes: 0,
            bad: 0,
            heard: now,
            started: now,
            named: false,
            restless: Instant::ZERO,
        }
    }

    /// Returns what the board has told of itself.
    #[must_use]
    pub const fn learned(&self) -> &LearnedFacts {
        &self.learned
    }

    /// Returns what was not kept.
    #[must_use]
    pub const fn drops(&self) -> ConsoleDrops {
        self.drops
    }

    /// Returns the fault of the board.
    #[must_use]
    pub const fn fault(&self) -> Option<&BoardFault> {
        match &self.stage {
            BoardStage::Failed(fault) => Some(fault),
            _ => None,
        }
    }

    /// Returns whether the board crashed and is still telling of it.
    #[must_use]
    pub const fn is_crashing(&self) -> bool {
        matches!(self.stage, BoardStage::Crashing { .. })
    }

    /// Returns whether the board has started and can be typed at.
    #[must_use]
    pub const fn is_ready(&self) -> bool {
        matches!(self.stage, BoardStage::Ready)
    }

    /// Returns whether the board shows its prompt, whatever its stage.
    #[must_use]
    pub const fn has_prompt(&self) -> bool {
        self.terminal.is_ready()
    }

    /// Returns when the board last started, or was reset.
    #[must_use]
    pub const fn started(&self) -> Instant {
        self.started
    }

    /// Returns whether the board has got the key since its start.
    #[must_use]
    pub const fn has_key(&self) -> bool {
        self.keyed
    }

    /// Returns the last line that the board printed.
    #[must_use]
    pub fn last(&self) -> &str {
        &self.last
    }

    /// Returns when the board last sent a byte.
    #[must_use]
    pub const fn heard(&self) -> Instant {
        self.heard
    }

    /// Returns how many commands are not typed to their end.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.terminal.pending()
    }

    /// Notes that the board was reset, or told to restart: it will boot.
    pub fn restarts(&mut self, now: Instant) {
        self.stage = BoardStage::starting(now, false);
        (self.bytes, self.bad, self.started, self.keyed) = (0, 0, now, false);
        (self.enter, self.hold, self.named) = (None, None, false);
    }

    /// Notes that the board was told to restart by a command that may reach it several times until then:
    /// a copy that arrives after its start restarts it once more.
    pub fn restarts_until(&mut self, now: Instant, until: Instant) {
        self.restarts(now);
        self.restless = until;
    }

    /// Forgets the state of the line: the board was reset by its pins.
    pub fn was_reset(&mut self, now: Instant) {
        self.unasked = false;
        self.terminal = Terminal::default();
        *self.splitter = LineSplitter::default();
        self.out.clear();
        self.restarts(now);
    }

    /// Notes that the port was opened and the board goes on as it was: asks it for a prompt.
    pub fn attached(&mut self, now: Instant) {
        self.restarts(now);
        self.stage = BoardStage::starting(now, true);
        self.ask(now, true);
    }

    /// Takes over what the board told earlier; how often it started stays.
    pub fn remember(&mut self, known: &LearnedFacts) {
        self.learned = LearnedFacts { starts: self.learned.starts, ..known.clone() };
    }

    /// Notes that the port is gone.
    pub fn unplugged(&mut self, error: &str) {
        self.fail(BoardFault::Unplugged { error: error.into() });
    }

    /// Gives the board up.
    pub fn fail(&mut self, fault: BoardFault) {
        if self.fault().is_none() {
            self.stage = BoardStage::Failed(fault);
        }
    }

    /// Queues a command; it is typed when the prompt is there.
    pub fn command(&mut self, now: Instant, text: &str) {
        self.terminal.command(text);
        self.type_next(now);
    }

    /// Takes the bytes that the board is to get.
    pub fn take_out(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.out)
    }

    /// Takes the lines since the last call.
    pub fn take_line(&mut self) -> Option<MarkedLine> {
        self.lines.pop_front()
    }

    /// Takes the samples since the last call, on the board's own clock.
    pub fn take_samples(&mut self) -> Vec<Sample> {
        core::mem::take(&mut self.samples)
    }

    /// Begins a test: samples of what was before are not of it.
    pub fn begin_samples(&mut self) {
        self.peer = None;
        self.samples.clear();
        *self.session = TranscriptSession::default();
    }

    /// Takes the answers of this device alone, until the next test begins.
    pub const fn hears(&mut self, peer: Mac) {
        self.peer = Some(peer);
    }

    /// Returns when [`tick`](Self::tick) is due.
    #[must_use]
    pub fn due(&self) -> Option<Instant> {
        let stage = match &self.stage {
            BoardStage::Starting { since, asked, booted, earliest } => {
                let ready = if *booted { *earliest } else { (*since + MUTE_START).max(*earliest) };
                let ask = (*asked + ASK).min(*since + START_MOST);
                Some(if self.terminal.is_ready() { ready.min(ask) } else { ask })
            }
            BoardStage::Crashing { until, .. } => Some(*until),
            BoardStage::Ready | BoardStage::Failed(_) => None,
        };
        // Nothing is typed at a board that is not ready, however long it was to be waited for.
        let hold = self.hold.filter(|_| self.is_ready());
        [stage, self.enter, hold].into_iter().flatten().min()
    }

    /// Takes bytes of the board.
    pub fn feed(&mut self, now: Instant, bytes: &[u8]) {
        self.heard = now;
        // The splitter is apart while its pieces change the rest.
        let mut splitter = core::mem::take(&mut self.splitter);
        for byte in bytes {
            self.bytes = self.bytes.saturating_add(1);
            let text = matches!(byte, 0x20..=0x7E | b'\r' | b'\n' | b'\t' | 0x08 | 0x1B | 0);
            self.bad = self.bad.saturating_add(u64::from(!text));
            self.terminal.feed(*byte);
            let mut rest: &[u8] = core::slice::from_ref(byte);
            while let Some(piece) = splitter.next(&mut rest) {
                self.entry(now, &TranscriptEntry::of(piece));
            }
        }
        self.splitter = splitter;
        self.answer();
        if let Some(at) = self.terminal.echoed(now) {
            self.enter = Some(at);
        }
        self.look(now);
    }

    /// Lets time pass.
    pub fn tick(&mut self, now: Instant) {
        if self.enter.is_some_and(|at| at <= now) {
            let due = self.enter.take().unwrap_or(now);
            if self.terminal.enters(due) {
                self.out.push(b'\r');
            }
        }
        match &mut self.stage {
            BoardStage::Starting { since, asked, .. } => {
                let (since, last) = (*since, *asked);
                *asked = if now >= last + ASK { now } else { last };
                if now >= since + START_MOST {
                    let fault = self.diagnosis();
                    self.fail(fault);
                } else if now >= last + ASK && !self.terminal.is_ready() {
                    self.ask(now, now >= since + ASK + ASK);
                }
            }
            BoardStage::Crashing { until, .. } if now >= *until => self.crashed(),
            _ => {}
        }
        self.look(now);
    }

    /// Returns why a board shows no prompt.
    fn diagnosis(&self) -> BoardFault {
        if self.is_garbled() {
            BoardFault::Garbled { bad: self.bad, bytes: self.bytes }
        } else if self.bytes == 0 {
            BoardFault::Silent
        } else {
            BoardFault::NoPrompt { last: self.last.clone() }
        }
    }

    const fn is_garbled(&self) -> bool {
        self.bytes >= JUDGED && self.bad.saturating_mul(4) > self.bytes
    }

    /// Looks whether the board has become ready, and types the next command.
    fn look(&mut self, now: Instant) {
        if let BoardStage::Starting { since, booted, earliest, .. } = &self.stage
            && self.terminal.is_ready()
            && now >= *earliest
            && (*booted || now >= *since + MUTE_START)
        {
            self.stage = BoardStage::Ready;
            // What a ROM prints at a rate of its own is no fault of the line.
            (self.bytes, self.bad) = (0, 0);
        }
        if self.is_ready() && self.is_garbled() {
            let fault = self.diagnosis();
            self.fail(fault);
        }
        self.type_next(now);
    }

    /// Asks for a prompt. A line editor whose query nobody heard waits for its answer, and takes
    /// whatever is typed for it; at a prompt the answer is a command that there is not.
    fn ask(&mut self, now: Instant, answering: bool) {
        if answering {
            self.out.extend_from_slice(Query::Position.answer());
            self.unasked = true;
        }
        self.out.push(b'\r');
        if let BoardStage::Starting { earliest, .. } = &mut self.stage {
            *earliest = now + ANSWERED;
        }
    }

    /// Answers the line editor, which waits for it.
    fn answer(&mut self) {
        if let Some(answer) = self.terminal.take_answers() {
            self.out.extend_from_slice(&answer);
        }
    }

    fn type_next(&mut self, now: Instant) {
        if !self.is_ready() {
            return;
        }
        if self.unasked && self.terminal.is_ready() {
            self.out.push(CLEAR_LINE);
            (self.unasked, self.hold) = (false, Some(now + PAUSE));
        }
        if self.hold.is_some_and(|at| now < at) {
            return;
        }
        self.hold = None;
        let Some((text, due)) = self.terminal.begin(now) else { return };
        self.helping = text == "help";
        self.out.extend_from_slice(text.as_bytes());
        self.enter = Some(due);
    }

    fn entry(&mut self, now: Instant, entry: &TranscriptEntry<'_>) {
        if matches!(
            entry.item,
            TranscriptItem::Prompt | TranscriptItem::Echo | TranscriptItem::Query(_)
        ) {
            return;
        }
        // Lines of other devices, which a monitor heard, are of their own consoles.
        if entry.line.remote.is_none() {
            self.own(now, entry);
        }
        let text = String::from(entry.line.text);
        self.last.clone_from(&text);
        let mark = LineMark::of(entry);
        self.keyed |= mark == LineMark::GotKey;
        if self.lines.len() >= LINES {
            self.lines.pop_front();
            self.drops.lines = self.drops.lines.saturating_add(1);
        }
        self.lines.push_back(MarkedLine { at: now, mark, text });
    }

    /// Takes a line of the board itself.
    fn own(&mut self, now: Instant, entry: &TranscriptEntry<'_>) {
        if let Some(late) = late_of(entry.line.tag(), entry.line.text) {
            let ms = u64::try_from(late.as_millis()).unwrap_or(u64::MAX);
            self.fail(BoardFault::Late { ms });
        }
        if let TranscriptItem::Iperf(IperfLine::Reply { from, .. }) = entry.item
            && self.peer.is_some_and(|peer| peer != from)
        {
            return;
        }
        self.learned.take(entry, self.helping);
        self.health(now, entry);
        let mut made = self.session.take(entry);
        if let Some(log) = entry.line.log {
            let at = Instant::ZERO + Duration::from_millis(log.ms.into());
            made.samples.iter_mut().flatten().for_each(|sample| end_at(sample, at));
        }
        self.keep(&made);
    }

    fn keep(&mut self, made: &SessionOutput) {
        for sample in made.samples.iter().flatten() {
            if self.samples.len() < SAMPLES {
                self.samples.push(*sample);
            } else {
                self.drops.samples = self.drops.samples.saturating_add(1);
            }
        }
    }

    /// Looks whether a line tells of a start, a crash or the ROM's download mode.
    fn health(&mut self, now: Instant, entry: &TranscriptEntry<'_>) {
        if entry.line.log.is_none() && entry.line.text == "waiting for download" {
            self.fail(BoardFault::DownloadMode);
            return;
        }
        let reset = match entry.item {
            TranscriptItem::Device(DeviceLine::Panic(text)) => {
                if !matches!(self.stage, BoardStage::Failed(_) | BoardStage::Crashing { .. }) {
                    let (reason, backtrace) = (text.into(), Vec::new());
                    let until = now + CRASH_MOST;
                    self.stage = BoardStage::Crashing { reason, backtrace, until };
                }
                return;
            }
            TranscriptItem::Device(DeviceLine::Reset { name, .. }) => Some(name),
            TranscriptItem::Device(DeviceLine::Component(..)) => Some(""),
            _ => None,
        };
        let names = matches!(entry.item, TranscriptItem::Device(DeviceLine::Component(..)));
        // The ROM tells of a start, or not; then the firmware tells its name.
        let again = reset.is_some() && self.named && now < self.restless;
        self.named = names || self.named && reset.is_none();
        match &mut self.stage {
            BoardStage::Crashing { backtrace, .. } => {
                let line = entry.line.text;
                let told = ["Backtrace:", "MEPC", "PC ", "Core "];
                let told = told.iter().any(|head| line.trim_start().starts_with(head));
                if told && backtrace.len() < BACKTRACE {
                    backtrace.push(line.into());
                }
                if reset.is_some() {
                    self.crashed();
                }
            }
            BoardStage::Starting { booted, .. } => {
                if reset.is_some() && (again || !*booted) {
                    *booted = true;
                    self.boots(now);
                }
            }
            BoardStage::Ready => {
                if reset.is_some() && now < self.restless {
                    self.stage = BoardStage::starting(now, true);
                    self.boots(now);
                } else if let Some(reason) = reset {
                    let reason = reason.into();
                    self.fail(BoardFault::Restarted { reason });
                }
            }
            BoardStage::Failed(_) => {}
        }
    }

    /// Takes note of a start.
    fn boots(&mut self, now: Instant) {
        (self.started, self.keyed) = (now, false);
        self.learned.starts = self.learned.starts.saturating_add(1);
        // A prompt from before the start is none any more.
        self.answer();
        self.terminal.reset();
    }

    fn crashed(&mut self) {
        let BoardStage::Crashing { reason, backtrace, .. } = &mut self.stage else { return };
        let (reason, backtrace) = (core::mem::take(reason), core::mem::take(backtrace));
        self.stage = BoardStage::Failed(BoardFault::Panicked { reason, backtrace });
    }
}

/// Ends the total of a stream when its report was printed, where the seconds in the report, which are cut,
/// allow it.
fn end_at(sample: &mut Sample, at: Instant) {
    if let Sample::Interval(interval) = sample
        && interval.total
        && at >= interval.end
        && at.since(interval.end) < Duration::from_secs(1)
    {
        interval.end = at;
    }
}
