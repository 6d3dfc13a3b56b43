//! What a sweep's single runs must obey.

mod nodes;
mod radios;
mod rig;
