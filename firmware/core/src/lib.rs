//! The part of the firmware that knows no chip, tested on the machine that builds it.
//!
//! | module | contents |
//! |---|---|
//! | [`boot`] | record of starts, and which image starts next |
//! | [`commands`] | commands of the firmware itself, beside those of the node |
//! | [`driver`] | the driver of a node: radio and console on one side, the node on the other |
//! | [`flash`] | the port to a flash chip, and the part of it that holds an image |
//! | [`net`] | TCP/IP and the programs over it |
//! | [`panic`] | lines that a crash prints |
//! | [`queue`] | queues that count what they drop |
//! | [`settings`] | settings that survive a restart |
//! | [`stack`] | the deepest stack so far |
//! | [`storage`] | stored values |
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod boot;
pub mod commands;
pub mod driver;
pub mod flash;
pub mod net;
pub mod panic;
pub mod queue;
pub mod settings;
pub mod stack;
pub mod storage;
#[cfg(test)]
mod testing;

pub use smoltcp;
