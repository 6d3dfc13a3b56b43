//! Capture files for Wireshark and tshark: the frames on the air of a fleet, or of the virtual lab.
//!
//! | module | contents |
//! |---|---|
//! | `pcapng` | the file format |
//! | `talk` | [`Capture`]: the ideal medium of `espnow talk` |
//! | `air` | [`AirCapture`]: the lab's medium, with all that is on it |
//! | `wlan` | `Wlan`: the medium of devices that speak IP over Wi-Fi |
//! | `lab` | [`LabCapture`]: the one of the two that a scene needs |

mod air;
mod lab;
mod pcapng;
mod talk;
mod wlan;

pub use air::{AirCapture, CaptureOrigin};
pub use lab::LabCapture;
pub use talk::Capture;
