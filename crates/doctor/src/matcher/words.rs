//! A reading by words of records that no other rule understands: a sign of failure beside a subject, in one clause.
//!
//! Programs say the same thing in words of their own: "could not join the network", "MQTT: no luck, rc -2". The rules of the turn
//! [`TURN`] tell what such a clause says; here is how a record is cut into clauses, and what is known of each.

use super::load::RuleMistake;
use super::rule::{Rule, SubjectFamily};
use super::search::{BestRules, RecordReading, TextView};
use super::{Topic, event};
use crate::log::{LogEvent, RecordLevel, WordCause};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// Turn of the rules of this reading.
pub(super) const TURN: u8 = 3;

/// Lists of signs of failure.
pub(super) const SIGNS: [&str; 7] =
    ["@fails", "@wrong", "@absent", "@timeout", "@down", "@ended", "@expected"];

/// Facts of a text that rules may ask for.
pub(super) const FACTS: [&str; 20] = [
    "is:sign",
    "is:happened",
    "is:ended",
    "is:expected",
    "is:short",
    "is:alone",
    "is:dots",
    "own:none",
    "own:wifi",
    "own:broker",
    "own:server",
    "own:esp-now",
    "own:other",
    "context:wifi",
    "context:broker",
    "context:server",
    "context:esp-now",
    "context:other",
    "tag-of:wifi",
    "first:none",
];

/// Clauses of a record that are read.
const CLAUSES: usize = 12;

/// Words of a short clause, at most.
const SHORT: usize = 4;

/// Dots that stand for a program which waits in vain: two a second for 15 s.
const DOTS: usize = 30;

/// Until then what has the tag of the bootloader is its own, in milliseconds.
const BOOTS_MS: u64 = 5000;

/// Topics of this reading, by their places.
#[derive(Debug)]
pub(super) struct WordTopics {
    clause: [usize; 3],
    subject: usize,
    subject_network: usize,
    waits: usize,
    none: usize,
    made: usize,
    pending: usize,
    restarts: usize,
    bluetooth: usize,
    skip: usize,
    bare: usize,
    reason: usize,
}

impl WordTopics {
    /// Returns whether a topic is of what a record tells: not of what it speaks of.
    pub(super) fn tells(&self, topic: usize) -> bool {
        let [first, named, linked] = self.clause;
        [first, named, linked, self.waits, self.made, self.bare].contains(&topic)
    }

    /// Finds the topics by their names.
    pub(super) fn of(topics: &[Topic]) -> Result<Self, RuleMistake> {
        let at = |name: &str| {
            let place = topics.iter().position(|it| it.name == name);
            place.ok_or_else(|| format!("no rule has the topic {name}"))
        };
        Ok(Self {
            clause: [at("clause")?, at("clause-named")?, at("clause-linked")?],
            subject: at("subject")?,
            subject_network: at("subject-network")?,
            waits: at("waits")?,
            none: at("words-none")?,
            made: at("made")?,
            pending: at("pending")?,
            restarts: at("restarts")?,
            bluetooth: at("bluetooth")?,
            skip: at("skip")?,
            bare: at("bare")?,
            reason: at("reason-beside")?,
        })
    }
}

/// Subject of the lines before a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Kind of the subject.
    pub family: SubjectFamily,
    /// Whether a connection is being made.
    pub pending: bool,
    /// Whether the program itself has just ended the link, to make it anew.
    pub restarts: bool,
}

impl RecordReading<'_> {
    /// Returns what the record tells by its words. `before` is what the lines before it speak of.
    #[must_use]
    pub fn words(&self, before: Option<Subject>) -> Option<LogEvent> {
        if !self.may_tell() {
            return None;
        }
        self.failure(before).or_else(|| self.success(before))
    }

    /// Returns what the record speaks of.
    #[must_use]
    pub fn subject(&self, before: Option<Subject>) -> Option<Subject> {
        let topics = &self.book.word_topics;
        if !self.may_speak() {
            return None;
        }
        let best = self.whole_words();
        let has = |topic: usize| best.of(topic).is_some();
        let bluetooth = has(topics.bluetooth);
        // A server of Bluetooth is none of the network.
        let family = self
            .family_of(best, topics.subject)
            .filter(|it| *it != SubjectFamily::Server || !bluetooth)
            .or_else(|| self.tag_family())
            .or_else(|| self.family_of(best, topics.subject_network))
            .or_else(|| bluetooth.then_some(SubjectFamily::Other))?;
        let again = family == SubjectFamily::Wifi && before.is_some_and(|it| it.restarts);
        let restarts = has(topics.restarts) || again;
        Some(Subject { family, pending: has(topics.pending), restarts })
    }

    /// Returns the rules of this reading that come first in their topics, of the whole record and of each clause: what the record
    /// tells is decided among them.
    #[must_use]
    pub fn word_rules(&self, before: Option<Subject>) -> Vec<&'static Rule> {
        let tag = self.tag_family();
        let mut context = tag.or(before.map(|it| it.family));
        let mut views = alloc::vec![self.bare_view(0), self.waiting_view(0, context, tag)];
        for clause in clauses(&self.text, 0) {
            let own = self.family(clause.range.clone());
            context = own.or(context);
            views.push(self.clause_view(clause.range, own, context));
        }
        let mut met: Vec<usize> = self.whole_words().rules().collect();
        views.iter().for_each(|it| met.extend(self.best(it, true).rules()));
        met.sort_unstable();
        met.dedup();
        met.into_iter().map(|it| &self.book.rules[it].rule).collect()
    }

    fn failure(&self, before: Option<Subject>) -> Option<LogEvent> {
        // What a program writes for those who look for its mistakes has failures that are none.
        if matches!(self.record.level, Some(RecordLevel::Debug | RecordLevel::Verbose)) {
            return None;
        }
        // Before a program runs there is no network: what the bootloader does without is in order, or told in a known form.
        if self.tag == "boot" && self.record.uptime_ms.is_some_and(|it| it < BOOTS_MS) {
            return None;
        }
        let (topics, best) = (&self.book.word_topics, self.whole_words());
        if best.of(topics.none).is_some() {
            return None;
        }
        let skipped = best.of(topics.skip).map_or(0, |it| it.1.end);
        let tag = self.tag_family();
        let mut context = tag.or(before.map(|it| it.family));
        let mut found = self.waits(skipped, context, tag);
        let bare = before.filter(|it| it.pending);
        if let Some(before) = bare.filter(|_| self.is_bare(skipped)) {
            found = found.max(match before.family {
                SubjectFamily::Wifi => Some(LogEvent::Words(WordCause::LinkFailed)),
                SubjectFamily::Broker | SubjectFamily::Server => {
                    Some(LogEvent::Words(WordCause::Connections))
                }
                SubjectFamily::EspNow | SubjectFamily::Other => None,
            });
        }
        for clause in clauses(&self.text, skipped) {
            let own = self.family(clause.range.clone());
            context = own.or(context);
            if !clause.asks {
                found = found.max(self.clause(clause.range, own, context));
            }
        }
        if found == Some(LogEvent::Words(WordCause::LinkEnded))
            && before.is_some_and(|it| it.restarts)
        {
            return None;
        }
        Some(match found? {
            cause @ LogEvent::Words(
                WordCause::LinkEnded
                | WordCause::LinkFailed
                | WordCause::Absent
                | WordCause::Password,
            ) => self.event_of(best, topics.reason).unwrap_or(cause),
            // In the order of causes it is one of them.
            LogEvent::Words(WordCause::Unheard) => LogEvent::EspNowUnheard,
            cause => cause,
        })
    }

    /// Returns what a success that the record tells makes good: a link, or a connection.
    fn success(&self, before: Option<Subject>) -> Option<LogEvent> {
        let (topics, best) = (&self.book.word_topics, self.whole_words());
        let found = best.of(topics.made)?.1;
        // "Connected to wifi, SSID: …": a network's name may have any word.
        let behind = found.end..self.text.len();
        let words =
            |it: &Range<usize>| self.text[it.clone()].split(' ').take(3).collect::<Vec<_>>();
        let named = match *words(&behind) {
            ["", _, name] => self.text[behind.clone()]
                .find(name)
                .and_then(|at| self.family(behind.start + at..behind.start + at + name.len())),
            _ => None,
        };
        // A bare "connected" makes a bare "disconnected" good.
        let of = named
            .or_else(|| self.family_of(best, topics.subject))
            .or_else(|| self.tag_family())
            .or(before.map(|it| it.family));
        let is_rest = self.text[behind].chars().all(|it| ".! ".contains(it));
        if of.is_none() && !(is_rest && self.text.split(' ').count() <= 2) {
            return None;
        }
        match of.unwrap_or(SubjectFamily::Server) {
            SubjectFamily::Wifi => Some(LogEvent::GotIp),
            SubjectFamily::Broker | SubjectFamily::Server => Some(LogEvent::ConnectionMade),
            SubjectFamily::EspNow | SubjectFamily::Other => None,
        }
    }

    /// Returns what a part of the text speaks of.
    fn family(&self, part: Range<usize>) -> Option<SubjectFamily> {
        let view = self.view(part);
        self.family_of(&self.best(&view, true), self.book.word_topics.subject)
    }

    fn tag_family(&self) -> Option<SubjectFamily> {
        let view = self.tag_view();
        self.family_of(&self.best(&view, true), self.book.word_topics.subject)
    }

    fn family_of(&self, best: &BestRules, topic: usize) -> Option<SubjectFamily> {
        let (at, _) = best.of(topic)?;
        self.book.rules[at].rule.family
    }

    fn event_of(&self, best: &BestRules, topic: usize) -> Option<LogEvent> {
        let (at, found) = best.of(topic)?;
        event::of(&self.book.rules[at].rule, &found, self.record.text, &self.text)
    }

    /// Returns whether the text says that something failed, and not what: "[FAILED] : trying again".
    fn is_bare(&self, from: usize) -> bool {
        let best = self.best(&self.bare_view(from), true);
        best.of(self.book.word_topics.bare).is_some()
    }

    fn bare_view(&self, from: usize) -> TextView {
        let mut view = self.view(from..self.text.len());
        let words = self
            .text_of(&view)
            .split(|it: char| !(it.is_alphanumeric() || it == '_'))
            .filter(|it| !it.is_empty());
        if words.count() <= 1 {
            view.know(self.book, fact("is:alone"));
        }
        view
    }

    /// Returns what a program says that waits, or tries again.
    fn waits(
        &self,
        from: usize,
        context: Option<SubjectFamily>,
        tag: Option<SubjectFamily>,
    ) -> Option<LogEvent> {
        let best = self.best(&self.waiting_view(from, context, tag), true);
        self.event_of(&best, self.book.word_topics.waits)
    }

    fn waiting_view(
        &self,
        from: usize,
        context: Option<SubjectFamily>,
        tag: Option<SubjectFamily>,
    ) -> TextView {
        let part = from..self.text.len();
        let mut view = self.view(part.clone());
        let dots = self.text_of(&view).trim_end().bytes().rev();
        if dots.take_while(|it| matches!(it, b'.' | b' ')).count() >= DOTS {
            view.know(self.book, fact("is:dots"));
        }
        if tag == Some(SubjectFamily::Wifi) {
            view.know(self.book, fact("tag-of:wifi"));
        }
        let first = clauses(&self.text, from).next();
        if first.is_some_and(|it| self.family(it.range).is_none()) {
            view.know(self.book, fact("first:none"));
        }
        self.know_families(&mut view, self.family(part), context);
        view
    }

    /// Returns the cause that a clause names.
    fn clause(
        &self,
        part: Range<usize>,
        own: Option<SubjectFamily>,
        context: Option<SubjectFamily>,
    ) -> Option<LogEvent> {
        let book = self.book;
        let best = self.best(&self.clause_view(part, own, context), true);
        let [first, named, linked] = book.word_topics.clause;
        if best.of(first).is_some() {
            return self.event_of(&best, first);
        }
        self.event_of(&best, named).or_else(|| self.event_of(&best, linked))
    }

    fn clause_view(
        &self,
        part: Range<usize>,
        own: Option<SubjectFamily>,
        context: Option<SubjectFamily>,
    ) -> TextView {
        let mut view = self.view(part);
        self.know_signs(&mut view);
        self.know_families(&mut view, own, context);
        view
    }

    /// Notes which signs of failure a clause has.
    fn know_signs(&self, view: &mut TextView) {
        let book = self.book;
        let at = |sign: usize| book.signs.get(sign).and_then(|it| view.first(book, *it));
        let [fails, wrong, absent, timeout, down, ended, expected] = core::array::from_fn(at);
        let ended = ended.filter(|_| down.is_none());
        let happened = [fails, wrong, absent, timeout, ended];
        let first = happened.iter().flatten().chain(&down).min().copied();
        let short = self.text_of(view).split_whitespace().count() <= SHORT;
        for (name, is) in [
            ("is:sign", first.is_some()),
            ("is:happened", happened.iter().any(Option::is_some)),
            ("is:ended", ended.is_some()),
            ("is:expected", expected.zip(first).is_some_and(|it| it.0 < it.1)),
            ("is:short", short),
        ] {
            if is {
                view.know(book, fact(name));
            }
        }
    }

    fn know_families(
        &self,
        view: &mut TextView,
        own: Option<SubjectFamily>,
        context: Option<SubjectFamily>,
    ) {
        let name = |of: &str, it: SubjectFamily| fact(&[of, it.name()].concat());
        view.know(self.book, own.map_or(fact("own:none"), |it| name("own:", it)));
        if let Some(it) = context {
            view.know(self.book, name("context:", it));
        }
    }
}

/// Returns the place of a fact.
fn fact(name: &str) -> usize {
    FACTS.iter().position(|it| *it == name).unwrap_or_default()
}

/// A part of a sentence.
struct Clause {
    range: Range<usize>,
    /// Whether it is a question: advice, and no report.
    asks: bool,
}

/// Returns the parts of a text's sentences from a place on.
fn clauses(text: &str, from: usize) -> impl Iterator<Item = Clause> + '_ {
    let bytes = text.as_bytes();
    let ends = |at: usize| match bytes[at] {
        b',' | b';' | b'!' | b'?' | b'|' => true,
        // Dots in a row stand for time that passes, and not for an end.
        b'.' => {
            let next = bytes.get(at + 1).copied().unwrap_or(b' ');
            next == b' ' && !(at > 0 && bytes[at - 1] == b'.')
        }
        _ => false,
    };
    let mut from = from;
    core::iter::from_fn(move || {
        if from >= bytes.len() {
            return None;
        }
        let end = (from..bytes.len()).find(|at| ends(*at)).unwrap_or(bytes.len());
        let clause = Clause { range: from..end, asks: bytes.get(end) == Some(&b'?') };
        from = end + 1;
        Some(clause)
    })
    .take(CLAUSES)
}

/// Returns the signs as patterns of groups; `ending` is that of lists.
pub(super) fn sign_lists(ending: &str) -> impl Iterator<Item = [String; 1]> {
    SIGNS.iter().map(move |it| [[it, ending].concat()])
}

/// Returns the facts that a text has only where it has a sign.
pub(super) fn is_fact_of_sign(at: usize) -> bool {
    ["is:sign", "is:happened", "is:ended", "is:expected"].contains(&FACTS[at])
}
