//! AES-CCM of sealed payloads on an accelerator that encrypts block by block (RFC 3610, with M = 4 and
//! L = 7).

use super::{AesPort, NONCE_LEN, TAG_LEN};
use subtle::ConstantTimeEq;

const BLOCK: usize = 16;
/// Bytes of the field for the length, L.
const LENGTH: usize = BLOCK - 1 - NONCE_LEN;
/// Flags of the first block: M as (M - 2) / 2 and L as L - 1; no associated data.
const FIRST: u8 = ((TAG_LEN as u8 - 2) / 2) << 3 | COUNTER;
/// Flags of the blocks of the key stream.
const COUNTER: u8 = LENGTH as u8 - 1;

/// Returns flags, nonce, and a number in the last bytes, as a block.
fn block(flags: u8, nonce: &[u8; NONCE_LEN], number: u64) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    block[8..].copy_from_slice(&number.to_be_bytes());
    // The number is at most a payload's length: seven bytes hold it, and the nonce takes the eighth.
    block[0] = flags;
    block[1..=NONCE_LEN].copy_from_slice(nonce);
    block
}

/// Returns the CBC-MAC of a text, before it is encrypted.
fn mac(
    port: &mut dyn AesPort,
    key: &[u8; 16],
    nonce: &[u8; NONCE_LEN],
    text: &[u8],
) -> [u8; BLOCK] {
    let mut mac = block(FIRST, nonce, text.len() as u64);
    port.encrypt(key, &mut mac);
    for piece in text.chunks(BLOCK) {
        for (a, b) in mac.iter_mut().zip(piece) {
            *a ^= b;
        }
        port.encrypt(key, &mut mac);
    }
    mac
}

/// Encrypts or decrypts a text, and returns the key stream's block for the tag.
fn crypt(
    port: &mut dyn AesPort,
    key: &[u8; 16],
    nonce: &[u8; NONCE_LEN],
    text: &mut [u8],
) -> [u8; BLOCK] {
    for (i, piece) in text.chunks_mut(BLOCK).enumerate() {
        let mut stream = block(COUNTER, nonce, i as u64 + 1);
        port.encrypt(key, &mut stream);
        for (a, b) in piece.iter_mut().zip(stream) {
            *a ^= b;
        }
    }
    let mut stream = block(COUNTER, nonce, 0);
    port.encrypt(key, &mut stream);
    stream
}

/// Encrypts a text in place and returns its tag.
pub(super) fn seal(
    port: &mut dyn AesPort,
    key: &[u8; 16],
    nonce: &[u8; NONCE_LEN],
    text: &mut [u8],
) -> [u8; TAG_LEN] {
    let mac = mac(port, key, nonce, text);
    let stream = crypt(port, key, nonce, text);
    core::array::from_fn(|i| mac[i] ^ stream[i])
}

/// Decrypts a text in place and returns whether its tag is right.
pub(super) fn open(
    port: &mut dyn AesPort,
    key: &[u8; 16],
    nonce: &[u8; NONCE_LEN],
    text: &mut [u8],
    tag: &[u8; TAG_LEN],
) -> bool {
    let stream = crypt(port, key, nonce, text);
    let mac = mac(port, key, nonce, text);
    let right: [u8; TAG_LEN] = core::array::from_fn(|i| mac[i] ^ stream[i]);
    right.ct_eq(tag).into()
}

#[cfg(test)]
mod tests {
    use super::super::Sealer;
    use super::*;
    use aes::Aes128Enc;
    use aes::cipher::{BlockCipherEncrypt, KeyInit};

    /// An accelerator that counts its blocks.
    struct Counting(u32);

    impl AesPort for Counting {
        fn encrypt(&mut self, key: &[u8; 16], block: &mut [u8; 16]) {
            self.0 += 1;
            let mut place = (*block).into();
            Aes128Enc::new(&(*key).into()).encrypt_block(&mut place);
            *block = place.into();
        }
    }

    #[test]
    fn an_accelerator_gives_the_same_bytes_for_every_length() {
        for len in 0..=240usize {
            let key = core::array::from_fn(|i| (i * 7 + len) as u8);
            let nonce = core::array::from_fn(|i| (i * 11 + len * 3) as u8);
            let sealer = Sealer::new(&key);
            for trails in [false, true] {
                let text: [u8; 256] = core::array::from_fn(|i| (i * 5) as u8);
                let (mut by_software, mut by_port, mut port) = (text, text, Counting(0));
                let end = sealer.seal(&nonce, trails, &mut by_software, len);
                let same = sealer.seal_by(Some(&mut port), &nonce, trails, &mut by_port, len);
                assert_eq!((end, &by_software), (same, &by_port), "{len}");
                let Some(end) = end else {
                    assert_eq!(len, 0);
                    continue;
                };
                assert_eq!(port.0 as usize, 2 * len.div_ceil(16) + 2, "blocks");
                let constant = (!trails).then_some(&nonce);
                let mut forged = by_port;
                forged[end - 1 - if trails { NONCE_LEN } else { 0 }] ^= 1;
                let sealed = &mut by_port[..end];
                assert_eq!(sealer.open_by(Some(&mut port), constant, sealed), Some(len));
                assert_eq!(by_port[..len], text[..len]);
                assert_eq!(sealer.open_by(Some(&mut port), constant, &mut forged[..end]), None);
            }
        }
    }

    #[test]
    fn an_accelerator_refuses_what_is_too_short() {
        let (sealer, mut port) = (Sealer::new(&[1; 16]), Counting(0));
        for len in 0..=12 {
            assert_eq!(sealer.open_by(Some(&mut port), None, &mut [0; 16][..len]), None);
        }
        assert_eq!(sealer.seal_by(Some(&mut port), &[0; 8], true, &mut [0; 20], 9), None);
        assert_eq!(port.0, 0, "nothing was computed");
    }
}
