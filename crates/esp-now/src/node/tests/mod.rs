//! Support that tests of a node's parts share.
//!
//! | module | contents |
//! |---|---|
//! | `medium` | stations with nothing but an engine, and the medium between them |
//! | `tasks` | two tasks that talk to each other, frame by frame |

pub(crate) mod medium;
pub(crate) mod tasks;
