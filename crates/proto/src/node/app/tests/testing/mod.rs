//! A network in memory for tests: hosts with one program each, on virtual time, with faults.
//!
//! Every poll is held to the law of a program: at most one thing that costs time.

mod host;
mod net;

pub(crate) use net::{Faults, Net};

use crate::node::app::{App, Wait};
use espbench_model::time::{Duration, Instant};
use std::vec::Vec;

/// Cost of each call of a program.
pub(crate) const COST: Duration = Duration::from_micros(20);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Wake {
    At(Instant),
    ChangeOr(Instant),
    Done,
}

/// Runs programs, the nth on the nth host, until `until`, all are done, or nothing will ever happen.
/// Answers which are done.
pub(crate) fn run(net: &mut Net, apps: &mut [&mut dyn App], until: Instant) -> Vec<bool> {
    let mut wakes: Vec<Wake> = apps.iter().map(|_| Wake::At(net.now)).collect();
    let mut idle = 0;
    while wakes.iter().any(|&wake| wake != Wake::Done) {
        for (wake, host) in wakes.iter_mut().zip(&mut net.hosts) {
            if core::mem::take(&mut host.changed)
                && let Wake::ChangeOr(_) = wake
            {
                *wake = Wake::At(net.now);
            }
        }
        let next = |wake: &Wake| match *wake {
            Wake::At(at) | Wake::ChangeOr(at) => at,
            Wake::Done => Instant::NEVER,
        };
        let (nth, at) = wakes.iter().map(next).enumerate().min_by_key(|&(_, at)| at).unwrap();
        if net.next_event() <= at {
            if net.next_event() > until {
                break;
            }
            if net.next_event() > net.now {
                idle = 0;
            }
            net.step();
            continue;
        }
        if at > until || at == Instant::NEVER {
            break;
        }
        assert!(at > net.now || idle < 1000, "program {nth} spins at {:?}", net.now);
        idle = if at > net.now { 0 } else { idle + 1 };
        net.now = net.now.max(at);
        wakes[nth] = poll(net, nth, apps[nth]);
    }
    wakes.iter().map(|&wake| wake == Wake::Done).collect()
}

fn poll(net: &mut Net, nth: usize, app: &mut dyn App) -> Wake {
    let now = net.now;
    let mut view = net.view(nth);
    let wait = app.poll(now, &mut view);
    let (calls, spent) = (view.calls, view.spent);
    assert!(calls <= 1, "program {nth} did {calls} things in one poll");
    match wait {
        Wait::Again => Wake::At(now + COST + spent),
        Wait::Change => Wake::ChangeOr(Instant::NEVER),
        Wait::Until(at) | Wait::Spin(_, at) => Wake::ChangeOr(at.max(now)),
        Wait::Sleep(at) => Wake::At(at.max(now)),
        Wait::Done => Wake::Done,
    }
}

pub(crate) const fn ms(n: u64) -> Instant {
    Instant::from_nanos(n * 1_000_000)
}

pub(crate) const fn us(n: u64) -> Instant {
    Instant::from_nanos(n * 1000)
}
