//! Is the medium true? Rooms that others have computed, too.
//!
//! | module | what |
//! |---|---|
//! | [`scenario`] | rooms with a name: who stands where and sends what; the same room for ns-3 |
//! | [`mod@run`] | a room for some seconds, and what is counted |
//! | [`bianchi`] | saturated rooms by equations: Bianchi's model, refined |
//! | [`walk`] | the same busy period by busy period, without what the equations take for granted |
//! | [`pair`] | two senders exactly: a Markov chain |
//! | [`mod@link`] | one sender that never rests, by arithmetic: with A-MPDUs, too |
//! | [`table`] | all of it beside each other |
//!
//! `espbench lab check` prints the tables, `bench/ns3/run.sh` puts ns-3 beside them.

pub mod bianchi;
pub mod link;
pub mod pair;
pub mod run;
pub mod scenario;
pub mod table;
pub mod walk;

pub use run::{Counts, run};
pub use scenario::{Layout, Scenario, Standard};

/// Octets of the MPDU in all rooms: an ESP-NOW frame with a body of 250 bytes.
pub const OCTETS: u32 = 293;

/// What a model says of a saturated room.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// Frames that get through, a second.
    pub good: f64,
    /// Frames sent, a second.
    pub sent: f64,
    /// Of these, the share that collides.
    pub collide: f64,
}
