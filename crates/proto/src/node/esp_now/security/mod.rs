//! Keys of the application layer, what is refused without them, and the handshake that delivers
//! them.

pub mod exchange;
mod keys;

pub use exchange::Pop;
pub use keys::{KEY_LEN, Keys, Policy, Secret};
