//! The loop: virtual time in step with the clock, bytes in and out, who comes and goes.

use super::consoles::ConsolePorts;
use super::control::{ControlSocket, Controlled, RETURN_AFTER, carry_out};
use super::cursor::CursorAnswers;
use super::event::{self, Planned};
use super::links::LinkDir;
use super::port::Port;
use super::shown::{Happened, Shown};
use crate::clock::Clock;
use crate::user_error::UserError;
use anyhow::anyhow;
use espbench_model::time::Instant;
use espbench_sim::lab::live::{Lag, LiveLab, WallPace, WhatIf, late_line};
use espbench_sim::lab::nodes::NodeId;
use espbench_sim::lab::run::Tap;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Shortest sleep while nobody types: that of a frame of USB, in which a serial adapter hands bytes on.
const FRAME: Duration = Duration::from_millis(1);

/// Longest sleep, after which Ctrl-C is looked for.
const SLEEP_MAX: Duration = Duration::from_millis(100);

/// Time after which is looked whether a program has opened a port that nobody had open.
const LOOK: Duration = Duration::from_millis(10);

/// A live lab on pseudo-terminals.
pub(super) struct Bench<W> {
    lab: LiveLab<W>,
    consoles: ConsolePorts,
    events: VecDeque<(Duration, usize, Planned)>,
    changes: VecDeque<(Duration, Option<usize>, WhatIf)>,
    control: Option<ControlSocket>,
    shown: Shown,
    clock: Clock,
    pace: WallPace,
    gone: Arc<AtomicBool>,
    /// Whether somebody has asked for the end.
    stopped: bool,
}

/// Events at times of one's choice.
#[derive(Clone, Debug)]
pub(super) struct BenchPlan {
    pub(super) events: Vec<(Duration, usize, Planned)>,
    pub(super) changes: Vec<(Duration, Option<usize>, WhatIf)>,
}

/// How a live lab is run.
pub(super) struct BenchSetup {
    /// Who answers cursor queries while a program has the port open.
    pub(super) answers: CursorAnswers,
    /// Lateness above which what is measured is invalid.
    pub(super) late_most: Duration,
    /// Socket of requests that change the lab.
    pub(super) control: Option<ControlSocket>,
    /// Whether the reader of the capture has gone, which ends the lab.
    pub(super) gone: Arc<AtomicBool>,
}

impl<W: Tap> Bench<W> {
    pub(super) fn new(
        lab: LiveLab<W>,
        ports: Vec<Port>,
        links: Option<LinkDir>,
        plan: BenchPlan,
        shown: Shown,
        setup: BenchSetup,
    ) -> Self {
        Self {
            lab,
            consoles: ConsolePorts::new(ports, links, setup.answers, LOOK),
            events: plan.events.into(),
            changes: plan.changes.into(),
            control: setup.control,
            shown,
            clock: Clock::start(),
            pace: WallPace::new(setup.late_most),
            gone: setup.gone,
            stopped: false,
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
        let is_asked = || cancel.load(Ordering::Relaxed);
        while !is_asked()
            && !self.stopped
            && !self.gone.load(Ordering::Relaxed)
            && self.clock.now() < end
        {
            self.keep_up()?;
            self.plans()?;
            carry_out(self)?;
            let now = self.clock.now();
            self.consoles.print(&mut self.lab, now)?;
            self.consoles.tell_unanswered(&self.lab, now, self.shown)?;
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
            self.consoles.say(&line);
        }
        self.lab.advance(until).map_err(|stuck| anyhow!("{stuck}"))
    }

    /// Carries out what is planned for now.
    fn plans(&mut self) -> anyhow::Result<()> {
        let now = self.clock.now();
        let passed = now.since(Instant::ZERO);
        while let Some((_, node, what)) = self.events.pop_front_if(|(at, ..)| *at <= passed) {
            let ConsolePorts { ports, links, .. } = &mut self.consoles;
            let port = &mut ports[node];
            let happened = match what {
                Planned::Unplug => port.unplug(links.as_mut()).then_some(Happened::Unplugged),
                Planned::Plug => {
                    port.plug(links.as_mut())?;
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
        while let Some((_, device, what)) = self.changes.pop_front_if(|it| it.0 <= passed) {
            self.change(device, what)?;
        }
        Ok(())
    }

    /// Changes a property, and tells so; returns whether there was one to change.
    fn change(&mut self, device: Option<usize>, what: WhatIf) -> anyhow::Result<bool> {
        let changed = self.lab.change(device.map(|it| NodeId(it as u16)), what);
        if changed {
            let name = device.and_then(|it| self.consoles.ports.get(it)).map(Port::name);
            self.shown.changed(self.clock.now(), name, what)?;
        }
        Ok(changed)
    }

    /// Waits until a program types, or comes or goes, at most for that time; then takes what it has
    /// typed.
    fn wait(&mut self, most: Duration) -> anyhow::Result<()> {
        let seen = self.consoles.wait(&self.lab, self.clock.now(), most, None)?;
        if seen.iter().any(|(_, state)| state.has_bytes) {
            // What is typed is typed now.
            self.keep_up()?;
        }
        let now = self.clock.now();
        for it in seen {
            self.consoles.take(&mut self.lab, now, it, self.shown)?;
        }
        Ok(())
    }

    /// Takes the ports and links away, and says what was counted; returns how far it was behind the clock.
    pub(super) fn close(&mut self) -> anyhow::Result<Lag> {
        let lag: Lag = self.pace.lag();
        let bytes = self.consoles.close(&self.lab);
        self.shown.end(self.clock.now(), &self.consoles.ports, &bytes, lag)?;
        Ok(lag)
    }

    /// Returns the witness of the lab.
    pub(super) fn into_watch(self) -> W {
        self.lab.into_watch()
    }
}

impl<W: Tap> Controlled for Bench<W> {
    fn socket(&self) -> Option<&ControlSocket> {
        self.control.as_ref()
    }

    fn keep_up(&mut self) -> anyhow::Result<()> {
        Self::keep_up(self)
    }

    fn device(&self, name: &str) -> Result<usize, UserError> {
        event::asked_for(name, self.consoles.ports.len())
    }

    fn change(&mut self, device: Option<usize>, what: WhatIf) -> anyhow::Result<bool> {
        Self::change(self, device, what)
    }

    fn type_line(&mut self, device: usize, line: &str) -> bool {
        let (node, now) = (NodeId(device as u16), self.lab.now());
        let fits = line.len() < self.lab.room(node);
        if fits {
            self.lab.type_bytes(node, line.as_bytes());
            self.lab.type_bytes_at(node, now + RETURN_AFTER, b"\r");
        }
        fits
    }

    fn restart(&mut self, device: usize) -> anyhow::Result<()> {
        self.lab.reset(NodeId(device as u16));
        self.shown.event(self.clock.now(), &self.consoles.ports[device], Happened::Reset)
    }

    fn status(&self) -> Value {
        let lag = self.pace.lag();
        json!({
            "ok": true,
            "time_s": self.lab.now().since(Instant::ZERO).as_secs_f64(),
            "devices": self.consoles.ports.iter().map(Port::name).collect::<Vec<_>>(),
            "behind_times": lag.times,
            "valid": lag.is_valid(),
        })
    }

    fn stop(&mut self) {
        self.stopped = true;
    }
}
