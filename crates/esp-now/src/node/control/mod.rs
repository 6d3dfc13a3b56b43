//! Control: a device with buttons sets attributes of devices that have bound it (section 6 of the
//! protocol reference; esp-now component, `espnow_ctrl.c`).
//!
//! | type | role |
//! |---|---|
//! | [`ControlInitiator`] | binds, unbinds, sends values |
//! | [`ControlResponder`] | keeps the list of bound devices and passes their values on |
//! | [`Bindings`] | the list of bound devices, as it is stored |
//!
//! With [`Compat::auto_channel`](crate::component::Compat::auto_channel) the initiator looks
//! for the channel: it sends, waits for an acknowledgement, and goes on to the next channel when
//! there is none after six tries. `CONFIG_ESPNOW_CONTROL_AUTO_CHANNEL_FORWARD` (the responder
//! forwards a frame once on every channel; off by default) is not implemented.

mod bindings;
mod initiator;
mod responder;
#[cfg(test)]
mod tests;

pub use bindings::{BINDINGS_MAX, Binding, Bindings, STORED_LEN};
pub use initiator::ControlInitiator;
pub use responder::{BindFilter, ControlResponder};

/// Greatest length of the text in a control frame that is sent, and of the text kept from a
/// received one, in bytes. The format has room for 255.
pub const TEXT_MAX: usize = 32;

const TAG: &str = "espnow_ctrl";
