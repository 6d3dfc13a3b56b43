//! Setup of machines and the Wi-Fi between them.

use crate::lab::profile::IpCosts;
use crate::lab::scene::{Delay, Gather};
use crate::net::Stack;
use crate::power::AutoLightSleep;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_dot11::wifi::WifiRole;
use espbench_model::sdkconfig::SdkConfig;
use espbench_proto::node::app::App;

/// A program that a machine can run.
pub trait Program: App + Send {}

impl<T: App + Send> Program for T {}

/// Setup of a lab's machines and the Wi-Fi between them.
#[derive(Debug, Default)]
pub struct NetworkSetup {
    /// Role of each station of the room.
    pub roles: Vec<WifiRole>,
    /// The machines. Their addresses are 10.0.0.1, 10.0.0.2 …, in this order.
    pub machines: Vec<MachineSetup>,
    /// Time that a router takes for a packet from one of its stations to another.
    pub forward: Duration,
}

/// A machine with an IP address.
#[derive(Clone, Debug)]
pub struct MachineSetup {
    /// Place in the network.
    pub place: MachinePlace,
    /// Limits of its TCP/IP.
    pub stack: Stack,
    /// Kind of the machine.
    pub kind: MachineKind,
}

/// Place of a machine in the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MachinePlace {
    /// Station, or access point, of the room.
    Air(u32),
    /// Wire behind this access point.
    Wire(u32),
}

/// Kind of a machine.
#[derive(Clone, Debug)]
pub enum MachineKind {
    /// An ESP.
    Esp(Box<EspSetup>),
    /// A PC.
    Pc(PcSetup),
}

/// An ESP: its processor, and its buffers.
#[derive(Clone, Debug)]
pub struct EspSetup {
    /// Costs of a packet's way in processor time, as its code is placed.
    pub costs: IpCosts,
    /// Cores.
    pub cores: u8,
    /// Time that the first work after a rest takes more, in nanoseconds: dynamic frequency scaling raises the clock.
    pub clock_switch_ns: u64,
    /// Buffers and queues.
    pub limits: SdkConfig,
    /// Bits a second of its console; 0: it takes no time.
    pub uart_baud: u32,
    /// Bytes of the console's FIFO.
    pub uart_fifo: u16,
    /// True where a received packet stays in its static RX buffer until lwIP's task and the program
    /// have done with it, and there are no dynamic buffers (ESP8266: lwIP's pbufs point into the
    /// hardware's buffers).
    pub rx_in_place: bool,
    /// True where its program runs inside lwIP's task (`espconn` of the ESP8266), and not in one of
    /// its own.
    pub in_lwip: bool,
    /// Heap for what comes and goes, in bytes, and what buffers take of it beside the frame in them.
    pub heap: HeapSetup,
    /// Automatic light sleep, if it is on.
    pub light: Option<AutoLightSleep>,
}

/// The heap of an ESP, as far as packets take from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapSetup {
    /// Bytes that are free once Wi-Fi and lwIP run: packets may take these.
    pub free: u32,
    /// Bytes of a dynamic RX buffer beside its frame.
    pub dynamic_rx: u32,
    /// Bytes of a TX buffer beside its frame.
    pub tx: u32,
}

impl Default for HeapSetup {
    /// Makes a heap that never ends.
    fn default() -> Self {
        Self { free: u32::MAX, dynamic_rx: 0, tx: 0 }
    }
}

/// A PC: fast, but its packets wait for its kernel and its scheduler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PcSetup {
    /// Time from a packet's arrival until a program has it, and from a program's call until it
    /// leaves.
    pub turn: Delay,
    /// Wire between it and its access point; none for a PC on the air.
    pub wire: Option<Wire>,
    /// Packets that wait in its driver, on the air.
    pub queue: u16,
}

/// A wire with a router at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// The wire's own, one way.
    pub delay: Delay,
    /// The router's: the fixed part each way, the random one for the packets that it queues for the
    /// air.
    pub forward: Delay,
    /// Packets from the air that it hands on together.
    pub gather: Gather,
    /// Bits a second.
    pub bits: u64,
}

impl Default for Wire {
    /// Makes a wire of 1 Gbit/s over a switch.
    fn default() -> Self {
        let delay = Delay { fixed: Duration::from_micros(30), random: Duration::ZERO };
        Self { delay, forward: Delay::default(), gather: Gather::default(), bits: 1_000_000_000 }
    }
}

impl Default for PcSetup {
    fn default() -> Self {
        let turn = Delay { fixed: Duration::from_micros(30), random: Duration::ZERO };
        Self { turn, wire: Some(Wire::default()), queue: 1000 }
    }
}
