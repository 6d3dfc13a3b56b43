//! The MAC: saturated rooms against the equations, and the rules one by one.

mod aggregate;
mod agreement;
mod power;
mod reach;
mod rig;
mod rules;
mod saturated;
mod script;
mod sources;
mod spread;
