//! State of an ESP and of a PC.

use super::cpu::Cpu;
use super::outside::OutsideStack;
use super::setup::{EspSetup, MachineKind, MachinePlace, MachineSetup, PcSetup, Program};
use super::{MachineOutput, TrafficSums};
use crate::lab::pool::Handle;
use crate::lab::profile::IpCosts;
use crate::net::{HeapStats, IpHost, ProgramId};
use crate::power::{self, ModemState, StateMeter};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use espbench_dot11::random::{Purpose, RngStream};
use espbench_model::sample::Link;
use espbench_model::time::Instant;

/// Packets that a machine's driver has dropped, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DriverDrops {
    /// Frames that the hardware had no static RX buffer for: they were not acknowledged.
    pub static_rx: u64,
    /// Packets that no dynamic RX buffer was free for.
    pub dynamic_rx: u64,
    /// Packets that were dropped on their way up because the heap had run out: the driver finds no
    /// memory for a dynamic RX buffer after the radio has acknowledged the frame.
    pub heap_rx: u64,
    /// Packets that lwIP's mailbox had no place for.
    pub tcpip_mailbox: u64,
    /// Packets that could not be sent: not associated, or an access point's queue was full.
    pub not_sent: u64,
    /// Packets that were sent and not acknowledged, or kept for too long.
    pub lost: u64,
}

/// The heap of an ESP, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapUse {
    /// Free once Wi-Fi has started, without traffic.
    pub started: u32,
    /// The most of it that was in use at a time.
    pub peak: u32,
    /// The most that the driver's dynamic buffers took.
    pub driver_peak: u32,
}

/// Piece of work of an ESP's task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TaskJob {
    /// Wi-Fi: a frame has been taken from the hardware.
    Taken,
    /// lwIP: this packet goes up.
    Receive(Handle),
    /// lwIP: this packet goes down; for that program, which waits for it.
    Send(Handle, u16),
    /// lwIP: its timer has come.
    Timer,
    /// Wi-Fi: this packet goes to the hardware.
    Start(Handle),
    /// Wi-Fi: a packet of so many bytes was sent or given up.
    Sent(u32),
    /// The program goes on.
    Run(u16),
    /// The program has spent its time.
    Spent(u16),
    /// ESP-NOW: this request is worked on.
    Answer(u32),
    /// Wi-Fi: a step of joining is computed.
    Computed,
}

/// For what a program waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Awaits {
    /// The program is being run.
    Nothing,
    /// A change or a time.
    Change(Instant),
    /// A change or a time, waited for busily: the program notices a change only after its rounds'
    /// time, in nanoseconds.
    Spin(Instant, u64),
    /// A time.
    Time(Instant),
    /// The program has ended.
    Done,
}

/// Place for the samples of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Keeps {
    /// To the machine's, as they are.
    #[default]
    Samples,
    /// To the machine's, on this link.
    OnLink(Link),
    /// Nowhere: they are only added up, and nobody waits for the program's end.
    Sums,
}

pub(super) struct Running<'a> {
    pub(super) keeps: Keeps,
    /// Taken out while it is polled.
    pub(super) app: Option<Box<dyn Program + 'a>>,
    pub(super) awaits: Awaits,
    /// Event that it waits for when the time that it has spent is over.
    pub(super) then: Awaits,
    /// Packets that it has sent and that go on when that time is over.
    pub(super) out: Vec<Handle>,
    /// Packets of these that lwIP's task has not done.
    pub(super) pending: u16,
}

/// An ESP's processor and driver.
pub(super) struct Esp {
    pub(super) cpu: Cpu<TaskJob>,
    pub(super) setup: EspSetup,
    pub(super) costs: IpCosts,
    /// Frames in static RX buffers.
    pub(super) static_rx: u16,
    /// Frames that the hardware has taken in all, and those that the Wi-Fi task has worked off.
    pub(super) taken: u64,
    pub(super) worked_off: u64,
    /// Packets in order that go up once so many frames are worked off.
    pub(super) arrived: VecDeque<(u64, Handle)>,
    /// Packets that wait for lwIP's task: they have a dynamic RX buffer, and a place in its mailbox.
    pub(super) mailbox: u16,
    /// Packets that went up since the driver got new dynamic RX buffers.
    pub(super) since_refill: u16,
    /// The driver has run out of them.
    pub(super) ran_out: bool,
    /// Packets in TX buffers.
    pub(super) tx: u16,
    /// Time until which the UART is printing.
    pub(super) uart_until: u64,
    /// A timer of lwIP's was given to its task.
    pub(super) timer: bool,
    /// Bytes of the packets in TX buffers and on their way to a mailbox, with their buffers.
    pub(super) buffered: u32,
    /// The most of the heap that was in use: in all, and of it by the driver's dynamic buffers.
    pub(super) heap_peak: u32,
    pub(super) driver_peak: u32,
    /// Meter of the states of radio and processor.
    pub(super) meter: StateMeter,
    pub(super) radio_on: bool,
}

impl Esp {
    /// Returns the heap that is free now, given lwIP's part of it. Notes how much is in use.
    pub(super) fn free(&mut self, stack: HeapStats) -> u32 {
        let used = self.buffered + stack.now;
        self.heap_peak = self.heap_peak.max(used);
        self.driver_peak = self.driver_peak.max(self.buffered + stack.received);
        self.setup.heap.free.saturating_sub(used)
    }

    /// Says what radio and processor do from now on.
    pub(super) fn note_cpu(&mut self, now: Instant, spins: bool) {
        let busy = spins || self.cpu.is_busy();
        self.meter.cpu(now, if busy { power::CpuState::Busy } else { power::CpuState::Idle });
    }
}

/// A PC's driver.
pub(super) struct PcDriver {
    pub(super) setup: PcSetup,
    pub(super) random: RngStream,
    /// Packets neither overtake each other on their way in nor on their way out.
    pub(super) last_in: Instant,
    pub(super) last_out: Instant,
    /// Time of the last packet from one of its programs to another.
    pub(super) last_within: Instant,
    /// Packets that the router at the end of its wire has gathered, and how many it ever has.
    pub(super) gathered: Vec<Handle>,
    pub(super) gathered_ever: u32,
    /// Packets in its driver.
    pub(super) queued: usize,
    /// The real IP stack outside the lab that has its address, if there is one.
    pub(super) outside: Option<OutsideStack>,
}

pub(super) enum Body {
    Esp(Box<Esp>),
    Pc(Box<PcDriver>),
}

/// A machine.
pub(super) struct Machine<'a> {
    pub(super) place: MachinePlace,
    pub(super) host: IpHost,
    pub(super) body: Body,
    pub(super) programs: Vec<Running<'a>>,
    pub(super) told: MachineOutput,
    /// Sums of the programs' work whose samples are not kept.
    pub(super) sums: TrafficSums,
    pub(super) drops: DriverDrops,
    /// Time for which its last wake-up was set.
    pub(super) armed: Instant,
    pub(super) random: RngStream,
}

/// Returns the address of a machine.
pub(in crate::lab) const fn address(number: usize) -> [u8; 4] {
    let number = number as u16 + 1;
    [10, 0, (number >> 8) as u8, number as u8]
}

/// Returns the machine that has an address, if it is one of a lab's.
pub(super) fn machine_at(address: [u8; 4]) -> Option<u16> {
    let [10, 0, high, low] = address else { return None };
    u16::from_be_bytes([high, low]).checked_sub(1)
}

impl Machine<'_> {
    pub(super) fn new(seed: u64, number: usize, setup: MachineSetup) -> Self {
        let node = number as u32;
        let body = match setup.kind {
            MachineKind::Esp(it) => Body::Esp(Box::new(Esp {
                meter: StateMeter::new(Instant::ZERO, it.light).doing(ModemState::Listen),
                cpu: Cpu::new(it.cores, it.clock_switch_ns),
                costs: it.costs,
                setup: *it,
                static_rx: 0,
                taken: 0,
                worked_off: 0,
                arrived: VecDeque::new(),
                mailbox: 0,
                since_refill: u16::MAX,
                ran_out: false,
                tx: 0,
                uart_until: 0,
                timer: false,
                buffered: 0,
                heap_peak: 0,
                driver_peak: 0,
                radio_on: true,
            })),
            MachineKind::Pc(setup) => Body::Pc(Box::new(PcDriver {
                setup,
                random: RngStream::stream(seed, node, Purpose::Person),
                last_in: Instant::ZERO,
                last_out: Instant::ZERO,
                last_within: Instant::ZERO,
                gathered: Vec::new(),
                gathered_ever: 0,
                queued: 0,
                outside: None,
            })),
        };
        Self {
            place: setup.place,
            host: IpHost::new(seed, address(number), &setup.stack),
            body,
            programs: Vec::new(),
            told: MachineOutput::default(),
            sums: TrafficSums::default(),
            drops: DriverDrops::default(),
            armed: Instant::NEVER,
            random: RngStream::stream(seed, node, Purpose::Board),
        }
    }

    pub(super) fn esp(&self) -> Option<&Esp> {
        match &self.body {
            Body::Esp(esp) => Some(esp),
            Body::Pc(_) => None,
        }
    }

    /// Returns the number of programs that have not ended, without those nobody waits for.
    pub(super) fn running(&self) -> usize {
        let waits = |it: &&Running<'_>| it.awaits != Awaits::Done && it.keeps != Keeps::Sums;
        self.programs.iter().filter(waits).count()
    }

    /// Returns whether a program keeps its core busy while it waits.
    pub(super) fn spins(&self) -> bool {
        self.programs.iter().any(|it| matches!(it.awaits, Awaits::Spin(..)))
    }

    /// Returns when the machine has something to do, if nothing comes before.
    pub(super) fn next(&mut self) -> Instant {
        let mut next = Instant::NEVER;
        let mut at = |it: Instant| next = next.min(it);
        for program in &self.programs {
            match program.awaits {
                Awaits::Change(it) | Awaits::Spin(it, _) | Awaits::Time(it) => at(it),
                Awaits::Nothing | Awaits::Done => {}
            }
        }
        let wait = self.host.wait();
        match &self.body {
            Body::Esp(esp) => {
                esp.cpu.next().into_iter().for_each(|it| at(Instant::from_nanos(it)));
                if !esp.timer {
                    wait.into_iter().for_each(at);
                }
            }
            Body::Pc(_) => wait.into_iter().for_each(at),
        }
        next
    }

    /// Returns a program that has something to do.
    pub(super) fn due(&mut self, now: Instant) -> Option<usize> {
        let host = &mut self.host;
        self.programs.iter_mut().enumerate().find_map(|(i, it)| {
            let due = match it.awaits {
                Awaits::Change(at) | Awaits::Spin(at, _) => {
                    let changed = host.changed(ProgramId(i as u16));
                    changed || at <= now
                }
                Awaits::Time(at) => at <= now,
                Awaits::Nothing | Awaits::Done => false,
            };
            due.then_some(i)
        })
    }
}
