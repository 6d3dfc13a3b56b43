//! Control: a device with buttons sets attributes of devices that have bound it (section 6 of the
//! protocol reference; esp-now component, `espnow_ctrl.c`).
//!
//! | type | role |
//! |---|---|
//! | [`Initiator`] | binds, unbinds, sends values |
//! | [`Responder`] | keeps the list of bound devices and passes their values on |
//! | [`Bindings`] | that list, as it is stored |
//!
//! With [`Compat::auto_channel`](crate::wire::component::Compat::auto_channel) the initiator looks
//! for the channel: it sends, waits for an acknowledgement, and goes on to the next channel when
//! there is none after six tries. `CONFIG_ESPNOW_CONTROL_AUTO_CHANNEL_FORWARD` (the responder sends
//! a frame on, once on every channel; off by default) is not built.

mod bindings;
mod initiator;
mod responder;
#[cfg(test)]
mod tests;

pub use bindings::{BINDINGS_MAX, Binding, Bindings, STORED_LEN};
pub use initiator::Initiator;
pub use responder::{BindFilter, Responder};

/// Bytes of text that a control frame of ours carries, and that is kept of one that arrived. The
/// format has room for 255.
pub const TEXT_MAX: usize = 32;

const TAG: &str = "espnow_ctrl";
