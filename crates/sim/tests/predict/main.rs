//! What a sweep's single runs must obey.

mod modes;
mod nodes;
mod radios;
mod rig;
