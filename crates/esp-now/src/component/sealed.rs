//! An encrypted payload: AES-128-CCM (RFC 3610, NIST SP 800-38C) with a 4-byte tag and an 8-byte
//! nonce.
//!
//! | bytes | part |
//! |---|---|
//! | n (at least 1) | ciphertext, as long as the plaintext |
//! | 4 | tag; there is no associated data, so the header is not authenticated |
//! | 8 | nonce, random per send; absent up to component 2.2, where it was the key's constant |

mod by_port;

use aes::Aes128Enc;
use ccm::aead::AeadInOut;
use ccm::aead::array::Array;
use ccm::consts::{U4, U8};
use ccm::{Ccm, KeyInit};
use zeroize::Zeroizing;

// CCM decrypts with the block cipher's encryption; leaving out its decryption halves the key
// schedule.
type Cipher = Ccm<Aes128Enc, U4, U8>;

/// Length of the tag, in bytes.
pub const TAG_LEN: usize = 4;
/// Length of the nonce, in bytes.
pub const NONCE_LEN: usize = 8;

/// An accelerator of AES, as many chips have one.
pub trait AesPort {
    /// Encrypts a block in place with AES-128.
    fn encrypt(&mut self, key: &[u8; 16], block: &mut [u8; 16]);
}

/// An AES key with its schedule, ready for payloads. Wiped when dropped.
#[derive(Clone)]
pub struct Sealer {
    cipher: Cipher,
    /// Key itself, for an accelerator.
    key: Zeroizing<[u8; 16]>,
}

impl Sealer {
    /// Expands the key.
    #[must_use]
    pub fn new(key: &[u8; 16]) -> Self {
        Self { cipher: Cipher::new(&Array::from(*key)), key: Zeroizing::new(*key) }
    }

    /// Encrypts as [`seal`](Self::seal) does, by the accelerator where there is one.
    pub fn seal_by(
        &self,
        port: Option<&mut dyn AesPort>,
        nonce: &[u8; NONCE_LEN],
        trails: bool,
        buf: &mut [u8],
        len: usize,
    ) -> Option<usize> {
        let Some(port) = port else { return self.seal(nonce, trails, buf, len) };
        let tail = TAG_LEN + if trails { NONCE_LEN } else { 0 };
        let end = len.checked_add(tail)?;
        let (text, rest) = buf.get_mut(..end)?.split_at_mut_checked(len)?;
        if text.is_empty() {
            return None;
        }
        let tag = by_port::seal(port, &self.key, nonce, text);
        rest[..TAG_LEN].copy_from_slice(&tag);
        if trails {
            rest[TAG_LEN..].copy_from_slice(nonce);
        }
        Some(end)
    }

    /// Decrypts as [`open`](Self::open) does, by the accelerator where there is one.
    pub fn open_by(
        &self,
        port: Option<&mut dyn AesPort>,
        constant: Option<&[u8; NONCE_LEN]>,
        buf: &mut [u8],
    ) -> Option<usize> {
        let Some(port) = port else { return self.open(constant, buf) };
        let (text, tag, nonce) = parts(constant, buf)?;
        by_port::open(port, &self.key, &nonce, text, &tag).then_some(text.len())
    }

    /// Encrypts the first `len` bytes of `buf` in place and appends the tag and, if it `trails`,
    /// the nonce. Returns the new length; `None` for an empty payload or if `buf` is too short.
    pub fn seal(
        &self,
        nonce: &[u8; NONCE_LEN],
        trails: bool,
        buf: &mut [u8],
        len: usize,
    ) -> Option<usize> {
        let tail = TAG_LEN + if trails { NONCE_LEN } else { 0 };
        let end = len.checked_add(tail)?;
        let (text, rest) = buf.get_mut(..end)?.split_at_mut_checked(len)?;
        if text.is_empty() {
            return None;
        }
        let tag =
            self.cipher.encrypt_inout_detached(&Array::from(*nonce), &[], text.into()).ok()?;
        rest[..TAG_LEN].copy_from_slice(&tag);
        if trails {
            rest[TAG_LEN..].copy_from_slice(nonce);
        }
        Some(end)
    }

    /// Decrypts a payload in place; `constant` is the nonce where none trails. Returns the length
    /// of the plaintext; `None` if the payload is too short or was not sealed with this key (then
    /// the content of `buf` is meaningless).
    pub fn open(&self, constant: Option<&[u8; NONCE_LEN]>, buf: &mut [u8]) -> Option<usize> {
        let (text, tag, nonce) = parts(constant, buf)?;
        let len = text.len();
        let (nonce, tag) = (Array::from(nonce), Array::from(tag));
        self.cipher.decrypt_inout_detached(&nonce, &[], text.into(), &tag).ok()?;
        Some(len)
    }
}

/// Returns the ciphertext of a payload, its tag and its nonce; `None` if it is too short.
fn parts<'a>(
    constant: Option<&[u8; NONCE_LEN]>,
    buf: &'a mut [u8],
) -> Option<(&'a mut [u8], [u8; TAG_LEN], [u8; NONCE_LEN])> {
    let (sealed, nonce) = match constant {
        Some(nonce) => (buf, *nonce),
        None => {
            let (sealed, nonce) = buf.split_last_chunk_mut::<NONCE_LEN>()?;
            (sealed, *nonce)
        }
    };
    let (text, tag) = sealed.split_last_chunk_mut::<TAG_LEN>()?;
    if text.is_empty() {
        return None;
    }
    Some((text, *tag, nonce))
}

impl core::fmt::Debug for Sealer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Sealer(secret)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vector_14_of_the_protocol_reference() {
        let key = core::array::from_fn(|i| i as u8);
        let nonce = core::array::from_fn(|i| 0xA0 + i as u8);
        let mut buf = [0; 17];
        buf[..5].copy_from_slice(b"hello");
        let sealer = Sealer::new(&key);
        assert_eq!(sealer.seal(&nonce, true, &mut buf, 5), Some(17));
        let wire = [0xFA, 0x8F, 0x15, 0xFD, 0x90, 0x5F, 0x11, 0xF3, 0x5C];
        assert_eq!((&buf[..9], &buf[9..]), (&wire[..], &nonce[..]));
        assert_eq!(sealer.open(None, &mut buf.clone()), Some(5));
        let mut forged = buf;
        forged[2] ^= 1;
        assert_eq!(sealer.open(None, &mut forged), None);
        assert_eq!(sealer.open(Some(&nonce), &mut buf[..9]), Some(5), "the layout up to 2.2");
        assert_eq!(&buf[..5], b"hello");
    }

    /// Checks lengths: a payload has a byte at least, and the tail of its release.
    #[test]
    fn lengths_of_sealed_payloads() {
        let (sealer, nonce) = (Sealer::new(&[1; 16]), [2; 8]);
        let mut buf = [3; 32];
        assert_eq!(sealer.seal(&nonce, true, &mut buf, 0), None, "nothing to seal");
        assert_eq!(sealer.seal(&nonce, true, &mut buf, 21), None, "no room");
        assert_eq!(sealer.seal(&nonce, false, &mut buf, usize::MAX), None);
        assert_eq!(sealer.seal(&nonce, false, &mut buf, 1), Some(5));
        assert_eq!(buf[5..], [3; 27], "no nonce behind it up to 2.2");
        assert_eq!(sealer.open(Some(&nonce), &mut buf[..5]), Some(1));
        assert_eq!(buf[0], 3);
        assert_eq!(sealer.open(Some(&nonce), &mut buf[..4]), None);
        assert_eq!(sealer.open(None, &mut buf[..12]), None, "tag and nonce of nothing");
        assert_eq!(sealer.seal(&nonce, true, &mut buf, 20), Some(32));
        assert_eq!(Sealer::new(&[0; 16]).open(None, &mut buf.clone()), None, "another key");
        assert_eq!(sealer.open(None, &mut buf), Some(20));
        assert_eq!(std::format!("{sealer:?}"), "Sealer(secret)");
    }
}
