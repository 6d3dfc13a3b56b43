//! Current consumption by state, and the charge that it adds up to.
//!
//! [`Currents`] holds the numbers of a chip's datasheet. [`CurrentDraw`] derives from them the
//! currents of one device, by its clock, its transmit power and its bandwidth. A [`StateMeter`] is
//! told of every change of state and keeps the [`StateTimes`] spent in each; their
//! [`ElectricCharge`] is a sum of whole numbers, so that parts always add up to the whole.
//!
//! Charge is kept in nanoamperes times nanoseconds, which is 10⁻¹⁸ coulomb.
//!
//! | module | contents |
//! |---|---|
//! | `currents` | the currents of a chip, from its datasheet |
//! | `draw` | the currents of a device, by state |
//! | `times` | states, and the time spent in each |
//! | `meter` | time by state, from changes of state |
//! | `charge` | charge in whole numbers |

mod charge;
mod currents;
mod draw;
mod meter;
#[cfg(test)]
mod tests;
mod times;

pub use charge::ElectricCharge;
pub use currents::{ClockCurrents, Currents, Modulation, TransmitCurrent};
pub use draw::{CurrentDraw, PowerSettings};
pub use meter::{AutoLightSleep, StateMeter};
pub use times::{CpuState, ModemState, PowerState, StateTimes};
