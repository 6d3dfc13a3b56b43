//! WebSocket (RFC 6455) as far as MQTT needs it: the opening handshake and frames, for both ends.
//!
//! MQTT over WebSocket (MQTT 5, section 6) sends binary frames, with the subprotocol `mqtt`; packets
//! need not begin or end where frames do, so a connection is a byte stream again. Extensions are not
//! offered, and so none is used.
//!
//! | module | what |
//! |---|---|
//! | [`handshake`] | the request and the response that turn HTTP into WebSocket |
//! | [`frame`] | the header of a frame, written and read; masking |
//! | [`deframer`] | a byte stream, fed in any chunks, to the data that its frames carry |
//!
//! # Panics
//!
//! Nothing here panics, whatever the bytes.

pub mod deframer;
pub mod frame;
pub mod handshake;
#[cfg(test)]
mod tests;

pub use deframer::{DeframedPiece, Deframer};
pub use frame::{FrameHeader, Opcode};

/// The subprotocol of MQTT over WebSocket (MQTT 5, section 6).
pub const SUBPROTOCOL: &str = "mqtt";

/// Which end of a connection one is: a client masks its frames, a server does not (section 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Asked for the connection.
    Client,
    /// Accepted it.
    Server,
}

/// The bytes are not what the standard allows. The text says what is wrong with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedFrame(pub &'static str);
