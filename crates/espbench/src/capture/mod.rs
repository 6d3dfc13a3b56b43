//! Capture files for Wireshark and tshark: what was on the air of a fleet, or of the virtual lab.
//!
//! | module | what |
//! |---|---|
//! | `pcapng` | the file format |
//! | `talk` | [`Capture`]: the ideal medium of `espnow talk` |
//! | `air` | [`Air`]: the lab's medium, with all that is on it |
//! | `wlan` | [`Wlan`]: the same for devices that speak IP over Wi-Fi |

mod air;
mod pcapng;
mod talk;
mod wlan;

pub use air::{Air, Origin};
pub use talk::Capture;
pub use wlan::Wlan;
