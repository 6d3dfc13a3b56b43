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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_begins_again_after_250() {
        let mut body = [0xFF; 4];
        fill(&mut body, 249);
        assert_eq!(body, [249, 250, 0, 1]);
        assert!(matches(&body, 249) && matches(&[], 7));
        assert!(!matches(&[249, 250, 251], 249) && !matches(&body, 248));
        assert!(!matches(&[250, 250, 0], 249), "the first byte counts");
    }
}
