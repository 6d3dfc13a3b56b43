//! ESP-NOW without I/O.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod component;
pub mod console;
pub mod frame;
pub mod node;
pub mod transcript;
