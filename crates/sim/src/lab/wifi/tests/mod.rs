//! Conversations in small labs.
//!
//! | module | contents |
//! |---|---|
//! | `bench` | an ESP and a PC: behind an access point, or with the ESP as access point |
//! | `echo` | UDP echo |
//! | `full` | where something is full |
//! | `heap` | a heap that is small, and one that runs out |
//! | `iperf` | iperf 2 between an ESP32-C3 and a PC |
//! | `join` | how long a chip takes into its network, and for what |
//! | `order` | what a reorder buffer keeps is there when its turn comes |
//! | `power` | what a device draws while nothing is asked of it, beside what ESP-IDF's guide has |
//! | `rooms` | rooms with several routers and many devices |
//! | `shared` | nodes of ESP-NOW and stations of Wi-Fi on one channel |

mod bench;
mod echo;
mod full;
mod heap;
mod iperf;
mod join;
mod order;
mod power;
mod rooms;
mod shared;

use crate::lab::record::KeptRecord;
