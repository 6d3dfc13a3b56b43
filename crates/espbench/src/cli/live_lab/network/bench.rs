//! The loop: virtual time in step with the clock, packets in and out, the command.

use super::LOOK_MAX;
use super::session::NetworkSession;
use super::told::NetworkOutput;
use crate::clock::Clock;
use crate::sys::timer;
use crate::sys::tun::TUN_MTU;
use anyhow::{Context as _, anyhow};
use espbench_model::time::Instant;
use espbench_sim::lab::live::{Lag, LatenessHistogram, LiveNetwork, STEP_MAX, WallPace};
use std::process::{ExitCode, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Packets that are read before time goes on.
const BURST: usize = 64;

/// Time that a command has for its end after Ctrl-C or the lifetime.
const FAREWELL: Duration = Duration::from_secs(2);

/// A lab of devices that speak IP, and a command in its network.
pub(super) struct NetworkBench<'a, 's> {
    lab: LiveNetwork<'a>,
    session: &'s mut NetworkSession,
    told: NetworkOutput,
    clock: Clock,
    pace: WallPace,
    lateness: LatenessHistogram,
    /// Packets of the lab that the kernel did not take.
    refused: u64,
    looked: Instant,
}

/// Counts of a live network at its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct NetworkCounts {
    pub(super) packets: espbench_sim::lab::wifi::OutsideCounts,
    pub(super) refused: u64,
    pub(super) failed: u64,
    pub(super) lag: Lag,
    pub(super) lateness: LatenessHistogram,
}

impl<'a, 's> NetworkBench<'a, 's> {
    pub(super) fn new(
        lab: LiveNetwork<'a>,
        session: &'s mut NetworkSession,
        told: NetworkOutput,
        late_most: Duration,
    ) -> Self {
        timer::precise_wakeups();
        Self {
            lab,
            session,
            told,
            clock: Clock::start(),
            pace: WallPace::new(late_most),
            lateness: LatenessHistogram::default(),
            refused: 0,
            looked: Instant::ZERO,
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
            self.packets()?;
            let now = self.clock.now();
            if now.since(self.looked) >= LOOK_MAX {
                self.looked = now;
                self.report()?;
                if let Some(status) = self.session.ended().context("the command")? {
                    return Ok(code(status));
                }
                if !is_over && (now >= end || cancel.load(Ordering::Relaxed)) {
                    is_over = true;
                    end = if now >= end { now } else { now + FAREWELL };
                }
                if is_over && now >= end {
                    self.session.kill();
                    return Ok(ExitCode::SUCCESS);
                }
            }
            let next = self.lab.next_due();
            let idle = self.pace.idle(now, self.lab.now(), next, Duration::ZERO);
            let look = (self.looked + LOOK_MAX).since(now);
            self.session.tun.wait(idle.min(look)).context("the network interface")?;
        }
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
            let taken = self.session.tun.write(&packet).context("the network interface")?;
            self.refused += u64::from(!taken);
        }
        let mut buffer = [0; TUN_MTU];
        for _ in 0..BURST {
            let read = self.session.tun.read(&mut buffer).context("the network interface")?;
            let Some(packet) = read else { break };
            self.lab.come_in(packet);
        }
        Ok(())
    }

    /// Tells what the devices' programs have reported.
    fn report(&mut self) -> anyhow::Result<()> {
        for report in self.lab.take_reports() {
            self.told.report(self.clock.now(), self.lab.hosts(), &report)?;
        }
        Ok(())
    }

    /// Tells the counts; returns how far the lab was behind the clock.
    pub(super) fn close(&mut self) -> anyhow::Result<Lag> {
        self.report()?;
        let devices = 0..(self.lab.hosts().len() - 1) as u16;
        let counts = NetworkCounts {
            packets: self.lab.packets(),
            refused: self.refused,
            failed: devices.map(|it| self.lab.failed(it)).sum(),
            lag: self.pace.lag(),
            lateness: self.lateness,
        };
        self.told.end(self.clock.now(), &counts)?;
        Ok(counts.lag)
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
