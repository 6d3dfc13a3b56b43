//! Debugging from afar: the remote log, and commands that run on other devices.
//!
//! | module | contents |
//! |---|---|
//! | [`log`] | sends this device's log lines; prints those of others |
//! | [`command`] | sends commands, scans for devices, answers scans |
//! | `beacon` | the answer to `beacon`: a log line that identifies this device |
//! | [`inbox`] | holds a command that another device sent |

mod beacon;
pub mod command;
pub mod inbox;
pub mod log;
#[cfg(test)]
mod tests;

pub use command::Commander;
pub use inbox::Inbox;
pub use log::RemoteLog;
