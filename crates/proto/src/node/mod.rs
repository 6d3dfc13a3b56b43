//! How each participant behaves: state machines without I/O.
//!
//! The law: after any `handle`, call `poll` until it answers [`Output::WaitUntil`] or
//! [`Output::Done`].

pub mod app;
pub mod echo;
pub mod esp_now;
pub mod iperf;
pub mod mqtt;

use crate::sample::Sample;
use crate::time::Instant;

/// What a machine wants next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Output {
    /// Send the first `len` bytes of the buffer that was lent to `poll`, now.
    Send {
        /// Bytes to send.
        len: usize,
    },
    /// Record this.
    Sample(Sample),
    /// Nothing to do before this instant unless something arrives.
    WaitUntil(Instant),
    /// Finished; nothing more will be wanted.
    Done,
}
