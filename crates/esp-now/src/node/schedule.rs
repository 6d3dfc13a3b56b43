//! The order in which the parts of a node run.
//!
//! FreeRTOS would run tasks of one priority in turn; so does this scheduler. A part that wants to
//! send waits for the one send lock, first come, first served.

use super::task::TaskStep;
use espbench_model::time::Instant;
use heapless::Deque;

/// A part of a node: the ones that have turns, each but the consoles a [`Task`](super::task::Task),
/// and the application, which only sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum NodePart {
    /// `espnow_iperf`.
    Iperf,
    /// OTA initiator, which sends images.
    OtaInitiator,
    /// OTA responder, which receives images.
    OtaResponder,
    /// Security initiator, which hands out the key.
    SecurityInitiator,
    /// Security responder, which receives the key.
    SecurityResponder,
    /// `sec_test`, the benchmark of encryption.
    SecurityTest,
    /// Provisioning, as holder of Wi-Fi credentials or as a device that wants them.
    Prov,
    /// Control initiator, which sends control commands.
    ControlInitiator,
    /// Control responder, which executes control commands.
    ControlResponder,
    /// Time synchronization, in either role.
    TimeSync,
    /// Remote log, which sends log lines.
    Log,
    /// Remote command, which sends commands, and answers a scan.
    Commander,
    /// Serial console.
    Console,
    /// Console that runs the command of another device.
    Remote,
    /// Console that prints the lines of the start, and `help`.
    Local,
    /// Application above the node.
    Application,
}

impl NodePart {
    /// Number of parts.
    pub const COUNT: usize = 16;
    /// All parts, in the order of their turns.
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
enum PartState {
    Idle,
    /// Waits for its time in [`Schedule::due`].
    Until,
    /// Waits in the lock's queue.
    Wants,
    /// Holds the lock. Input that arrives for it meanwhile waits until it releases the lock and
    /// gets a turn.
    Sends,
}

/// Scheduler of a node's parts.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// Time of each part's turn: [`Instant::NEVER`] for a part that waits for no time.
    due: [Instant; NodePart::COUNT],
    /// Earliest of these times.
    soonest: Instant,
    states: [PartState; NodePart::COUNT],
    lock: Deque<NodePart, { NodePart::COUNT }>,
    holder: Option<NodePart>,
    next: usize,
}

impl Default for Schedule {
    /// Gives every part a turn at the start.
    fn default() -> Self {
        Self {
            due: [Instant::ZERO; NodePart::COUNT],
            soonest: Instant::ZERO,
            states: [PartState::Until; NodePart::COUNT],
            lock: Deque::new(),
            holder: None,
            next: 0,
        }
    }
}

impl Schedule {
    /// Returns whether no part has a turn at `now`, and none waits for the lock.
    #[inline]
    #[must_use]
    pub fn rests(&self, now: Instant) -> bool {
        self.soonest > now && self.lock.is_empty()
    }

    /// Returns the next part whose turn it is at `now`.
    pub fn ready(&mut self, now: Instant) -> Option<NodePart> {
        if self.soonest > now {
            return None;
        }
        for step in 0..NodePart::COUNT {
            let at = (self.next + step) % NodePart::COUNT;
            if self.due[at] <= now && self.states[at] == PartState::Until {
                self.next = (at + 1) % NodePart::COUNT;
                return Some(NodePart::ALL[at]);
            }
        }
        None
    }

    fn set(&mut self, part: NodePart, state: PartState, due: Instant) {
        self.states[part as usize] = state;
        let before = core::mem::replace(&mut self.due[part as usize], due);
        if due <= self.soonest {
            self.soonest = due;
        } else if before == self.soonest {
            self.soonest = self.due.iter().fold(Instant::NEVER, |least, due| least.min(*due));
        }
    }

    /// Takes note of a part's answer to its turn.
    pub fn answered(&mut self, part: NodePart, step: TaskStep) {
        let (state, due) = match step {
            TaskStep::Idle => (PartState::Idle, Instant::NEVER),
            TaskStep::Until(t) => (PartState::Until, t),
            TaskStep::Send => {
                // Each part waits at most once, so the queue has room for all of them.
                let _ = self.lock.push_back(part);
                (PartState::Wants, Instant::NEVER)
            }
        };
        self.set(part, state, due);
    }

    /// Gives a part a turn because something arrived for it, unless the part is sending.
    pub fn wake(&mut self, part: NodePart) {
        if matches!(self.states[part as usize], PartState::Idle | PartState::Until) {
            self.set(part, PartState::Until, Instant::ZERO);
        }
    }

    /// Gives the free lock to the part that has waited longest, and returns that part.
    pub fn take_lock(&mut self) -> Option<NodePart> {
        if self.holder.is_some() {
            return None;
        }
        let part = self.lock.pop_front()?;
        self.holder = Some(part);
        self.set(part, PartState::Sends, Instant::NEVER);
        Some(part)
    }

    /// Gives the lock to a part that did not wait; returns false if it is not free.
    pub fn try_lock(&mut self, part: NodePart) -> bool {
        let free = self.holder.is_none() && self.lock.is_empty();
        if free {
            self.holder = Some(part);
            self.set(part, PartState::Sends, Instant::NEVER);
        }
        free
    }

    /// Returns whether a part waits for the lock.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        !self.lock.is_empty()
    }

    /// Releases the lock at the end of a transmission, gives its holder a turn, and returns the
    /// holder.
    pub fn release(&mut self) -> Option<NodePart> {
        let part = self.holder.take()?;
        self.set(part, PartState::Until, Instant::ZERO);
        Some(part)
    }

    /// Returns whether a part has nothing to do until something arrives for it.
    #[must_use]
    pub fn is_idle(&self, part: NodePart) -> bool {
        self.states[part as usize] == PartState::Idle
    }

    /// Returns the earliest instant at which a part has its turn.
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
        NodePart::ALL.into_iter().for_each(|part| schedule.answered(part, TaskStep::Idle));
        schedule
    }

    #[test]
    fn parts_are_numbered_in_order() {
        for (i, part) in NodePart::ALL.into_iter().enumerate() {
            assert_eq!(part as usize, i);
        }
    }

    #[test]
    fn those_that_yield_take_turns() {
        let mut schedule = idle();
        let now = Instant::from_nanos(5);
        schedule.wake(NodePart::Iperf);
        schedule.wake(NodePart::Log);
        let mut order = std::vec::Vec::new();
        for _ in 0..4 {
            let part = schedule.ready(now).expect("two are ready");
            schedule.answered(part, TaskStep::Until(now));
            order.push(part);
        }
        assert_eq!(order, [NodePart::Iperf, NodePart::Log, NodePart::Iperf, NodePart::Log]);
    }

    #[test]
    fn the_lock_goes_to_who_asked_first_and_a_sender_is_not_run() {
        let mut schedule = idle();
        schedule.answered(NodePart::Log, TaskStep::Send);
        schedule.answered(NodePart::Iperf, TaskStep::Send);
        assert!(!schedule.try_lock(NodePart::Application), "others wait");
        assert_eq!(schedule.take_lock(), Some(NodePart::Log));
        assert_eq!(schedule.take_lock(), None);
        schedule.wake(NodePart::Log);
        assert_eq!(schedule.ready(Instant::NEVER), None);
        assert_eq!(schedule.release(), Some(NodePart::Log));
        assert_eq!(schedule.ready(Instant::ZERO), Some(NodePart::Log));
        assert_eq!(schedule.take_lock(), Some(NodePart::Iperf));
    }
}
