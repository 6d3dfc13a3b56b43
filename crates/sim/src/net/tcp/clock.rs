//! Round trips and timeouts: lwIP counts ticks, a PC measures.

use super::super::stack::{Stack, TcpTimers};
use super::sequence::after;
use core::time::Duration;
use espbench_model::time::Instant;

/// The ticks of a host.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct TickClock {
    /// The time of the first tick in nanoseconds.
    phase: u64,
    /// The time between two ticks in nanoseconds; 0 without ticks.
    tick: u64,
}

impl TickClock {
    pub(in super::super) fn new(timers: &TcpTimers, bits: u64) -> Self {
        match timers {
            TcpTimers::Ticks { tick } => {
                let tick = (tick.as_nanos() as u64).max(1);
                // The phase covers two ticks, because the seed also decides whether the first is a
                // slow one.
                Self { phase: bits % (2 * tick), tick }
            }
            TcpTimers::Exact { .. } => Self { phase: 0, tick: 0 },
        }
    }

    /// Returns the next tick after `now`; with exact timers, `now`.
    pub(super) const fn fast(&self, now: Instant) -> Instant {
        self.next(now, self.tick, 1)
    }

    /// Returns the `n`-th slow tick after `now`.
    pub(super) const fn slow(&self, now: Instant, n: u64) -> Instant {
        self.next(now, 2 * self.tick, n)
    }

    /// Returns the number of slow ticks until `now`.
    const fn count(&self, now: Instant) -> u64 {
        match 2 * self.tick {
            0 => 0,
            slow => (now.as_nanos() + slow - self.phase % slow) / slow,
        }
    }

    const fn next(&self, now: Instant, step: u64, n: u64) -> Instant {
        if step == 0 {
            return now;
        }
        let phase = self.phase % step;
        let done = (now.as_nanos() + step - phase) / step;
        Instant::ZERO.after_nanos(phase + step * (done + n - 1))
    }
}

/// The retransmission timeout of a connection.
#[derive(Clone, Debug)]
pub(super) struct RetransmissionTimeout {
    rule: TimeoutRule,
    /// The smoothed round-trip time in nanoseconds, as measured under any rule.
    smoothed: Option<u64>,
    /// The number of retransmissions of the same segment.
    pub(super) tries: u8,
}

#[derive(Clone, Debug)]
enum TimeoutRule {
    /// Ticks: `sa`, `sv` and `rto` of lwIP's `tcp_pcb`, in slow ticks.
    Ticks { average: i32, variance: i32, rto: i32, sample: Option<(u64, u32)> },
    /// Exact times by RFC 6298, in nanoseconds.
    Exact { variance: u64, least: u64, rto: u64 },
}

/// The shifts of the timeout, `tcp_backoff` of lwIP's tcp.c.
const BACK_OFF: [u8; 8] = [1, 2, 3, 4, 5, 6, 7, 7];
/// The longest timeout in nanoseconds, `TCP_RTO_MAX` of Linux.
const LONGEST: u64 = 120_000_000_000;

impl RetransmissionTimeout {
    pub(super) fn new(stack: &Stack) -> Self {
        let first = stack.first_timeout.as_nanos() as u64;
        let rule = match stack.timers {
            TcpTimers::Ticks { tick } => {
                let slow = (2 * tick.as_nanos() as u64).max(1);
                let rto = i32::try_from(first / slow).unwrap_or(i32::MAX).clamp(1, 0x7FFF);
                TimeoutRule::Ticks { average: 0, variance: rto, rto, sample: None }
            }
            TcpTimers::Exact { least } => {
                TimeoutRule::Exact { variance: 0, least: least.as_nanos() as u64, rto: first }
            }
        };
        Self { rule, smoothed: None, tries: 0 }
    }

    /// Returns the time at which a segment sent now counts as lost.
    pub(super) const fn due(&self, clock: &TickClock, now: Instant) -> Instant {
        match self.rule {
            TimeoutRule::Ticks { rto, .. } => clock.slow(now, rto as u64),
            TimeoutRule::Exact { rto, .. } => now.after_nanos(rto),
        }
    }

    /// Returns the length of the timeout, at most.
    pub(super) const fn length(&self, clock: &TickClock) -> Duration {
        Duration::from_nanos(match self.rule {
            TimeoutRule::Ticks { rto, .. } => rto as u64 * 2 * clock.tick,
            TimeoutRule::Exact { rto, .. } => rto,
        })
    }

    /// Takes note that a segment that ends before `end` is sent for the first time.
    pub(super) const fn sent(&mut self, clock: &TickClock, now: Instant, end: u32) {
        if let TimeoutRule::Ticks { sample, .. } = &mut self.rule
            && sample.is_none()
        {
            *sample = Some((clock.count(now), end));
        }
    }

    /// Takes note that a segment was retransmitted, so that its measurement is void (Karn).
    pub(super) const fn sent_again(&mut self) {
        if let TimeoutRule::Ticks { sample, .. } = &mut self.rule {
            *sample = None;
        }
    }

    /// Takes note that data is acknowledged up to `una`. `took` is the round trip of the newest
    /// segment in it that was sent once.
    pub(super) fn acknowledged(
        &mut self,
        clock: &TickClock,
        now: Instant,
        una: u32,
        took: Option<Duration>,
    ) {
        self.tries = 0;
        let before = self.smoothed;
        let took = took.map(|it| it.as_nanos() as u64);
        if let Some(took) = took {
            self.smoothed = Some(before.map_or(took, |old| old - old / 8 + took / 8));
        }
        match &mut self.rule {
            TimeoutRule::Ticks { average, variance, rto, sample } => {
                if let Some((tick, end)) = *sample
                    && !after(end, una)
                {
                    // Van Jacobson's estimate in whole ticks, as in `tcp_receive`.
                    let mut m = (clock.count(now) - tick) as i32 - (*average >> 3);
                    *average += m;
                    m = m.abs() - (*variance >> 2);
                    *variance += m;
                    *sample = None;
                }
                *rto = ((*average >> 3) + *variance).clamp(1, 0x7FFF);
            }
            TimeoutRule::Exact { variance, least, rto } => {
                if let Some(took) = took {
                    *variance = match before {
                        None => took / 2,
                        Some(old) => *variance - *variance / 4 + old.abs_diff(took) / 4,
                    };
                }
                // Linux applies its lower limit to the part of the variance.
                let smoothed = self.smoothed.unwrap_or(*rto);
                if self.smoothed.is_some() {
                    *rto = (smoothed + (4 * *variance).max(*least)).min(LONGEST);
                }
            }
        }
    }

    /// Lengthens the timeout after it has expired; lwIP does not do so for a SYN.
    pub(super) fn back_off(&mut self, synchronizing: bool) {
        let tries = self.tries;
        self.tries = self.tries.saturating_add(1);
        self.sent_again();
        match &mut self.rule {
            TimeoutRule::Ticks { .. } if synchronizing => {}
            TimeoutRule::Ticks { average, variance, rto, .. } => {
                let shift = BACK_OFF[usize::from(tries).min(BACK_OFF.len() - 1)];
                *rto = (((*average >> 3) + *variance).clamp(1, 0x7FFF) << shift).min(0x7FFF);
            }
            TimeoutRule::Exact { rto, .. } => *rto = (*rto * 2).min(LONGEST),
        }
    }

    /// Returns the time of the probe number `probes` of a closed window.
    pub(super) fn probe(&self, clock: &TickClock, now: Instant, probes: u8) -> Instant {
        match self.rule {
            // `tcp_persist_backoff` of tcp.c, slow ticks.
            TimeoutRule::Ticks { .. } => {
                const TICKS: [u64; 7] = [3, 6, 12, 24, 48, 96, 120];
                clock.slow(now, TICKS[usize::from(probes).min(TICKS.len() - 1)])
            }
            TimeoutRule::Exact { rto, .. } => now.after_nanos((rto << probes.min(16)).min(LONGEST)),
        }
    }

    pub(super) const fn smoothed(&self) -> Option<u64> {
        self.smoothed
    }
}
