//! Checks of the medium against models and ns-3: networks that others have computed, too.
//!
//! | module | what |
//! |---|---|
//! | [`scenario`] | named networks: positions, traffic; the same network for ns-3 |
//! | [`mod@run`] | a simulation of some seconds, and its counters |
//! | [`bianchi`] | saturated networks by equations: Bianchi's model, refined |
//! | [`walk`] | saturated networks busy period by busy period, without two assumptions of the equations |
//! | [`pair`] | two senders exactly: a Markov chain |
//! | [`mod@link`] | one saturated sender, by arithmetic; with A-MPDUs, too |
//! | [`table`] | all results beside each other |
//!
//! `espbench lab check` prints the tables, `bench/ns3/run.sh` puts ns-3 beside them.

pub mod bianchi;
pub mod link;
pub mod pair;
pub mod run;
pub mod scenario;
pub mod table;
pub mod walk;

pub use run::{RunCounts, run};
pub use scenario::{Layout, Scenario, Standard};

/// The octets of the MPDU in all networks: an ESP-NOW frame with a body of 250 bytes.
pub const OCTETS: u32 = 293;

/// The prediction of a model for a saturated network.
#[derive(Clone, Copy, Debug)]
pub struct ModelPrediction {
    /// The frames that get through, a second.
    pub good: f64,
    /// The frames sent, a second.
    pub sent: f64,
    /// The share of the sent frames that collide.
    pub collide: f64,
}
