//! Programs against each other over a network in memory.

mod echo;
mod iperf;
mod mqtt;
mod tcp;
