//! Capture files for Wireshark and tshark: what was on the air of a fleet, or of the virtual lab.
//!
//! | module | what |
//! |---|---|
//! | `pcapng` | the file format |
//! | `talk` | [`Capture`]: the ideal medium of `espnow talk` |
//! | `air` | [`Air`]: the lab's medium, with all that is on it |

mod air;
mod pcapng;
mod talk;

pub use air::{Air, Origin};
pub use talk::Capture;
