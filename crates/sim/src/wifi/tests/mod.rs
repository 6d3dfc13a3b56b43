//! Conversations over a room, on virtual time.

mod bench;
mod data;
mod join;
mod laws;
mod share;
mod sleep;
