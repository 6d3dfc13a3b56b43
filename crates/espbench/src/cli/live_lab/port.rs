//! A device's pseudo-terminal, with what waits for its reader.

use super::cursor::{CursorAnswers, CursorQueries};
use super::links::LinkDir;
use crate::live_mark::{LiveMark, PortMark};
use crate::sys::pty::Pty;
use anyhow::Context as _;
use espbench_model::time::Instant;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes that wait for a program which reads too slowly; more are lost and counted.
const WAITING_MAX: usize = 64 * 1024;

/// Counts of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PortCounters {
    /// Times that a program has opened it.
    pub(super) opened: u64,
    /// Bytes that were read from programs.
    pub(super) read: u64,
    /// Bytes that were written for programs.
    pub(super) written: u64,
    /// Printed bytes that nobody had the port open for.
    pub(super) unheard: u64,
    /// Printed bytes that were lost because a program did not read.
    pub(super) overrun: u64,
}

/// A device's pseudo-terminal.
#[derive(Debug)]
pub(super) struct Port {
    name: String,
    /// `None` while the cable is out.
    pty: Option<Pty>,
    link: Option<PathBuf>,
    /// Mark of the pseudo-terminal as that of a simulated device.
    mark: Option<(LiveMark, Option<PortMark>)>,
    /// Whether a program has it open.
    pub(super) is_open: bool,
    waiting: VecDeque<u8>,
    /// Time at which a program last typed, on the clock, and the virtual time at which that was.
    pub(super) typed: (Instant, Instant),
    /// Time of a return that was typed and after which the device has begun no new line yet.
    returned: Option<Instant>,
    /// Cursor queries of the console, and who answers them.
    pub(super) cursor: CursorQueries,
    /// Bytes that were typed while the device did not listen.
    off: TypedOff,
    pub(super) counters: PortCounters,
}

/// Bytes that were typed while a device did not listen.
#[derive(Clone, Copy, Debug, Default)]
struct TypedOff {
    /// Those so far, and the time of the last.
    all: u64,
    since: Instant,
    /// Those that have been told of.
    told: u64,
}

/// Time within which a console begins a new line after a return.
const NEW_LINE: Duration = Duration::from_secs(1);

impl Port {
    /// Opens the port of a node of ESP-NOW.
    pub(super) fn open(node: usize, links: Option<&mut LinkDir>) -> anyhow::Result<Self> {
        Self::named(format!("node{node}"), links)
    }

    /// Opens the port of a device with that name.
    pub(super) fn named(name: String, links: Option<&mut LinkDir>) -> anyhow::Result<Self> {
        let mut port = Self {
            name,
            pty: None,
            link: None,
            mark: None,
            is_open: false,
            waiting: VecDeque::new(),
            typed: (Instant::ZERO, Instant::ZERO),
            returned: None,
            cursor: CursorQueries::new(CursorAnswers::Auto),
            off: TypedOff::default(),
            counters: PortCounters::default(),
        };
        port.plug(links)?;
        Ok(port)
    }

    /// Returns the port with that way to answer cursor queries.
    pub(super) fn answering(mut self, answers: CursorAnswers) -> Self {
        self.cursor = CursorQueries::new(answers);
        self
    }

    /// Lets programs know of which lab the device is.
    pub(super) fn mark(&mut self, mark: &LiveMark) {
        let port = self.pty.as_ref().and_then(|pty| PortMark::new(pty.path(), mark));
        self.mark = Some((mark.clone(), port));
    }

    /// Gives the device a pseudo-terminal, where it has none.
    pub(super) fn plug(&mut self, links: Option<&mut LinkDir>) -> anyhow::Result<()> {
        if self.pty.is_some() {
            return Ok(());
        }
        let pty = Pty::open().with_context(|| format!("no pseudo-terminal for {}", self.name))?;
        self.link = links.map(|links| links.make(&self.name, pty.path())).transpose()?;
        self.pty = Some(pty);
        if let Some((mark, _)) = self.mark.take() {
            self.mark(&mark);
        }
        Ok(())
    }

    /// Takes the pseudo-terminal away; false if there was none.
    pub(super) fn unplug(&mut self, links: Option<&mut LinkDir>) -> bool {
        if let (Some(link), Some(links)) = (self.link.take(), links) {
            links.remove(&link);
        }
        if let Some((_, port)) = &mut self.mark {
            *port = None;
        }
        self.is_open = false;
        self.counters.unheard += self.waiting.len() as u64;
        self.waiting.clear();
        self.pty.take().is_some()
    }

    /// Returns the name of the device.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the pseudo-terminal, unless the cable is out.
    pub(super) const fn pty(&self) -> Option<&Pty> {
        self.pty.as_ref()
    }

    /// Returns the path of the pseudo-terminal, unless the cable is out.
    pub(super) fn path(&self) -> Option<&Path> {
        self.pty.as_ref().map(Pty::path)
    }

    /// Returns the path of the link, where there is one.
    pub(super) fn link(&self) -> Option<&Path> {
        self.link.as_deref()
    }

    /// Notes that a program has opened the port, or that none has it open any more.
    pub(super) fn set_open(&mut self, is_open: bool) {
        self.is_open = is_open;
        self.cursor.reopen();
        if is_open {
            self.counters.opened += 1;
            return;
        }
        self.counters.overrun += self.waiting.len() as u64;
        self.waiting.clear();
        if let Some(pty) = &self.pty {
            pty.clear();
        }
    }

    /// Reads what a program has written, at most as much as there is room for.
    pub(super) fn read<'a>(&mut self, buffer: &'a mut [u8]) -> &'a [u8] {
        let read = self.pty.as_ref().map_or(0, |pty| pty.read(buffer));
        self.counters.read += read as u64;
        &buffer[..read]
    }

    /// Notes what was typed at that time.
    pub(super) fn note_typed(&mut self, now: Instant, bytes: &[u8]) {
        if bytes.iter().any(|it| matches!(it, b'\r' | b'\n')) {
            self.returned.get_or_insert(now);
        }
    }

    /// Returns, once, whether a return was typed some time ago and the device took no line.
    pub(super) fn is_unanswered(&mut self, now: Instant) -> bool {
        self.returned.take_if(|at| now.since(*at) > NEW_LINE).is_some()
    }

    /// Returns, once no more come, how many bytes were typed while the device did not listen.
    pub(super) fn new_off(&mut self, now: Instant, all: u64) -> Option<u64> {
        let off = &mut self.off;
        if all > off.all {
            (off.all, off.since) = (all, now);
        }
        let new = all - off.told;
        (new > 0 && now.since(off.since) >= NEW_LINE).then(|| {
            off.told = all;
            new
        })
    }

    /// Takes a byte that the device has printed.
    pub(super) fn print(&mut self, byte: u8) {
        if byte == b'\n' {
            self.returned = None;
        }
        if !self.is_open {
            self.counters.unheard += 1;
        } else if self.waiting.len() >= WAITING_MAX {
            self.counters.overrun += 1;
        } else {
            self.waiting.push_back(byte);
        }
    }

    /// Says a line of the lab's own to a program that has the port open.
    pub(super) fn say(&mut self, line: &str) {
        if self.is_open {
            for byte in b"\r\n".iter().chain(line.as_bytes()).chain(b"\r\n") {
                self.print(*byte);
            }
        }
    }

    /// Writes what waits, as far as the system takes it.
    pub(super) fn flush(&mut self) -> anyhow::Result<()> {
        let Some(pty) = &self.pty else { return Ok(()) };
        while !self.waiting.is_empty() {
            let (first, _) = self.waiting.as_slices();
            let written = pty.write(first).with_context(|| pty.path().display().to_string())?;
            if written == 0 {
                break;
            }
            self.waiting.drain(..written);
            self.counters.written += written as u64;
        }
        Ok(())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs::OpenOptions;
    use std::io::Read as _;

    #[test]
    fn a_return_without_a_new_line_is_noticed_once() {
        let mut port = Port::open(4, None).unwrap();
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        port.note_typed(at(0), b"help");
        assert!(!port.is_unanswered(at(5000)), "nobody has typed a return");
        port.note_typed(at(100), b"\r\n");
        b"help".iter().for_each(|it| port.print(*it));
        assert!(!port.is_unanswered(at(1100)) && port.is_unanswered(at(1101)));
        assert!(!port.is_unanswered(at(9000)), "once");
        port.note_typed(at(10_000), b"\r");
        port.print(b'\n');
        assert!(!port.is_unanswered(at(20_000)), "the line was taken");
    }

    #[test]
    fn what_nobody_reads_is_bounded_and_counted() {
        let mut port = Port::open(3, None).unwrap();
        port.print(b'x');
        assert_eq!((port.name(), port.counters.unheard), ("node3", 1));
        let mut client = OpenOptions::new().read(true).open(port.path().unwrap()).unwrap();
        port.set_open(true);
        let all = 100_000;
        for _ in 0..all {
            port.print(b'y');
        }
        port.flush().unwrap();
        let PortCounters { written, overrun, opened, .. } = port.counters;
        assert_eq!((overrun, opened), (all - WAITING_MAX as u64, 1));
        assert!(written > 0);
        // The system takes as much at a time as it likes.
        let mut bytes = Vec::new();
        while bytes.len() < WAITING_MAX {
            port.flush().unwrap();
            let mut more = vec![0; port.counters.written as usize - bytes.len()];
            client.read_exact(&mut more).unwrap();
            bytes.append(&mut more);
        }
        assert!(bytes.iter().all(|it| *it == b'y'));
        port.say("late");
        port.flush().unwrap();
        let mut said = [0; 8];
        client.read_exact(&mut said).unwrap();
        assert_eq!(&said, b"\r\nlate\r\n");
        drop(client);
        port.set_open(false);
        port.say("to nobody");
        assert_eq!(port.counters.overrun + port.counters.written, all + 8, "none is uncounted");
        assert!(port.unplug(None) && !port.unplug(None));
        port.plug(None).unwrap();
        assert!(port.path().is_some());
    }
}
