//! Keys of the application layer, what is refused without them, and the handshake that delivers
//! them.

mod keys;

pub use keys::{KEY_LEN, Keys, Policy, Secret};
