//! Core dumps, made as ESP-IDF makes them.

use super::core_dump::{CoreDump, CoreDumpFault, MOST_BYTES};
use super::report::{CodePlace, CrashReport, NamedProgram, ProgramCode, add_traces, core_entry};
use super::trace::{CrashReader, CrashTraces, PrintedDump};
use crate::file::{DoctorFile, DoctorFileFault, DoctorFileReader};
use crate::finding::{DiagnosisVerdict, TroubleCause};
use crate::matcher::RuleBook;
use crate::report::{DiagnosisEntry, place_name};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use proptest::prelude::*;

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|it| it.to_le_bytes()).collect()
}

fn note(name: &str, kind: u32, value: &[u8]) -> Vec<u8> {
    let mut out = words(&[name.len() as u32 + 1, value.len() as u32, kind]);
    out.extend(name.bytes());
    out.resize((out.len() + 1).next_multiple_of(4), 0);
    out.extend(value);
    out.resize(out.len().next_multiple_of(4), 0);
    out
}

/// Returns the control block of a task.
fn tcb(name: &str) -> Vec<u8> {
    let mut out = [0; 52].to_vec();
    out.extend(name.bytes());
    out.resize(340, 0);
    out
}

/// Returns an ELF of a core with segments of notes (`None`) and of memory.
fn elf(machine: u16, segments: &[(Option<u32>, Vec<u8>)]) -> Vec<u8> {
    let mut out = b"\x7fELF\x01\x01\x01".to_vec();
    out.resize(16, 0);
    out.extend(4_u16.to_le_bytes());
    out.extend(machine.to_le_bytes());
    out.extend(words(&[1, 0, 52, 0, 0]));
    for half in [52, 32, segments.len() as u16, 40, 0, 0] {
        out.extend(half.to_le_bytes());
    }
    let mut at = 52 + 32 * segments.len() as u32;
    for (address, bytes) in segments {
        let (kind, address, length) =
            (if address.is_some() { 1 } else { 4 }, address.unwrap_or(0), bytes.len() as u32);
        out.extend(words(&[kind, at, address, address, length, length, 6, 0]));
        at += length;
    }
    segments.iter().for_each(|it| out.extend(&it.1));
    out
}

/// Returns a status with the task's address and its registers, some of 32 or 128.
fn status(task: u32, registers: usize, set: &[(usize, u32)]) -> Vec<u8> {
    let mut all = alloc::vec![0; 18 + registers];
    all[6] = task;
    set.iter().for_each(|(at, value)| all[18 + at] = *value);
    words(&all)
}

const MAIN: u32 = 0x3fc8_ec30;
const IDLE: u32 = 0x3fc8_f38c;

fn risc_v() -> Vec<u8> {
    let idle = note("CORE", 1, &status(IDLE, 32, &[(0, 0x4038_49a6)]));
    let main =
        note("CORE", 1, &status(MAIN, 32, &[(0, 0x4038_0698), (1, 0x4038_368e), (2, 0x3fc8_ea70)]));
    let sha: Vec<u8> = [&[0, 1, 5, 0][..], b"0123456789ABCDEF\0"].concat();
    let info = [
        note("ESP_CORE_DUMP_INFO", 8266, &sha),
        note("ESP_EXTRA_INFO", 677, &words(&[MAIN, 0])),
        note("ESP_PANIC_DETAILS", 679, b"abort() was called at PC 0x42009351 on core 0"),
    ];
    elf(
        0xf3,
        &[
            (None, [idle, main].concat()),
            (Some(MAIN), tcb("main")),
            (
                Some(0x3fc8_ea00),
                [&[0; 0x70][..], &words(&[1, 0x4038_368e, 2, 0x4200_9354, 0x4200_937a])].concat(),
            ),
            (Some(IDLE), tcb("IDLE")),
            (None, info.concat()),
        ],
    )
}

/// Returns a dump with the head of a release: words of the head, octets of the sum.
fn headed(elf: &[u8], version: u32, head: usize, sum: usize) -> Vec<u8> {
    let length = (head + elf.len() + sum) as u32;
    let mut out = words(&[length, 5 << 16 | version]);
    out.resize(head, 0);
    out.extend(elf);
    out.resize(length as usize, 0xaa);
    out
}

#[test]
fn a_dump_of_risc_v_has_its_tasks_registers_and_reason() {
    let elf = risc_v();
    let dump = CoreDump::read(&elf).unwrap();
    assert_eq!(dump.build.as_deref(), Some("0123456789abcdef"));
    assert_eq!(dump.why().unwrap(), "abort() was called at PC 0x42009351 on core 0");
    let [main, idle] = &*dump.tasks else { panic!("{dump:?}") };
    assert_eq!((&*main.name, main.tcb, &*idle.name), ("main", MAIN, "IDLE"));
    // Only the task that crashed is shown with its registers and its stack.
    assert!(idle.registers.is_empty() && idle.frames.is_empty() && idle.stack.is_empty());
    let frames: Vec<u32> = main.frames.iter().map(|it| it.address).collect();
    assert_eq!(frames, [0x4038_0698, 0x4038_368e]);
    assert_eq!(main.stack, [1, 0x4038_368e, 2, 0x4200_9354, 0x4200_937a]);
    assert_eq!((main.registers[2].name, main.registers[2].value), ("sp", 0x3fc8_ea70));
    for (version, head, sum) in
        [(0x100, 20, 4), (0x101, 20, 32), (0x102, 24, 4), (0x103, 24, 32), (0x104, 12, 32)]
    {
        let bytes = headed(&elf, version, head, sum);
        assert!(CoreDump::knows(&bytes), "{version:x}");
        assert_eq!(CoreDump::read(&bytes).unwrap(), dump, "{version:x}");
        let short = &bytes[..bytes.len() - 40];
        assert!(matches!(CoreDump::read(short), Err(CoreDumpFault::Short { .. })), "{version:x}");
    }
}

#[test]
fn the_windows_of_an_xtensa_are_followed() {
    let stack = 0x3ffb_4e00;
    // A caller's a0 and a1 stand 16 and 12 octets below the stack pointer of what it called.
    let mut memory = alloc::vec![0_u32; 64];
    (memory[12], memory[13]) = (0x800d_66bc, stack + 128);
    (memory[28], memory[29]) = (0, stack + 160);
    let registers = [(0, 0x4008_110d), (64, 0x8008_510c), (65, stack + 64)];
    let status = note("CORE", 1, &status(MAIN, 129, &registers));
    let extra = note("ESP_EXTRA_INFO", 677, &words(&[MAIN, 0, 29, 1, 0x10, 177, 0x4008_4013]));
    let segments = [(None, status), (Some(stack), words(&memory)), (None, extra)];
    let dump = CoreDump::read(&elf(0x5e, &segments)).unwrap();
    let frames: Vec<u32> = dump.tasks[0].frames.iter().map(|it| it.address).collect();
    assert_eq!(frames, [0x4008_110d, 0x4008_510c, 0x400d_66bc]);
    assert_eq!(dump.why().unwrap(), "a store to where nothing may be written (address 0x00000010)");
    assert_eq!(dump.tasks[0].title(), "0x3fc8ec30");
}

/// Code in which each address of 0x42… and 0x40380… is a function.
struct Code;

impl ProgramCode for Code {
    fn functions(&self, address: u32) -> Vec<CodePlace> {
        let function = Some(format!("f_{address:x}"));
        if address < 0x4000_0000 {
            Vec::new()
        } else {
            alloc::vec![CodePlace { function, ..CodePlace::default() }]
        }
    }

    fn is_behind_call(&self, address: u32) -> bool {
        address >= 0x4000_0000
    }
}

#[test]
fn a_report_has_functions_and_doubts_words_of_the_stack() {
    let dump = CoreDump::read(&risc_v()).unwrap();
    let report = CrashReport::of_dump(&dump, Some(7), Some(&Code));
    let words: Vec<String> = report.frames.iter().map(super::report::CrashFrame::words).collect();
    assert_eq!(
        words,
        [
            "0x40380698 f_40380698",
            "0x4038368e f_4038368d",
            "0x42009354 ? f_42009353",
            "0x4200937a ? f_42009379"
        ]
    );
    assert_eq!(
        report.title(),
        "core dump of line 7, task main: abort() was called at PC 0x42009351 on core 0"
    );
    assert_eq!(report.others, ["IDLE"]);
    let bare = CrashReport::of_dump(&dump, None, None);
    assert_eq!(
        bare.frames.iter().map(|it| it.address).collect::<Vec<_>>(),
        [0x4038_0698, 0x4038_368e]
    );
    let entry = core_entry("core.elf".into(), &dump, RuleBook::built_in());
    assert_eq!(entry.diagnosis.findings[0].cause, TroubleCause::of("panic"));
    assert!(entry.answer.starts_with("task main crashed: abort()"), "{entry:?}");
    assert_eq!(place_name(&entry.diagnosis.findings[0].evidence[0]), "core dump");
}

/// Returns the dump of a task of that name, with a reason where there is one.
fn named(name: &str, reason: Option<&str>) -> CoreDump {
    let status = note("CORE", 1, &status(MAIN, 32, &[]));
    let details = reason.map(|it| note("ESP_PANIC_DETAILS", 679, it.as_bytes()));
    let notes = [status, details.unwrap_or_default()].concat();
    CoreDump::read(&elf(0xf3, &[(None, notes), (Some(MAIN), tcb(name))])).unwrap()
}

#[test]
fn rules_read_the_reason_of_a_dump_and_nothing_that_the_doctor_says_itself() {
    let entry = |dump: &CoreDump, book| core_entry("core.elf".into(), dump, book);
    let built_in = RuleBook::built_in();
    let smashed =
        named("a", Some("Detected in task \"a\" at 0x42:\n***ERROR*** A stack overflow in task a"));
    assert_eq!(
        entry(&smashed, built_in).diagnosis.findings[0].cause,
        TroubleCause::of("stack-overflow")
    );
    let bare = named("a\nb", None);
    assert_eq!(bare.why(), None);
    let told = entry(&bare, built_in);
    assert_eq!(told.answer, "task a b crashed");
    assert_eq!(told.diagnosis.findings[0].evidence[0].text, "it does not say why");
    assert_eq!(CrashReport::of_dump(&bare, None, None).reason, None);
    // Rules of others know reasons, and would know our own words.
    let own = include_str!("../../tests/team.toml")
        .replace("[\"no answer from gateway {number}\"]", "[\"the gateway is gone\", \"say why\"]")
        .replace("component = [\"gateway\"]", "")
        .replace("level = [\"error\"]", "");
    let book = Box::leak(Box::new(RuleBook::from_files(&[("team.toml", &own)]).unwrap()));
    assert_eq!(entry(&bare, book).diagnosis.findings[0].cause, TroubleCause::of("panic"));
    let gone = named("a", Some("the gateway is gone"));
    assert_eq!(entry(&gone, book).diagnosis.findings[0].cause.name(), "gateway-silent");
}

#[test]
fn a_log_with_nothing_but_a_core_dump_tells_of_a_crash() {
    let text = base64(&headed(&risc_v(), 0x104, 12, 32));
    let log = format!(
        "================= CORE DUMP START =================\r\n{text}================= CORE DUMP END =================\r\n"
    );
    let mut reader = DoctorFileReader::default();
    reader.push(log.as_bytes());
    let Ok(DoctorFile::Log(log, traces)) = reader.finish() else { panic!("no log") };
    let diagnosis = crate::rules::diagnose(&log);
    assert_eq!(diagnosis.verdict, DiagnosisVerdict::Causes);
    assert_eq!(diagnosis.findings[0].cause, TroubleCause::of("panic"));
    assert_eq!(traces.dumps.len(), 1);
}

#[test]
fn dumps_of_a_log_are_added_to_its_diagnosis_by_the_program_of_their_build() {
    let dump = CoreDump::read(&risc_v()).unwrap();
    let printed = |line, dump| PrintedDump { line, dump };
    let traces = CrashTraces {
        dumps: [printed(3, Ok(dump.clone())), printed(90, Err(CoreDumpFault::NoEnd))].into(),
        ..CrashTraces::default()
    };
    let empty = || DiagnosisEntry {
        diagnosis: crate::rules::ranked(Vec::new(), true, Vec::new()),
        ..core_entry("boot.log".into(), &dump, RuleBook::built_in())
    };
    let mut entry = empty();
    add_traces(None, &traces, &mut entry);
    assert_eq!((entry.crashes.len(), entry.crashes[0].line), (1, Some(3)));
    let cut = "The core dump of line 90 cannot be read: it is cut off: the line CORE DUMP END is missing.";
    assert_eq!(entry.diagnosis.notes, [cut]);
    for (sha256, function) in
        [("0123456789abcdef00", Some("f_40380698")), ("0123456789abcdee00", None)]
    {
        let (name, sha256, code) = ("app.elf".into(), sha256.into(), Box::new(Code));
        let program = NamedProgram { name, sha256, code };
        let mut entry = empty();
        add_traces(Some(&program), &traces, &mut entry);
        assert_eq!(entry.crashes[0].frames[0].function.as_deref(), function);
        let contradicts = entry.diagnosis.contradictions.len();
        assert_eq!(contradicts, usize::from(function.is_none()));
    }
}

/// Returns octets as lines of base64, 48 octets each.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |some: &[u8]| {
        let [a, b, c] = [0, 1, 2].map(|at| u32::from(some.get(at).copied().unwrap_or(0)));
        let bits = a << 16 | b << 8 | c;
        let digit = |at: usize| {
            if at <= some.len() { DIGITS[(bits >> (18 - 6 * at)) as usize & 63] } else { b'=' }
        };
        [0, 1, 2, 3].map(|at| char::from(digit(at)))
    };
    let line = |it: &[u8]| it.chunks(3).flat_map(group).chain(['\r', '\n']).collect::<String>();
    bytes.chunks(48).map(line).collect()
}

#[test]
fn a_dump_is_read_from_a_console_from_base64_and_from_a_file() {
    let bytes = headed(&risc_v(), 0x104, 12, 32);
    let (head, rest) = bytes.split_at(12);
    let text = format!("{}{}", base64(head), base64(rest));
    let dump = CoreDump::read(&bytes).unwrap();
    let log = format!(
        "I (1) app: x\n================= CORE DUMP START =================\r\n{text}================= CORE DUMP END =================\r\n"
    );
    let mut reader = CrashReader::new();
    reader.push(log.as_bytes());
    let printed = reader.finish().dumps;
    assert_eq!((printed[0].line, printed[0].dump.as_ref().unwrap()), (2, &dump));
    for file in [&bytes[..], &risc_v(), text.as_bytes()] {
        let mut reader = DoctorFileReader::default();
        file.chunks(99).for_each(|it| _ = reader.push(it));
        let Ok(DoctorFile::CoreDump(found)) = reader.finish() else { panic!("no dump") };
        assert_eq!(*found, dump);
    }
    let mut reader = DoctorFileReader::default();
    reader.push(&bytes[..200]);
    let fault = reader.finish().unwrap_err();
    assert!(matches!(fault, DoctorFileFault::CoreDump(CoreDumpFault::Short { .. })), "{fault:?}");
}

#[test]
fn what_is_no_dump_is_refused() {
    let of = |bytes: &[u8]| CoreDump::read(bytes).unwrap_err();
    assert_eq!(of(b""), CoreDumpFault::NoDump);
    assert_eq!(of(&words(&[64, 3, 0, 0])), CoreDumpFault::Binary);
    assert_eq!(of(&elf(0x3e, &[])), CoreDumpFault::OtherElf);
    assert_eq!(of(&elf(0xf3, &[])), CoreDumpFault::NoTask);
    let mut far = risc_v();
    far[56..60].copy_from_slice(&0xffff_fff0_u32.to_le_bytes());
    assert_eq!(of(&far), CoreDumpFault::Broken);
    let mut long = risc_v();
    long.resize(MOST_BYTES + 1, 0);
    assert_eq!(of(&long), CoreDumpFault::Long);
}

#[test]
fn notes_of_a_hostile_dump_have_a_bound() {
    // Each segment is the same notes, of which the last is never reached.
    let notes = [note("", 0, &[]).repeat(3000), note("CORE", 1, &status(MAIN, 32, &[]))].concat();
    assert_eq!(CoreDump::read(&elf(0xf3, &[(None, notes)])).unwrap_err(), CoreDumpFault::NoTask);
}

proptest! {
    #[test]
    fn any_notes_are_tasks_with_the_one_that_crashed_first(
        names in proptest::collection::vec("[ -~\n]{0,15}", 1..8),
        crashed in 0..8_usize,
        others in proptest::collection::vec((proptest::option::of(2..700_u32), proptest::collection::vec(any::<u8>(), 0..40)), 0..4),
    ) {
        let tcb_of = |at: usize| MAIN + 0x1000 * at as u32;
        let mut notes = Vec::new();
        let mut segments = Vec::new();
        for (at, name) in names.iter().enumerate() {
            notes.extend(note("CORE", 1, &status(tcb_of(at), 32, &[(0, at as u32)])));
            segments.push((Some(tcb_of(at)), tcb(name)));
        }
        notes.extend(note("ESP_EXTRA_INFO", 677, &words(&[tcb_of(crashed), 0])));
        for (kind, value) in others.iter().filter(|it| it.0 != Some(677)) {
            notes.extend(note("any", kind.unwrap_or(679), value));
        }
        segments.insert(0, (None, notes));
        let bytes = elf(0xf3, &segments);
        let dump = CoreDump::read(&bytes).unwrap();
        let mut expected: Vec<u32> = (0..names.len()).map(tcb_of).collect();
        if crashed < names.len() {
            let first = expected.remove(crashed);
            expected.insert(0, first);
        }
        prop_assert_eq!(dump.tasks.iter().map(|it| it.tcb).collect::<Vec<_>>(), expected);
        prop_assert_eq!(dump.tasks[0].registers.len(), 32);
        prop_assert!(dump.tasks.iter().all(|it| !it.title().is_empty() && !it.title().contains('\n')));
        prop_assert!(dump.why().is_none_or(|it| !it.is_empty() && !it.contains('\n')));
        prop_assert_eq!(CoreDump::of_base64(base64(&bytes).trim_end().as_bytes()).unwrap(), dump);
    }

    #[test]
    fn a_damaged_dump_is_read_or_refused(changes in proptest::collection::vec((0..1200_usize, any::<u8>()), 0..20), cut in 0..1200_usize) {
        for elf in [risc_v(), headed(&risc_v(), 0x104, 12, 32)] {
            let mut bytes = elf;
            for (at, value) in &changes {
                if let Some(byte) = bytes.get_mut(*at) {
                    *byte = *value;
                }
            }
            bytes.truncate(cut.max(40));
            if let Ok(dump) = CoreDump::read(&bytes) {
                let report = CrashReport::of_dump(&dump, None, Some(&Code));
                prop_assert!(!dump.tasks.is_empty() && report.frames.len() <= 64);
            }
        }
    }
}
