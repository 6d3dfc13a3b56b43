//! Currents by state, and the charge that they add up to.
//!
//! [`Currents`] is what a datasheet says of a chip. [`Draw`] is that for one device, with its clock,
//! its transmit power and its bandwidth. A [`Meter`] is told of every change of state and keeps the
//! [`Times`] spent in each; their [`Charge`] is a sum of whole numbers, so that parts always add up
//! to the whole.
//!
//! Charge is kept in nanoamperes times nanoseconds, which is 10⁻¹⁸ coulomb.

mod charge;
mod currents;
mod draw;
mod meter;
#[cfg(test)]
mod tests;
mod times;

pub use charge::Charge;
pub use currents::{ClockCurrents, Currents, Modulation, Transmit};
pub use draw::{Draw, Firmware};
pub use meter::Meter;
pub use times::{Cpu, Modem, State, Times};
