//! Finds where a line begins within another: prompts, prefixes of a monitor, log headers.

use core::ops::Range;

/// Returns whether these bytes are a prompt: the name of a chip, `>`, a blank (`esp32c3> `); or that of
/// ESP-IDF's example `iperf`.
pub(super) fn is_prompt(bytes: &[u8]) -> bool {
    let Some(name) = bytes.strip_suffix(b"> ") else { return false };
    if name == b"iperf" {
        return true;
    }
    (3..=16).contains(&name.len())
        && name.starts_with(b"esp")
        && name.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-')
}

/// Returns the length of a monitor's prefix at the start of `bytes`, without the blank after it:
/// `[24:0a:c4:00:00:01][1][-40]:`.
pub(super) fn prefix(bytes: &[u8]) -> Option<usize> {
    let mac = bytes.get(1..18)?;
    let hex = |(i, b): (usize, &u8)| if i % 3 == 2 { *b == b':' } else { b.is_ascii_hexdigit() };
    if bytes.first() != Some(&b'[') || !mac.iter().enumerate().all(hex) {
        return None;
    }
    let at = after(bytes, 18, b"][")?;
    let at = after(bytes, number(bytes, at)?, b"][")?;
    let at = after(bytes, number(bytes, at)?, b"]:")?;
    Some(at)
}

/// Returns the length of a log header at the start of `bytes` up to the time's bracket: `I (1234)`.
pub(super) fn stamp(bytes: &[u8]) -> Option<usize> {
    let level = bytes.first()?;
    if !b"EWIDV".contains(level) {
        return None;
    }
    let at = after(bytes, 1, b" (")?;
    after(bytes, number(bytes, at)?, b") ")
}

/// Finds where a log header starts in `bytes`.
pub(super) fn find_stamp(bytes: &[u8]) -> Option<usize> {
    (0..bytes.len()).find(|&at| bytes.get(at..).and_then(stamp).is_some())
}

/// Beginnings of what a program prints that crashes, wherever the cursor stands.
const CRASHES: [&[u8]; 2] = [b"Guru Meditation Error: ", b"abort() was called at "];

/// Finds where text that was not typed starts in `bytes`.
pub(super) fn find_output(bytes: &[u8]) -> Option<usize> {
    let prefix = find_prefix(bytes, 0).map(|range| range.start);
    let crash = CRASHES.iter().filter_map(|it| bytes.windows(it.len()).position(|at| at == *it));
    crash.chain(prefix).chain(find_stamp(bytes)).min()
}

/// Finds where a second log header starts in a remote line: a line cut to a frame has no line end,
/// and the monitor's own line may follow at once.
pub(super) fn find_second_stamp(line: &[u8]) -> Option<usize> {
    let at = prefix(line)?;
    let at = at + usize::from(line.get(at) == Some(&b' '));
    let at = at + line.get(at..).and_then(stamp).unwrap_or(0);
    find_stamp(line.get(at..)?)
        .map(|found| at + found)
        .filter(|found| *found > prefix(line).map_or(0, |p| p + 1))
}

/// Finds a monitor's prefix in `bytes` at `from` or later: returns where it starts and ends.
pub(super) fn find_prefix(bytes: &[u8], from: usize) -> Option<Range<usize>> {
    (from..bytes.len()).find_map(|at| {
        let here = bytes.get(at..)?;
        (here.first() == Some(&b'[')).then(|| prefix(here)).flatten().map(|len| at..at + len)
    })
}

fn after(bytes: &[u8], at: usize, text: &[u8]) -> Option<usize> {
    bytes.get(at..)?.starts_with(text).then_some(at + text.len())
}

/// Returns the end of an integer of at most ten digits that starts at `at`.
fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let start = at + usize::from(bytes.get(at) == Some(&b'-'));
    let digits = bytes.get(start..)?.iter().take_while(|b| b.is_ascii_digit()).count();
    (1..=10).contains(&digits).then_some(start + digits)
}

/// Replaces every byte that is not UTF-8 by a question mark; returns their number.
pub(super) fn repair(bytes: &mut [u8]) -> u32 {
    let (mut at, mut repaired) = (0, 0_u32);
    while let Some(rest) = bytes.get(at..) {
        let Err(error) = core::str::from_utf8(rest) else { break };
        let start = at + error.valid_up_to();
        let len = error.error_len().unwrap_or(rest.len()).min(rest.len() - error.valid_up_to());
        let Some(bad) = bytes.get_mut(start..start + len) else { break };
        bad.fill(b'?');
        repaired = repaired.saturating_add(bad.len() as u32);
        at = start + len;
    }
    repaired
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_told_apart() {
        assert!(is_prompt(b"esp32c3> ") && is_prompt(b"esp> ") && is_prompt(b"iperf> "));
        assert!(!is_prompt(b"Note> ") && !is_prompt(b"esp32> x ") && !is_prompt(b"esp32>"));
        let monitor = b"[24:0a:c4:00:00:01][13][-40]: I (5) x: y";
        assert_eq!(prefix(monitor), Some(29));
        // The receiver of the get-started example prints four brackets.
        assert_eq!(prefix(b"[24:0a:c4:00:00:01][1][-40][13]: x"), None);
        assert_eq!(prefix(b"[24:0a:c4:00:00:01]  0- 3 sec"), None);
        assert_eq!(stamp(b"I (5) x: y"), Some(6));
        assert_eq!(stamp(b"I (5)x"), None);
        assert_eq!(find_prefix(b"a [24:0a:c4:00:00:01][1][-4]:", 1), Some(2..29));
        assert_eq!(find_stamp(b"espnow_iW (12) t: x"), Some(8));
        assert_eq!(find_output(b"helI (12) t: x"), Some(3));
        assert_eq!(find_output(b"helGuru Meditation Error: Core  0 panic'ed"), Some(3));
        assert_eq!(find_output(b"abort() was called at PC 0x400d1234"), Some(0));
        assert_eq!(find_output(b"espnow_iperf -s"), None);
    }

    #[test]
    fn broken_text_is_repaired_in_place() {
        let mut bytes = *b"a\xff\xe2\x82z\xe2\x82";
        assert_eq!(repair(&mut bytes), 5);
        assert_eq!(&bytes, b"a???z??");
        let mut whole = *b"\xe2\x82\xac";
        assert_eq!(repair(&mut whole), 0);
    }
}
