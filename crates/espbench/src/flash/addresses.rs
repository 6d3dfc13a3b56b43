//! Addresses in a console's output as functions and lines of an ELF.

use addr2line::Context;
use addr2line::gimli::{self, EndianRcSlice, RunTimeEndian};
use espbench_doctor::crash::report::{CodePlace, ProgramCode};
use object::{Architecture, CompressionFormat, Object as _, ObjectSection as _, ObjectSymbol as _};
use std::rc::Rc;

/// Most addresses that are looked up in a line.
const MOST: usize = 64;

/// Program whose addresses are told.
pub struct ProgramAddresses {
    lines: Context<EndianRcSlice<RunTimeEndian>>,
    /// Sections of instructions, by their addresses.
    code: Vec<(u64, Vec<u8>)>,
    /// Processor, by which calls are known.
    processor: Architecture,
    /// Functions by their address, in order.
    symbols: Vec<(u64, u64, String)>,
}

impl std::fmt::Debug for ProgramAddresses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sections = self.code.iter().map(|it| (it.0, it.1.len()));
        let sections: Vec<(u64, usize)> = sections.collect();
        f.debug_struct("ProgramAddresses").field("code", &sections).finish_non_exhaustive()
    }
}

impl ProgramAddresses {
    /// Reads an ELF.
    ///
    /// # Errors
    /// It is none, its debug sections are broken or compressed, or its sections overlap.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let file = object::File::parse(bytes).map_err(|e| e.to_string())?;
        let packed = file.sections().find(|it| match it.compressed_file_range() {
            Ok(range) => range.format != CompressionFormat::None,
            Err(_) => false,
        });
        if let Some(packed) = packed {
            let name = packed.name().unwrap_or("a section");
            return Err(format!(
                "{name} is compressed: unpack a copy with `objcopy --decompress-debug-sections`"
            ));
        }
        let section = |id: gimli::SectionId| -> Result<_, gimli::Error> {
            let data = file.section_by_name(id.name()).and_then(|it| it.data().ok());
            let data: Rc<[u8]> = data.unwrap_or_default().into();
            Ok(EndianRcSlice::new(data, RunTimeEndian::Little))
        };
        let dwarf = gimli::Dwarf::load(section).map_err(|e| e.to_string())?;
        let lines = Context::from_dwarf(dwarf).map_err(|e| e.to_string())?;
        let is_code = |it: &object::Section| it.kind() == object::SectionKind::Text;
        // A part of the file is one section's; else some hundred bytes could have any number of copies.
        let mut left = bytes.len();
        let mut code = Vec::new();
        for it in file.sections().filter(is_code) {
            let octets = it.data().map_err(|e| e.to_string())?;
            left = left.checked_sub(octets.len()).ok_or("its sections overlap")?;
            code.push((it.address(), octets.to_vec()));
        }
        let processor = file.architecture();
        let functions = file.symbols().filter(|it| it.kind() == object::SymbolKind::Text);
        let mut symbols: Vec<(u64, u64, String)> = functions
            .filter_map(|it| Some((it.address(), it.size(), it.name().ok()?.to_owned())))
            .collect();
        symbols.sort();
        Ok(Self { lines, code, processor, symbols })
    }

    /// Returns what stands at the addresses of a line, one entry for each function, those that were inlined
    /// first: `0x42001234: send (src/radio.rs:12)`.
    #[must_use]
    pub fn decode(&self, line: &str) -> Vec<String> {
        let of = |address: u32| {
            let places = self.functions(address).into_iter();
            places.filter_map(words).map(move |it| format!("{address:#x}: {it}"))
        };
        addresses(line).into_iter().take(MOST).flat_map(of).collect()
    }

    /// Returns the octets of code from an address on.
    fn octets(&self, address: u64) -> Option<&[u8]> {
        let of = |(start, octets): &'_ (u64, Vec<u8>)| -> Option<usize> {
            let at = usize::try_from(address.checked_sub(*start)?).ok()?;
            (at < octets.len()).then_some(at)
        };
        self.code.iter().find_map(|it| of(it).map(|at| &it.1[at..]))
    }

    /// Returns the name of the function that an address is in, by the table of symbols.
    fn symbol(&self, address: u64) -> Option<String> {
        let end = self.symbols.partition_point(|it| it.0 <= address);
        let (start, size, name) = self.symbols.get(end.checked_sub(1)?)?;
        (address - start < (*size).max(1))
            .then(|| addr2line::demangle_auto(name.into(), None).into_owned())
    }
}

impl ProgramCode for ProgramAddresses {
    fn functions(&self, address: u32) -> Vec<CodePlace> {
        let address = u64::from(address);
        if self.octets(address).is_none() {
            return Vec::new();
        }
        let mut told = Vec::new();
        if let Ok(mut frames) = self.lines.find_frames(address).skip_all_loads() {
            while let Ok(Some(frame)) = frames.next() {
                let name = frame.function.as_ref().and_then(|it| it.demangle().ok());
                let function = name.map(std::borrow::Cow::into_owned);
                let function = function.or_else(|| self.symbol(address));
                let place = frame.location.as_ref();
                let file = place.and_then(|it| it.file).map(str::to_owned);
                let line = place.and_then(|it| it.line).filter(|_| file.is_some());
                if function.is_some() || file.is_some() {
                    told.push(CodePlace { function, file, line });
                }
            }
        }
        if told.is_empty() {
            let of = |it| CodePlace { function: Some(it), ..CodePlace::default() };
            told.extend(self.symbol(address).map(of));
        }
        told
    }

    fn is_behind_call(&self, address: u32) -> bool {
        let address = u64::from(address);
        let before = |count: u64| self.octets(address.checked_sub(count)?);
        if self.octets(address).is_none() {
            return false;
        }
        // CALL0 to CALL12 and CALLX0 to CALLX12 have three octets (Xtensa ISA, 6).
        let is_of_xtensa = |it: &[u8; 3]| {
            it[0] & 0x0f == 0x05 || (it[0] & 0xcf == 0xc0 && it[1] & 0xf0 == 0 && it[2] == 0)
        };
        if self.processor == Architecture::Xtensa {
            return before(3).and_then(|it| it.first_chunk()).is_some_and(is_of_xtensa);
        }
        // Calls that keep where they return to in `ra` (RISC-V ISA, 2.5 and 26.5): jal and jalr, c.jal and c.jalr.
        let is_long = |it: &[u8; 4]| {
            let word = u32::from_le_bytes(*it);
            matches!(word & 0x7f, 0x6f | 0x67) && word >> 7 & 31 == 1
        };
        let is_short = |it: &[u8; 2]| {
            let half = u16::from_le_bytes(*it);
            half & 0xe003 == 0x2001 || (half & 0xf07f == 0x9002 && half & 0xf80 != 0)
        };
        before(4).and_then(|it| it.first_chunk()).is_some_and(is_long)
            || before(2).and_then(|it| it.first_chunk()).is_some_and(is_short)
    }
}

fn words(place: CodePlace) -> Option<String> {
    let CodePlace { function, file, line } = place;
    let place = file.map(|file| line.map_or_else(|| file.clone(), |it| format!("{file}:{it}")));
    match (function, place) {
        (Some(name), Some(place)) => Some(format!("{name} ({place})")),
        (Some(one), None) | (None, Some(one)) => Some(one),
        (None, None) => None,
    }
}

/// Returns the hexadecimal numbers of up to 32 bits in a text, without repetitions: `0x42001234`, and those
/// of a backtrace, `0x42001234:0x3fc9`.
fn addresses(text: &str) -> Vec<u32> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("0x") {
        let digits = &text[at + 2..];
        let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
        if let Ok(address) = u32::from_str_radix(&digits[..end], 16)
            && !found.contains(&address)
        {
            found.push(address);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_stand_in_panics_and_backtraces() {
        let line = "Backtrace: 0x42001234:0x3fc9abcd 0x4200ffff 0x42001234";
        assert_eq!(addresses(line), [0x4200_1234, 0x3FC9_ABCD, 0x4200_FFFF]);
        assert_eq!(
            addresses("MEPC    : 0x40380012  RA      : 0x4038001a"),
            [0x4038_0012, 0x4038_001A]
        );
        assert!(addresses("0x 0xg 0x123456789 x0x").is_empty(), "no address of 32 bits");
    }

    proptest::proptest! {
        #[test]
        fn any_line_is_read(line in "(0x[0-9a-f]{0,9}|[ :x]|\\PC){0,20}") {
            proptest::prop_assert!(addresses(&line).len() <= line.len());
        }

        #[test]
        fn any_file_is_read_or_refused(rest in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..400)) {
            let bytes = [&b"\x7FELF\x01\x01\x01"[..], &rest].concat();
            if let Ok(program) = ProgramAddresses::read(&bytes) {
                let _ = program.decode("0x42001234 0x0 0xffffffff");
            }
        }
    }

    /// Returns a program without symbols and lines whose code stands at 0x1000.
    fn program(processor: Architecture, code: &[u8]) -> ProgramAddresses {
        let none =
            |_| Ok::<_, gimli::Error>(EndianRcSlice::new(Rc::from([]), RunTimeEndian::Little));
        let lines = Context::from_dwarf(gimli::Dwarf::load(none).unwrap()).unwrap();
        ProgramAddresses { lines, code: vec![(0x1000, code.to_vec())], processor, symbols: vec![] }
    }

    #[test]
    fn a_word_of_a_stack_is_told_where_a_call_stands_before_it() {
        // entry a1, 32; call8; callx8 a10; call0; callx0 a0; l32i; add: as gas writes them.
        let xtensa = [
            [0x36, 0x41, 0x00],
            [0x65, 0x12, 0x00],
            [0xe0, 0x0a, 0x00],
            [0xc5, 0xff, 0xff],
            [0xc0, 0x00, 0x00],
            [0x28, 0x01, 0x00],
            [0xc0, 0x0a, 0x80],
        ];
        let code = program(Architecture::Xtensa, xtensa.as_flattened());
        let behind = |at: u32| code.is_behind_call(0x1000 + 3 * at);
        let called: Vec<u32> = (0..7).filter(|it| behind(*it)).collect();
        assert_eq!(called, [2, 3, 4, 5]);
        assert!(!code.is_behind_call(0x2000), "no code there");
        // jal ra; nop; c.jalr a0; c.nop.
        let risc_v = [0xef, 0x00, 0x40, 0x00, 0x13, 0, 0, 0, 0x02, 0x95, 0x01, 0x00];
        let code = program(Architecture::Riscv32, &risc_v);
        let called = (0..12).step_by(2).filter(|it| code.is_behind_call(0x1000 + it));
        assert_eq!(called.collect::<Vec<u32>>(), [4, 10]);
    }

    /// Returns an ELF of Xtensa whose sections have these names, flags and octets; where they overlap, all have those of the first.
    fn elf(sections: &[(&str, u32, &[u8])], overlap: bool) -> Vec<u8> {
        let words = |it: &[u32]| it.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<u8>>();
        let (mut names, mut heads, mut parts) = (vec![0_u8], vec![0; 40], Vec::new());
        for (name, flags, octets) in sections {
            let at = if overlap { 52 } else { 52 + parts.len() as u32 };
            let name_at = names.len() as u32;
            heads.extend(words(&[name_at, 1, *flags, 0x1000, at, octets.len() as u32, 0, 0, 1, 0]));
            names.extend(name.bytes().chain([0]));
            if !overlap || parts.is_empty() {
                parts.extend(*octets);
            }
        }
        let name_at = 52 + parts.len() as u32;
        heads.extend(words(&[0, 3, 0, 0, name_at, names.len() as u32, 0, 0, 1, 0]));
        parts.extend(names);
        let mut out = b"\x7FELF\x01\x01\x01".to_vec();
        out.resize(16, 0);
        out.extend([2, 0, 0x5e, 0]);
        out.extend(words(&[1, 0x1000, 0, 52 + parts.len() as u32, 0]));
        let count = sections.len() as u16 + 2;
        for half in [52_u16, 32, 0, 40, count, count - 1] {
            out.extend(half.to_le_bytes());
        }
        [out, parts, heads].concat()
    }

    #[test]
    fn sections_that_are_compressed_or_overlap_are_refused() {
        let said = |bytes: &[u8]| ProgramAddresses::read(bytes).err().unwrap_or_default();
        let code = [0x36_u8; 3000];
        let text = (".text", 6, &code[..]);
        assert_eq!(said(&elf(&[text], false)), "");
        // SHF_COMPRESSED: a head that names zlib, the length and the alignment.
        let packed = [&[1, 0, 0, 0, 99, 0, 0, 0, 1, 0, 0, 0][..], b"x"].concat();
        let packed = said(&elf(&[text, (".debug_line", 0x800, &packed)], false));
        assert!(packed.contains(".debug_line is compressed: unpack"), "{packed}");
        assert_eq!(said(&elf(&[text; 9], false)), "");
        assert_eq!(said(&elf(&[text; 9], true)), "its sections overlap");
    }

    #[test]
    fn functions_of_this_test_are_found_with_their_lines() {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let program = ProgramAddresses::read(&bytes).unwrap();
        let wanted = |it: &&(u64, u64, String)| it.2.contains("functions_of_this_test_are_found");
        let (address, ..) = program.symbols.iter().find(wanted).expect("this function");
        let told = program.functions(u32::try_from(*address).unwrap());
        let is_this = |it: &CodePlace| {
            let is = |text: &Option<String>, part: &str| {
                text.as_ref().is_some_and(|it| it.contains(part))
            };
            is(&it.function, "functions_of_this_test_are_found") && is(&it.file, "addresses.rs")
        };
        assert!(told.iter().any(is_this), "{told:?}");
        assert_eq!(program.decode("0x1"), Vec::<String>::new(), "no code there");
        assert!(ProgramAddresses::read(b"no ELF").is_err());
    }
}
