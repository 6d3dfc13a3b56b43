//! Commands for another program: inside it, where what they print is a value and they end on a flag of that program's; or
//! as a process of its own that it has started ([`CALLER`]).
//!
//! A command runs on the thread that calls [`heard`]. The terminal, the process's streams and its signals
//! are the program's own, so nothing is printed and no handler installed for it. Lines that other threads print
//! go to stderr.

use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of lines for people that wait to be taken at most.
const MOST_SAID: usize = 256 * 1024;

/// Lines for people that a command has printed and that nobody has taken yet, in bounded memory.
#[derive(Debug, Default)]
pub struct SaidLines(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    lines: Vec<String>,
    bytes: usize,
    dropped: usize,
}

impl SaidLines {
    fn add(&self, line: String) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.bytes + line.len() > MOST_SAID {
            waiting.dropped += 1;
            return;
        }
        waiting.bytes += line.len();
        waiting.lines.push(line);
    }

    /// Takes the lines that wait. Where lines found no room, the last one tells how many.
    #[must_use]
    pub fn take(&self) -> Vec<String> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Waiting { mut lines, dropped, .. } = std::mem::take(&mut *waiting);
        if dropped > 0 {
            lines.push(format!("{dropped} further lines were dropped"));
        }
        lines
    }
}

/// Variable of the environment that a program sets for a process of this command: then it is told of progress by lines of
/// JSON on stderr ([`WorkDone`]), and errors name arguments and not flags.
pub const CALLER: &str = "ESPBENCH_CALLER";

/// Variable of the environment with which a process of this command ends as soon as its stdin does: the program that
/// started it holds the other end, and however that program ends, no process of its own is left behind.
pub const ENDS_WITH_STDIN: &str = "ESPBENCH_ENDS_WITH_STDIN";

/// Ends this process with its stdin, where the program that started it asks for that.
#[expect(
    clippy::exit,
    reason = "the work's threads look at nothing that could end them sooner, as at a kill"
)]
pub fn end_with_stdin() {
    if std::env::var_os(ENDS_WITH_STDIN).is_none() {
        return;
    }
    let named = std::thread::Builder::new().name("stdin".into());
    // A system without a thread to spare has the work done all the same.
    let _ = named.spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        std::process::exit(2);
    });
}

/// How far a command has come in a part of its work. Its text is `3 of 10`, or `35 %`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkDone {
    /// Units that are done.
    pub done: u64,
    /// All there are.
    pub total: u64,
    /// Unit of both.
    pub unit: WorkUnit,
}

/// Unit of a [`WorkDone`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkUnit {
    /// Cells of a run, trials of a search.
    Pieces,
    /// Thousandths of work whose pieces are not alike.
    Thousandths,
}

impl WorkDone {
    /// Creates it of pieces.
    #[must_use]
    pub const fn pieces(done: u64, total: u64) -> Self {
        Self { done, total, unit: WorkUnit::Pieces }
    }

    /// Creates it of a share of all, from 0 to 1.
    #[must_use]
    pub fn share(share: f64) -> Self {
        let total = 1000;
        Self { done: (total as f64 * share) as u64, total, unit: WorkUnit::Thousandths }
    }
}

impl fmt::Display for WorkDone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit {
            WorkUnit::Pieces => write!(f, "{} of {}", self.done, self.total),
            WorkUnit::Thousandths => write!(f, "{} %", self.done / 10),
        }
    }
}

/// The newest [`WorkDone`], until it is taken.
#[derive(Debug, Default)]
pub struct WorkNow(Mutex<Option<WorkDone>>);

impl WorkNow {
    /// Takes what has come since the last time.
    #[must_use]
    pub fn take(&self) -> Option<WorkDone> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Who wants to hear of progress.
#[derive(Debug)]
pub(crate) enum WorkListener {
    /// The program that the command runs in.
    Host(Arc<WorkNow>),
    /// The program that started this process.
    Caller,
}

impl WorkListener {
    /// Returns who listens to a command of this thread; none at a terminal.
    pub(crate) fn find() -> Option<Self> {
        let host = HOST
            .with_borrow(|host| host.as_ref().map(|(host, _)| Self::Host(Arc::clone(&host.work))));
        host.or_else(|| is_called().then_some(Self::Caller))
    }

    /// Tells how far the work has come.
    pub(crate) fn hear(&self, work: WorkDone) {
        match self {
            Self::Host(now) => {
                *now.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(work);
            }
            Self::Caller => {
                if let Ok(line) = serde_json::to_string(&work) {
                    crate::say::say!("{line}");
                }
            }
        }
    }
}

/// Returns whether another program has started this process.
#[must_use]
pub(crate) fn is_called() -> bool {
    std::env::var_os(CALLER).is_some()
}

/// The program that a command runs in.
#[derive(Clone, Debug, Default)]
pub struct HostProgram {
    /// Flag on which the command stops.
    pub cancel: Arc<AtomicBool>,
    /// Lines for people.
    pub said: Arc<SaidLines>,
    /// How far it has come.
    pub work: Arc<WorkNow>,
}

thread_local! {
    static HOST: RefCell<Option<(HostProgram, String)>> = const { RefCell::new(None) };
}

/// Runs a command for a program; returns its result and all that it printed to stdout.
pub fn heard<T>(host: &HostProgram, command: impl FnOnce() -> T) -> (T, String) {
    HOST.set(Some((host.clone(), String::new())));
    let result = command();
    let out = HOST.take().map(|(_, out)| out);
    (result, out.unwrap_or_default())
}

/// Returns the flag on which a command stops that this thread runs for a program.
#[must_use]
pub fn cancel() -> Option<Arc<AtomicBool>> {
    HOST.with_borrow(|host| host.as_ref().map(|(host, _)| Arc::clone(&host.cancel)))
}

/// Keeps a line for people; false where this thread runs no command for a program.
pub(crate) fn line(text: std::fmt::Arguments<'_>) -> bool {
    HOST.with_borrow(|host| {
        let Some((host, _)) = host else { return false };
        host.said.add(text.to_string());
        true
    })
}

/// Keeps a text for stdout; false where this thread runs no command for a program.
pub(crate) fn out(text: &str) -> bool {
    HOST.with_borrow_mut(|host| {
        let Some((_, out)) = host else { return false };
        out.push_str(text);
        true
    })
}

/// Returns whether this thread runs a command for a program.
pub(crate) fn is_one() -> bool {
    HOST.with_borrow(Option::is_some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::say::{self, say};

    #[test]
    fn what_a_command_prints_is_a_value() {
        let host = HostProgram::default();
        assert!(cancel().is_none());
        let (result, out) = heard(&host, || {
            say!("{} of {}", 1, 2);
            say::out("a table\n").unwrap();
            assert!(Arc::ptr_eq(&cancel().unwrap(), &host.cancel));
            7
        });
        assert_eq!((result, &*out), (7, "a table\n"));
        assert_eq!(host.said.take(), ["1 of 2"]);
        assert!(host.said.take().is_empty() && cancel().is_none());
    }

    #[test]
    fn a_thousand_pieces_are_no_thousandths() {
        for (work, told) in
            [(WorkDone::pieces(500, 1000), "500 of 1000"), (WorkDone::share(0.5), "50 %")]
        {
            assert_eq!(work.to_string(), told);
            let line = serde_json::to_string(&work).unwrap();
            assert_eq!(serde_json::from_str::<WorkDone>(&line).unwrap(), work);
        }
    }

    #[test]
    fn lines_that_nobody_takes_are_dropped_and_counted() {
        let host = HostProgram::default();
        let line = "x".repeat(MOST_SAID / 2);
        heard(&host, || (0..5).for_each(|_| say!("{line}")));
        let taken = host.said.take();
        assert_eq!(taken.len(), 3);
        assert_eq!(taken[2], "3 further lines were dropped");
    }
}
