//! Laws of a sweep's single runs.

mod modes;
mod nodes;
mod radios;
mod rig;
mod sensors;
