//! Conversations over a room, on virtual time.

mod bench;
mod data;
mod join;
mod sleep;
