//! System calls that differ by platform, each with a fallback.
//!
//! The only place with `unsafe`.

pub mod buffers;
pub mod cpu;
pub mod host;
pub mod ready;
pub mod stamp;
pub mod tcp;
pub mod timer;
pub mod udp;
