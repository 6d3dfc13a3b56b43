//! ESP-IDF's core dumps: an ELF of the tasks' registers and stacks, bare or behind a head, as a console or the flash has it.
//!
//! Layouts are those of `components/espcoredump` (`core_dump_elf.c`, `port/*/core_dump_port.c`), versions 1.0 to 1.4. Dumps
//! in the binary form of versions 0.1 to 0.3 are told as what they are.

use super::CodeAddress;
use super::trace::base64;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt;
use serde::Serialize;

/// Octets of a dump, at most: one with all of a chip's memory has some 8 MB.
pub const MOST_BYTES: usize = 16 << 20;

/// Tasks and segments of a dump, at most.
const MOST: usize = 512;

/// Notes of a dump, at most: each task has one.
const NOTES: usize = 4 * MOST;

/// Frames of a stack, at most.
const FRAMES: usize = 64;

/// Words of a stack that are kept.
const WORDS: usize = 1024;

/// Octets of a reason that are kept.
const REASON: usize = 512;

/// Octets of a program header of an ELF of 32 bits.
const PROGRAM_HEAD: usize = 32;

/// Types of notes.
const STATUS: u32 = 1;
const EXTRA: u32 = 677;
const DETAILS: u32 = 679;
const INFO: u32 = 8266;

/// Place of the registers in a note of a task's status, and of the address of the task.
const REGISTERS: usize = 72;
const TASK: usize = 24;

/// Place of the name in a task's control block, behind the top of the stack, two items of lists, the priority and the stack
/// (FreeRTOS, `tskTaskControlBlock`), and its length.
const NAME: usize = 52;
const NAME_BYTES: usize = 16;

/// Value of an exception's cause where there is none.
const NO_CAUSE: u32 = 0xffff;

/// First pseudo cause of the panic handler of Xtensa.
const PSEUDO: u32 = 64;

/// Core dump.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoreDump {
    /// Begin of the SHA-256 of the program's ELF, in hexadecimal digits.
    pub build: Option<String>,
    /// Words of the panic handler: an assertion, `abort()`, a watchdog.
    pub reason: Option<String>,
    /// Exception of the processor, in words, and the address that it is about.
    pub exception: Option<(String, u32)>,
    /// Tasks, the one that crashed first.
    pub tasks: Vec<CoreTask>,
}

/// Task of a core dump.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoreTask {
    /// Address of its control block.
    pub tcb: u32,
    /// Name; empty where the dump does not have it.
    pub name: String,
    /// Registers, of the task that crashed alone, as all below.
    pub registers: Vec<CoreRegister>,
    /// Addresses of code, the innermost first.
    pub frames: Vec<CodeAddress>,
    /// Words of its stack, from its top, of a RISC-V, whose frames are not linked.
    pub stack: Vec<u32>,
}

/// Register of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CoreRegister {
    /// Name.
    pub name: &'static str,
    /// Value.
    pub value: u32,
}

/// Reason for which octets are no core dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoreDumpFault {
    /// No head of a dump and no ELF.
    NoDump,
    /// Form of before ESP-IDF's ELF: its configuration chooses.
    Binary,
    /// ELF of a program, or of another processor.
    OtherElf,
    /// Octets are missing.
    Short {
        /// Octets that the head tells.
        wanted: usize,
        /// Octets that are there.
        found: usize,
    },
    /// Headers or notes point beyond the dump.
    Broken,
    /// No task is in it.
    NoTask,
    /// Longer than any.
    Long,
    /// A line is no base64.
    Base64 {
        /// Number of the line, from 1.
        line: u64,
    },
    /// The console's text has no end of it.
    NoEnd,
}

impl fmt::Display for CoreDumpFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDump => f.write_str("it has neither the head of a core dump nor an ELF"),
            Self::Binary => f.write_str(
                "it has the binary form: set CONFIG_ESP_COREDUMP_DATA_FORMAT_ELF, or read it with esp-coredump",
            ),
            Self::OtherElf => f.write_str("it is an ELF, and no core dump of an Xtensa or a RISC-V"),
            Self::Short { wanted, found } => {
                write!(f, "it has {found} of {wanted} bytes: lines are missing")
            }
            Self::Broken => f.write_str("its headers point beyond its end"),
            Self::NoTask => f.write_str("it has no task"),
            Self::Long => write!(f, "it is longer than {} MB", MOST_BYTES >> 20),
            Self::Base64 { line } => write!(f, "line {line} is no base64: lines are mixed"),
            Self::NoEnd => f.write_str("it is cut off: the line CORE DUMP END is missing"),
        }
    }
}

/// Octets, read with their bounds.
#[derive(Clone, Copy)]
struct Octets<'a>(&'a [u8]);

impl<'a> Octets<'a> {
    fn word(self, at: usize) -> Option<u32> {
        self.0.get(at..)?.first_chunk().map(|it| u32::from_le_bytes(*it))
    }

    fn half(self, at: usize) -> Option<u16> {
        self.0.get(at..)?.first_chunk().map(|it| u16::from_le_bytes(*it))
    }

    fn part(self, at: u32, length: u32) -> Option<Self> {
        let (at, length) = (usize::try_from(at).ok()?, usize::try_from(length).ok()?);
        self.0.get(at..at.checked_add(length)?).map(Self)
    }

    /// Returns a text up to its zero, with what is none of ASCII left out. It may have several lines.
    fn text(self) -> String {
        let text = self.0.iter().take_while(|it| **it != 0).take(REASON);
        text.map(|it| char::from(*it)).filter(|it| matches!(it, ' '..='~' | '\n')).collect()
    }

    fn words(self) -> impl Iterator<Item = u32> + use<'a> {
        self.0.as_chunks().0.iter().map(|it| u32::from_le_bytes(*it))
    }
}

/// Note of a dump.
struct CoreNote<'a> {
    kind: u32,
    value: Octets<'a>,
}

/// Notes of a segment that are still to come.
struct CoreNotes<'a>(Octets<'a>);

impl<'a> Iterator for CoreNotes<'a> {
    type Item = Result<CoreNote<'a>, CoreDumpFault>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = core::mem::replace(&mut self.0, Octets(&[]));
        let (name, length, kind) = (rest.word(0)?, rest.word(4)?, rest.word(8)?);
        let padded = |it: u32| it.checked_next_multiple_of(4);
        let at = padded(name).and_then(|it| it.checked_add(12));
        let value = at.and_then(|at| rest.part(at, length));
        let (Some(at), Some(value)) = (at, value) else { return Some(Err(CoreDumpFault::Broken)) };
        let end = padded(length).and_then(|it| usize::try_from(at.checked_add(it)?).ok());
        // The last note may lack its padding.
        self.0 = Octets(end.and_then(|it| rest.0.get(it..)).unwrap_or_default());
        Some(Ok(CoreNote { kind, value }))
    }
}

/// Part of the memory.
#[derive(Clone, Copy)]
struct Segment<'a> {
    address: u32,
    octets: Octets<'a>,
}

/// Memory of a dump.
struct Memory<'a>(Vec<Segment<'a>>);

impl<'a> Memory<'a> {
    fn from(&self, address: u32) -> Option<Octets<'a>> {
        let of = |it: &Segment<'a>| {
            let at = usize::try_from(address.checked_sub(it.address)?).ok()?;
            it.octets.0.get(at..).filter(|it| !it.is_empty()).map(Octets)
        };
        self.0.iter().find_map(of)
    }

    fn word(&self, address: u32) -> Option<u32> {
        self.from(address)?.word(0)
    }
}

/// Processor of a dump.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CoreProcessor {
    Xtensa,
    RiscV,
}

/// Names of RISC-V's registers, in their order.
const RISC_V: [&str; 32] = [
    "pc", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5",
    "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5",
    "t6",
];

/// Names of Xtensa's registers, with their places.
const XTENSA: [(&str, usize); 22] = [
    ("pc", 0),
    ("ps", 1),
    ("lbeg", 2),
    ("lend", 3),
    ("lcount", 4),
    ("sar", 5),
    ("a0", 64),
    ("a1", 65),
    ("a2", 66),
    ("a3", 67),
    ("a4", 68),
    ("a5", 69),
    ("a6", 70),
    ("a7", 71),
    ("a8", 72),
    ("a9", 73),
    ("a10", 74),
    ("a11", 75),
    ("a12", 76),
    ("a13", 77),
    ("a14", 78),
    ("a15", 79),
];

/// Returns Xtensa's cause of an exception, or the panic handler's own, in words.
const fn cause(code: u32) -> Option<&'static str> {
    Some(match code {
        0 => "an illegal instruction",
        2 | 12 | 14 => "an instruction that cannot be fetched",
        3 | 13 | 15 => "a load or store that fails",
        6 => "a division by zero",
        9 => "a load or store at an address that is not aligned",
        20 => "a jump to where no code is",
        28 => "a load from where nothing may be read",
        29 => "a store to where nothing may be written",
        65 => "an unhandled debug exception",
        66 => "a double exception",
        67 => "an unhandled kernel exception",
        68 => "a coprocessor exception",
        69 => "the interrupt watchdog of core 0",
        70 => "the interrupt watchdog of core 1",
        71 => "code or data of the flash while its cache is disabled",
        _ => return None,
    })
}

/// Returns the place of an ELF in a dump with or without its head.
fn elf_of(bytes: &[u8]) -> Result<&[u8], CoreDumpFault> {
    if bytes.starts_with(b"\x7fELF") {
        return Ok(bytes);
    }
    let octets = Octets(bytes);
    let version = octets.word(4).ok_or(CoreDumpFault::NoDump)? & 0xffff;
    let (head, sum) = match version {
        0x0001..=0x0003 => return Err(CoreDumpFault::Binary),
        0x0100 => (20, 4),
        0x0101 => (20, 32),
        0x0102 => (24, 4),
        0x0103 => (24, 32),
        0x0104 => (12, 32),
        _ => return Err(CoreDumpFault::NoDump),
    };
    let elf = bytes.get(head..).filter(|it| it.starts_with(b"\x7fELF"));
    let elf = elf.ok_or(CoreDumpFault::NoDump)?;
    let wanted = octets.word(0).and_then(|it| usize::try_from(it).ok()).unwrap_or(usize::MAX);
    if wanted > bytes.len() {
        return Err(CoreDumpFault::Short { wanted, found: bytes.len() });
    }
    let end = wanted.saturating_sub(head + sum);
    Ok(&elf[..end.min(elf.len())])
}

impl CoreDump {
    /// Returns whether a file begins as a core dump: with a head and an ELF behind it, or as an ELF of a core.
    #[must_use]
    pub fn knows(head: &[u8]) -> bool {
        let is_elf = |at: usize| head.get(at..).is_some_and(|it| it.starts_with(b"\x7fELF"));
        let version = || Octets(head).word(4).map(|it| it & 0xffff);
        match () {
            () if is_elf(0) => Octets(head).half(16) == Some(4),
            () if is_elf(12) => version() == Some(0x0104),
            () if is_elf(20) => matches!(version(), Some(0x0100 | 0x0101)),
            () => is_elf(24) && matches!(version(), Some(0x0102 | 0x0103)),
        }
    }

    /// Returns whether a text begins as a core dump in base64, a line after another.
    pub(crate) fn knows_base64(head: &[u8]) -> bool {
        let mut lines = head.split(|it| *it == b'\n').map(<[u8]>::trim_ascii);
        let mut next = || lines.next().filter(|it| it.len() <= 128).and_then(decoded);
        let first = next();
        let begin = first.map(|first| [first, next().unwrap_or_default()].concat());
        begin.is_some_and(|it| Self::knows(&it))
    }

    /// Reads a core dump in base64, a line after another.
    ///
    /// # Errors
    /// As [`Self::read`], or a line is no base64.
    pub(crate) fn of_base64(text: &[u8]) -> Result<Self, CoreDumpFault> {
        let mut bytes = Vec::new();
        for (line, number) in text.split(|it| *it == b'\n').zip(1..) {
            let line = decoded(line.trim_ascii());
            bytes.extend(line.ok_or(CoreDumpFault::Base64 { line: number })?);
        }
        Self::read(&bytes)
    }

    /// Reads a core dump.
    ///
    /// # Errors
    /// It is none, or octets are missing.
    pub fn read(bytes: &[u8]) -> Result<Self, CoreDumpFault> {
        if bytes.len() > MOST_BYTES {
            return Err(CoreDumpFault::Long);
        }
        let elf = Octets(elf_of(bytes)?);
        let broken = CoreDumpFault::Broken;
        let is_core = elf.half(16) == Some(4) && elf.0.get(4..6) == Some(&[1, 1]);
        let processor = match elf.half(18) {
            Some(0x5e) if is_core => CoreProcessor::Xtensa,
            Some(0xf3) if is_core => CoreProcessor::RiscV,
            _ => return Err(CoreDumpFault::OtherElf),
        };
        let heads = elf.word(28).ok_or(broken)?;
        let count = usize::from(elf.half(44).ok_or(broken)?).min(MOST);
        let (mut notes, mut memory) = (Vec::new(), Memory(Vec::new()));
        for at in 0..count {
            let at = u32::try_from(at * PROGRAM_HEAD).ok().and_then(|it| heads.checked_add(it));
            let head = at.and_then(|it| elf.part(it, PROGRAM_HEAD as u32)).ok_or(broken)?;
            let word = |at: usize| head.word(at).unwrap_or_default();
            let octets = elf.part(word(4), word(16)).ok_or(broken)?;
            match word(0) {
                1 => memory.0.push(Segment { address: word(8), octets }),
                4 => notes.push(octets),
                _ => {}
            }
        }
        let mut dump = Self::default();
        let mut crashed = None;
        for note in notes.into_iter().flat_map(CoreNotes).take(NOTES) {
            dump.take(note?, processor, &memory, &mut crashed);
        }
        let first = dump.tasks.iter().position(|it| Some(it.tcb) == crashed);
        if let Some(first @ 1..) = first {
            dump.tasks[..=first].rotate_right(1);
        }
        for other in dump.tasks.iter_mut().skip(1) {
            let name = core::mem::take(&mut other.name);
            *other = CoreTask { tcb: other.tcb, name, ..CoreTask::default() };
        }
        if dump.tasks.is_empty() { Err(CoreDumpFault::NoTask) } else { Ok(dump) }
    }

    /// Takes a note.
    fn take(
        &mut self,
        note: CoreNote<'_>,
        processor: CoreProcessor,
        memory: &Memory<'_>,
        crashed: &mut Option<u32>,
    ) {
        let value = note.value;
        match note.kind {
            STATUS if self.tasks.len() < MOST => {
                self.tasks.extend(CoreTask::of(value, processor, memory));
            }
            EXTRA => {
                *crashed = value.word(0);
                if processor == CoreProcessor::Xtensa {
                    self.exception = exception(value);
                }
            }
            DETAILS => self.reason = Some(value.text()).filter(|it| !it.trim().is_empty()),
            INFO => {
                let digits = Octets(value.0.get(4..).unwrap_or_default()).text();
                let is_mark = digits.len() >= 8 && digits.bytes().all(|it| it.is_ascii_hexdigit());
                self.build = is_mark.then(|| digits.to_ascii_lowercase());
            }
            _ => {}
        }
    }

    /// Returns why the task crashed, in one line; none where the dump does not say it.
    #[must_use]
    pub fn why(&self) -> Option<String> {
        let of_processor = |it: &(String, u32)| alloc::format!("{} (address {:#010x})", it.0, it.1);
        let reason = self.reason.as_deref().map(one_line);
        reason.or_else(|| self.exception.as_ref().map(of_processor))
    }
}

/// Returns a text in one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Decodes a line of base64.
fn decoded(line: &[u8]) -> Option<Vec<u8>> {
    core::str::from_utf8(line).ok().and_then(base64)
}

/// Reads the exception of an Xtensa.
fn exception(extra: Octets<'_>) -> Option<(String, u32)> {
    let (code, address) = (extra.word(8)?, extra.word(16)?);
    if code == NO_CAUSE {
        return None;
    }
    let words = cause(code).map(String::from);
    let number = || match code.checked_sub(PSEUDO) {
        Some(pseudo) => alloc::format!("panic {pseudo}"),
        None => alloc::format!("exception {code}"),
    };
    Some((words.unwrap_or_else(number), address))
}

impl CoreTask {
    fn of(status: Octets<'_>, processor: CoreProcessor, memory: &Memory<'_>) -> Option<Self> {
        let tcb = status.word(TASK)?;
        let register = |at: usize| status.word(REGISTERS + 4 * at);
        let name = memory.from(tcb).and_then(|it| it.part(NAME as u32, NAME_BYTES as u32));
        let name = name.map(|it| one_line(&it.text())).unwrap_or_default();
        let named: Vec<(&'static str, usize)> = match processor {
            CoreProcessor::Xtensa => XTENSA.to_vec(),
            CoreProcessor::RiscV => RISC_V.into_iter().zip(0..).collect(),
        };
        let registers =
            named.into_iter().map(|(name, at)| Some(CoreRegister { name, value: register(at)? }));
        let registers: Vec<CoreRegister> = registers.collect::<Option<_>>()?;
        let (frames, stack) = match processor {
            CoreProcessor::Xtensa => {
                (windows(register(0)?, register(64)?, register(65)?, memory), Vec::new())
            }
            CoreProcessor::RiscV => {
                let [pc, ra, sp] = [register(0)?, register(1)?, register(2)?];
                let words = memory.from(sp).into_iter().flat_map(Octets::words);
                let frames = [CodeAddress::running(pc), CodeAddress::returning(ra)];
                (frames.to_vec(), words.take(WORDS).collect())
            }
        };
        Some(Self { tcb, name, registers, frames, stack })
    }

    /// Returns the task by its name, or by the address of its control block.
    #[must_use]
    pub fn title(&self) -> String {
        match &*self.name {
            "" => alloc::format!("{:#010x}", self.tcb),
            name => name.to_string(),
        }
    }
}

/// Follows the windows of Xtensa's registers: a caller's first four are saved below the stack pointer of the function that
/// it called (Xtensa ISA, 4.7.1.4).
fn windows(pc: u32, a0: u32, a1: u32, memory: &Memory<'_>) -> Vec<CodeAddress> {
    let mut frames = alloc::vec![CodeAddress::running(pc)];
    let (mut next, mut stack) = (a0, a1);
    while next != 0 && frames.len() < FRAMES {
        // The top bits have how far the window was turned.
        frames.push(CodeAddress::returning(next & 0x3fff_ffff | pc & 0xc000_0000));
        let saved = |below: u32| memory.word(stack.checked_sub(below)?);
        let (Some(before), Some(above)) = (saved(16), saved(12)) else { break };
        if above <= stack {
            break;
        }
        (next, stack) = (before, above);
    }
    frames
}
