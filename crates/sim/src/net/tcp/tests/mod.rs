//! The parts of a connection one by one: numbers by hand from lwIP's sources and the RFCs.
//!
//! | module | contents |
//! |---|---|
//! | `acks` | when received data is acknowledged |
//! | `clock` | timeouts: lwIP's in ticks, Linux's in nanoseconds |
//! | `control` | congestion windows |
//! | `mailbox` | segments that nobody has read |
//! | `segment` | segments byte by byte |
//! | `sequence` | sequence numbers, windows, states |

mod acks;
mod clock;
mod control;
mod mailbox;
mod segment;
mod sequence;

use crate::net::Stack;
use core::time::Duration;
use espbench_model::sdkconfig::SdkConfig;
use espbench_model::time::Instant;

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + ms(millis)
}

fn esp(send_buffer: u32) -> Stack {
    Stack::esp(&SdkConfig { tcp_send_buffer: send_buffer, ..SdkConfig::default() })
}
