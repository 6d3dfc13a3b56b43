//! Files that can be flashed: an ELF as `cargo build` or `idf.py` gives it, a merged image as releases have
//! it, or a part of one at an address.

use super::chip::{self, CHIPS};
use super::memory;
use crate::user_error::UserError;
use esp_now::node::ota::image::{Flaw, HEADER_LEN, Scanner};
use espflash::image_format::{Metadata, Segment};
use espflash::target::Chip as FlashChip;
use object::{Object as _, ObjectSection as _, ObjectSegment as _};

/// First byte of an image that ESP-IDF's bootloader or a chip's ROM starts.
const IMAGE_MAGIC: u8 = 0xE9;

/// Place of the partition table, unless a bootloader was built with another.
const PARTITIONS_AT: usize = 0x8000;

/// First bytes of each entry of a partition table.
const PARTITION_MAGIC: [u8; 2] = [0xAA, 0x50];

/// Sections of an ELF that have paths of sources.
const PATHS: [&str; 3] = [".debug_line", ".debug_line_str", ".debug_str"];

/// Type of a partition of data, and its subtype that says which program the bootloader starts.
const OTADATA: [u8; 2] = [1, 0];

/// Bytes that such a partition has at most: two sectors.
const OTADATA_MOST: u32 = 0x2000;

/// ELF's number of Xtensa.
const XTENSA: u16 = 94;
/// ELF's number of RISC-V.
const RISC_V: u16 = 243;

/// File that can be flashed.
#[derive(Debug)]
pub enum FlashFile {
    /// Program that needs a bootloader and a partition table, which are added.
    Elf {
        /// Bytes of the file.
        bytes: Vec<u8>,
        /// Chip that it was built for, where it says so.
        chip: Option<FlashChip>,
        /// Addresses at which its segments begin.
        starts: Vec<u32>,
    },
    /// Bytes for an address.
    Raw {
        /// Bytes of the file.
        bytes: Vec<u8>,
        /// Address in flash.
        at: u32,
        /// Chip that it was made for, where it says so.
        chip: Option<FlashChip>,
    },
}

impl FlashFile {
    /// Reads the bytes of a file. What an image says of itself (sizes, checksum, digest) is checked.
    ///
    /// # Errors
    /// It is none of these, it is damaged, or an address is missing or given in vain.
    pub fn read(name: &str, bytes: Vec<u8>, at: Option<u32>) -> Result<Self, UserError> {
        if bytes.starts_with(b"\x7FELF") {
            if at.is_some() {
                let what = format!("--at does nothing beside {name}");
                return Err(UserError::new(what)
                    .because("an ELF says itself where it goes")
                    .remedy("leave --at out"));
            }
            return elf(name, bytes);
        }
        if let Some(at) = at {
            let chip = chip_of(&bytes, 0);
            if chip.is_some() {
                check(&bytes).map_err(|why| damaged(name, why))?;
            }
            return Ok(Self::Raw { bytes, at, chip });
        }
        if let Some((chip, start)) = bootloader(&bytes).filter(|_| has_partitions(&bytes)) {
            check(&bytes[start..]).map_err(|why| damaged(name, &format!("bootloader: {why}")))?;
            for app in applications(&bytes) {
                check(&bytes[app..])
                    .map_err(|why| damaged(name, &format!("program at {app:#x}: {why}")))?;
            }
            return Ok(Self::Raw { bytes, at: 0, chip: Some(chip) });
        }
        let told = UserError::new(format!("{name} cannot be flashed as it is"));
        Err(if bytes.first() == Some(&IMAGE_MAGIC) {
            told.because("it is one part of an image, and does not say where it goes").remedy(
                "say where: --at 0x10000 for most programs; or flash the ELF or the merged image",
            )
        } else {
            told.because("it is neither an ELF nor an image of Espressif's format")
                .remedy("name the ELF that the build gave, or a merged .bin; of other data say where it goes: --at 0x9000")
        })
    }

    /// Returns the chip that it is for, where it says so.
    #[must_use]
    pub fn chip(&self) -> Option<FlashChip> {
        match self {
            Self::Elf { chip, .. } | Self::Raw { chip, .. } => *chip,
        }
    }

    /// Returns whether a chip can run it, as far as it says.
    #[must_use]
    pub fn fits(&self, other: FlashChip) -> bool {
        if let Self::Elf { bytes, chip: None, starts } = self {
            let found = bytes.get(18..20).map(|it| u16::from_le_bytes([it[0], it[1]]));
            return found == Some(machine(other)) && memory::holds(other, starts);
        }
        self.chip().is_none_or(|it| it == other)
    }
}

/// Returns ELF's number of a chip's processor.
fn machine(chip: FlashChip) -> u16 {
    match chip {
        FlashChip::Esp32 | FlashChip::Esp32s2 | FlashChip::Esp32s3 => XTENSA,
        _ => RISC_V,
    }
}

fn elf(name: &str, bytes: Vec<u8>) -> Result<FlashFile, UserError> {
    let told = || UserError::new(format!("{name} cannot be flashed"));
    let file = object::read::elf::ElfFile32::<object::Endianness>::parse(&*bytes).map_err(|e| {
        told()
            .because(format!("not an ELF of 32 bits: {e}"))
            .remedy("name the ELF that the build for the chip gave")
    })?;
    let found = file.elf_header().e_machine.get(object::Endianness::Little).0;
    if ![XTENSA, RISC_V].contains(&found) {
        let why = format!("it is for another processor (machine {found})");
        return Err(told().because(why).remedy("name the ELF that the build for the chip gave"));
    }
    if file.section_by_name(".flash.appdesc").is_none_or(|it| it.size() == 0) {
        return Err(told()
            .because(
                "it has no application descriptor, without which the bootloader does not start it",
            )
            .remedy(
                "in Rust, add `esp_bootloader_esp_idf::esp_app_desc!()` and link with linkall.x",
            ));
    }
    let metadata = Metadata::from_bytes(Some(&bytes));
    let named = metadata.chip_name().and_then(|it| chip::parse(it).ok());
    let paths = PATHS.iter().filter_map(|it| file.section_by_name(it)?.data().ok());
    let chip = named.or_else(|| memory::of_paths(paths)).filter(|it| machine(*it) == found);
    let loaded = file.segments().filter(|it| it.file_range().1 > 0);
    let starts = loaded.filter_map(|it| it.address().try_into().ok()).collect();
    drop(file);
    Ok(FlashFile::Elf { bytes, chip, starts })
}

fn damaged(name: &str, why: &str) -> UserError {
    UserError::new(format!("{name} is damaged")).because(why).remedy("fetch or build it again")
}

/// Returns the chip that the header of an image at this place names.
fn chip_of(bytes: &[u8], at: usize) -> Option<FlashChip> {
    let header = bytes.get(at..)?.get(..HEADER_LEN)?;
    let id = u16::from_le_bytes([header[12], header[13]]);
    CHIPS.into_iter().find(|it| header[0] == IMAGE_MAGIC && it.id() == id)
}

/// Returns the chip whose ROM would start the bootloader of a merged image, and where that is.
fn bootloader(bytes: &[u8]) -> Option<(FlashChip, usize)> {
    let found =
        CHIPS.into_iter().find(|it| chip_of(bytes, it.boot_address() as usize) == Some(*it))?;
    Some((found, found.boot_address() as usize))
}

fn has_partitions(bytes: &[u8]) -> bool {
    bytes.get(PARTITIONS_AT..PARTITIONS_AT + 2) == Some(&PARTITION_MAGIC[..])
}

/// Entry of a partition table: type and subtype, place and length.
struct Partition {
    kind: [u8; 2],
    at: u32,
    length: u32,
}

/// Reads a table of partitions, as ESP-IDF's bootloader does.
fn table(bytes: &[u8]) -> impl Iterator<Item = Partition> {
    let entries = bytes.chunks_exact(32).take_while(|it| it.starts_with(&PARTITION_MAGIC));
    let word =
        |it: &[u8], at: usize| u32::from_le_bytes([it[at], it[at + 1], it[at + 2], it[at + 3]]);
    entries.map(move |it| Partition { kind: [it[2], it[3]], at: word(it, 4), length: word(it, 8) })
}

/// Returns the places of programs in a merged image, by its partition table.
fn applications(bytes: &[u8]) -> Vec<usize> {
    let programs =
        table(bytes.get(PARTITIONS_AT..).unwrap_or_default()).filter(|it| it.kind[0] == 0);
    programs.map(|it| it.at as usize).filter(|it| bytes.get(*it) == Some(&IMAGE_MAGIC)).collect()
}

/// Returns the partition that says which program starts, erased, where the pieces bring a new table and not its bytes. Else
/// a program that an update over the air has written starts in place of the new one. `idf.py flash` does the same.
pub(super) fn erased_otadata(pieces: &[Segment<'_>]) -> Option<Segment<'static>> {
    let at = PARTITIONS_AT as u32;
    let reaches = |it: &Segment<'_>, at: u32| {
        (u64::from(it.addr)..u64::from(it.addr) + it.data.len() as u64).contains(&u64::from(at))
    };
    let tables = pieces.iter().filter_map(|it| {
        let is_table = it.data.starts_with(&PARTITION_MAGIC);
        let start = if is_table { 0 } else { at.checked_sub(it.addr)? as usize };
        it.data.get(start..)
    });
    let otadata = tables.flat_map(table).find(|it| it.kind == OTADATA)?;
    let is_there = pieces.iter().any(|it| reaches(it, otadata.at));
    let length = otadata.length.min(OTADATA_MOST) as usize;
    (!is_there).then(|| words(otadata.at, &vec![0xFF; length]))
}

/// Checks what an image says of itself (its segments, the checksum, the SHA-256 that may follow) as our node
/// does with one that came over the air.
///
/// # Errors
/// What differs.
pub fn check(bytes: &[u8]) -> Result<(), &'static str> {
    let mut scanner = Scanner::new(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
    scanner.feed(bytes).map_err(|flaw| match flaw {
        Flaw::Header => "its header is none",
        Flaw::Short | Flaw::Flash => "it ends before its last segment",
        Flaw::Checksum => "its checksum differs",
        Flaw::Digest => "its SHA-256 differs",
    })?;
    scanner.image().map(drop).ok_or("it ends before its last segment or its digest")
}

/// Returns the bytes that a piece of flash gets, in the loader's form: whole words.
#[must_use]
pub(super) fn words(at: u32, bytes: &[u8]) -> Segment<'static> {
    let mut data = bytes.to_vec();
    data.resize(data.len().next_multiple_of(4), 0xFF);
    Segment { addr: at, data: data.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns an image of one segment for a chip, with checksum and digest.
    fn image(chip: FlashChip, data: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; HEADER_LEN];
        (bytes[0], bytes[1], bytes[23]) = (IMAGE_MAGIC, 1, 1);
        bytes[12..14].copy_from_slice(&chip.id().to_le_bytes());
        bytes.extend(0x4200_0000_u32.to_le_bytes());
        bytes.extend((data.len() as u32).to_le_bytes());
        bytes.extend(data);
        bytes.resize((bytes.len() + 1).next_multiple_of(16) - 1, 0);
        bytes.push(data.iter().fold(0xEF, |sum, byte| sum ^ byte));
        let digest = sha2::Sha256::digest(&bytes);
        bytes.extend(digest);
        bytes
    }

    /// Returns a merged image: bootloader, table of one program, program.
    fn merged(chip: FlashChip) -> Vec<u8> {
        let mut bytes = vec![0xFF; chip.boot_address() as usize];
        bytes.extend(image(chip, b"bootloader"));
        bytes.resize(PARTITIONS_AT, 0xFF);
        bytes.extend([0xAA, 0x50, 0, 0, 0, 0, 1, 0, 0, 0, 0x10, 0]);
        bytes.resize(0x10000, 0xFF);
        bytes.extend(image(chip, b"program"));
        bytes
    }

    use sha2::Digest as _;

    #[test]
    fn merged_images_of_all_chips_are_known() {
        for chip in CHIPS {
            let read = FlashFile::read("a.bin", merged(chip), None).unwrap();
            assert_eq!(read.chip(), Some(chip));
            assert!(CHIPS.into_iter().all(|it| read.fits(it) == (it == chip)), "{chip}");
            assert!(matches!(read, FlashFile::Raw { at: 0, .. }));
        }
    }

    #[test]
    fn a_part_without_a_header_fits_any_chip() {
        let part = FlashFile::read("a.bin", vec![1, 2, 3], Some(0x9000)).unwrap();
        assert_eq!(part.chip(), None);
        assert!(CHIPS.into_iter().all(|it| part.fits(it)));
        let program = image(FlashChip::Esp32s3, b"x");
        let part = FlashFile::read("a.bin", program, Some(0x10000)).unwrap();
        assert_eq!(part.chip(), Some(FlashChip::Esp32s3));
    }

    #[test]
    fn words_are_filled_up_as_erased_flash() {
        let segment = words(0x9000, &[1, 2, 3, 4, 5]);
        assert_eq!(&*segment.data, [1, 2, 3, 4, 5, 0xFF, 0xFF, 0xFF]);
    }

    /// Returns a table of partitions with a place for otadata.
    fn ota_table() -> Segment<'static> {
        let entry = |kind: [u8; 2], at: u32, length: u32| {
            let mut bytes =
                [&PARTITION_MAGIC[..], &kind, &at.to_le_bytes(), &length.to_le_bytes()].concat();
            bytes.resize(32, 0);
            bytes
        };
        let rows = [
            entry([1, 2], 0x9000, 0x4000),
            entry(OTADATA, 0xD000, 0x2000),
            entry([0, 0x10], 0x10000, 0x10_0000),
        ];
        words(PARTITIONS_AT as u32, &rows.concat())
    }

    #[test]
    fn a_new_table_lets_the_new_program_start() {
        let program = words(0x10000, &[IMAGE_MAGIC; 64]);
        let erased = erased_otadata(&[ota_table(), program.clone()]).unwrap();
        assert_eq!((erased.addr, &*erased.data), (0xD000, &[0xFF; 0x2000][..]));
        assert!(
            erased_otadata(std::slice::from_ref(&program)).is_none(),
            "a part alone brings no table"
        );
        let own = words(0xD000, &[1; 32]);
        assert!(
            erased_otadata(&[ota_table(), own]).is_none(),
            "the build has bytes of its own for it"
        );
        // A merged image that ends behind its table.
        let mut merged = vec![0xFF; PARTITIONS_AT];
        merged.extend(&*ota_table().data);
        assert_eq!(erased_otadata(&[words(0, &merged)]).map(|it| it.addr), Some(0xD000));
        merged.resize(0x10000, 0xFF);
        assert!(erased_otadata(&[words(0, &merged)]).is_none(), "it covers that place");
    }

    proptest! {
        #[test]
        fn any_file_is_taken_or_refused(
            start in prop_oneof![Just(&b"\x7FELF\x01\x01\x01"[..]), Just(&b"\xE9\x02"[..]), Just(&b""[..])],
            rest in proptest::collection::vec(any::<u8>(), 0..300),
            at in proptest::option::of(any::<u32>()),
        ) {
            let bytes = [start, &rest].concat();
            if let Err(error) = FlashFile::read("file", bytes, at) {
                prop_assert!(!error.remedy.is_empty());
            }
        }

        #[test]
        fn a_changed_bit_of_an_image_is_found(at in 0_usize..10, bit in 0_u32..8) {
            let mut bytes = merged(FlashChip::Esp32c3);
            for start in [HEADER_LEN + 8, 0x10000 + HEADER_LEN + 8] {
                bytes[start + at % 7] ^= 1 << bit;
                prop_assert!(FlashFile::read("file", bytes.clone(), None).is_err());
                bytes[start + at % 7] ^= 1 << bit;
            }
            prop_assert!(FlashFile::read("file", bytes, None).is_ok());
        }
    }
}
