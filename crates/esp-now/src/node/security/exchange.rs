//! The key agreement: X25519, proof of possession, and one stream of AES-256-CTR (section 3.3 of
//! the protocol reference; ESP-IDF, `components/protocomm/src/security/security1.c`).
//!
//! Both ends agree on K = X25519 (RFC 7748), exclusive-or SHA-256 of the proof of possession (PoP)
//! unless that is empty. AES-256 in counter mode with key K, starting at the 16 random bytes of the
//! responder and counting in big endian over all 128 bits, gives one stream for both directions:
//!
//! | bytes of the stream | [`StreamPart`] | content that they encrypt |
//! |---|---|---|
//! | 0-31 | `ClientProof` | the responder's public key, sent by the initiator |
//! | 32-63 | `DeviceProof` | the initiator's public key, sent by the responder |
//! | 64-95 | `Key` | the key |
//! | 96-127 | `Echo` | the key, sent back |
//!
//! Every part has a fixed place, so a repeated or forged message does not shift the later parts, as
//! it does in the component.
//!
//! **The all-zero secret.** A public key of small order makes the shared secret zero, whatever the
//! own key is, and K would be known to anybody who knows the PoP's hash. RFC 7748, section 6.1,
//! allows to check for it; [`KeyPair::agree`] always does, and fails. No real device has such a
//! key.
//!
//! Comparisons of secrets take constant time, and every secret is wiped when it is dropped.

use crate::component::handshake::{PUBLIC_LEN, RANDOM_LEN};
use crate::node::board::Board;
use aes::Aes256Enc;
use ctr::cipher::{KeyIvInit, StreamCipher};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use x25519_dalek::{PublicKey, StaticSecret};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Proof of possession, as it enters the key: its SHA-256, or zeros for none.
#[derive(Clone, Default, Zeroize, ZeroizeOnDrop)]
pub struct Pop([u8; 32]);

impl Pop {
    /// Proof of possession that the console command and the examples of the component use.
    pub const DEFAULT: &'static [u8] = b"espnow_pop";

    /// Hashes a PoP; an empty one is none.
    #[must_use]
    pub fn new(text: &[u8]) -> Self {
        Self(if text.is_empty() { [0; 32] } else { Sha256::digest(text).into() })
    }

    /// Returns whether there is none: the handshake then proves nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.ct_eq(&[0; 32]).into()
    }
}

impl core::fmt::Debug for Pop {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Pop(…)")
    }
}

/// Key pair for one round of the initiator, or one handshake of the responder.
#[derive(Clone)]
pub struct KeyPair {
    secret: StaticSecret,
    public: [u8; PUBLIC_LEN],
}

impl KeyPair {
    /// Returns the pair of a private key (any 32 bytes; X25519 clamps them).
    #[must_use]
    pub fn new(private: [u8; 32]) -> Self {
        let secret = StaticSecret::from(private);
        let public = PublicKey::from(&secret).to_bytes();
        Self { secret, public }
    }

    /// Draws a fresh pair.
    #[must_use]
    pub fn random(board: &mut dyn Board) -> Self {
        let mut private = [0; 32];
        board.random(&mut private);
        let pair = Self::new(private);
        private.zeroize();
        pair
    }

    /// Returns the public key.
    #[must_use]
    pub fn public(&self) -> &[u8; PUBLIC_LEN] {
        &self.public
    }

    /// Agrees on K with the owner of `peer`. `None` if the shared secret is zero.
    #[must_use]
    pub fn agree(
        &self,
        peer: &[u8; PUBLIC_LEN],
        pop: &Pop,
        random: &[u8; RANDOM_LEN],
    ) -> Option<SecureChannel> {
        let shared = self.secret.diffie_hellman(&PublicKey::from(*peer));
        if !shared.was_contributory() {
            return None;
        }
        let mut key = shared.to_bytes();
        for (byte, hash) in key.iter_mut().zip(pop.0) {
            *byte ^= hash;
        }
        let channel = SecureChannel { key, random: *random };
        key.zeroize();
        Some(channel)
    }
}

impl core::fmt::Debug for KeyPair {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("KeyPair(…)")
    }
}

/// Part of the stream: 32 bytes at a fixed place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamPart {
    /// Bytes 0 to 31.
    ClientProof = 0,
    /// Bytes 32 to 63.
    DeviceProof = 1,
    /// Bytes 64 to 95.
    Key = 2,
    /// Bytes 96 to 127.
    Echo = 3,
}

/// Result of a key agreement: K and the start of the counter.
#[derive(Clone, Default, Zeroize, ZeroizeOnDrop)]
pub struct SecureChannel {
    key: [u8; 32],
    random: [u8; RANDOM_LEN],
}

impl SecureChannel {
    /// Encrypts or decrypts 32 bytes with that part of the stream.
    #[must_use]
    pub fn crypt(&self, part: StreamPart, bytes: &[u8; 32]) -> [u8; 32] {
        // A part is two blocks of the counter.
        let first = u128::from_be_bytes(self.random).wrapping_add(2 * part as u128);
        let mut out = *bytes;
        let mut stream =
            ctr::Ctr128BE::<Aes256Enc>::new(&self.key.into(), &first.to_be_bytes().into());
        stream.apply_keystream(&mut out);
        out
    }

    /// Returns whether `bytes` is `expected`, encrypted with that part of the stream. Takes
    /// constant time.
    #[must_use]
    pub fn proves(&self, part: StreamPart, bytes: &[u8; 32], expected: &[u8; 32]) -> bool {
        self.crypt(part, expected).ct_eq(bytes).into()
    }
}

impl core::fmt::Debug for SecureChannel {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Channel(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    fn counting(from: u8) -> [u8; 32] {
        core::array::from_fn(|i| from + i as u8)
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|b| std::format!("{b:02x}")).collect()
    }

    #[test]
    fn vector_18_of_the_protocol_reference() {
        let (client, device) = (KeyPair::new(counting(0)), KeyPair::new(counting(0x40)));
        let random = core::array::from_fn(|i| 0xF0 + i as u8);
        let pop = Pop::new(Pop::DEFAULT);
        assert_eq!(hex(&pop.0), "2e9ccc23c785e239c42035bd34298137f165fb91978b73980e7498bc403bab4a");
        let bare = client.agree(device.public(), &Pop::new(b""), &random).unwrap();
        assert_eq!(
            hex(&bare.key),
            "6d54cc9c397e31691401110f58da1e182a635d7e44c21dc2d7be93624652ab15"
        );
        let ours = client.agree(device.public(), &pop, &random).unwrap();
        let theirs = device.agree(client.public(), &pop, &random).unwrap();
        assert_eq!(ours.key, theirs.key);
        assert_eq!(
            hex(&ours.key),
            "43c800bffefbd350d02124b26cf39f2fdb06a6efd3496e5ad9ca0bde0669005f"
        );

        let proof = ours.crypt(StreamPart::ClientProof, device.public());
        assert_eq!(hex(&proof), "4b542ab4065c2dcc81145fdb6c9f3591f477b806e3f3bced5f26e625d6bbfa42");
        assert!(theirs.proves(StreamPart::ClientProof, &proof, device.public()));
        assert!(!bare.proves(StreamPart::ClientProof, &proof, device.public()), "another PoP");
        let proof = theirs.crypt(StreamPart::DeviceProof, client.public());
        assert_eq!(hex(&proof), "19e828dbf9ac321bb3e564cc299e058b1f6b8b7dc385f516e1e987b3e41ef0c6");
        let key = ours.crypt(StreamPart::Key, &counting(0));
        assert_eq!(hex(&key), "950f92b266e6040ae406bb7d685f69c937ca6dfc169c9c5d53e7adbad433c493");
        assert_eq!(theirs.crypt(StreamPart::Key, &key), counting(0));
        let echo = theirs.crypt(StreamPart::Echo, &counting(0));
        assert_eq!(hex(&echo), "f23c12542bc403037abee358d27d42e2200f0743fa68928ccd9d98cf8db13841");
    }

    #[test]
    fn the_counter_carries_over_all_its_bytes() {
        let wrapping = SecureChannel { key: [1; 32], random: [0xFF; 16] };
        let zero = SecureChannel { key: [1; 32], random: [0; 16] };
        let [first, second] =
            [&wrapping, &zero].map(|c| c.crypt(StreamPart::ClientProof, &[0; 32]));
        assert_eq!(first[16..], second[..16], "the block after ff…ff is 00…00");
    }

    #[test]
    fn keys_of_small_order_are_refused() {
        let pair = KeyPair::new(counting(0));
        let mut one = [0; 32];
        one[0] = 1;
        for peer in [[0; 32], one] {
            assert!(pair.agree(&peer, &Pop::new(b"x"), &[0; 16]).is_none());
        }
    }

    #[test]
    fn an_empty_pop_is_none() {
        assert!(Pop::new(b"").is_empty() && Pop::default().is_empty());
        assert!(!Pop::new(b"espnow_pop").is_empty());
    }
}
