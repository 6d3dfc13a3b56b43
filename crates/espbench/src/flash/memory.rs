//! Memory of the chips, by which a program shows what it was built for where it names no chip.
//!
//! ESP-IDF's ELFs name none. Their debugging information has paths of the chip's own sources
//! (`soc/esp32c6/include`), and their segments lie in the chip's memory.

use espflash::target::Chip as FlashChip;
use std::str::FromStr as _;

/// Memory of each chip that a program is loaded into or runs from: flash, PSRAM and internal memory, as the first address
/// and the one behind the last. Source: the chapters "System and Memory" of Espressif's technical reference manuals.
/// Chips that are not listed have none that is published.
const MEMORY: [(FlashChip, &[(u32, u32)]); 10] = [
    (
        FlashChip::Esp32,
        &[
            (0x3F40_0000, 0x3FC0_0000),
            (0x3FF8_0000, 0x3FF8_2000),
            (0x3FFA_E000, 0x400C_2000),
            (0x400D_0000, 0x4040_0000),
            (0x5000_0000, 0x5000_2000),
        ],
    ),
    (
        FlashChip::Esp32c2,
        &[
            (0x3C00_0000, 0x3C40_0000),
            (0x3FCA_0000, 0x3FCE_0000),
            (0x4037_C000, 0x403C_0000),
            (0x4200_0000, 0x4240_0000),
        ],
    ),
    (
        FlashChip::Esp32c3,
        &[
            (0x3C00_0000, 0x3C80_0000),
            (0x3FC8_0000, 0x3FCE_0000),
            (0x4037_C000, 0x403E_0000),
            (0x4200_0000, 0x4280_0000),
            (0x5000_0000, 0x5000_2000),
        ],
    ),
    (
        FlashChip::Esp32c5,
        &[(0x4080_0000, 0x4086_0000), (0x4200_0000, 0x4400_0000), (0x5000_0000, 0x5000_4000)],
    ),
    (
        FlashChip::Esp32c6,
        &[(0x4080_0000, 0x4088_0000), (0x4200_0000, 0x4300_0000), (0x5000_0000, 0x5000_4000)],
    ),
    (FlashChip::Esp32c61, &[(0x4080_0000, 0x4085_0000), (0x4200_0000, 0x4400_0000)]),
    (
        FlashChip::Esp32h2,
        &[(0x4080_0000, 0x4085_0000), (0x4200_0000, 0x4300_0000), (0x5000_0000, 0x5000_1000)],
    ),
    (
        FlashChip::Esp32p4,
        &[(0x4000_0000, 0x4FFC_0000), (0x5010_8000, 0x5011_0000), (0x8000_0000, 0x9000_0000)],
    ),
    (
        FlashChip::Esp32s2,
        &[
            (0x3F00_0000, 0x3FF8_0000),
            (0x3FF9_E000, 0x3FFA_0000),
            (0x3FFB_0000, 0x4080_0000),
            (0x5000_0000, 0x5000_2000),
        ],
    ),
    (
        FlashChip::Esp32s3,
        &[
            (0x3C00_0000, 0x3E00_0000),
            (0x3FC8_8000, 0x3FD0_0000),
            (0x4037_0000, 0x403E_0000),
            (0x4200_0000, 0x4400_0000),
            (0x5000_0000, 0x5000_2000),
            (0x600F_E000, 0x6010_0000),
        ],
    ),
];

/// Number of times that the paths of one chip must be there for one of any other.
const CLEARLY: usize = 3;

/// Returns whether a chip has memory at all of these addresses. One that no listed chip has counts for
/// nothing, and a chip that is not listed has any.
pub(super) fn holds(chip: FlashChip, addresses: &[u32]) -> bool {
    let within =
        |ranges: &[(u32, u32)], at: u32| ranges.iter().any(|it| (it.0..it.1).contains(&at));
    let Some((_, own)) = MEMORY.iter().find(|it| it.0 == chip) else { return true };
    let known = |at: u32| MEMORY.iter().any(|it| within(it.1, at));
    addresses.iter().all(|&at| within(own, at) || !known(at))
}

/// Returns the chip whose folders the paths of debugging information go through, where there is clearly one.
pub(super) fn of_paths<'a>(sections: impl Iterator<Item = &'a [u8]>) -> Option<FlashChip> {
    let mut counts: Vec<(FlashChip, usize)> = Vec::new();
    for part in sections.flat_map(|it| it.split(|byte| matches!(byte, b'/' | b'\\' | 0))) {
        let name = part.starts_with(b"esp32").then(|| std::str::from_utf8(part).ok()).flatten();
        let Some(chip) = name.and_then(|it| FlashChip::from_str(it).ok()) else { continue };
        match counts.iter_mut().find(|it| it.0 == chip) {
            Some(count) => count.1 += 1,
            None => counts.push((chip, 1)),
        }
    }
    counts.sort_by_key(|it| std::cmp::Reverse(it.1));
    let others = counts.get(1).map_or(0, |it| it.1);
    counts.first().filter(|it| it.1 >= CLEARLY * others).map(|it| it.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_of_the_chip_whose_memory_it_is_in() {
        let c3 = [0x3C00_0020, 0x3FC8_F000, 0x4038_0000, 0x4200_0020];
        assert!(holds(FlashChip::Esp32c3, &c3));
        for other in [FlashChip::Esp32c2, FlashChip::Esp32c6, FlashChip::Esp32h2] {
            assert!(!holds(other, &c3), "{other}");
        }
        let c6 = [0x4080_0000, 0x4087_0000, 0x4200_0020];
        assert!(holds(FlashChip::Esp32c6, &c6) && !holds(FlashChip::Esp32h2, &c6));
        assert!(
            !holds(FlashChip::Esp32, &[0x3FC8_8000]) && holds(FlashChip::Esp32s3, &[0x3FC8_8000])
        );
        assert!(holds(FlashChip::Esp32s31, &c3), "nothing of it is published");
        assert!(holds(FlashChip::Esp32c6, &[0x4080_0000, 0x1000_0000]), "no chip's");
    }

    #[test]
    fn paths_name_the_chip() {
        let paths =
            b"/idf/components/soc/esp32c6/include\0/idf/components/hal/esp32c6\0src/main.c\0";
        assert_eq!(of_paths([&paths[..]].into_iter()), Some(FlashChip::Esp32c6));
        let mixed = b"/bt/esp32c6/a\0/soc/esp32c61/b\0/hal/esp32c61/c";
        assert_eq!(of_paths([&mixed[..]].into_iter()), None, "none clearly");
        assert_eq!(of_paths([&b"esp32-project/main.c"[..]].into_iter()), None);
    }
}
