//! The two ends of an iperf 2 test, without I/O.
//!
//! | module | contents |
//! |---|---|
//! | `pace` | [`Pacer`]: the datagrams or writes that an offered rate has made due |
//! | `sender` | [`UdpSender`]: the sending end of a UDP flow, with the last datagram and its repetitions |
//! | `receiver` | [`UdpReceiver`]: the receiving end, with the closing report |
//! | `plausible` | [`Contradiction`]: the reason for which a server's closing report is not believed |
//! | `jitter` | [`Jitter`]: RFC 3550 section 6.4.1 |
//! | `bursts` | [`BurstReader`], [`BurstWriter`]: the heads of a TCP stream's writes with trip times |
//! | `bounce` | [`Bouncer`]: the client of a bounce-back test |
//! | `header` | [`client_header`], [`server_header`]: the header in which each end describes the test; [`asked_limit`], [`asked_rate`]: the traffic that it asks a server for |
//!
//! A driver moves many datagrams between two polls: [`UdpReceiver::datagram`] is called for each,
//! [`UdpSender::fill`] writes a batch, and `poll` follows once for all of them. The cost of a
//! datagram is a few nanoseconds. A TCP stream needs no machine, only a
//! [`FlowMeter`](espbench_model::flow::FlowMeter).

mod bounce;
mod bursts;
mod header;
mod jitter;
mod pace;
mod plausible;
mod receiver;
mod sender;

pub use bounce::{BounceStep, Bouncer};
pub use bursts::{BurstReader, BurstWriter};
pub use header::{asked_limit, asked_rate, client_header, server_header};
pub use jitter::Jitter;
pub use pace::Pacer;
pub use plausible::Contradiction;
pub use receiver::{DatagramKind, Ending, ReceiverSetup, UdpReceiver};
pub use sender::{Finish, SenderSetup, UdpSender};

use crate::wire::iperf2::Amount;
use espbench_model::time::Duration;

/// When a sender stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// After this time.
    Time(Duration),
    /// After this many payload bytes.
    Bytes(u64),
}

impl Limit {
    /// Returns the limit as a client header has it: hundredths of a second, or the low 31 bits of
    /// the bytes.
    #[must_use]
    pub fn amount(self) -> Amount {
        match self {
            Self::Time(time) => {
                let centis = (time.as_millis() / 10).clamp(1, 0x7FFF_FFFF);
                Amount::Centiseconds(centis as u32)
            }
            Self::Bytes(bytes) => Amount::Bytes((bytes & 0x7FFF_FFFF) as u32),
        }
    }

    /// Returns the limit that a client header asks for.
    #[must_use]
    pub const fn of(amount: Amount) -> Self {
        match amount {
            Amount::Centiseconds(n) => Self::Time(Duration::from_millis(n as u64 * 10)),
            Amount::Bytes(n) => Self::Bytes(n as u64),
        }
    }
}
