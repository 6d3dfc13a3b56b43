//! The keys of the application layer: in use, stored, erased.

use crate::component::sealed::{NONCE_LEN, Sealer};
use crate::node::board::{Board, NvsKey};
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

/// Length of a key as it is stored and handed out ("APP key"), in bytes: 16 of AES key, 8 where the
/// component keeps a frame's nonce, 8 unused.
pub const KEY_LEN: usize = 32;

/// Keys of a node, each with its schedule. Wiped when dropped.
#[derive(Debug, Default)]
pub struct NodeKeys {
    /// Key for sending.
    pub encrypt: Option<Secret>,
    /// Key for receiving.
    pub decrypt: Option<Secret>,
    seen: Nonces,
}

impl NodeKeys {
    /// Loads the stored keys, as a node has them after its start.
    #[must_use]
    pub fn load(board: &mut dyn Board) -> Self {
        let encrypt = stored(board, NvsKey::EncryptKey);
        let decrypt = stored(board, NvsKey::DecryptKey);
        Self { encrypt, decrypt, seen: Nonces::default() }
    }

    /// Takes a key for both directions and stores it (`espnow_set_key`, `espnow_set_dec_key`).
    /// Flash is written only where the 16 bytes of the AES key have changed. Returns false if that
    /// failed; the key is used until the next start all the same.
    pub fn store(&mut self, board: &mut dyn Board, bytes: &[u8; KEY_LEN]) -> bool {
        let sent = replace(board, NvsKey::EncryptKey, &mut self.encrypt, bytes);
        let received = replace(board, NvsKey::DecryptKey, &mut self.decrypt, bytes);
        sent && received
    }

    /// Removes the stored key for sending and nothing else (`espnow_erase_key`): the console's
    /// `security -e` does no more before it restarts. The node can still decrypt.
    pub fn erase_encrypt(&mut self, board: &mut dyn Board) {
        board.forget(NvsKey::EncryptKey);
        self.encrypt = None;
    }

    /// Removes both keys, stored and in use. No command of the component does so.
    pub fn erase(&mut self, board: &mut dyn Board) {
        self.erase_encrypt(board);
        board.forget(NvsKey::DecryptKey);
        self.decrypt = None;
        self.seen = Nonces::default();
    }

    /// Remembers the nonce of a payload that was decrypted; returns false if it is one of the last
    /// [`NONCES`], which means that a recorded frame was sent again. For
    /// [`Policy::refuse_replays`](super::Policy::refuse_replays).
    pub fn first_sight(&mut self, nonce: &[u8; NONCE_LEN]) -> bool {
        self.seen.first_sight(nonce)
    }
}

fn stored(board: &mut dyn Board, key: NvsKey) -> Option<Secret> {
    let mut bytes = [0; KEY_LEN];
    let secret = match board.load(key, &mut bytes) {
        Some(KEY_LEN) => Some(Secret::new(bytes)),
        _ => None,
    };
    bytes.zeroize();
    secret
}

fn replace(
    board: &mut dyn Board,
    key: NvsKey,
    place: &mut Option<Secret>,
    bytes: &[u8; KEY_LEN],
) -> bool {
    let known = place.as_ref().is_some_and(|old| old.bytes[..16].ct_eq(&bytes[..16]).into());
    *place = Some(Secret::new(*bytes));
    known || board.save(key, bytes)
}

/// Number of nonces that are remembered.
pub const NONCES: usize = 64;

/// Last nonces, 32 bits of each: nonces are random, so that one in 2^26 frames is refused in error.
#[derive(Debug)]
struct Nonces {
    last: [u32; NONCES],
    at: u8,
    full: bool,
}

impl Default for Nonces {
    fn default() -> Self {
        Self { last: [0; NONCES], at: 0, full: false }
    }
}

impl Nonces {
    fn first_sight(&mut self, nonce: &[u8; NONCE_LEN]) -> bool {
        let [a, b, c, d, ..] = *nonce;
        let short = u32::from_le_bytes([a, b, c, d]);
        let known = if self.full { NONCES } else { usize::from(self.at) };
        if self.last.iter().take(known).any(|&old| old == short) {
            return false;
        }
        if let Some(place) = self.last.get_mut(usize::from(self.at)) {
            *place = short;
        }
        self.at += 1;
        if usize::from(self.at) >= NONCES {
            (self.at, self.full) = (0, true);
        }
        true
    }
}

/// Key with its cipher.
#[derive(Clone)]
pub struct Secret {
    bytes: [u8; KEY_LEN],
    sealer: Sealer,
}

impl Secret {
    /// Creates a key from its 32 bytes.
    #[must_use]
    pub fn new(bytes: [u8; KEY_LEN]) -> Self {
        let aes = Zeroizing::new(core::array::from_fn(|i| bytes[i]));
        Self { bytes, sealer: Sealer::new(&aes) }
    }

    /// Returns the 32 bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8; KEY_LEN] {
        &self.bytes
    }

    /// Returns the cipher.
    #[must_use]
    pub fn sealer(&self) -> &Sealer {
        &self.sealer
    }

    /// Returns the constant nonce of components up to 2.2: bytes 16 to 23 of the key.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::security::tests::testing::Flash;

    #[test]
    fn a_key_lasts_over_a_restart_until_it_is_erased() {
        let mut flash = Flash::default();
        let mut keys = NodeKeys::load(&mut flash);
        assert!(keys.encrypt.is_none() && keys.decrypt.is_none());
        assert!(keys.store(&mut flash, &[7; KEY_LEN]));
        assert_eq!(flash.writes, 2);
        assert!(keys.store(&mut flash, &[7; KEY_LEN]));
        assert_eq!(flash.writes, 2, "the same key is not written again");
        let mut keys = NodeKeys::load(&mut flash);
        assert_eq!(keys.encrypt.as_ref().map(|k| *k.bytes()), Some([7; KEY_LEN]));
        // The console's `security -e`.
        keys.erase_encrypt(&mut flash);
        let mut keys = NodeKeys::load(&mut flash);
        assert!(keys.encrypt.is_none() && keys.decrypt.is_some());
        keys.erase(&mut flash);
        let keys = NodeKeys::load(&mut flash);
        assert!(keys.encrypt.is_none() && keys.decrypt.is_none());
    }

    #[test]
    fn flash_that_fails_is_told() {
        let mut flash = Flash { broken: true, ..Flash::default() };
        let mut keys = NodeKeys::default();
        assert!(!keys.store(&mut flash, &[7; KEY_LEN]));
        assert!(keys.encrypt.is_some() && keys.decrypt.is_some());
    }

    #[test]
    fn a_nonce_is_new_once_while_it_is_remembered() {
        let mut keys = NodeKeys::default();
        let nonce = |i: u64| (i | 0xAA00_0000_0000).to_le_bytes();
        assert!(keys.first_sight(&nonce(0)), "zero is a nonce too");
        assert!(!keys.first_sight(&nonce(0)));
        for i in 1..NONCES as u64 {
            assert!(keys.first_sight(&nonce(i)));
        }
        assert!(!keys.first_sight(&nonce(0)));
        assert!(keys.first_sight(&nonce(64)));
        assert!(keys.first_sight(&nonce(0)), "forgotten");
        assert!(!keys.first_sight(&nonce(64)));
    }
}
