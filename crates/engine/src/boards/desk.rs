//! The person at the desk with boards: types at consoles, reads what they print, keeps the record.

use super::console::BoardConsole;
use super::fault::BoardFault;
use super::secret::SecretFilter;
use super::{BoardBench, BoardError, BoardRecord, PortEvent, ResetWay};
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_ieee80211::mac::Mac;
use espbench_model::sample::Sample;
use espbench_model::time::Instant;
use espbench_sim::lab::suite::mark::{AwaitedLine, LineMark, MarkedLine};
use espbench_sim::lab::suite::notes::DeskNotes;
use espbench_sim::lab::suite::procedure::{self, PROMPT_MOST, quoted};

/// Board that the document calls the initiator.
pub(super) const INITIATOR: usize = procedure::INITIATOR as usize;
/// Board of tests with one device.
pub(super) const DEVICE: usize = procedure::DEVICE as usize;

/// Time after which samples are handed on, and a test may be stopped.
const SLICE: Duration = Duration::from_millis(100);
/// Time that a crash has to be told to its end.
const CRASH_MOST: Duration = Duration::from_secs(3);
/// Choice of a board's samples for the record, and their form there. The number is the board's.
pub(super) type TakeSample = fn(usize, Sample) -> Option<Sample>;

/// A board at the desk.
pub(super) struct Seat {
    /// Number of its port at the bench.
    pub(super) port: usize,
    pub(super) console: BoardConsole,
    /// Lines since the last command that no wait has read yet.
    pub(super) unread: Vec<MarkedLine>,
    /// Times at which the pin of the last ping fell and rose, on the board's clock.
    pub(super) edges: Option<(Instant, Option<Instant>)>,
    filter: SecretFilter,
}

/// The consoles of the boards of a test, and somebody who types at them.
pub(super) struct BoardDesk<'a> {
    pub(super) bench: &'a mut dyn BoardBench,
    pub(super) notes: DeskNotes<'a, dyn BoardRecord + 'a>,
    /// The boards: the initiator first.
    pub(super) seats: Vec<Seat>,
    take: Option<TakeSample>,
    /// Number of the first probe of those that come.
    first: u64,
    /// Sequence numbers of the probes that each board has told of.
    pub(super) told: Vec<Vec<u64>>,
    /// Number of probes that were asked for, where it is known: a line about another is counted and left out.
    most: Option<u64>,
}

impl<'a> BoardDesk<'a> {
    pub(super) fn new(
        bench: &'a mut dyn BoardBench,
        record: &'a mut dyn BoardRecord,
        ports: &[usize],
        seed: u64,
    ) -> Self {
        let now = bench.now();
        let seat = |&port| Seat {
            port,
            console: BoardConsole::new(now),
            unread: Vec::new(),
            edges: None,
            filter: SecretFilter::default(),
        };
        let seats: Vec<Seat> = ports.iter().map(seat).collect();
        let told = seats.iter().map(|_| Vec::new()).collect();
        let notes = DeskNotes::new(record, seed);
        Self { bench, notes, seats, take: None, first: 0, told, most: None }
    }

    /// Returns the boards beside the initiator.
    pub(super) fn devices(&self) -> Vec<usize> {
        (1..self.seats.len()).collect()
    }

    pub(super) fn now(&self) -> Instant {
        self.bench.now()
    }

    pub(super) fn console(&self, board: usize) -> &BoardConsole {
        &self.seats[board].console
    }

    pub(super) fn name(&self, board: usize) -> String {
        self.bench.name(self.seats[board].port)
    }

    /// Returns the address of a board.
    pub(super) fn mac(&self, board: usize) -> Result<Mac, BoardError> {
        let mac = self.console(board).learned().mac;
        mac.ok_or_else(|| BoardError::NoAddress { port: self.name(board) })
    }

    /// Fails where a board has a fault.
    pub(super) fn sound(&self, board: usize) -> Result<(), BoardError> {
        match self.console(board).fault() {
            None => Ok(()),
            Some(fault) => Err(BoardError::Fault { port: self.name(board), fault: fault.clone() }),
        }
    }

    /// Fails where what a board does can come to no end: it has a fault, the initiator has one, or the
    /// only device.
    pub(super) fn goes_on(&self, board: usize) -> Result<(), BoardError> {
        self.sound(board)?;
        self.sound(INITIATOR)?;
        if self.seats.len() == 2 { self.sound(DEVICE) } else { Ok(()) }
    }

    /// Fails where any board has a fault: the first of them.
    pub(super) fn all_sound(&self) -> Result<(), BoardError> {
        (0..self.seats.len()).try_for_each(|board| self.sound(board))
    }

    /// Lets samples go into the record from now on.
    pub(super) fn keep(&mut self, take: TakeSample) {
        self.keep_from(0, take);
    }

    /// Lets the caller take the samples from now on; those of before are not of it, nor are time stamps.
    pub(super) fn keep_none(&mut self) {
        for seat in &mut self.seats {
            seat.console.begin_samples();
            seat.edges = None;
        }
        self.take = None;
    }

    /// Lets samples go into the record from now on, numbered from `first`.
    pub(super) fn keep_from(&mut self, first: u64, take: TakeSample) {
        self.seats.iter_mut().for_each(|seat| seat.console.begin_samples());
        (self.first, self.take, self.most) = (first, Some(take), None);
    }

    /// Keeps probes of this device alone, and those below `count`.
    pub(super) fn pings(&mut self, board: usize, device: Mac, count: u32) {
        self.seats[board].console.hears(device);
        self.most = Some(count.into());
    }

    /// Resets all boards by their pins; one whose port has none goes on as it was.
    pub(super) fn reset(&mut self) {
        let ports: Vec<usize> = self.seats.iter().map(|seat| seat.port).collect();
        let ways = self.bench.reset(&ports);
        let now = self.now();
        for (seat, way) in self.seats.iter_mut().zip(ways) {
            match way {
                Ok(ResetWay::Pins) => seat.console.was_reset(now),
                Ok(ResetWay::None) => seat.console.attached(now),
                Err(error) => seat.console.unplugged(&error),
            }
        }
    }

    /// Keeps a password out of the record, as it is and as it is typed.
    pub(super) fn keep_out(&mut self, password: &str) {
        for seat in self.seats.iter_mut().filter(|_| !password.is_empty()) {
            seat.filter.keep_out(password);
            seat.filter.keep_out(&quoted(password));
        }
    }

    /// Types a command with a password in it, which was [kept out](Self::keep_out) before.
    pub(super) fn secret_command(&mut self, board: usize, text: &str) -> Result<(), BoardError> {
        self.seats[board].filter.hide();
        self.command(board, text)
    }

    /// Types a command at several boards at once, and calls `typed` for each at which return was pressed. A board
    /// that shows no prompt is given up.
    pub(super) fn command_at(
        &mut self,
        boards: &[usize],
        text: &str,
        mut typed: impl FnMut(&mut BoardConsole, Instant),
    ) -> Result<(), BoardError> {
        let mut pending = boards.to_vec();
        pending.retain(|board| self.console(*board).fault().is_none());
        self.seats.iter_mut().for_each(|seat| seat.unread.clear());
        for &board in &pending {
            let name = self.name(board);
            self.notes.typed(name, text);
            let now = self.now();
            self.seats[board].console.command(now, text);
        }
        self.until(PROMPT_MOST, |desk| {
            pending.retain(|board| {
                let now = desk.now();
                let console = &mut desk.seats[*board].console;
                if console.pending() == 0 && console.fault().is_none() {
                    typed(console, now);
                    return false;
                }
                console.fault().is_none()
            });
            pending.is_empty()
        })?;
        for board in pending {
            let last = self.last_line(board);
            self.seats[board].console.fail(BoardFault::NoPrompt { last });
        }
        Ok(())
    }

    /// Types a command as soon as the prompt is there, and presses return. Lines from before are
    /// read.
    pub(super) fn command(&mut self, board: usize, text: &str) -> Result<(), BoardError> {
        let shown = self.seats[board].filter.masked(text);
        let name = self.name(board);
        self.notes.typed(name, &shown);
        self.seats.iter_mut().for_each(|seat| seat.unread.clear());
        let now = self.now();
        self.seats[board].console.command(now, text);
        let typed = self.until(PROMPT_MOST, |desk| {
            let console = desk.console(board);
            console.pending() == 0 || console.fault().is_some()
        })?;
        self.sound(board)?;
        if typed {
            return Ok(());
        }
        let last = self.last_line(board);
        self.seats[board].console.fail(BoardFault::NoPrompt { last });
        self.sound(board)
    }

    /// Waits for a line with one of these meanings on each of the consoles, behind what was read
    /// before; gives those without. A board with a fault is not waited for.
    pub(super) fn wait(
        &mut self,
        boards: &[usize],
        wanted: fn(LineMark) -> bool,
        most: Duration,
    ) -> Result<Vec<usize>, BoardError> {
        let mut missing = boards.to_vec();
        self.until(most, |desk| {
            missing.retain(|board| desk.read(*board, wanted).is_none());
            missing.iter().all(|board| desk.console(*board).fault().is_some())
        })?;
        Ok(missing)
    }

    /// Reads lines up to one with such a meaning.
    pub(super) fn read(
        &mut self,
        board: usize,
        wanted: fn(LineMark) -> bool,
    ) -> Option<MarkedLine> {
        let unread = &mut self.seats[board].unread;
        let at = unread.iter().position(|line| wanted(line.mark));
        let found = at.map(|at| unread[at].clone());
        unread.drain(..at.map_or(unread.len(), |at| at + 1));
        found
    }

    /// Waits for a line on one console, and gives it. A board that prints nothing for `quiet` is
    /// given up.
    pub(super) fn line(
        &mut self,
        board: usize,
        line: AwaitedLine,
        (most, quiet): (Duration, Duration),
    ) -> Result<MarkedLine, BoardError> {
        let mut found = None;
        let begun = self.now();
        self.until(most, |desk| {
            found = desk.read(board, line.is);
            let silent = desk.now() >= desk.console(board).heard().max(begun) + quiet;
            if silent && found.is_none() {
                desk.seats[board].console.fail(BoardFault::Silent);
            }
            found.is_some() || desk.goes_on(board).is_err()
        })?;
        match found {
            Some(line) => Ok(line),
            None => {
                self.goes_on(board)?;
                Err(self.not_printed(board, line.what, most))
            }
        }
    }

    pub(super) fn not_printed(
        &self,
        board: usize,
        what: &'static str,
        most: Duration,
    ) -> BoardError {
        BoardError::NotPrinted {
            port: self.name(board),
            what,
            most,
            after: self.notes.last_typed().into(),
            last: self.last_line(board),
        }
    }

    fn last_line(&self, board: usize) -> String {
        self.seats[board].filter.masked(self.console(board).last())
    }

    /// Waits until something is so; whether it is, after that time at most.
    pub(super) fn until(
        &mut self,
        most: Duration,
        mut is_so: impl FnMut(&mut Self) -> bool,
    ) -> Result<bool, BoardError> {
        let end = self.now() + most;
        loop {
            if self.notes.is_cancelled() {
                return Err(BoardError::Cancelled);
            }
            self.flush();
            if is_so(self) {
                self.flush();
                return Ok(true);
            }
            let now = self.now();
            if now >= end {
                return Ok(false);
            }
            let due = self.seats.iter().filter_map(|seat| seat.console.due()).min();
            let until = due.map_or(end, |due| due.min(end)).min(now + SLICE).max(now);
            self.pump(until);
        }
    }

    /// Sends what boards are to get, takes their lines, and hands samples on.
    fn flush(&mut self) {
        for board in 0..self.seats.len() {
            let now = self.bench.now();
            let seat = &mut self.seats[board];
            if seat.console.due().is_some_and(|due| due <= now) {
                seat.console.tick(now);
            }
            let out = seat.console.take_out();
            if !out.is_empty()
                && let Err(error) = self.bench.write(seat.port, &out)
            {
                seat.console.unplugged(&error);
            }
            while let Some(line) = seat.console.take_line() {
                if let LineMark::Edges { low_us, high_us } = line.mark {
                    let at = |us: u64| Instant::from_nanos(us.saturating_mul(1000));
                    seat.edges = Some((at(low_us), high_us.map(at)));
                }
                seat.unread.push(line);
            }
        }
        self.hand_on();
    }

    /// Waits for bytes until then at most, and gives them to their consoles.
    fn pump(&mut self, until: Instant) {
        let (seats, record) = (&mut self.seats, self.notes.record());
        self.bench.wait(until, &mut |port, at, event| {
            let Some(seat) = seats.iter_mut().find(|seat| seat.port == port) else { return };
            match event {
                PortEvent::Bytes(bytes) => {
                    // What a crash prints is kept, though a line was not typed to its end.
                    let typed = seat.console.pending() == 0 || !seat.console.is_ready();
                    let kept = seat.filter.take(bytes, typed);
                    if !kept.is_empty() {
                        record.console(port, at, &kept);
                    }
                    seat.console.feed(at, bytes);
                }
                PortEvent::Gone(error) => seat.console.unplugged(error),
                PortEvent::Dropped(bytes) => record.count("serial-bytes-dropped", bytes),
            }
        });
    }

    fn hand_on(&mut self) {
        let Some(take) = self.take else { return };
        for (board, seat) in self.seats.iter_mut().enumerate() {
            for sample in seat.console.take_samples() {
                let Some(mut sample) = take(board, sample) else { continue };
                if let Sample::Probe(probe) = &mut sample {
                    probe.seq = probe.seq.saturating_add(self.first);
                    if self.most.is_some_and(|most| probe.seq >= most) {
                        self.notes.count("probes-not-asked-for", 1);
                        continue;
                    }
                    self.told[board].push(probe.seq);
                }
                self.notes.sample(sample);
            }
        }
    }

    /// Waits until boards that crash have told why.
    pub(super) fn told_crashes(&mut self) -> Result<(), BoardError> {
        let over = |desk: &mut Self| !desk.seats.iter().any(|seat| seat.console.is_crashing());
        self.until(CRASH_MOST, over).map(|_| ())
    }

    /// Lets time pass.
    pub(super) fn pause(&mut self, time: Duration) -> Result<(), BoardError> {
        self.until(time, |_| false).map(|_| ())
    }

    /// Lets the time until the next command pass.
    pub(super) fn linger(&mut self, most: Duration) -> Result<(), BoardError> {
        let time = self.notes.pause(most);
        self.pause(time)
    }

    /// Hands on the last samples, what was not kept, and the typed commands as a fact.
    pub(super) fn close(mut self) {
        self.hand_on();
        let now = self.now();
        for seat in &mut self.seats {
            let held = seat.filter.finish();
            if !held.is_empty() {
                self.notes.record().console(seat.port, now, &held);
            }
            let drops = seat.console.drops();
            for (name, by) in
                [("console-lines-dropped", drops.lines), ("console-samples-dropped", drops.samples)]
            {
                if by > 0 {
                    self.notes.record().count(name, by);
                }
            }
        }
        self.notes.close();
    }
}
