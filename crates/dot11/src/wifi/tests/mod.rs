//! Conversations over a medium, on virtual time.
//!
//! | module | contents |
//! |---|---|
//! | `bench` | a network of stations that hear each other, and a log of all events |
//! | `data` | packets between an access point and stations that never sleep |
//! | `join` | joining and leaving a network |
//! | `laws` | invariants of any network |
//! | `share` | frames of no network, and slices of the radio |
//! | `sleep` | sleeping stations, and the frames that their access point buffers for them |

mod bench;
mod data;
mod join;
mod laws;
mod share;
mod sleep;
