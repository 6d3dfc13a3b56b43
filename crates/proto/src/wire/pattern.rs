//! The pattern that probes carry, so that a changed or spliced reply is seen: each byte is one more
//! than the last, modulo 251. That number is prime: two probes do not match by chance.

/// Bytes after which the pattern begins again.
pub(super) const PERIOD: u16 = 251;

/// Fills `body` with the pattern from `start`, which is less than [`PERIOD`].
pub(super) fn fill(body: &mut [u8], start: u8) {
    let mut next = start;
    for byte in body {
        *byte = next;
        next = following(next);
    }
}

/// Returns whether `body` is the pattern from `start`.
pub(super) fn matches(body: &[u8], start: u8) -> bool {
    let mut next = start;
    body.iter().all(|&byte| {
        let same = byte == next;
        next = following(next);
        same
    })
}

const fn following(byte: u8) -> u8 {
    if byte as u16 >= PERIOD - 1 { 0 } else { byte + 1 }
}
