//! Addresses in a console's output as functions and lines of an ELF.

use addr2line::Context;
use addr2line::gimli::{self, EndianRcSlice, RunTimeEndian};
use espbench_doctor::crash::report::{CodePlace, ProgramCode};
use object::{Architecture, Object as _, ObjectSection as _, ObjectSymbol as _};
use std::rc::Rc;

/// Most addresses that are looked up in a line.
const MOST: usize = 64;

/// Program whose addresses are told.
pub struct ProgramAddresses {
    lines: Context<EndianRcSlice<RunTimeEndian>>,
    /// Sections of instructions, by their addresses.
    code: Vec<(u64, Vec<u8>)>,
    /// Whether calls are those of RISC-V.
    is_risc_v: bool,
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
    /// It is none, or its debug sections are broken.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let file = object::File::parse(bytes).map_err(|e| e.to_string())?;
        let section = |id: gimli::SectionId| -> Result<_, gimli::Error> {
            let data = file.section_by_name(id.name()).and_then(|it| it.uncompressed_data().ok());
            let data: Rc<[u8]> = data.unwrap_or_default().into_owned().into();
            Ok(EndianRcSlice::new(data, RunTimeEndian::Little))
        };
        let dwarf = gimli::Dwarf::load(section).map_err(|e| e.to_string())?;
        let lines = Context::from_dwarf(dwarf).map_err(|e| e.to_string())?;
        let is_code = |it: &object::Section| it.kind() == object::SectionKind::Text;
        let section = |it: object::Section| Some((it.address(), it.data().ok()?.to_vec()));
        let code = file.sections().filter(is_code).filter_map(section);
        let is_risc_v = file.architecture() == Architecture::Riscv32;
        let functions = file.symbols().filter(|it| it.kind() == object::SymbolKind::Text);
        let mut symbols: Vec<(u64, u64, String)> = functions
            .filter_map(|it| Some((it.address(), it.size(), it.name().ok()?.to_owned())))
            .collect();
        symbols.sort();
        Ok(Self { lines, code: code.collect(), is_risc_v, symbols })
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
                let file = place.map(|it| it.file.unwrap_or("?").to_owned());
                let line = place.and_then(|it| it.line);
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
        if !self.is_risc_v {
            return true;
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
