//! Header and payloads of Espressif's esp-now component (`espressif/esp-now`), which are the data
//! of ESP-NOW frames: a 20-byte header, and a payload for each of the component's services.
//!
//! Layouts follow the component at release 2.5.3 and the state after it; where releases differ, a
//! [`Compat`] selects the one to speak. All integers are little-endian.
//!
//! | module | contents |
//! |---|---|
//! | [`header`] | the header: data type, packet id, send options, addresses |
//! | [`compat`] | releases of the component and of ESP-IDF, and their differences |
//! | [`sealed`] | encrypted payloads (AES-CCM) |
//! | [`group`] | GROUP frames: join or leave a group |
//! | [`handshake`] | the handshake that delivers the key |
//! | [`ota`] | upgrade over the air |
//! | [`prov`] | provisioning: handing out Wi-Fi credentials |
//! | [`control`] | binding a button to a lamp, and values for attributes |
//! | [`debug`] | text of remote logs and remote commands |
//! | [`iperf`] | messages of `espnow_iperf` |
//! | [`time_sync`] | time synchronization |

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
#[cfg(test)]
pub(crate) mod tests;
pub mod time_sync;

pub use compat::{Compat, ComponentRelease, Idf};
pub use group::GroupPayload;
pub use header::{DataType, FrameConfig, HEADER_LEN, Header};
