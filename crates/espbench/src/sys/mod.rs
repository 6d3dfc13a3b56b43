//! System calls that differ by platform, each with a fallback.
//!
//! The only place with `unsafe`.

pub mod buffers;
pub mod cpu;
pub mod files;
pub mod hangup;
pub mod host;
pub mod icmp;
pub mod localtime;
pub mod options;
pub mod ready;
pub mod stamp;
pub mod tcp;
pub mod tcp_window;
pub mod terminal;
pub mod timer;
pub mod udp;

use std::num::NonZeroUsize;

/// So many threads; one for each core, if it is not said.
#[must_use]
pub fn threads(given: Option<u16>) -> NonZeroUsize {
    let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    given.and_then(|given| NonZeroUsize::new(given.into())).unwrap_or_else(cores)
}
