//! A device that speaks ESP-NOW as Espressif's esp-now component does.
//!
//! | module | what |
//! |---|---|
//! | [`task`] | how the parts of a node work side by side: [`Task`](task::Task), [`Cx`](task::Cx) |
//! | [`board`] | what a node asks of its board: chance, flash, pins, the cost of work |
//! | [`engine`] | frames: sending, receiving, acknowledgement, forwarding |
//! | [`print`] | the console's output and the remote log |
//! | [`tick`] | the FreeRTOS tick |
//! | [`console`] | the console: line editor, commands |
//! | [`debug`] | remote log and remote command |
//! | [`transcript`] | a console read back: lines, samples, results |
//! | [`device`] | the whole node |
//! | [`schedule`] | which part runs next |
//! | [`air`] | channel, country, types listened to, groups |
//! | [`control`] | binding, and values for attributes |
//! | [`iperf`] | `espnow_iperf`: throughput and ping |
//! | [`ota`] | upgrade over the air, both roles, and the image |
//! | [`prov`] | provisioning: the holder of Wi-Fi credentials, and a device that wants them |
//! | [`security`] | keys, policy, handshake |
//! | [`time_sync`] | whose clock is followed, and by how much the own one is off |

pub mod air;
pub mod board;
pub mod console;
pub mod control;
pub mod debug;
pub mod device;
pub mod engine;
pub mod iperf;
pub mod ota;
pub mod print;
pub mod prov;
pub mod schedule;
pub mod security;
pub mod task;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
pub(crate) mod testing_parts;
pub mod tick;
pub mod time_sync;
pub mod transcript;

use crate::sample::Sample;
use crate::time::Instant;
use crate::wire::mac::Mac;
pub use device::Node;

use task::Event;

/// What happens to a node.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// ESP-NOW data came off the air (the body of the vendor elements).
    Frame(Frame<'a>),
    /// The driver is done with the oldest frame it was handed (the send callback).
    Sent {
        /// For unicast, whether the MAC got its acknowledgement; true for broadcast.
        delivered: bool,
    },
    /// The driver refused the frame it was just handed: it has no buffer left.
    Refused,
    /// Bytes from the console.
    Console(&'a [u8]),
    /// The channel may not be changed any more, or may again.
    ChannelLocked(bool),
    /// Nothing but time.
    Tick,
}

/// ESP-NOW data as the radio delivers it.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Header and payload of the component.
    pub data: &'a [u8],
    /// Who sent it on the air (address 2): the originator, or who forwarded it.
    pub transmitter: Mac,
    /// To whom on the air (address 1).
    pub receiver: Mac,
    /// Signal strength, dBm.
    pub rssi: i8,
    /// The channel the radio was on.
    pub channel: u8,
}

/// What a node wants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Output {
    /// Hand the first `len` bytes of the buffer to the radio (`esp_now_send`). Answer with
    /// [`Input::Sent`] when it is over, or at once with [`Input::Refused`].
    Transmit {
        /// Bytes of ESP-NOW data.
        len: usize,
        /// A peer, or broadcast.
        to: Mac,
    },
    /// Tune the radio to this channel, before anything that follows.
    Tune(u8),
    /// Print the first `len` bytes of the buffer on the console.
    Print {
        /// Bytes.
        len: usize,
    },
    /// A payload of [`DataType::Data`](crate::wire::component::DataType::Data) for the application
    /// stands at the front of the buffer.
    Data {
        /// Bytes.
        len: usize,
        /// The originator.
        from: Mac,
        /// Signal strength, dBm.
        rssi: i8,
        /// Channel.
        channel: u8,
    },
    /// Record this.
    Sample(Sample),
    /// Tell the application.
    Event(Event),
    /// Nothing to do before this instant unless something happens.
    WaitUntil(Instant),
    /// Nothing to do unless something happens.
    Idle,
}
