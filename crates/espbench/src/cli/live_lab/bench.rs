//! The loop: virtual time in step with the clock, bytes in and out, who comes and goes.

use super::event::Planned;
use super::links::LinkDir;
use super::port::Port;
use super::shown::{Happened, Shown};
use crate::clock::Clock;
use crate::sys::pty;
use anyhow::anyhow;
use espbench_model::time::Instant;
use espbench_sim::lab::live::{Lag, LiveLab, TYPED_MAX, WallPace, late_line};
use espbench_sim::lab::nodes::NodeId;
use espbench_sim::lab::run::Tap;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Shortest sleep while nobody types: that of a frame of USB, in which a serial adapter hands bytes on.
const FRAME: Duration = Duration::from_millis(1);

/// Longest sleep, after which Ctrl-C is looked for.
const SLEEP_MAX: Duration = Duration::from_millis(100);

/// Longest time between bytes that is kept where virtual time is behind the clock: beyond the 30 ms within which
/// the line editor of ESP-IDF takes what follows for pasted text.
const GAP_MAX: Duration = Duration::from_millis(100);

/// Time after which is looked whether a program has opened a port that nobody had open.
const LOOK: Duration = Duration::from_millis(10);

/// A live lab on pseudo-terminals.
pub(super) struct Bench<W> {
    lab: LiveLab<W>,
    ports: Vec<Port>,
    links: Option<LinkDir>,
    events: VecDeque<(Duration, usize, Planned)>,
    shown: Shown,
    /// Whether cursor queries are answered inside while a program has the port open, too.
    answers: bool,
    clock: Clock,
    pace: WallPace,
    looked: Instant,
}

/// How a live lab is run.
#[derive(Clone, Copy, Debug)]
pub(super) struct BenchSetup {
    /// Whether cursor queries are answered inside while a program has the port open, too.
    pub(super) answers: bool,
    /// Lateness above which what is measured is invalid.
    pub(super) late_most: Duration,
}

impl<W: Tap> Bench<W> {
    pub(super) fn new(
        lab: LiveLab<W>,
        ports: Vec<Port>,
        links: Option<LinkDir>,
        events: Vec<(Duration, usize, Planned)>,
        shown: Shown,
        setup: BenchSetup,
    ) -> Self {
        Self {
            lab,
            ports,
            links,
            events: events.into(),
            shown,
            answers: setup.answers,
            clock: Clock::start(),
            pace: WallPace::new(setup.late_most),
            looked: Instant::ZERO,
        }
    }

    /// Runs until Ctrl-C, or for that time.
    pub(super) fn run(
        &mut self,
        lifetime: Option<Duration>,
        cancel: &AtomicBool,
    ) -> anyhow::Result<()> {
        self.clock = Clock::start();
        let end = lifetime.map_or(Instant::NEVER, |it| Instant::ZERO + it);
        while !cancel.load(Ordering::Relaxed) && self.clock.now() < end {
            self.keep_up()?;
            self.plans()?;
            self.print()?;
            let now = self.clock.now();
            let next = self.lab.next_due();
            let idle = self.pace.idle(now, self.lab.now(), next, FRAME);
            self.wait(idle.min(SLEEP_MAX).min(end.since(now)))?;
        }
        Ok(())
    }

    /// Lets virtual time come as near to the clock's as one step goes.
    fn keep_up(&mut self) -> anyhow::Result<()> {
        let next = self.lab.next_due();
        let before = self.pace.lag();
        let until = self.pace.step(self.clock.now(), self.lab.now(), next);
        if before.times == 0 && self.pace.lag().times > 0 {
            self.shown.behind(self.clock.now())?;
        }
        if self.pace.lag().invalid > before.invalid {
            let late = next.map_or(Duration::ZERO, |next| self.clock.now().since(next));
            let line = late_line(self.lab.now(), late);
            self.ports.iter_mut().for_each(|port| port.say(&line));
        }
        self.lab.advance(until).map_err(|stuck| anyhow!("{stuck}"))
    }

    /// Carries out what is planned for now.
    fn plans(&mut self) -> anyhow::Result<()> {
        let now = self.clock.now();
        let passed = now.since(Instant::ZERO);
        while let Some((_, node, what)) = self.events.pop_front_if(|(at, ..)| *at <= passed) {
            let port = &mut self.ports[node];
            let happened = match what {
                Planned::Unplug => port.unplug(self.links.as_mut()).then_some(Happened::Unplugged),
                Planned::Plug => {
                    port.plug(self.links.as_mut())?;
                    Some(Happened::Plugged)
                }
                Planned::Reset => {
                    self.lab.reset(NodeId(node as u16));
                    Some(Happened::Reset)
                }
            };
            if what == Planned::Unplug {
                self.lab.answer_cursor(NodeId(node as u16), true);
            }
            if let Some(happened) = happened {
                self.shown.event(now, port, happened)?;
            }
        }
        Ok(())
    }

    /// Hands on what devices have printed.
    fn print(&mut self) -> anyhow::Result<()> {
        for (node, port) in self.ports.iter_mut().enumerate() {
            while let Some((_, byte)) = self.lab.take_printed(NodeId(node as u16)) {
                port.print(byte);
            }
            port.flush()?;
        }
        Ok(())
    }

    /// Waits until a program types, or comes or goes, at most for that time; then takes what it has
    /// typed.
    fn wait(&mut self, most: Duration) -> anyhow::Result<()> {
        let now = self.clock.now();
        let closed = self.ports.iter().any(|port| !port.is_open && port.pty().is_some());
        let looks = closed && now.since(self.looked) >= LOOK;
        let most = if closed { most.min(LOOK) } else { most };
        // A port that nobody has open is always ready to tell so: it is looked at now and then.
        let asked: Vec<_> = self
            .ports
            .iter()
            .enumerate()
            .filter_map(|(node, port)| Some((node, port, port.pty()?)))
            .map(|(node, port, pty)| {
                let has_room = self.lab.room(NodeId(node as u16)) > 0;
                (node, pty, if port.is_open { has_room } else { looks })
            })
            .collect();
        let polled: Vec<_> = asked.iter().map(|(_, pty, wanted)| (*pty, *wanted)).collect();
        let states = pty::wait(&polled, if looks { Duration::ZERO } else { most })?;
        let seen = asked.iter().zip(states).filter(|((_, _, wanted), _)| *wanted);
        let seen: Vec<_> = seen.map(|((node, ..), state)| (*node, state)).collect();
        if looks {
            self.looked = now;
        }
        if seen.iter().any(|(_, state)| state.has_bytes) {
            // What is typed is typed now.
            self.keep_up()?;
        }
        for (node, state) in seen {
            self.take(node, state)?;
        }
        Ok(())
    }

    /// Takes what a program has typed, and notes whether it has the port open.
    fn take(&mut self, node: usize, state: pty::PtyState) -> anyhow::Result<()> {
        let id = NodeId(node as u16);
        let now = self.clock.now();
        let port = &mut self.ports[node];
        if state.is_open && !port.is_open {
            port.set_open(true);
            self.lab.answer_cursor(id, self.answers);
            self.shown.event(self.clock.now(), port, Happened::Opened)?;
        }
        if state.has_bytes {
            let mut buffer = [0; TYPED_MAX];
            let room = self.lab.room(id).min(buffer.len());
            let typed = port.read(&mut buffer[..room]);
            let gap = now.since(port.typed.0).min(GAP_MAX);
            let at = self.lab.now().max(port.typed.1 + gap);
            self.lab.type_bytes_at(id, at, typed);
            port.typed = (now, at);
        }
        if !state.is_open && !state.has_bytes && port.is_open {
            port.set_open(false);
            self.lab.answer_cursor(id, true);
            self.shown.event(self.clock.now(), port, Happened::Closed)?;
        }
        Ok(())
    }

    /// Takes the ports and links away, and says what was counted; returns how far it was behind the clock.
    pub(super) fn close(&mut self) -> anyhow::Result<Lag> {
        let lag: Lag = self.pace.lag();
        let bytes: Vec<_> =
            (0..self.ports.len()).map(|node| self.lab.bytes(NodeId(node as u16))).collect();
        for port in &mut self.ports {
            port.unplug(self.links.as_mut());
        }
        self.links = None;
        self.shown.end(self.clock.now(), &self.ports, &bytes, lag)?;
        Ok(lag)
    }

    /// Returns the witness of the lab.
    pub(super) fn into_watch(self) -> W {
        self.lab.into_watch()
    }
}
