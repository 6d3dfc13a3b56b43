//! The pseudo-terminals of a live lab's consoles: bytes in and out, who comes and goes.

use super::cursor::CursorAnswers;
use super::links::LinkDir;
use super::port::Port;
use super::shown::{Happened, Shown};
use crate::sys::pty::{self, PtyState};
use crate::sys::tun::Tun;
use espbench_model::time::Instant;
use espbench_sim::lab::live::{ConsoleBytes, LiveLab, LiveNetwork, TYPED_MAX};
use espbench_sim::lab::nodes::NodeId;
use espbench_sim::lab::run::Tap;
use std::time::Duration;

/// Longest time between bytes that is kept where virtual time is behind the clock: beyond the 30 ms within which
/// the line editor of ESP-IDF takes what follows for pasted text.
const GAP_MAX: Duration = Duration::from_millis(100);

/// A live lab with consoles, by their numbers.
pub(super) trait HasConsoles {
    /// Returns the virtual time.
    fn now(&self) -> Instant;
    /// Returns how many bytes may be typed now.
    fn room(&self, port: usize) -> usize;
    /// Types bytes from then on.
    fn type_at(&mut self, port: usize, at: Instant, bytes: &[u8]);
    /// Takes the next byte that was printed.
    fn printed(&mut self, port: usize) -> Option<u8>;
    /// Sets whether cursor queries are answered inside.
    fn answer_cursor(&mut self, port: usize, answer: bool);
    /// Returns the counts.
    fn bytes(&self, port: usize) -> ConsoleBytes;
}

impl<W: Tap> HasConsoles for LiveLab<W> {
    fn now(&self) -> Instant {
        self.now()
    }

    fn room(&self, port: usize) -> usize {
        self.room(NodeId(port as u16))
    }

    fn type_at(&mut self, port: usize, at: Instant, bytes: &[u8]) {
        self.type_bytes_at(NodeId(port as u16), at, bytes);
    }

    fn printed(&mut self, port: usize) -> Option<u8> {
        self.take_printed(NodeId(port as u16)).map(|it| it.1)
    }

    fn answer_cursor(&mut self, port: usize, answer: bool) {
        self.answer_cursor(NodeId(port as u16), answer);
    }

    fn bytes(&self, port: usize) -> ConsoleBytes {
        self.bytes(NodeId(port as u16))
    }
}

impl HasConsoles for LiveNetwork<'_> {
    fn now(&self) -> Instant {
        self.now()
    }

    fn room(&self, port: usize) -> usize {
        self.room(port)
    }

    fn type_at(&mut self, port: usize, at: Instant, bytes: &[u8]) {
        self.type_bytes_at(port, at, bytes);
    }

    fn printed(&mut self, port: usize) -> Option<u8> {
        self.take_printed(port).map(|it| it.1)
    }

    fn answer_cursor(&mut self, port: usize, answer: bool) {
        self.answer_cursor(port, answer);
    }

    fn bytes(&self, port: usize) -> ConsoleBytes {
        self.bytes(port)
    }
}

/// The ports of the consoles.
pub(super) struct ConsolePorts {
    pub(super) ports: Vec<Port>,
    pub(super) links: Option<LinkDir>,
    /// Time after which is looked whether a program has opened a port that nobody had open.
    look: Duration,
    looked: Instant,
}

impl ConsolePorts {
    pub(super) fn new(
        ports: Vec<Port>,
        links: Option<LinkDir>,
        answers: CursorAnswers,
        look: Duration,
    ) -> Self {
        let ports = ports.into_iter().map(|port| port.answering(answers)).collect();
        Self { ports, links, look, looked: Instant::ZERO }
    }

    /// Hands on what devices have printed.
    pub(super) fn print(&mut self, lab: &mut impl HasConsoles, now: Instant) -> anyhow::Result<()> {
        for (number, port) in self.ports.iter_mut().enumerate() {
            while let Some(byte) = lab.printed(number) {
                if port.is_open {
                    port.cursor.printed(now, byte);
                }
                port.print(byte);
            }
            if port.cursor.is_overdue(now) {
                lab.answer_cursor(number, true);
            }
            port.flush()?;
        }
        Ok(())
    }

    /// Waits until a program types, or comes or goes, or a packet is there, at most for that time; returns
    /// the states of the ports that were looked at.
    pub(super) fn wait(
        &mut self,
        lab: &impl HasConsoles,
        now: Instant,
        most: Duration,
        tun: Option<&Tun>,
    ) -> anyhow::Result<Vec<(usize, PtyState)>> {
        let closed = self.ports.iter().any(|port| !port.is_open && port.pty().is_some());
        let looks = closed && now.since(self.looked) >= self.look;
        let most = if closed { most.min(self.look) } else { most };
        // A port that nobody has open is always ready to tell so: it is looked at now and then.
        let asked: Vec<_> = self
            .ports
            .iter()
            .enumerate()
            .filter_map(|(number, port)| Some((number, port, port.pty()?)))
            .map(|(number, port, pty)| {
                let has_room = lab.room(number) > 0;
                (number, pty, if port.is_open { has_room } else { looks })
            })
            .collect();
        let polled: Vec<_> = asked.iter().map(|(_, pty, wanted)| (*pty, *wanted)).collect();
        let states = pty::wait_beside(&polled, tun, if looks { Duration::ZERO } else { most })?;
        let seen = asked.iter().zip(states).filter(|((_, _, wanted), _)| *wanted);
        let seen: Vec<_> = seen.map(|((number, ..), state)| (*number, state)).collect();
        if looks {
            self.looked = now;
        }
        Ok(seen)
    }

    /// Takes what a program has typed, and notes whether it has the port open.
    pub(super) fn take(
        &mut self,
        lab: &mut impl HasConsoles,
        now: Instant,
        (number, state): (usize, PtyState),
        shown: Shown,
    ) -> anyhow::Result<()> {
        let port = &mut self.ports[number];
        if state.is_open && !port.is_open {
            port.set_open(true);
            lab.answer_cursor(number, port.cursor.inside());
            shown.event(now, port, Happened::Opened)?;
        }
        if state.has_bytes {
            let mut buffer = [0; TYPED_MAX];
            let room = lab.room(number).min(buffer.len());
            let typed = port.read(&mut buffer[..room]);
            let gap = now.since(port.typed.0).min(GAP_MAX);
            let at = lab.now().max(port.typed.1 + gap);
            let mut typed = typed.to_vec();
            let known = port.cursor.inside();
            let late = port.cursor.typed(&typed);
            if port.cursor.inside() != known {
                lab.answer_cursor(number, port.cursor.inside());
            }
            typed.drain(late);
            port.typed = (now, at);
            for (bytes, at) in port.cursor.keys(&typed, at) {
                lab.type_at(number, at, &typed[bytes]);
                port.typed = (now, at);
            }
            port.note_typed(now, &typed);
        }
        if !state.is_open && !state.has_bytes && port.is_open {
            port.set_open(false);
            lab.answer_cursor(number, true);
            shown.event(now, port, Happened::Closed)?;
        }
        Ok(())
    }

    /// Tells of ports at which a return was typed and no line was taken.
    pub(super) fn tell_unanswered(
        &mut self,
        lab: &impl HasConsoles,
        now: Instant,
        shown: Shown,
    ) -> anyhow::Result<()> {
        for (number, port) in self.ports.iter_mut().enumerate() {
            let off = port.new_off(now, lab.bytes(number).typed_off);
            if off.is_some() || port.is_unanswered(now) {
                shown.unanswered(now, port, off)?;
            }
        }
        Ok(())
    }

    /// Says a line of the lab's own to all programs that have a port open.
    pub(super) fn say(&mut self, line: &str) {
        self.ports.iter_mut().for_each(|port| port.say(line));
    }

    /// Takes the ports and links away; returns the counts of their bytes.
    pub(super) fn close(&mut self, lab: &impl HasConsoles) -> Vec<ConsoleBytes> {
        let bytes = (0..self.ports.len()).map(|port| lab.bytes(port)).collect();
        for port in &mut self.ports {
            port.unplug(self.links.as_mut());
        }
        self.links = None;
        bytes
    }
}
