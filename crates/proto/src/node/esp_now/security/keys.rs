//! The keys of the application layer, and the policy.

use crate::wire::component::sealed::Sealer;
use zeroize::Zeroize;

/// Bytes of a key as it is stored and handed out ("APP key"): 16 of AES key, 8 where the component
/// keeps a frame's nonce, 8 unused.
pub const KEY_LEN: usize = 32;

/// What a node refuses beyond what the component refuses.
///
/// The component's protocol is weak in known ways; [`Policy::COMPATIBLE`] leaves them as they are.
/// [`Policy::STRICT`] closes what a receiver alone can close.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Types (a mask of `DataType::mask`) that are dropped when they arrive unencrypted.
    pub encrypted_only: u16,
}

impl Policy {
    /// What the component does.
    pub const COMPATIBLE: Self = Self { encrypted_only: 0 };
}

/// The node's two keys, each with its schedule. Wiped when dropped.
#[derive(Debug, Default)]
pub struct Keys {
    /// For sending.
    pub encrypt: Option<Secret>,
    /// For receiving.
    pub decrypt: Option<Secret>,
}

/// One key.
#[derive(Clone)]
pub struct Secret {
    bytes: [u8; KEY_LEN],
    sealer: Sealer,
}

impl Secret {
    /// A key from its 32 bytes.
    #[must_use]
    pub fn new(bytes: [u8; KEY_LEN]) -> Self {
        let aes = core::array::from_fn(|i| bytes[i]);
        Self { bytes, sealer: Sealer::new(&aes) }
    }

    /// The 32 bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8; KEY_LEN] {
        &self.bytes
    }

    /// The cipher.
    #[must_use]
    pub fn sealer(&self) -> &Sealer {
        &self.sealer
    }

    /// The constant nonce of components up to 2.2: bytes 16 to 23 of the key.
    #[must_use]
    pub fn constant_nonce(&self) -> [u8; 8] {
        core::array::from_fn(|i| self.bytes[16 + i])
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.bytes.zeroize();
    }
}

impl core::fmt::Debug for Secret {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Secret(…)")
    }
}
