//! A log as it streams by.

use super::access_point::OwnAccessPoint;
use super::clock::LogClock;
use super::course::{LogPoint, LogTask};
use super::event::{LogEvent, ResetReason, SignName, WordCause, all_events};
use super::format::next_head;
use super::open_crash::OpenCrash;
use super::parting::{ASSOC_LEAVE, Parting, needs_link};
use super::prefix::Numbering;
use super::quiet::{QuietLines, quiet};
use super::record::{LogRecord, lines_in_one, plain, records};
use super::scan::OldNetworks;
use super::session::{self, Sessions};
use super::silence::Silence;
use super::summary::{EvidenceSource, LogPlace, LogSummary, PLACES, shown};
use super::traceback::Traceback;
use super::wrapped::WrappedLine;
use super::{address, driver};
use crate::matcher::{RuleBook, RulesOfLog, Subject};
use alloc::borrow::ToOwned as _;
use alloc::string::String;
use alloc::vec::Vec;

/// Longest line that is read; what is beyond is cut.
const LONGEST: usize = 4096;

/// Different events kept: a hostile file could have a reading of each strength and heap.
const KINDS: usize = 4096;

/// Narrowest terminal whose lines may be wrapped, in characters.
const NARROWEST: usize = 60;

/// Topic of the device's own address.
const ADDRESS: &str = "address";

/// Within this time of the device, driver and program tell of the same disconnection, milliseconds.
const SAME_MS: u64 = 1000;

/// Time without an IP address after which an associated device lacks one, in milliseconds: DHCP takes some 2 s, and asks
/// again after 4 and 8 s (RFC 2131, 4.1).
pub const ADDRESS_MS: u64 = 10_000;

/// Lines behind which a program's words are no longer of what it named before.
const NEAR: u64 = 4;

/// Reads a log in pieces, in constant memory.
///
/// ```
/// let mut reader = espbench_doctor::log::LogReader::new();
/// reader.push(b"I (5) wifi:bcn_timeout,ap_probe");
/// reader.push(b"_send_start\n");
/// assert_eq!(reader.finish().events.len(), 1);
/// ```
#[derive(Clone, Debug, Default)]
pub struct LogReader {
    line: Vec<u8>,
    is_cut: bool,
    numbering: Numbering,
    /// Longest line so far, in characters: the width of the terminal where lines are wrapped.
    widest: usize,
    /// The last line, where it may go on in the next.
    held: Option<WrappedLine>,
    /// The last disconnection: its reason, and the time of the device.
    ended: Option<(u8, u64)>,
    /// The last reason that was told.
    reason: Option<u8>,
    crash: OpenCrash,
    silence: Silence,
    access_point: OwnAccessPoint,
    traceback: Traceback,
    old: OldNetworks,
    /// Subject of the last line that named one, and its number.
    subject: Option<(Subject, u64)>,
    /// Whether there is a link, where the log has told.
    linked: Option<bool>,
    /// The association that has no address yet.
    joined: Option<LogPlace>,
    /// Whether the record that is read names an address of the device.
    addressed: bool,
    /// Whether the record that is read tells in a known form that a server was reached.
    reached: bool,
    /// Whether the handshake of keys has begun, and not ended.
    keys: bool,
    /// Lines with a record since the last start.
    since_start: u64,
    quiet: QuietLines,
    clock: LogClock,
    parting: Parting,
    sessions: Sessions,
    /// Task of the record that is read.
    task: LogTask,
    /// Whether the supply fell too low since the last start.
    browned: bool,
    summary: LogSummary,
}

impl LogReader {
    /// Creates a reader at a log's start.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a reader with other rules than the doctor's own.
    #[must_use]
    pub fn with_rules(rules: &'static RuleBook) -> Self {
        let summary = LogSummary { rules: RulesOfLog(rules), ..LogSummary::default() };
        Self { summary, ..Self::default() }
    }

    /// Reads each line, also those that tell nothing whatever their digits.
    #[cfg(test)]
    pub(super) const fn read_each_line(&mut self) {
        self.quiet.is_off = true;
    }

    /// Returns the number of kinds of lines that tell nothing, and that of lines that were passed.
    #[cfg(test)]
    pub(super) fn kinds_and_passed(&self) -> (usize, u64) {
        (self.quiet.count(), self.quiet.passed)
    }

    /// Reads a piece of the log. Bytes that are no UTF-8 count as unknown characters.
    pub fn push(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|it| *it == b'\n') {
            let (text, ends) = match piece.strip_suffix(b"\n") {
                Some(text) => (text, true),
                None => (piece, false),
            };
            let room = LONGEST - self.line.len();
            self.is_cut |= text.len() > room;
            self.line.extend_from_slice(&text[..text.len().min(room)]);
            if ends {
                self.end_line();
            }
        }
    }

    /// Ends the log, and returns what it tells.
    #[must_use]
    pub fn finish(mut self) -> LogSummary {
        // Behind the last line feed of UTF-16 its second byte is left.
        if self.line.iter().any(|it| *it != 0) {
            self.end_line();
        }
        self.release();
        if let Some((event, place)) = self.crash.close() {
            self.keep(event, place);
        }
        let lines = self.summary.lines;
        self.parting.end(lines, &mut self.summary);
        self.summary.linked = self.linked;
        self.summary.has_dead_session = self.sessions.has_dead();
        self.summary.waiting = self.joined;
        self.summary
    }

    fn end_line(&mut self) {
        let summary = &mut self.summary;
        summary.lines += 1;
        summary.cut += u64::from(core::mem::take(&mut self.is_cut));
        let number = summary.lines;
        let bytes = core::mem::take(&mut self.line);
        self.plain_line(&plain(&String::from_utf8_lossy(&bytes)), number);
        self.line = bytes;
        self.line.clear();
    }

    /// Reads a line without colours.
    fn plain_line(&mut self, line: &str, number: u64) {
        self.clock.see_line(line);
        if self.pass(line, number) {
            return;
        }
        let pieces = lines_in_one(line);
        if !pieces.is_empty() {
            self.release();
            for (piece, number) in pieces.iter().zip(number..) {
                self.read(&WrappedLine::new((*piece).into(), number));
            }
            self.summary.lines = number - 1 + pieces.len() as u64;
            return;
        }
        let columns = line.chars().count();
        if self.held.is_some() {
            if let Some(whole) = self.held.as_mut().and_then(|it| it.with(line)) {
                // The rest of a line that filled the terminal goes on where it fills it, too.
                let fills = columns >= self.widest && whole.len() < LONGEST;
                let number = self.held.take().map_or(number, |it| it.number);
                let whole = WrappedLine::new(whole, number);
                if fills {
                    self.held = Some(whole)
                } else {
                    self.read(&whole)
                }
                return;
            }
            self.release();
        }
        // A terminal leaves out a space that would stand in its last column.
        let fills = self.fills(columns);
        self.widest = self.widest.max(columns);
        let read = WrappedLine::new(line.to_owned(), number);
        if fills { self.held = Some(read) } else { self.read(&read) }
    }

    /// Returns whether a line of that width may go on in the next.
    const fn fills(&self, columns: usize) -> bool {
        columns >= NARROWEST && columns + 1 >= self.widest
    }

    /// Takes in a line that tells nothing, where one of its kind was read. Returns whether it is one.
    fn pass(&mut self, line: &str, number: u64) -> bool {
        if self.held.is_some() {
            return false;
        }
        let Some(quiet) = self.quiet.of(line).filter(|it| !self.fills(it.columns)) else {
            return false;
        };
        #[cfg(test)]
        {
            self.quiet.passed += 1;
        }
        self.widest = self.widest.max(quiet.columns);
        self.begin_line(quiet.head.is_some(), number);
        let near = self.near(number);
        let restarts = near.is_some_and(|it| it.0.restarts);
        self.addressed = false;
        self.subject = quiet.subjects[usize::from(restarts)].map(|it| (it, number)).or(near);
        self.silence.pass(quiet.head.is_some());
        let head = quiet.head.and_then(|at| next_head(line, at));
        let uptime_ms = head.and_then(|it| it.uptime_ms);
        self.see_time(uptime_ms);
        self.passed_time(uptime_ms);
        true
    }

    /// Counts a line, and ends a crash that is told.
    fn begin_line(&mut self, recorded: bool, number: u64) {
        self.summary.recorded += u64::from(recorded);
        self.since_start += u64::from(recorded);
        if let Some((event, place)) = self.crash.close_before(number) {
            self.keep(event, place);
        }
    }

    /// Returns the subject of the lines right before one.
    fn near(&self, number: u64) -> Option<(Subject, u64)> {
        self.subject.filter(|it| number - it.1 <= NEAR)
    }

    /// Reads the line that was held back, by itself.
    fn release(&mut self) {
        if let Some(held) = self.held.take() {
            self.read(&held);
        }
    }

    fn read(&mut self, from: &WrappedLine) {
        let found = records(self.numbering.without(&from.line));
        self.begin_line(found.iter().any(|it| it.level.is_some()), from.number);
        for (at, record) in found.iter().enumerate() {
            self.see_time(record.uptime_ms);
            self.task = LogTask::of(record.tag);
            let linked = self.linked == Some(true);
            let silent = self
                .silence
                .address(record)
                .or_else(|| self.silence.answer(record, linked))
                .or_else(|| self.silence.unplugged(record))
                .or_else(|| self.silence.cut_off(record).filter(|_| at > 0));
            if let Some(event) = silent {
                self.take(event, record, from.number);
            }
            if let Some(event) = self.old.see(record) {
                self.take(event, record, from.number);
            }
            if let Some(event) = self.traceback.see(record) {
                self.take(event, record, from.number);
            }
            let reading = self.summary.rules.0.read(record);
            let hits = reading.told();
            // What names an address is no bare "connected".
            self.addressed =
                hits.iter().any(|it| it.topic == ADDRESS && it.event == Some(LogEvent::GotIp));
            self.reached = hits.iter().any(|it| it.event == Some(LogEvent::ConnectionMade));
            let near = self.near(from.number);
            let mut made = false;
            self.keys = driver::has_keys_open(record.text, self.keys);
            let has_level = record.level.is_some();
            let events = all_events(&reading, record, near.map(|it| it.0), &hits);
            if found.len() == 1 && !self.quiet.knows(&from.line) {
                let quiet =
                    if events.is_empty() { quiet(&from.line, &reading, record) } else { None };
                self.quiet.keep(&from.line, quiet);
            }
            for event in events {
                let of_event = hits.iter().find(|it| it.event == Some(event));
                let client = of_event.and_then(|it| it.found.address);
                for event in self.access_point.take(event, client, has_level, from.number) {
                    made |= matches!(event, LogEvent::GotIp | LogEvent::Associated);
                    self.take(event, record, from.number);
                }
            }
            if hits.iter().any(|it| it.rule.tls.is_some()) {
                self.crash.returns(from.number);
            }
            let subject = reading.subject(near.map(|it| it.0));
            self.subject = subject.map(|it| (it, from.number)).or(near);
            // Where the network is joined, a bare "connection failed" is of a server.
            if made {
                self.subject = None;
            }
            self.silence.see(record);
            self.passed_time(record.uptime_ms);
        }
    }

    /// Takes an event in: what is told twice counts once, and what follows from a link that is down is no cause.
    fn take(&mut self, event: LogEvent, record: &LogRecord<'_>, line: u64) {
        let (source, text) = (EvidenceSource::Log, shown(record.text));
        let place = LogPlace { source, line, uptime_ms: record.uptime_ms, text };
        let (complete, is_crash) =
            self.crash.take(event, &place, record, record.uptime_ms.or(self.summary.last_ms));
        if let Some((event, place)) = complete {
            self.keep(event, place);
        }
        if is_crash {
            return;
        }
        let event = match event {
            LogEvent::Disconnected(code) => match self.ended(code, record) {
                Some(event) => event,
                None => return,
            },
            LogEvent::Associated | LogEvent::GotIp if self.is_associated(record) => {
                self.linked = Some(true);
                return;
            }
            // A program may tell of the association behind the address that it has brought.
            LogEvent::Associated if self.has_address(record) => event,
            LogEvent::Associated => {
                // Who was refused for now is taken.
                self.summary.take_back_near(&[REFUSED_FOR_NOW], COMEBACK_LINES, line);
                self.linked = Some(true);
                self.joined = Some(place.clone());
                self.silence.joined();
                event
            }
            LogEvent::GotIp => {
                (self.linked, self.joined) = (Some(true), None);
                event
            }
            LogEvent::ConnectionMade => {
                self.connected(record);
                event
            }
            LogEvent::AddressUnset
                if self.linked == Some(true) && address::names_ones(record.text) =>
            {
                self.unaddressed()
            }
            LogEvent::Words(WordCause::LinkEnded) if self.asked_for_end(line) => return,
            LogEvent::NoAddress => self.unaddressed(),
            // What failed with a client of the device's own server is the client's.
            LogEvent::Sign(OWN_SERVER) => return self.summary.take_back_tls(line),
            // Of a link that is down the lease ends, too.
            LogEvent::Sign(ADDRESS_LOST) if self.linked == Some(false) => return,
            LogEvent::Sign(ADDRESS_LOST) => self.unaddressed(),
            LogEvent::Brownout => {
                self.browned = true;
                event
            }
            LogEvent::Reset(reason) => self.restarted(reason),
            LogEvent::PowerSave(_) if self.silence.asks_in_vain(record) => {
                if let Some(joined) = self.joined.take() {
                    self.keep(LogEvent::NoAddress, joined);
                }
                event
            }
            _ if (self.parting.is_away(line) || self.linked == Some(false))
                && needs_link(event, record.text) =>
            {
                self.crash.fails_unlinked(line);
                LogEvent::FailedUnlinked
            }
            event => event,
        };
        self.parting.see(event, line, record.text, &mut self.summary);
        // What the parts of ESP-IDF say is of any session.
        if session::concerns(event, record.tag) && !self.summary.rules.0.is_part(record.tag) {
            self.sessions.see(event, record.tag, self.summary.courses.now);
        }
        self.keep(event, place);
    }

    /// Takes in that a connection was made. Without a link none is: it has come back without a word. One of the own access point's
    /// clients needs none.
    fn connected(&mut self, record: &LogRecord<'_>) {
        let names = |it: &str| it.to_ascii_lowercase().contains("mqtt");
        self.task.of_broker = names(record.tag) || names(record.text);
        if self.linked == Some(false) && self.reached && !self.access_point.has_clients() {
            self.linked = Some(true);
            self.summary.courses.link_is_back();
        }
    }

    /// Takes the end of a link in that a program tells; returns whether it has asked for that.
    fn asked_for_end(&mut self, line: u64) -> bool {
        self.parting.ends(line, &mut self.summary)
    }

    /// Takes a start of the device in; returns what it tells.
    fn restarted(&mut self, reason: ResetReason) -> LogEvent {
        let told = core::mem::take(&mut self.browned);
        // The watchdog of the bootloader resets early chips at power-on, but not after a program ran.
        let ran = core::mem::take(&mut self.since_start) > 0;
        let broke_off = self.silence.restart();
        if let Some((crash, at)) = self.crash.restart() {
            self.keep(crash, at);
        }
        (self.linked, self.joined) = (None, None);
        self.access_point = OwnAccessPoint::default();
        LogEvent::Reset(match reason {
            ResetReason::PowerOn if broke_off => ResetReason::Silent,
            // The handler has told of it.
            ResetReason::Brownout if told => ResetReason::Other,
            ResetReason::RtcWatchdog if ran => ResetReason::Watchdog,
            _ => reason,
        })
    }

    /// Takes the end of a link in; returns what it tells.
    fn ended(&mut self, code: u8, record: &LogRecord<'_>) -> Option<LogEvent> {
        let leaves = code == ASSOC_LEAVE;
        // ESP-AT has joined, and has no address when the time for both is over. A program leaves by itself what has not given it an
        // address.
        let waits = self.joined.is_some() && (leaves || record.text == "+CWJAP:1");
        if waits || self.silence.ends(leaves) {
            return Some(self.unaddressed());
        }
        self.disconnected(code, record).map(LogEvent::Disconnected)
    }

    /// Takes the end of a link in; returns its reason, where it was not told before.
    fn disconnected(&mut self, code: u8, record: &LogRecord<'_>) -> Option<u8> {
        (self.linked, self.joined) = (Some(false), None);
        // A program that is told of an authentication that expired may name its state so.
        if self.reason == Some(AUTH_EXPIRED) && driver::is_state_of_password(record.text) {
            return None;
        }
        self.reason = Some(code);
        // Old drivers call it an authentication that expired where the keys could not be agreed on.
        let keys = core::mem::take(&mut self.keys) && code == AUTH_EXPIRED;
        if let Some(now) = record.uptime_ms {
            let before = self.ended.replace((code, now));
            let same = |(it, at): (u8, u64)| it == code && now.abs_diff(at) < SAME_MS;
            if before.is_some_and(same) {
                return None;
            }
        }
        Some(if keys { HANDSHAKE_TIMEOUT } else { code })
    }

    /// Returns whether a record that tells of a link is of the association before it, and of no address: "connected" right
    /// behind it, or after DHCP has asked.
    fn is_associated(&self, record: &LogRecord<'_>) -> bool {
        let soon = |it: &LogPlace| self.silence.asks() || address::is_soon(it, record);
        self.joined.as_ref().is_some_and(soon)
            && !driver::begins_association(record.text)
            && !self.addressed
    }

    /// Returns whether a record tells anew of a link that has its address.
    fn has_address(&self, record: &LogRecord<'_>) -> bool {
        self.linked == Some(true)
            && self.joined.is_none()
            && !driver::begins_association(record.text)
    }

    /// Takes in that there is no address: what fails behind it follows, as without a link.
    fn unaddressed(&mut self) -> LogEvent {
        (self.linked, self.joined) = (Some(false), None);
        LogEvent::NoAddress
    }

    /// Takes the time of a record in, before what it tells.
    fn see_time(&mut self, uptime_ms: Option<u64>) {
        self.clock.see_uptime(uptime_ms);
        let at_ms = self.clock.passed_ms();
        self.summary.courses.now = LogPoint { line: self.summary.lines, at_ms };
    }

    /// Takes the time of a record in.
    fn passed_time(&mut self, uptime_ms: Option<u64>) {
        self.summary.last_ms = uptime_ms.or(self.summary.last_ms);
        self.still_without_address(uptime_ms);
    }

    /// Notes where an association has had no address for too long.
    fn still_without_address(&mut self, uptime_ms: Option<u64>) {
        let late = |joined: &LogPlace| {
            let since = uptime_ms?.checked_sub(joined.uptime_ms?)?;
            (since >= ADDRESS_MS).then_some(())
        };
        if self.joined.as_ref().and_then(late).is_some()
            && let Some(place) = self.joined.take()
        {
            self.crash.fails_unlinked(self.summary.lines);
            self.keep(LogEvent::NoAddress, place);
        }
    }

    fn keep(&mut self, event: LogEvent, place: LogPlace) {
        let summary = &mut self.summary;
        if summary.events.len() >= KINDS && !summary.events.contains_key(&event) {
            summary.dropped += 1;
            return;
        }
        summary.courses.take(&event, place.line, self.task);
        // A try is no outcome.
        if !matches!(event, LogEvent::Words(WordCause::LinkTry | WordCause::ServerTry)) {
            summary.last = Some(event);
        }
        let counts = summary.events.entry(event).or_default();
        counts.count += 1;
        (counts.former, counts.last) = (counts.last, place.line);
        if counts.places.len() < PLACES {
            counts.places.push(place);
        }
    }
}

/// `WIFI_REASON_AUTH_EXPIRE`
const AUTH_EXPIRED: u8 = 2;

/// `WIFI_REASON_4WAY_HANDSHAKE_TIMEOUT`
const HANDSHAKE_TIMEOUT: u8 = 15;

/// `WIFI_REASON_ASSOC_COMEBACK_TIME_TOO_LONG`: the driver says so of each association that is refused for a time, too.
const REFUSED_FOR_NOW: LogEvent = LogEvent::Disconnected(208);

/// Lines from there to the association that follows.
const COMEBACK_LINES: u64 = 10;

/// Sign of a handshake that a client of the device's own server did not end.
const OWN_SERVER: SignName = SignName("own-server-handshake");

/// Sign of an address that the network's lease no longer has.
const ADDRESS_LOST: SignName = SignName("address-lost");

#[cfg(test)]
mod tests;
