//! Wire formats: the octets on the network and on the air, one file or folder for each protocol.
//!
//! Each format has a view that can show any octets, however malformed, and a small value that
//! parses and emits. After a view's length check no accessor panics, on any input.
//!
//! | module | contents |
//! |---|---|
//! | [`mac`] | MAC addresses |
//! | [`ieee80211`] | MPDU headers, ACK frames and sequence numbers of IEEE 802.11 |
//! | [`wlan`] | frames of an infrastructure network: data, control, authentication, association |
//! | [`beacon`] | beacon frames and their elements |
//! | [`radiotap`] | radiotap headers of captured frames |
//! | [`esp_now`] | ESP-NOW's vendor-specific action frames, v1.0 and v2.0 |
//! | [`component`] | header and payloads of Espressif's esp-now component |
//! | [`echo`] | the datagrams of the echo test |
//! | [`icmp`] | ICMP echo messages, and what ICMP errors mean |
//! | [`iperf2`] | the datagrams and headers of iperf 2, and iperf3's cookie |
//! | [`mqtt`] | MQTT 3.1.1 and 5.0 control packets |

pub mod beacon;
pub mod component;
pub mod echo;
pub mod esp_now;
pub mod icmp;
pub mod ieee80211;
pub mod iperf2;
pub mod mac;
pub mod mqtt;
mod pattern;
pub mod radiotap;
pub mod websocket;
pub mod wlan;
