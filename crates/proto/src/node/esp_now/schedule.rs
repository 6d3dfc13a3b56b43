//! Which part of a node runs next.
//!
//! FreeRTOS would run tasks of one priority in turn; so do these. A part that wants to send waits
//! for the one send lock, first come, first served.

use super::task::Step;
use crate::time::Instant;
use heapless::Deque;

/// The parts of a node: those that have turns, each but the consoles a
/// [`Task`](super::task::Task), and the application, which only sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Part {
    /// `espnow_iperf`.
    Iperf,
    /// Sends images.
    OtaInitiator,
    /// Takes images.
    OtaResponder,
    /// Hands out the key.
    SecurityInitiator,
    /// Gets the key.
    SecurityResponder,
    /// `sec_test`.
    SecurityTest,
    /// Wi-Fi credentials, either way.
    Prov,
    /// Sends control commands.
    ControlInitiator,
    /// Takes control commands.
    ControlResponder,
    /// The time, either way.
    TimeSync,
    /// Sends log lines.
    Log,
    /// Sends remote commands, and answers a scan.
    Commander,
    /// The serial console.
    Console,
    /// The command that another device sent.
    Remote,
    /// The lines of the start, and `help`.
    Local,
    /// The application above the node.
    Application,
}

impl Part {
    /// How many there are.
    pub const COUNT: usize = 16;
    /// Every part, in the order of their turns.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Iperf,
        Self::OtaInitiator,
        Self::OtaResponder,
        Self::SecurityInitiator,
        Self::SecurityResponder,
        Self::SecurityTest,
        Self::Prov,
        Self::ControlInitiator,
        Self::ControlResponder,
        Self::TimeSync,
        Self::Log,
        Self::Commander,
        Self::Console,
        Self::Remote,
        Self::Local,
        Self::Application,
    ];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    /// Until its time in [`Schedule::due`].
    Until,
    /// In the lock's queue.
    Wants,
    /// Holds the lock. What arrives for it meanwhile waits: it has a turn when it releases the lock.
    Sends,
}

/// The turns.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// When each part has its turn: [`Instant::NEVER`] for one that waits for no time.
    due: [Instant; Part::COUNT],
    /// The earliest of them.
    soonest: Instant,
    states: [State; Part::COUNT],
    lock: Deque<Part, { Part::COUNT }>,
    holder: Option<Part>,
    next: usize,
}

impl Default for Schedule {
    /// Every part is run once at the start.
    fn default() -> Self {
        Self {
            due: [Instant::ZERO; Part::COUNT],
            soonest: Instant::ZERO,
            states: [State::Until; Part::COUNT],
            lock: Deque::new(),
            holder: None,
            next: 0,
        }
    }
}

impl Schedule {
    /// Whether nobody has a turn at `now`, or waits for the lock.
    #[inline]
    #[must_use]
    pub fn rests(&self, now: Instant) -> bool {
        self.soonest > now && self.lock.is_empty()
    }

    /// The next part whose turn it is at `now`.
    pub fn ready(&mut self, now: Instant) -> Option<Part> {
        if self.soonest > now {
            return None;
        }
        for step in 0..Part::COUNT {
            let at = (self.next + step) % Part::COUNT;
            if self.due[at] <= now && self.states[at] == State::Until {
                self.next = (at + 1) % Part::COUNT;
                return Some(Part::ALL[at]);
            }
        }
        None
    }

    fn set(&mut self, part: Part, state: State, due: Instant) {
        self.states[part as usize] = state;
        let before = core::mem::replace(&mut self.due[part as usize], due);
        if due <= self.soonest {
            self.soonest = due;
        } else if before == self.soonest {
            self.soonest = self.due.iter().fold(Instant::NEVER, |least, due| least.min(*due));
        }
    }

    /// What a part answered to its turn.
    pub fn answered(&mut self, part: Part, step: Step) {
        let (state, due) = match step {
            Step::Idle => (State::Idle, Instant::NEVER),
            Step::Until(t) => (State::Until, t),
            Step::Send => {
                // Each part waits at most once, so the queue has room for all of them.
                let _ = self.lock.push_back(part);
                (State::Wants, Instant::NEVER)
            }
        };
        self.set(part, state, due);
    }

    /// Something arrived for a part: it gets a turn, unless it is sending.
    pub fn wake(&mut self, part: Part) {
        if matches!(self.states[part as usize], State::Idle | State::Until) {
            self.set(part, State::Until, Instant::ZERO);
        }
    }

    /// The lock is free: it goes to the part that has waited longest.
    pub fn take_lock(&mut self) -> Option<Part> {
        if self.holder.is_some() {
            return None;
        }
        let part = self.lock.pop_front()?;
        self.holder = Some(part);
        self.set(part, State::Sends, Instant::NEVER);
        Some(part)
    }

    /// The lock is taken by a part that did not wait; false if it is not free.
    pub fn try_lock(&mut self, part: Part) -> bool {
        let free = self.holder.is_none() && self.lock.is_empty();
        if free {
            self.holder = Some(part);
            self.set(part, State::Sends, Instant::NEVER);
        }
        free
    }

    /// Whether a part waits for the lock.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        !self.lock.is_empty()
    }

    /// The transmission is over: the lock is free again, and its holder, who is given, gets a turn.
    pub fn release(&mut self) -> Option<Part> {
        let part = self.holder.take()?;
        self.set(part, State::Until, Instant::ZERO);
        Some(part)
    }

    /// Whether a part has nothing to do until something arrives for it.
    #[must_use]
    pub fn is_idle(&self, part: Part) -> bool {
        self.states[part as usize] == State::Idle
    }

    /// The earliest instant at which a part has its turn.
    #[inline]
    #[must_use]
    pub fn earliest(&self) -> Option<Instant> {
        Some(self.soonest).filter(|at| *at != Instant::NEVER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn idle() -> Schedule {
        let mut schedule = Schedule::default();
        Part::ALL.into_iter().for_each(|part| schedule.answered(part, Step::Idle));
        schedule
    }

    #[test]
    fn parts_are_numbered_in_order() {
        for (i, part) in Part::ALL.into_iter().enumerate() {
            assert_eq!(part as usize, i);
        }
    }

    #[test]
    fn those_that_yield_take_turns() {
        let mut schedule = idle();
        let now = Instant::from_nanos(5);
        schedule.wake(Part::Iperf);
        schedule.wake(Part::Log);
        let mut order = std::vec::Vec::new();
        for _ in 0..4 {
            let part = schedule.ready(now).expect("two are ready");
            schedule.answered(part, Step::Until(now));
            order.push(part);
        }
        assert_eq!(order, [Part::Iperf, Part::Log, Part::Iperf, Part::Log]);
    }

    #[test]
    fn the_lock_goes_to_who_asked_first_and_a_sender_is_not_run() {
        let mut schedule = idle();
        schedule.answered(Part::Log, Step::Send);
        schedule.answered(Part::Iperf, Step::Send);
        assert!(!schedule.try_lock(Part::Application), "others wait");
        assert_eq!(schedule.take_lock(), Some(Part::Log));
        assert_eq!(schedule.take_lock(), None);
        schedule.wake(Part::Log);
        assert_eq!(schedule.ready(Instant::NEVER), None);
        assert_eq!(schedule.release(), Some(Part::Log));
        assert_eq!(schedule.ready(Instant::ZERO), Some(Part::Log));
        assert_eq!(schedule.take_lock(), Some(Part::Iperf));
    }
}
