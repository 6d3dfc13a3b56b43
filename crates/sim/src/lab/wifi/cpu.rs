//! The processor of a device: one or two cores, tasks by priority, as FreeRTOS runs them.
//!
//! Work is what a packet or a call of a program costs a task. Of the tasks of a core that have work
//! the one of the highest priority runs; a higher one interrupts it at once, and it goes on later
//! where it was. Within a task work is done in order.

use alloc::collections::VecDeque;

/// A task of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum CpuTask {
    /// The driver's (`ESP_TASKD_...`: priority 23, on core 0).
    Wifi,
    /// lwIP's (priority 18). It may run on either core (`CONFIG_LWIP_TCPIP_TASK_AFFINITY_NO_AFFINITY`, the default),
    /// and runs on core 1 where there is one: the driver's task, which wakes it, goes on with the core that it has,
    /// so the scheduler takes the other; a program that wakes it is on core 1, and of lower priority (ESP-IDF
    /// Programming Guide, FreeRTOS (IDF), SMP Scheduler).
    Tcpip,
    /// A program's (priority 1 to 5, on core 1 where there is one).
    App,
}

impl CpuTask {
    /// The tasks, in order of their priority.
    const ALL: [Self; 3] = [Self::Wifi, Self::Tcpip, Self::App];
}

/// Work with the time that it takes.
#[derive(Clone, Copy, Debug)]
struct Job<J> {
    what: J,
    /// Time that it still takes, in nanoseconds.
    left: u64,
}

/// Work that is waiting, by task, and what runs.
#[derive(Clone, Debug)]
pub(super) struct Cpu<J> {
    queues: [VecDeque<Job<J>>; 3],
    /// Task that each core runs, and since when.
    running: [Option<(CpuTask, u64)>; 2],
    cores: usize,
    /// Instant at which the last work ended.
    rests_since: u64,
    /// Time that the first work after a rest takes more, in nanoseconds: with dynamic frequency scaling the clock
    /// is raised first.
    switch_ns: u64,
}

impl<J: Copy> Cpu<J> {
    /// Creates an idle processor with one or two cores, whose first work after a rest takes so much longer.
    pub(super) fn new(cores: u8, switch_ns: u64) -> Self {
        let queues = [VecDeque::new(), VecDeque::new(), VecDeque::new()];
        let cores = usize::from(cores.clamp(1, 2));
        Self { queues, running: [None; 2], cores, rests_since: 0, switch_ns }
    }

    /// Returns what work takes that begins now: longer where the processor has rested.
    const fn begun(&self, now: u64, cost: u64) -> u64 {
        if self.is_busy() || now == self.rests_since { cost } else { cost + self.switch_ns }
    }

    const fn core(&self, task: CpuTask) -> usize {
        match task {
            CpuTask::Tcpip | CpuTask::App if self.cores == 2 => 1,
            _ => 0,
        }
    }

    /// Gives a task work.
    pub(super) fn push(&mut self, now: u64, task: CpuTask, what: J, cost: u64) {
        let left = self.begun(now, cost);
        self.queues[task as usize].push_back(Job { what, left });
        let core = self.core(task);
        match self.running[core] {
            Some((current, _)) if current <= task => {}
            _ => self.switch(now, core),
        }
    }

    /// Gives a task work that belongs to what it has just done: it comes before all that waits.
    pub(super) fn push_first(&mut self, now: u64, task: CpuTask, what: J, cost: u64) {
        let (core, left) = (self.core(task), self.begun(now, cost));
        self.settle(now, core);
        self.queues[task as usize].push_front(Job { what, left });
        match self.running[core] {
            Some((current, _)) if current <= task => {}
            _ => self.switch(now, core),
        }
    }

    /// Returns whether work of this kind waits for a task.
    pub(super) fn waits(&self, task: CpuTask, is: impl Fn(J) -> bool) -> bool {
        self.queues[task as usize].iter().any(|job| is(job.what))
    }

    /// Returns whether a core works.
    pub(super) const fn is_busy(&self) -> bool {
        self.running[0].is_some() || self.running[1].is_some()
    }

    /// Lets a core run the highest of its tasks that have work.
    fn switch(&mut self, now: u64, core: usize) {
        self.settle(now, core);
        let next = CpuTask::ALL
            .into_iter()
            .find(|task| self.core(*task) == core && !self.queues[*task as usize].is_empty());
        self.running[core] = next.map(|task| (task, now));
    }

    /// Takes what a core has done since it was last looked at off its work.
    fn settle(&mut self, now: u64, core: usize) {
        if let Some((task, since)) = self.running[core] {
            let done = now - since;
            if let Some(job) = self.queues[task as usize].front_mut() {
                job.left -= done.min(job.left);
            }
            self.running[core] = Some((task, now));
        }
    }

    /// Returns when the next piece of work will be done, if nothing comes before.
    pub(super) fn next(&self) -> Option<u64> {
        let end = |core: usize| {
            let (task, since) = self.running[core]?;
            Some(since + self.queues[task as usize].front()?.left)
        };
        match (end(0), end(1)) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Takes a piece of work that is done by now, if there is one.
    pub(super) fn done(&mut self, now: u64) -> Option<J> {
        for core in 0..self.cores {
            let Some((task, since)) = self.running[core] else { continue };
            let left = self.queues[task as usize].front().map_or(0, |job| job.left);
            if since + left > now {
                continue;
            }
            self.settle(since + left, core);
            let job = self.queues[task as usize].pop_front();
            self.running[core] = None;
            self.switch(since + left, core);
            self.rests_since = since + left;
            return job.map(|job| job.what);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    /// Gives work at these instants, and says when what was done.
    fn work(cores: u8, jobs: &[(u64, CpuTask, u64)]) -> Vec<(u64, usize)> {
        let mut cpu = Cpu::new(cores, 0);
        let mut done = Vec::new();
        let mut drain = |cpu: &mut Cpu<usize>, until: u64| {
            while let Some(at) = cpu.next().filter(|at| *at <= until) {
                done.push((at, cpu.done(at).unwrap()));
            }
        };
        for (i, &(at, task, cost)) in jobs.iter().enumerate() {
            drain(&mut cpu, at);
            cpu.push(at, task, i, cost);
        }
        drain(&mut cpu, u64::MAX);
        done
    }

    #[test]
    fn a_higher_task_interrupts_a_lower_one_on_its_core() {
        let jobs = [(0, CpuTask::App, 100), (40, CpuTask::Wifi, 30), (50, CpuTask::Tcpip, 20)];
        assert_eq!(work(1, &jobs), vec![(70, 1), (90, 2), (150, 0)]);
        let on_two = vec![(70, 1), (70, 2), (120, 0)];
        assert_eq!(work(2, &jobs), on_two, "the driver's task has a core of its own");
    }

    #[test]
    fn a_task_does_its_work_in_order() {
        let jobs = [(0, CpuTask::Wifi, 10), (0, CpuTask::Wifi, 5), (3, CpuTask::Wifi, 0)];
        assert_eq!(work(1, &jobs), vec![(10, 0), (15, 1), (15, 2)]);
    }

    #[test]
    fn what_belongs_to_the_work_just_done_comes_before_what_waits() {
        let mut cpu = Cpu::new(1, 0);
        cpu.push(0, CpuTask::Tcpip, 'a', 10);
        cpu.push(0, CpuTask::Tcpip, 'b', 10);
        assert_eq!(cpu.done(10), Some('a'));
        cpu.push_first(10, CpuTask::Tcpip, 'c', 5);
        // What had begun goes on where it was.
        cpu.push_first(12, CpuTask::Tcpip, 'd', 5);
        let order: Vec<_> = [17, 20, 30].map(|at| cpu.done(at)).into_iter().flatten().collect();
        assert_eq!(order, vec!['d', 'c', 'b']);
    }

    #[test]
    fn the_first_work_after_a_rest_waits_for_the_clock() {
        let mut cpu = Cpu::new(2, 7);
        cpu.push(100, CpuTask::Wifi, 'a', 10);
        cpu.push(103, CpuTask::App, 'b', 20);
        assert_eq!((cpu.next(), cpu.done(117)), (Some(117), Some('a')));
        assert_eq!((cpu.next(), cpu.done(123)), (Some(123), Some('b')));
        // What follows at once finds the clock as it was.
        cpu.push(123, CpuTask::Tcpip, 'c', 5);
        assert_eq!((cpu.next(), cpu.done(128)), (Some(128), Some('c')));
        cpu.push_first(129, CpuTask::Tcpip, 'd', 5);
        assert_eq!(cpu.next(), Some(141));
    }

    proptest! {
        #[test]
        fn all_work_is_done_once_and_takes_its_time(
            cores in 1_u8..=2,
            steps in prop::collection::vec((0_u64..50, 0_usize..3, 0_u64..60), 1..40),
        ) {
            let mut at = 0;
            let jobs: Vec<_> = steps
                .into_iter()
                .map(|(wait, task, cost)| {
                    at += wait;
                    (at, CpuTask::ALL[task], cost)
                })
                .collect();
            let done = work(cores, &jobs);
            let mut which: Vec<usize> = done.iter().map(|it| it.1).collect();
            which.sort_unstable();
            prop_assert_eq!(which, (0..jobs.len()).collect::<Vec<_>>());
            for (end, which) in &done {
                prop_assert!(*end >= jobs[*which].0 + jobs[*which].2);
            }
            // Nothing ends later than if all had waited for the last to come.
            let total: u64 = jobs.iter().map(|it| it.2).sum();
            prop_assert!(done.iter().all(|it| it.0 <= at + total));
            // On one core, work that never rests takes its sum.
            if cores == 1 && jobs.iter().all(|it| it.0 == jobs[0].0) {
                prop_assert_eq!(done.last().map(|it| it.0), Some(at + total));
            }
        }
    }
}
