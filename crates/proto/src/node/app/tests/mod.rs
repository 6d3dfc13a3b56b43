//! Programs against each other over a network in memory.
//!
//! | module | contents |
//! |---|---|
//! | `echo` | UDP echo: round trips, lost and late replies |
//! | `iperf` | iperf 2 in every style |
//! | `mqtt` | MQTT: publishers, a broker, who subscribes |
//! | `send_back` | streams of an iperf 2 server that sends where it is asked to |
//! | `tcp` | short messages over TCP |
//! | `testing` | the network in memory, on virtual time |

mod echo;
mod iperf;
mod mqtt;
mod send_back;
mod tcp;
mod testing;
