//! Bytes on the network and on the air: one file per protocol.
//!
//! Each format has a view that can show anything, however odd, and a small value that parses and
//! emits. After a view's length check no accessor panics, on any input.

pub mod beacon;
pub mod component;
pub mod echo;
pub mod esp_now;
pub mod ieee80211;
pub mod iperf2;
pub mod mac;
pub mod mqtt;
pub mod radiotap;
pub mod wlan;
