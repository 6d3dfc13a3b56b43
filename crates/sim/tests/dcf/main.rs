//! The MAC: saturated rooms against the equations, and the rules one by one.

mod bianchi;
mod rig;
mod saturated;
mod walk;
