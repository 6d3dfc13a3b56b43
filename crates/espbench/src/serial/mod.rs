//! Serial ports of boards: which there are, how a chip behind one is reset, how one is opened.
//!
//! | module | contents |
//! |---|---|
//! | [`ports`] | ports with their USB ids, and which bridge each is |
//! | [`reset`] | sequences of the control lines that start a chip again, into its program or its loader |
//! | [`mod@bench`] | boards on ports, for tests at their consoles: a thread reads each port |
//! | [`open`] | an open port, and errors in words |

pub mod bench;
pub mod open;
pub mod ports;
pub mod reset;
