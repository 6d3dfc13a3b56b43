//! A bitmap of packets: bit `i` of byte `b` stands for packet `8 b + i`.

/// Length of the bitmap of the most packets that any release allows (14 rows of 188), in bytes.
pub const BITMAP: usize = 2632;

/// Returns whether a bit is set; false beyond the bitmap.
#[must_use]
pub fn get(bits: &[u8], at: u16) -> bool {
    bits.get(usize::from(at >> 3)).is_some_and(|byte| byte >> (at & 7) & 1 == 1)
}

/// Sets a bit; returns false if it is beyond the bitmap.
pub fn set(bits: &mut [u8], at: u16) -> bool {
    let Some(byte) = bits.get_mut(usize::from(at >> 3)) else { return false };
    *byte |= 1 << (at & 7);
    true
}

/// Finds the first clear bit from `from` on, below `count` and within the bitmap.
///
/// Calls that each go on where the last one ended cost together no more than one pass over the
/// bytes.
#[must_use]
pub fn next_clear(bits: &[u8], from: u16, count: u16) -> Option<u16> {
    let mut at = from;
    while at < count {
        let byte = *bits.get(usize::from(at >> 3))?;
        // Bits before `at` in its byte count as set.
        let clear = !byte & 0xFF << (at & 7);
        if clear != 0 {
            let found = at & !7 | clear.trailing_zeros() as u16;
            return (found < count).then_some(found);
        }
        at = (at & !7).checked_add(8)?;
    }
    None
}

/// Counts the set bits among the first `count`.
#[must_use]
pub fn ones(bits: &[u8], count: u16) -> u16 {
    let whole = usize::from(count >> 3);
    let ones: u32 = bits.iter().take(whole).map(|b| b.count_ones()).sum();
    let last = bits.get(whole).map_or(0, |b| (b & !(0xFF << (count & 7))).count_ones());
    (ones + last).min(u32::from(u16::MAX)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_a_list_of_booleans(
            sets in prop::collection::vec(0u16..200, 0..150),
            from in 0u16..220,
            count in 0u16..=200,
        ) {
            let (mut bits, mut list) = ([0; 25], [false; 200]);
            for at in sets {
                prop_assert!(set(&mut bits, at));
                list[usize::from(at)] = true;
            }
            let clear = (from..count).find(|&i| !list[usize::from(i)]);
            prop_assert_eq!(next_clear(&bits, from, count), clear);
            let counted = list.iter().take(usize::from(count)).filter(|b| **b).count();
            prop_assert_eq!(usize::from(ones(&bits, count)), counted);
            prop_assert!((0..200).all(|i| get(&bits, i) == list[usize::from(i)]));
        }
    }

    #[test]
    fn beyond_the_bitmap_is_nothing() {
        let mut bits = [0xFF; 2];
        assert!(!get(&bits, 16) && !set(&mut bits, 16));
        assert_eq!(next_clear(&bits, 0, u16::MAX), None);
        assert_eq!(next_clear(&[0xFF; 8192], 65_530, u16::MAX), None);
        assert_eq!(ones(&bits, u16::MAX), 16);
    }
}
