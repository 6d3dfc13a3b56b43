//! What a sweep's single runs must obey.

#[path = "../dcf/bianchi.rs"]
#[allow(dead_code, reason = "shared with the tests of the DCF, which use more of it")]
mod bianchi;
mod radios;
mod rig;
