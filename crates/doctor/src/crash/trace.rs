//! A console log as it streams by: backtraces, registers, stacks, core dumps in base64, and the build that runs.

use super::CodeAddress;
use super::core_dump::{CoreDump, CoreDumpFault, MOST_BYTES};
use crate::log::{plain, records};
use crate::matcher::keys::KeySearch;
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

/// Crashes of a log that are kept.
const TRACES: usize = 16;

/// Frames of a backtrace that are kept: ESP-IDF prints at most 100.
const FRAMES: usize = 100;

/// Words of a stack that are kept: ESP-IDF prints 256.
const WORDS: usize = 1024;

/// Longest line that is read; what is beyond is cut.
const LONGEST: usize = 4096;

/// Lines from the PC of an `abort()` to the registers of its crash.
const NEAR: u64 = 20;

/// Texts of which a line has one that begins something.
const KEYS: [&str; 8] = [
    "Backtrace:",
    "MEPC ",
    "Stack memory:",
    ">>>stack>>>",
    "abort() was called at PC ",
    "ELF file SHA256:",
    "CORE DUMP START",
    "epc1=0x",
];

/// Crash by the addresses that a console printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CrashTrace {
    /// Number of the line that has them, from 1.
    pub line: u64,
    /// Addresses of code, the innermost first.
    pub frames: Vec<CodeAddress>,
    /// Words of the stack, from its top, where the console prints it and no backtrace.
    pub stack: Vec<u32>,
    /// Build that crashed, where the log tells it.
    pub build: Option<BuildMark>,
}

/// Build of a program, as its console names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildMark {
    /// Number of the line, from 1.
    pub line: u64,
    /// Begin of the SHA-256 of its ELF, in hexadecimal digits.
    pub sha256: String,
}

/// Core dump of a console.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintedDump {
    /// Number of the line where it begins, from 1.
    pub line: u64,
    /// The dump, or why it is none.
    pub dump: Result<CoreDump, CoreDumpFault>,
}

/// Crashes of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CrashTraces {
    /// The first crashes.
    pub traces: Vec<CrashTrace>,
    /// Crashes beyond them.
    pub more: u64,
    /// The first core dumps.
    pub dumps: Vec<PrintedDump>,
}

impl CrashTraces {
    /// Returns whether a log has no crash by its addresses.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.traces.is_empty() && self.dumps.is_empty()
    }
}

/// Block of lines that is read.
#[derive(Debug, Default)]
enum OpenBlock {
    #[default]
    None,
    /// Words of a stack.
    Stack,
    /// Core dump that began in that line, and its octets.
    Dump(u64, Vec<u8>, Option<CoreDumpFault>),
}

/// Reader of the crashes of a log, in pieces, in constant memory.
///
/// ```
/// let mut reader = espbench_doctor::crash::trace::CrashReader::new();
/// reader.push(b"Backtrace: 0x400d1234:0x3ffb");
/// reader.push(b"1f50 0x400d5678:0x3ffb1f70\n");
/// let crash = &reader.finish().traces[0];
/// assert_eq!((crash.line, crash.frames[1].address), (1, 0x400d_5678));
/// ```
#[derive(Debug)]
pub struct CrashReader {
    keys: KeySearch,
    line: Vec<u8>,
    number: u64,
    block: OpenBlock,
    /// PC of the last `abort()`, and its line.
    aborted: Option<(u64, u32)>,
    /// Build that runs.
    build: Option<BuildMark>,
    found: CrashTraces,
}

impl Default for CrashReader {
    fn default() -> Self {
        Self::new()
    }
}

impl CrashReader {
    /// Creates a reader at a log's start.
    ///
    /// # Panics
    /// Never: the texts that it looks for are few.
    #[must_use]
    pub fn new() -> Self {
        Self {
            keys: KeySearch::of(KEYS).expect("a few short texts"),
            line: Vec::new(),
            number: 0,
            block: OpenBlock::None,
            aborted: None,
            build: None,
            found: CrashTraces::default(),
        }
    }

    /// Reads a piece of the log.
    pub fn push(&mut self, bytes: &[u8]) {
        // Of UTF-16 every second octet is zero, and no key is found before they are left out.
        let is_wide = bytes.contains(&0);
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.line.is_empty() && matches!(self.block, OpenBlock::None) && !is_wide {
                rest = self.without_key(rest);
            }
            let end = rest.iter().position(|it| *it == b'\n');
            let (piece, behind) = rest.split_at(end.map_or(rest.len(), |it| it + 1));
            self.push_line(piece);
            rest = behind;
        }
    }

    /// Counts the lines in front of the first that has a key, or of the last, whose end has not come; returns what is left.
    fn without_key<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let until = self.keys.first(bytes).map_or(bytes.len(), |it| it.start());
        let end = bytes[..until].iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1);
        let lines = bytes[..end].iter().filter(|it| **it == b'\n').count();
        self.number += lines as u64;
        &bytes[end..]
    }

    /// Takes a line with its end, or a part of one.
    fn push_line(&mut self, piece: &[u8]) {
        let text = piece.strip_suffix(b"\n").unwrap_or(piece);
        let ends = text.len() < piece.len();
        if ends && self.line.is_empty() {
            self.end_line(&text[..text.len().min(LONGEST)]);
            return;
        }
        let room = LONGEST - self.line.len();
        self.line.extend_from_slice(&text[..text.len().min(room)]);
        if ends {
            let line = core::mem::take(&mut self.line);
            self.end_line(&line);
            self.line = line;
            self.line.clear();
        }
    }

    /// Ends the log, and returns its crashes.
    #[must_use]
    pub fn finish(mut self) -> CrashTraces {
        let line = core::mem::take(&mut self.line);
        if !line.is_empty() {
            self.end_line(&line);
        }
        self.end_dump();
        self.found
    }

    fn end_line(&mut self, raw: &[u8]) {
        self.number += 1;
        // Of UTF-16 every second octet is zero.
        let raw: Cow<'_, [u8]> = match raw.contains(&0) {
            true => raw.iter().copied().filter(|it| *it != 0).collect::<Vec<u8>>().into(),
            false => raw.into(),
        };
        if !matches!(self.block, OpenBlock::None) {
            self.in_block(&plain(&String::from_utf8_lossy(&raw)));
        }
        if self.keys.first(&raw).is_some() {
            self.read(&plain(&String::from_utf8_lossy(&raw)));
        }
    }

    /// Reads a line of a block.
    fn in_block(&mut self, line: &str) {
        let text = line.trim();
        match &mut self.block {
            OpenBlock::None => {}
            OpenBlock::Stack => match (stack_words(text), self.found.traces.last_mut()) {
                (Some(words), Some(trace)) => {
                    let room = WORDS - trace.stack.len();
                    trace.stack.extend(words.into_iter().take(room));
                }
                _ => self.block = OpenBlock::None,
            },
            OpenBlock::Dump(..) if text.contains("CORE DUMP END") => {
                let OpenBlock::Dump(line, bytes, fault) = core::mem::take(&mut self.block) else {
                    return;
                };
                self.dumped(line, fault.map_or_else(|| CoreDump::read(&bytes), Err));
            }
            OpenBlock::Dump(_, bytes, fault) => {
                // A monitor may put a time before it.
                let word = text.rsplit(char::is_whitespace).next().unwrap_or_default();
                match base64(word) {
                    _ if word.is_empty() || fault.is_some() => {}
                    Some(some) if bytes.len() + some.len() <= MOST_BYTES => bytes.extend(some),
                    Some(_) => *fault = Some(CoreDumpFault::Long),
                    None => *fault = Some(CoreDumpFault::Base64 { line: self.number }),
                }
                if fault.is_some() {
                    *bytes = Vec::new();
                }
            }
        }
    }

    /// Reads a line that has one of the keys.
    fn read(&mut self, line: &str) {
        if line.contains("CORE DUMP START") {
            self.end_dump();
            self.block = OpenBlock::Dump(self.number, Vec::new(), None);
        } else if let Some(rest) = behind(line, "Backtrace:") {
            let frames = rest.split_whitespace().filter_map(frame);
            self.crashed(frames.take(FRAMES).collect());
        } else if let Some(rest) = behind(line, "MEPC ") {
            let near = |it: &(u64, u32)| self.number - it.0 <= NEAR;
            let aborted = self.aborted.take().filter(near);
            let mut frames: Vec<CodeAddress> =
                aborted.map(|it| CodeAddress::running(it.1)).into_iter().collect();
            frames.extend(number_behind(rest, ":").map(CodeAddress::running));
            let returns = behind(rest, "RA ").and_then(|it| number_behind(it, ":"));
            frames.extend(returns.map(CodeAddress::returning));
            self.crashed(frames);
        } else if let Some(rest) = behind(line, "epc1=") {
            self.crashed(hex(rest).map(CodeAddress::running).into_iter().collect());
        } else if line.contains("Stack memory:") || line.contains(">>>stack>>>") {
            let near = |it: &CrashTrace| it.stack.is_empty() && self.number - it.line <= 2 * NEAR;
            if self.found.more == 0 && self.found.traces.last().is_some_and(near) {
                self.end_dump();
                self.block = OpenBlock::Stack;
            }
        } else if let Some(rest) = behind(line, "abort() was called at PC ") {
            self.aborted = hex(rest).map(|it| (self.number, it));
        } else if let Some(rest) = behind(line, "ELF file SHA256:") {
            self.built(line, rest.trim());
        }
    }

    /// Takes in which build runs, or has crashed.
    fn built(&mut self, line: &str, sha256: &str) {
        let digits = sha256.bytes().take_while(u8::is_ascii_hexdigit).count();
        if digits < 8 {
            return;
        }
        let sha256 = sha256[..digits].to_ascii_lowercase();
        let mark = BuildMark { line: self.number, sha256 };
        // The panic handler prints it bare, behind the backtrace; start-up as a record.
        let is_record = records(line).iter().any(|it| it.level.is_some());
        match self.found.traces.last_mut() {
            Some(last) if !is_record && self.found.more == 0 => last.build = Some(mark),
            _ => self.build = Some(mark),
        }
    }

    fn crashed(&mut self, frames: Vec<CodeAddress>) {
        if frames.is_empty() {
            return;
        }
        if self.found.traces.len() >= TRACES {
            self.found.more += 1;
            return;
        }
        let build = self.build.clone();
        self.found.traces.push(CrashTrace { line: self.number, frames, build, stack: Vec::new() });
    }

    /// Takes in that a dump which is open has no end: something else begins, or the log is over.
    fn end_dump(&mut self) {
        if let OpenBlock::Dump(line, ..) = core::mem::take(&mut self.block) {
            self.dumped(line, Err(CoreDumpFault::NoEnd));
        }
    }

    fn dumped(&mut self, line: u64, dump: Result<CoreDump, CoreDumpFault>) {
        if self.found.dumps.len() < TRACES {
            self.found.dumps.push(PrintedDump { line, dump });
        }
    }
}

/// Returns what stands behind a text in a line.
fn behind<'a>(line: &'a str, text: &str) -> Option<&'a str> {
    line.split_once(text).map(|it| it.1)
}

/// Reads a number of up to 32 bits behind `0x`.
fn hex(text: &str) -> Option<u32> {
    let digits = text.trim_start().strip_prefix("0x")?;
    let end = digits.bytes().take_while(u8::is_ascii_hexdigit).count();
    u32::from_str_radix(digits.get(..end)?, 16).ok()
}

/// Reads the number behind the next of a sign.
fn number_behind(text: &str, sign: &str) -> Option<u32> {
    hex(behind(text, sign)?)
}

/// Reads a frame of a backtrace, `0x400d1234:0x3ffb1f50`. ESP-IDF has taken the length of the call from it.
fn frame(word: &str) -> Option<CodeAddress> {
    let (pc, _) = word.split_once(':').unwrap_or((word, ""));
    hex(pc).filter(|it| *it != 0).map(CodeAddress::running)
}

/// Reads a line of a stack, `3fc8ea70: 0x00000000 0x4200937a …`, of an ESP8266 without `0x`.
fn stack_words(line: &str) -> Option<Vec<u32>> {
    let (address, words) = line.split_once(':')?;
    let is_address = address.len() == 8 && address.bytes().all(|it| it.is_ascii_hexdigit());
    let word = |it: &str| u32::from_str_radix(it.strip_prefix("0x").unwrap_or(it), 16).ok();
    let words: Vec<u32> = words.split_whitespace().map_while(word).collect();
    (is_address && !words.is_empty()).then_some(words)
}

/// Decodes a line of base64 (RFC 4648, 4).
pub(crate) fn base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    if !text.len().is_multiple_of(4) || text.len() - digits.len() > 2 {
        return None;
    }
    let mut out = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    let (mut bits, mut filled) = (0_u32, 0);
    for digit in digits.bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        filled += 6;
        if filled >= 8 {
            filled -= 8;
            out.push((bits >> filled) as u8);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use proptest::prelude::*;

    fn read(log: &[u8], piece: usize) -> CrashTraces {
        let mut reader = CrashReader::new();
        log.chunks(piece).for_each(|it| reader.push(it));
        reader.finish()
    }

    fn addresses(trace: &CrashTrace) -> Vec<u32> {
        trace.frames.iter().map(|it| it.address).collect()
    }

    const XTENSA: &str = "I (31) cpu_start: ELF file SHA256:  aaaaaaaaa...\n\
        abort() was called at PC 0x400d66b9 on core 0\r\n\r\n\
        Backtrace: 0x4008110d:0x3ffb4ec0 0x40085109:0x3ffb4ee0 |<-CORRUPTED\r\n\r\n\
        ELF file SHA256: 0123456789abcdef\r\n\r\nRebooting...\n\
        I (31) app_init: ELF file SHA256:  bbbbbbbbb...\n\
        \u{1b}[0;31mBacktrace:0x400d0001:0x3ffb0000\u{1b}[0m\n";

    #[test]
    fn backtraces_have_their_addresses_and_their_build() {
        let found = read(XTENSA.as_bytes(), 7);
        assert_eq!(found.traces.len(), 2);
        assert_eq!(addresses(&found.traces[0]), [0x4008_110d, 0x4008_5109]);
        let build = found.traces[0].build.as_ref().unwrap();
        assert_eq!((build.line, &*build.sha256), (6, "0123456789abcdef"));
        assert_eq!(found.traces[1].build.as_ref().unwrap().sha256, "bbbbbbbbb");
        assert_eq!((found.traces[0].line, found.traces[1].line), (4, 10));
    }

    const RISC_V: &str = "abort() was called at PC 0x42009351 on core 0\n\
        Core  0 register dump:\n\
        MEPC    : 0x40380698  RA      : 0x4038368e  SP      : 0x3fc8ea70  GP      : 0x3fc8a600\n\
        TP      : 0x3fc87ee0  T0      : 0x37363534\n\nStack memory:\n\
        3fc8ea70: 0x00000000 0x3fc8ead4 0x3fc8ea9c 0x403887b8\n\
        3fc8ea80: 0x42009354\n\nELF file SHA256: 01234567\n3fc8ea90: 0x42009354\n";

    #[test]
    fn registers_and_stacks_of_risc_v_are_a_crash() {
        let found = read(RISC_V.as_bytes(), 1000);
        let [trace] = &*found.traces else { panic!("{found:?}") };
        assert_eq!(addresses(trace), [0x4200_9351, 0x4038_0698, 0x4038_368e]);
        assert!(trace.frames[2].is_return && trace.frames[2].within() == 0x4038_368d);
        assert_eq!(trace.stack, [0, 0x3fc8_ead4, 0x3fc8_ea9c, 0x4038_87b8, 0x4200_9354]);
        let wide: Vec<u8> = RISC_V.bytes().flat_map(|it| [it, 0]).collect();
        assert_eq!(read(&wide, 99), found);
    }

    #[test]
    fn an_esp8266_prints_an_exception_and_its_stack() {
        let log = "Exception (28):\nepc1=0x40201234 epc2=0x00000000\n>>>stack>>>\n\nctx: cont\n";
        let found = read(log.as_bytes(), 20);
        assert_eq!(addresses(&found.traces[0]), [0x4020_1234]);
        let log = log.replace("\n\nctx: cont", "\n3fffffa0:  402012ab 3ffe8400  \n<<<stack<<<");
        assert_eq!(read(log.as_bytes(), 20).traces[0].stack, [0x4020_12ab, 0x3ffe_8400]);
    }

    #[test]
    fn a_dump_that_is_cut_or_damaged_is_told() {
        let start = "================= CORE DUMP START =================\r\n";
        let end = "================= CORE DUMP END =================\r\n";
        let of = |text: String| read(text.as_bytes(), 50).dumps;
        let fault = |text: String| of(text).into_iter().next().unwrap().dump.unwrap_err();
        assert_eq!(fault(format!("{start}AAAA\n")), CoreDumpFault::NoEnd);
        assert_eq!(fault(format!("{start}AAAA\n!!\n{end}")), CoreDumpFault::Base64 { line: 3 });
        assert_eq!(of(format!("{start}{start}AAAA\n{end}")).len(), 2);
        assert!(of("AAAA\n".into()).is_empty());
        // A crash behind it prints its stack.
        let stack = "MEPC : 0x42000000 RA : 0x42000001\nStack memory:\n3fc8ea70: 0x1\n";
        assert_eq!(fault(format!("{start}AAAA\n{stack}{end}")), CoreDumpFault::NoEnd);
    }

    #[test]
    fn base64_is_decoded_a_line_at_a_time() {
        assert_eq!(base64("f0VMRg==").unwrap(), b"\x7fELF");
        assert_eq!(base64("AAEC").unwrap(), [0, 1, 2]);
        assert_eq!(base64("").unwrap(), []);
        for wrong in ["A", "AAA", "A===", "AA=A", "AA A", "ä=="] {
            assert_eq!(base64(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn logs_without_end_take_a_bounded_memory() {
        let crash = "Backtrace: 0x400d0001:0x3ffb0000\nStack memory:\n".repeat(100);
        let found = read(crash.as_bytes(), 999);
        assert_eq!((found.traces.len(), found.more), (TRACES, 100 - TRACES as u64));
        let mut reader = CrashReader::new();
        (0..1000).for_each(|_| reader.push(&[b'x'; 1000]));
        assert!(reader.line.capacity() <= 2 * LONGEST);
        let deep = format!(
            "MEPC : 0x42000000 RA : 0x42000001\nStack memory:\n{}",
            "3fc8ea70: 0x1 0x2\n".repeat(5000)
        );
        assert_eq!(read(deep.as_bytes(), 500).traces[0].stack.len(), WORDS);
    }

    proptest! {
        #[test]
        fn a_log_tells_the_same_in_any_pieces(
            parts in proptest::collection::vec(
                prop_oneof![
                    Just("Backtrace: 0x400d1234:0x3ffb1f50 "), Just("MEPC    : 0x42000000  RA      : 0x42001234 "),
                    Just("Stack memory:\n3fc8ea70: 0x1 "), Just("\nCORE DUMP START\n"), Just("f0VMRg==\n"),
                    Just("CORE DUMP END\n"), Just("ELF file SHA256: 0123456789"), Just("\r\n"), Just("epc1=0x4020"),
                ],
                0..12,
            ),
            noise in proptest::collection::vec(any::<u8>(), 0..40),
            piece in 1..40_usize,
        ) {
            let log = [parts.concat().as_bytes(), &noise[..], parts.concat().as_bytes()].concat();
            prop_assert_eq!(read(&log, piece), read(&log, 4000));
        }
    }
}
