//! The command `security -e` (section 3.6 of the protocol reference).

use crate::node::print::LogLevel;
use crate::node::task::{Cx, EspNowEvent};

/// Executes `security -e`: removes the stored key for sending, and only that, then restarts. The
/// node can still decrypt frames of others; [`NodeKeys::erase`](super::NodeKeys::erase) removes both keys.
pub fn erase_and_restart(cx: &mut Cx<'_>) {
    cx.log(LogLevel::Info, "espnow_cmd", format_args!("Erase key info and restart"));
    cx.shared.keys.erase_encrypt(cx.board);
    cx.event(EspNowEvent::Restart);
}
