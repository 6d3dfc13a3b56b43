//! The console: bytes of a terminal in, commands out, and those commands that need no other part.
//!
//! | module | what |
//! |---|---|
//! | [`words`] | a line's words |
//! | [`table`] | every command with its options |
//! | [`args`] | options as argtable3 reads them |
//! | [`command`] | what a line asks for, as a value |

pub mod args;
pub mod command;
pub mod table;
pub mod words;

pub use command::{Command, ParseError, parse};
