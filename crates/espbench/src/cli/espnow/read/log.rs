//! One console's log: from its bytes to tests and remarks.

use super::{command, words};
use crate::user_error::UserError;
use anyhow::bail;
use esp_now::transcript::item::iperf::IperfRole;
use esp_now::transcript::session::{IperfRun, LinkEnds, SessionCounts};
use esp_now::transcript::{
    LineCounts, LineSplitter, SessionOutput, TestResult, TranscriptEntry, TranscriptItem,
    TranscriptPiece, TranscriptSession,
};
use espbench_measure::console::{LogContents, Remark, Test};
use espbench_model::sample::{Link, Observer, Sample};
use std::collections::BTreeMap;

/// Devices and links that a log may have.
const DEVICES: usize = 1000;

/// A line of a console; lists of devices are the longest.
const LINE: usize = 4096;

/// Most samples of one test; further ones are counted. A day of pings has fewer.
const SAMPLES: usize = 4_000_000;

/// Most different remarks; further ones are counted as one.
const REMARKS: usize = 1000;

/// Kind of the samples that belong together until their test is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stream {
    Ping,
    Interval(Observer),
}

/// A log as it is read.
pub(super) struct Log {
    console: String,
    lines: Box<LineSplitter<LINE>>,
    gathered: Gathered,
}

struct Gathered {
    session: Box<TranscriptSession<DEVICES>>,
    /// Samples whose test is not over.
    open: BTreeMap<(Link, Stream), Vec<Sample>>,
    /// Results of tests, with their samples; ends are filled in when all lines are read.
    tests: Vec<(Test, Option<Link>)>,
    /// How the test is sent that the last typed command began.
    mode: Option<String>,
    story: Remarks,
    problems: Remarks,
    /// Lines that show that this is a log.
    known: u64,
    /// Lines that are not of the component.
    other: u64,
    dropped: u64,
}

/// Texts with how often they came, in the order of their first times.
#[derive(Default)]
struct Remarks {
    order: Vec<(String, u64)>,
    index: BTreeMap<String, usize>,
}

impl Remarks {
    fn add(&mut self, text: String, times: u64) {
        let text = if self.order.len() < REMARKS || self.index.contains_key(&text) {
            text
        } else {
            "Further things, each different".into()
        };
        let at = *self.index.entry(text.clone()).or_insert_with(|| {
            self.order.push((text, 0));
            self.order.len() - 1
        });
        self.order[at].1 += times;
    }

    fn of(self, console: &str) -> impl Iterator<Item = Remark> + use<> {
        let console = console.to_owned();
        let remark = move |(text, count)| Remark { console: console.clone(), count, text };
        self.order.into_iter().map(remark)
    }
}

impl Log {
    /// Creates the log of a console; `console` names it in words.
    pub(super) fn new(console: &str) -> Self {
        Self {
            console: console.into(),
            lines: Box::default(),
            gathered: Gathered {
                session: Box::default(),
                open: BTreeMap::new(),
                tests: Vec::new(),
                mode: None,
                story: Remarks::default(),
                problems: Remarks::default(),
                known: 0,
                other: 0,
                dropped: 0,
            },
        }
    }

    /// Takes the next bytes.
    pub(super) fn take(&mut self, mut bytes: &[u8]) {
        while let Some(piece) = self.lines.next(&mut bytes) {
            self.gathered.piece(piece);
        }
    }

    /// Ends the log and hands over what it gathered.
    ///
    /// # Errors
    /// It is none.
    pub(super) fn finish(mut self, read: &mut LogContents) -> anyhow::Result<()> {
        self.lines.finish();
        self.take(&[]);
        while let Some(made) = self.gathered.session.finish() {
            self.gathered.made(&made);
        }
        let counts = *self.lines.counts();
        self.gathered.check(&counts)?;
        self.gathered.into_read(&self.console, &counts, read);
        Ok(())
    }
}

impl Gathered {
    fn piece(&mut self, piece: TranscriptPiece<'_>) {
        let entry = TranscriptEntry::of(piece);
        match &entry.item {
            TranscriptItem::Echo => self.mode = command::mode(entry.line.text).or(self.mode.take()),
            TranscriptItem::Prompt | TranscriptItem::Query(_) | TranscriptItem::Heading => {}
            TranscriptItem::Other => {
                self.known += u64::from(entry.line.log.is_some());
                self.other += 1;
            }
            item => {
                self.known += 1;
                if let Some(text) = words::story(&entry.line, item) {
                    self.story.add(text, 1);
                }
                if let Some(text) = words::problem(item) {
                    self.problems.add(text, 1);
                }
            }
        }
        let made = self.session.take(&entry);
        self.made(&made);
    }

    fn made(&mut self, made: &SessionOutput) {
        for sample in made.samples.iter().flatten() {
            let key = match sample {
                Sample::Probe(probe) => (probe.link, Stream::Ping),
                Sample::Interval(i) => (i.link, Stream::Interval(i.observer)),
            };
            let open = self.open.entry(key).or_default();
            if open.len() < SAMPLES {
                open.push(*sample);
            } else {
                self.dropped += 1;
            }
        }
        for finding in made.findings.iter().flatten() {
            self.finding(finding);
        }
    }

    fn finding(&mut self, finding: &TestResult) {
        let (link, stream) = match finding {
            TestResult::Ping(result) => (result.link, Some(Stream::Ping)),
            TestResult::Throughput(result) => {
                let observer = match result.printed.role {
                    IperfRole::Initiator => Observer::Sender,
                    IperfRole::Responder => Observer::Receiver,
                };
                (result.link, Some(Stream::Interval(observer)))
            }
            TestResult::Unfinished(test) => {
                let stream = test.run.map(|run| match run {
                    IperfRun::Ping => Stream::Ping,
                    IperfRun::Sending => Stream::Interval(Observer::Sender),
                    IperfRun::Receiving => Stream::Interval(Observer::Receiver),
                });
                (test.link, stream)
            }
            TestResult::Crypto(_) | TestResult::Update(_) | TestResult::Handshake(_) => {
                (None, None)
            }
        };
        if let Some((text, times)) = words::wrong(finding) {
            self.problems.add(text, times);
        }
        let key = link.zip(stream);
        let samples = key.and_then(|key| self.open.remove(&key)).unwrap_or_default();
        // A responder's console does not tell how the other end sends.
        let sends = matches!(stream, Some(Stream::Ping | Stream::Interval(Observer::Sender)));
        let mode = if sends { self.mode.take() } else { None };
        let test = Test { console: String::new(), finding: *finding, ends: None, mode, samples };
        self.tests.push((test, link));
    }

    /// Checks that the file is a console's log at all.
    fn check(&self, counts: &LineCounts) -> anyhow::Result<()> {
        const WANTED: &str = "give what a board's console shows, lines such as \
                              `I (1205) iperf_cmd: 10 bytes from 24:0a:c4:00:00:01: seq=0 …`";
        if self.known > 0 {
            return Ok(());
        }
        if counts.bytes == 0 {
            bail!(
                UserError::new("no log of a console").because("the file is empty").remedy(WANTED)
            );
        }
        if counts.not_utf8 > 0 || counts.controls > counts.lines {
            bail!(UserError::new("no log of a console").because("it is no text").remedy(WANTED));
        }
        let why = match counts.lines {
            1 => "its one line is of no console of ESP-IDF".into(),
            lines => format!("none of its {lines} lines is of a console of ESP-IDF"),
        };
        bail!(UserError::new("no log of a console").because(why).remedy(WANTED))
    }

    fn into_read(self, console: &str, counts: &LineCounts, read: &mut LogContents) {
        let links: Vec<LinkEnds> = self.session.links().collect();
        let mut problems = self.problems;
        for (times, text) in unread(counts, self.session.counts(), self.other, self.dropped) {
            if times > 0 {
                problems.add(text.into(), times);
            }
        }
        read.problems.extend(problems.of(console));
        read.story.extend(self.story.of(console));
        for (test, link) in self.tests {
            let ends = link.and_then(|link| links.get(usize::from(link.0)).copied());
            let console = console.to_owned();
            read.tests.push(Test { console, ends, ..test });
        }
    }
}

/// Returns counts of what could not be read or was not used, each with its words.
fn unread(
    lines: &LineCounts,
    session: &SessionCounts,
    other: u64,
    dropped: u64,
) -> [(u64, &'static str); 9] {
    [
        (session.restarts.into(), "The device restarted: its clock began again"),
        (
            session.impossible.into(),
            "An interval or total whose figures are impossible, or cannot be put right",
        ),
        (session.unstamped.into(), "A report line without a time: no round trip is known of it"),
        (session.late_untold.into(), "A late answer to a ping whose fate was told before"),
        (
            u64::from(session.devices_full) + u64::from(session.links_full),
            "A line of one device too many for this tool",
        ),
        (lines.cut_lines.into(), "A line too long to be read to its end"),
        (
            lines.not_utf8.into(),
            "A byte that is no text: noise on the serial line, or a wrong speed",
        ),
        (other, "A line that is not of the esp-now component: not read"),
        (dropped, "A sample beyond the most that one test may have"),
    ]
}
