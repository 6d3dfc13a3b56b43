//! Conversations in small worlds.

mod bench;
mod echo;
mod iperf;
mod power;
