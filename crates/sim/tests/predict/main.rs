//! What a sweep's single runs must obey.

mod radios;
mod rig;
