//! The loop: virtual time in step with the clock, packets in and out, the command.

use super::LOOK_MAX;
use super::session::NetworkSession;
use super::told::{self, NetworkOutput};
use crate::cli::live_lab::consoles::ConsolePorts;
use crate::cli::live_lab::control::{ControlSocket, Controlled, RETURN_AFTER, carry_out};
use crate::cli::live_lab::shown::Shown;
use crate::clock::Clock;
use crate::sys::timer;
use crate::sys::tun::TUN_MTU;
use crate::user_error::UserError;
use anyhow::{Context as _, anyhow};
use espbench_model::time::Instant;
use espbench_sim::lab::live::{
    Lag, LatenessHistogram, LiveNetwork, STEP_MAX, WallPace, WhatIf, late_line,
};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::process::{ExitCode, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Longest time until printed bytes are handed on: that of a frame of USB.
const FRAME: Duration = Duration::from_millis(1);

/// Packets that are read before time goes on.
const BURST: usize = 64;

/// Time that a command has for its end after Ctrl-C or the lifetime.
const FAREWELL: Duration = Duration::from_secs(2);

/// A lab of devices that speak IP, and a command in its network, if there is one.
pub(super) struct NetworkBench<'a, 's> {
    lab: LiveNetwork<'a>,
    session: Option<&'s mut NetworkSession>,
    consoles: ConsolePorts,
    told: NetworkOutput,
    shown: Shown,
    planned: VecDeque<(Duration, Option<u16>, WhatIf)>,
    control: Option<ControlSocket>,
    clock: Clock,
    pace: WallPace,
    lateness: LatenessHistogram,
    /// Packets of the lab that the kernel did not take.
    refused: u64,
    /// Whether each host has had a lease.
    leased: Vec<bool>,
    looked: Instant,
    /// Whether the reader of the capture has gone.
    gone: Arc<AtomicBool>,
    /// Whether somebody has asked for the end.
    stopped: bool,
}

/// Parts of the loop of a live network.
pub(super) struct BenchParts<'s> {
    pub(super) session: Option<&'s mut NetworkSession>,
    pub(super) consoles: ConsolePorts,
    pub(super) told: NetworkOutput,
    pub(super) shown: Shown,
    pub(super) planned: Vec<(Duration, Option<u16>, WhatIf)>,
    pub(super) control: Option<ControlSocket>,
    /// Whether the reader of the capture has gone, which ends the lab.
    pub(super) gone: Arc<AtomicBool>,
    pub(super) late_most: Duration,
}

/// Counts of a live network at its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct NetworkCounts {
    pub(super) packets: espbench_sim::lab::wifi::OutsideCounts,
    pub(super) refused: u64,
    pub(super) failed: u64,
    /// Fragments that devices have dropped, and packets that they could not put together.
    pub(super) fragments: (u64, u64),
    pub(super) lag: Lag,
    pub(super) lateness: LatenessHistogram,
}

impl<'a, 's> NetworkBench<'a, 's> {
    pub(super) fn new(lab: LiveNetwork<'a>, parts: BenchParts<'s>) -> Self {
        timer::precise_wakeups();
        Self {
            leased: vec![false; lab.hosts().len()],
            lab,
            session: parts.session,
            consoles: parts.consoles,
            told: parts.told,
            shown: parts.shown,
            planned: parts.planned.into(),
            control: parts.control,
            clock: Clock::start(),
            pace: WallPace::new(parts.late_most),
            lateness: LatenessHistogram::default(),
            refused: 0,
            looked: Instant::ZERO,
            gone: parts.gone,
            stopped: false,
        }
    }

    /// Runs until the command has ended, and returns its status.
    pub(super) fn run(
        &mut self,
        lifetime: Option<Duration>,
        cancel: &AtomicBool,
    ) -> anyhow::Result<ExitCode> {
        let mut end = lifetime.map_or(Instant::NEVER, |it| Instant::ZERO + it);
        let mut is_over = false;
        loop {
            self.keep_up()?;
            self.change_as_planned()?;
            self.packets()?;
            let now = self.clock.now();
            self.consoles.print(&mut self.lab, now)?;
            if now.since(self.looked) >= LOOK_MAX {
                self.looked = now;
                self.report()?;
                self.consoles.tell_unanswered(&self.lab, now, self.shown)?;
                carry_out(self)?;
                if let Some(session) = &mut self.session
                    && let Some(status) = session.ended().context("the command")?
                {
                    return Ok(code(status));
                }
                self.stopped |= self.gone.load(Ordering::Relaxed);
                let is_asked = cancel.load(Ordering::Relaxed) || self.stopped;
                if !is_over && (now >= end || is_asked) {
                    is_over = true;
                    // A command hears Ctrl-C itself, and has time for its end.
                    let waits = self.session.is_some() && now < end && !self.stopped;
                    end = if waits { now + FAREWELL } else { now };
                }
                if is_over && now >= end {
                    if let Some(session) = &mut self.session {
                        session.kill();
                    }
                    return Ok(ExitCode::SUCCESS);
                }
            }
            self.wait(now)?;
        }
    }

    /// Waits for the next event, packet or byte that is typed.
    fn wait(&mut self, now: Instant) -> anyhow::Result<()> {
        let next = self.lab.next_due();
        let planned = self.planned.front().map(|it| Instant::ZERO + it.0);
        let next = next.into_iter().chain(planned).min();
        let idle = self.pace.idle(now, self.lab.now(), next, Duration::ZERO);
        let idle = if self.lab.prints() { idle.min(FRAME) } else { idle };
        let look = (self.looked + LOOK_MAX).since(now);
        let tun = self.session.as_ref().map(|it| &it.tun);
        let seen = self.consoles.wait(&self.lab, now, idle.min(look), tun)?;
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

    /// Changes what is planned for now.
    fn change_as_planned(&mut self) -> anyhow::Result<()> {
        let passed = self.clock.now().since(Instant::ZERO);
        while let Some((_, device, what)) = self.planned.pop_front_if(|it| it.0 <= passed) {
            self.change(device, what)?;
        }
        Ok(())
    }

    /// Changes a property, and tells so; returns whether there was one to change.
    fn change(&mut self, device: Option<u16>, what: WhatIf) -> anyhow::Result<bool> {
        let changed = self.lab.change(device, what);
        if changed {
            let name = device.and_then(|it| self.lab.hosts().get(usize::from(it)));
            let name = name.map(|it| it.name.as_str());
            self.shown.changed(self.clock.now(), name, what)?;
        }
        Ok(changed)
    }

    /// Lets virtual time come to the clock's, so that a packet that is read now comes in now.
    fn keep_up(&mut self) -> anyhow::Result<()> {
        let now = self.clock.now();
        loop {
            let (next, reached) = (self.lab.next_due(), self.lab.now());
            if let Some(late) = self.pace.late(now, next) {
                self.lateness.add(late);
            }
            let before = self.pace.lag();
            let until = self.pace.step(now, reached, next);
            if before.times == 0 && self.pace.lag().times > 0 {
                self.told.behind(now)?;
            }
            if self.pace.lag().invalid > before.invalid {
                let late = next.map_or(Duration::ZERO, |next| now.since(next));
                self.consoles.say(&late_line(reached, late));
            }
            self.lab.advance(until).map_err(|stuck| anyhow!("{stuck}"))?;
            // A step is cut where it would be too long.
            if until.since(reached) < STEP_MAX {
                return Ok(());
            }
        }
    }

    /// Hands packets on, in both directions.
    fn packets(&mut self) -> anyhow::Result<()> {
        while let Some(packet) = self.lab.take() {
            let Some(session) = &self.session else { continue };
            let taken = session.tun.write(&packet).context("the network interface")?;
            self.refused += u64::from(!taken);
        }
        let Some(session) = &self.session else { return Ok(()) };
        let mut buffer = [0; TUN_MTU];
        for _ in 0..BURST {
            let read = session.tun.read(&mut buffer).context("the network interface")?;
            let Some(packet) = read else { break };
            self.lab.come_in(packet);
        }
        Ok(())
    }

    /// Tells what the devices' programs have reported.
    fn report(&mut self) -> anyhow::Result<()> {
        for lease in self.lab.take_leases() {
            let is_first = !core::mem::replace(&mut self.leased[lease.host], true);
            self.told.lease(self.lab.hosts(), lease, is_first)?;
        }
        for report in self.lab.take_reports() {
            self.told.report(self.clock.now(), self.lab.hosts(), &report)?;
        }
        Ok(())
    }

    /// Tells the counts; returns how far the lab was behind the clock.
    pub(super) fn close(&mut self) -> anyhow::Result<Lag> {
        self.report()?;
        let devices = 0..self.lab.hosts().len() as u16;
        let counts = NetworkCounts {
            packets: self.lab.packets(),
            refused: self.refused,
            failed: devices.map(|it| self.lab.failed(it)).sum(),
            fragments: self.lab.fragments_lost(),
            lag: self.pace.lag(),
            lateness: self.lateness,
        };
        self.consoles.close(&self.lab);
        self.told.end(self.clock.now(), &counts)?;
        Ok(counts.lag)
    }
}

impl Controlled for NetworkBench<'_, '_> {
    fn socket(&self) -> Option<&ControlSocket> {
        self.control.as_ref()
    }

    fn keep_up(&mut self) -> anyhow::Result<()> {
        Self::keep_up(self)
    }

    fn device(&self, name: &str) -> Result<usize, UserError> {
        super::changes::device(name, self.lab.hosts()).map(usize::from)
    }

    fn change(&mut self, device: Option<usize>, what: WhatIf) -> anyhow::Result<bool> {
        Self::change(self, device.map(|it| it as u16), what)
    }

    fn type_line(&mut self, device: usize, line: &str) -> bool {
        let now = self.lab.now();
        let fits = line.len() < self.lab.room(device);
        if fits {
            self.lab.type_bytes_at(device, now, line.as_bytes());
            self.lab.type_bytes_at(device, now + RETURN_AFTER, b"\r");
        }
        fits
    }

    fn restart(&mut self, device: usize) -> anyhow::Result<()> {
        self.lab.reset(device);
        Ok(())
    }

    fn status(&self) -> Value {
        let (packets, lag) = (self.lab.packets(), self.pace.lag());
        json!({
            "ok": true,
            "time_s": self.lab.now().since(Instant::ZERO).as_secs_f64(),
            "hosts": self.lab.hosts().iter().map(told::host_json).collect::<Vec<_>>(),
            "packets_in": packets.came_in,
            "packets_out": packets.went_out,
            "behind_times": lag.times,
            "valid": lag.is_valid(),
        })
    }

    fn stop(&mut self) {
        self.stopped = true;
    }
}

/// Returns the status of the command as a shell has it.
#[cfg(unix)]
fn code(status: ExitStatus) -> ExitCode {
    use std::os::unix::process::ExitStatusExt as _;
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    ExitCode::from(code.and_then(|it| u8::try_from(it).ok()).unwrap_or(1))
}

/// Returns the status of the command.
#[cfg(not(unix))]
fn code(status: ExitStatus) -> ExitCode {
    ExitCode::from(status.code().and_then(|it| u8::try_from(it).ok()).unwrap_or(1))
}
