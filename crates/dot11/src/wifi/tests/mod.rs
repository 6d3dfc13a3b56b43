//! Conversations over a medium, on virtual time.

mod bench;
mod data;
mod join;
mod laws;
mod share;
mod sleep;
