//! What Espressif's esp-now component (`espressif/esp-now`) puts into the body of an ESP-NOW
//! frame: a 20-byte header and a payload for each of its services.
//!
//! Layouts follow the component at release 2.5.3 and the state after it; where releases differ, a
//! [`Compat`] says which one to speak. All integers are little-endian.

pub mod compat;
pub mod control;
pub mod debug;
pub mod group;
pub mod handshake;
pub mod header;
pub mod iperf;
pub mod ota;
pub mod prov;
pub mod sealed;
pub mod time_sync;
#[cfg(test)]
pub(crate) mod vectors;

pub use compat::{Compat, Idf, Release};
pub use group::Group;
pub use header::{DataType, FrameConfig, HEADER_LEN, Header};
