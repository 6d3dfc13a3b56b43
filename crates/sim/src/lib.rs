//! A room full of devices, in virtual time: moves frames between the nodes of
//! [`espbench_proto`] and gives every loss a cause.
//!
//! The virtual lab is not here yet; this crate holds its place in the dependency rule.
#![no_std]
#![forbid(unsafe_code)]
