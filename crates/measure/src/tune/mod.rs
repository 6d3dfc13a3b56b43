//! Which settings a firmware should have: what holds an sdkconfig back, and which one does what is
//! wanted.
//!
//! | module | what |
//! |---|---|
//! | [`check`] | a file held against the rules of Espressif's documents, without a run |

pub mod check;
pub(crate) mod words;
