//! Wire formats: the octets on the network, one file or folder for each protocol.
//!
//! Each format has a view that can show any octets, however malformed, and a small value that
//! parses and emits. After a view's length check no accessor panics, on any input.
//!
//! | module | contents |
//! |---|---|
//! | [`dhcp`] | messages of DHCP |
//! | [`dns`] | a question of DNS, and its answer |
//! | [`echo`] | the datagrams of the echo test |
//! | [`icmp`] | ICMP echo messages, and what ICMP errors mean |
//! | [`iperf2`] | the datagrams and headers of iperf 2, and iperf3's cookie |
//! | [`mqtt`] | MQTT 3.1.1 and 5.0 control packets |
//! | `pattern` | the pattern that probes carry, so that a changed or spliced reply is seen |
//! | [`sockperf`] | messages of sockperf |
//! | [`websocket`] | frames and the opening handshake of WebSocket |

pub mod dhcp;
pub mod dns;
pub mod echo;
pub mod icmp;
pub mod iperf2;
pub mod mqtt;
mod pattern;
pub mod sockperf;
pub mod websocket;
