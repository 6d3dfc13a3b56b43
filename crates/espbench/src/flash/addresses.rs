//! Addresses in a console's output as functions and lines of an ELF.

use addr2line::Context;
use addr2line::gimli::{self, EndianRcSlice, RunTimeEndian};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _};
use std::rc::Rc;

/// Most addresses that are looked up in a line.
const MOST: usize = 64;

/// Program whose addresses are told.
pub struct ProgramAddresses {
    lines: Context<EndianRcSlice<RunTimeEndian>>,
    /// Ranges that hold instructions.
    code: Vec<std::ops::Range<u64>>,
    /// Functions by their address, in order.
    symbols: Vec<(u64, u64, String)>,
}

impl std::fmt::Debug for ProgramAddresses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProgramAddresses").field("code", &self.code).finish_non_exhaustive()
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
        let code = file.sections().filter(is_code).map(|it| it.address()..it.address() + it.size());
        let functions = file.symbols().filter(|it| it.kind() == object::SymbolKind::Text);
        let mut symbols: Vec<(u64, u64, String)> = functions
            .filter_map(|it| Some((it.address(), it.size(), it.name().ok()?.to_owned())))
            .collect();
        symbols.sort();
        Ok(Self { lines, code: code.filter(|it| !it.is_empty()).collect(), symbols })
    }

    /// Returns what stands at the addresses of a line, one entry for each function, those that were inlined
    /// first: `0x42001234: send (src/radio.rs:12)`.
    #[must_use]
    pub fn decode(&self, line: &str) -> Vec<String> {
        addresses(line).into_iter().take(MOST).flat_map(|it| self.at(it)).collect()
    }

    fn at(&self, address: u64) -> Vec<String> {
        if !self.code.iter().any(|it| it.contains(&address)) {
            return Vec::new();
        }
        let mut told = Vec::new();
        if let Ok(mut frames) = self.lines.find_frames(address).skip_all_loads() {
            while let Ok(Some(frame)) = frames.next() {
                let name = frame.function.as_ref().and_then(|it| it.demangle().ok());
                let place = frame.location.as_ref().map(|it| {
                    let file = it.file.unwrap_or("?");
                    it.line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}"))
                });
                let name = name.map(std::borrow::Cow::into_owned);
                if let Some(words) = words(name.or_else(|| self.symbol(address)), place) {
                    told.push(format!("{address:#x}: {words}"));
                }
            }
        }
        if told.is_empty() {
            told.extend(self.symbol(address).map(|it| format!("{address:#x}: {it}")));
        }
        told
    }

    /// Returns the name of the function that an address is in, by the table of symbols.
    fn symbol(&self, address: u64) -> Option<String> {
        let end = self.symbols.partition_point(|it| it.0 <= address);
        let (start, size, name) = self.symbols.get(end.checked_sub(1)?)?;
        (address - start < (*size).max(1))
            .then(|| addr2line::demangle_auto(name.into(), None).into_owned())
    }
}

fn words(name: Option<String>, place: Option<String>) -> Option<String> {
    match (name, place) {
        (Some(name), Some(place)) => Some(format!("{name} ({place})")),
        (Some(one), None) | (None, Some(one)) => Some(one),
        (None, None) => None,
    }
}

/// Returns the hexadecimal numbers of up to 32 bits in a text, without repetitions: `0x42001234`, and those
/// of a backtrace, `0x42001234:0x3fc9`.
fn addresses(text: &str) -> Vec<u64> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("0x") {
        let digits = &text[at + 2..];
        let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
        if let Ok(address) = u32::from_str_radix(&digits[..end], 16)
            && !found.contains(&u64::from(address))
        {
            found.push(address.into());
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
        let told = program.at(*address).join("\n");
        assert!(
            told.contains("functions_of_this_test_are_found") && told.contains("addresses.rs:"),
            "{told}"
        );
        assert_eq!(program.decode("0x1"), Vec::<String>::new(), "no code there");
        assert!(ProgramAddresses::read(b"no ELF").is_err());
    }
}
