//! Crashes that `espbench doctor` decodes: backtraces by an ELF, and core dumps.

use crate::doctor::valid;
use crate::util::TestDir;
use sha2::{Digest as _, Sha256};

/// Functions of the program: name, address, length.
const FUNCTIONS: [(&str, u32, u32); 3] = [
    ("panic_abort", 0x400d_0000, 0x40),
    ("fail_once", 0x400d_0040, 0x20),
    ("app_main", 0x400d_0060, 0x40),
];

/// Returns the ELF of an Xtensa program with a table of symbols.
fn elf() -> Vec<u8> {
    let words = |words: &[u32]| words.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<u8>>();
    let (mut names, mut symbols) = (vec![0_u8], vec![0; 16]);
    for (name, address, length) in FUNCTIONS {
        symbols.extend(words(&[names.len() as u32, address, length]));
        // A global function of section 1.
        symbols.extend([0x12, 0, 1, 0]);
        names.extend(name.bytes().chain([0]));
    }
    let sections = b"\0.text\0.symtab\0.strtab\0".to_vec();
    let code = vec![0_u8; 0xa0];
    let parts = [&code, &symbols, &names, &sections];
    let mut at = 52;
    // Name, type, flags, address, place, length, link, information, alignment, size of an entry.
    let kinds = [
        (1, 1, 6, 0x400d_0000, 0, 0, 0),
        (7, 2, 0, 0, 3, 1, 16),
        (15, 3, 0, 0, 0, 0, 0),
        (15, 3, 0, 0, 0, 0, 0),
    ];
    let mut heads = vec![0; 40];
    for (part, (name, kind, flags, address, link, info, entry)) in parts.iter().zip(kinds) {
        heads.extend(words(&[
            name,
            kind,
            flags,
            address,
            at,
            part.len() as u32,
            link,
            info,
            4,
            entry,
        ]));
        at += part.len() as u32;
    }
    let mut out = b"\x7fELF\x01\x01\x01".to_vec();
    out.resize(16, 0);
    out.extend([2, 0, 0x5e, 0]);
    out.extend(words(&[1, 0x400d_0000, 0, at, 0]));
    for half in [52_u16, 32, 0, 40, 5, 4] {
        out.extend(half.to_le_bytes());
    }
    parts.iter().for_each(|it| out.extend(*it));
    out.extend(heads);
    out
}

fn log(sha256: &str) -> String {
    format!(
        "I (31) cpu_start: ELF file SHA256:  {sha256}...\nI (300) wifi:connected with attic, aid = 1\n\n\
         abort() was called at PC 0x400d0043 on core 0\n\n\n\
         Backtrace: 0x400d0010:0x3ffb4ec0 0x400d0043:0x3ffb4ee0 0x400d0077:0x3ffb4f00 0x40085910:0x3ffb4f20\n\n\n\
         ELF file SHA256: {sha256}\n\nRebooting...\n"
    )
}

#[test]
fn backtraces_are_functions_of_the_elf_of_their_build() {
    let bench = TestDir::new();
    let elf = elf();
    std::fs::write(bench.path("app.elf"), &elf).unwrap();
    let digest: String = Sha256::digest(&elf).iter().map(|it| format!("{it:02x}")).collect();
    bench.write("boot.log", &log(&digest[..16]));
    let without = bench.run(&["doctor", "--no-proof", "boot.log"]).ok();
    assert!(!without.contains("crash:"), "{without}");
    let out = bench.run(&["doctor", "--no-proof", "boot.log", "--elf", "app.elf"]).ok();
    let frames = "  crash: backtrace of line 7\n    0x400d0010 panic_abort\n    0x400d0043 fail_once\n    \
                  0x400d0077 app_main\n    0x40085910\n";
    assert!(out.contains(frames), "{out}");
    assert!(!out.contains("another build"), "{out}");
    let json = ["doctor", "--no-proof", "boot.log", "--elf", "app.elf", "--format", "json"];
    let json = valid(&bench.run(&json).ok());
    assert_eq!(json["diagnoses"][0]["crashes"][0]["frames"][1]["function"], "fail_once", "{json}");
    bench.run(&["doctor", "boot.log", "--elf", "app.elf", "-o", "page.html"]).ok();
    assert!(std::fs::read_to_string(bench.path("page.html")).unwrap().contains("fail_once"));
    // Another build's functions would be others.
    bench.write("other.log", &log("0123456789abcdef"));
    let out = bench.run(&["doctor", "--no-proof", "other.log", "--elf", "app.elf"]).ok();
    assert!(out.contains("app.elf is of another build: line 10 of the log names"), "{out}");
    assert!(!out.contains("fail_once"), "{out}");
    bench.write("bare.log", "Backtrace: 0x400d0010:0x3ffb4ec0\n");
    let out = bench.run(&["doctor", "--full", "bare.log", "--elf", "app.elf"]).ok();
    assert!(out.contains("does not name its build") && out.contains("panic_abort"), "{out}");
    for (file, why) in [("boot.log", "cannot read boot.log"), ("none.elf", "cannot read none.elf")]
    {
        let ran = bench.run(&["doctor", "boot.log", "--elf", file]);
        assert_eq!((ran.status, ran.err.lines().count()), (Some(2), 3), "{}", ran.err);
        assert!(ran.err.contains(why) && ran.err.contains("build/PROJECT.elf"), "{}", ran.err);
    }
}

/// Returns a core dump of an Xtensa whose only task has these registers and this stack.
fn core() -> Vec<u8> {
    let words = |words: &[u32]| words.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<u8>>();
    let note = |name: &str, kind: u32, value: &[u8]| {
        let mut out = words(&[name.len() as u32 + 1, value.len() as u32, kind]);
        out.extend(name.bytes());
        out.resize((out.len() + 1).next_multiple_of(4), 0);
        out.extend(value);
        out.resize(out.len().next_multiple_of(4), 0);
        out
    };
    let mut status = vec![0_u32; 18 + 129];
    status[6] = 0x3ffb_0000;
    (status[18], status[18 + 64], status[18 + 65]) = (0x400d_0010, 0x800d_0046, 0x3ffb_1010);
    let mut tcb = vec![0; 52];
    tcb.extend(b"sensor\0");
    tcb.resize(100, 0);
    let notes = [
        note("CORE", 1, &words(&status)),
        note("ESP_EXTRA_INFO", 677, &words(&[0x3ffb_0000, 232, 29, 238, 0])),
        note("ESP_PANIC_DETAILS", 679, b"assert failed: read_sensor sensor.c:12 (data)"),
    ];
    let segments = [
        (4_u32, 0_u32, notes.concat()),
        (1, 0x3ffb_0000, tcb),
        (1, 0x3ffb_1000, words(&[0, 0x3ffb_1040, 0, 0])),
    ];
    let mut out = b"\x7fELF\x01\x01\x01".to_vec();
    out.resize(16, 0);
    out.extend([4, 0, 0x5e, 0]);
    out.extend(words(&[1, 0, 52, 0, 0]));
    for half in [52_u16, 32, 3, 40, 0, 0] {
        out.extend(half.to_le_bytes());
    }
    let mut at = 52 + 3 * 32;
    for (kind, address, bytes) in &segments {
        let length = bytes.len() as u32;
        out.extend(words(&[*kind, at, *address, *address, length, length, 6, 0]));
        at += length;
    }
    segments.iter().for_each(|it| out.extend(&it.2));
    out
}

/// Returns octets as a console prints them.
fn printed(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |some: &[u8]| {
        let byte = |at: usize| u32::from(some.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        let digit = |at: usize| {
            if at <= some.len() { DIGITS[(bits >> (18 - 6 * at)) as usize & 63] } else { b'=' }
        };
        [0, 1, 2, 3].map(|at| char::from(digit(at)))
    };
    bytes
        .chunks(48)
        .map(|it| it.chunks(3).flat_map(group).chain(['\r', '\n']).collect::<String>())
        .collect()
}

#[test]
fn a_core_dump_tells_task_reason_registers_and_frames() {
    let bench = TestDir::new();
    std::fs::write(bench.path("core.elf"), core()).unwrap();
    std::fs::write(bench.path("app.elf"), elf()).unwrap();
    let out = bench.run(&["doctor", "core.elf", "--full", "--elf", "app.elf"]).ok();
    let first = "core.elf: task sensor crashed: assert failed: read_sensor sensor.c:12 (data)\n";
    assert!(out.starts_with(first), "{out}");
    let frames = "  crash: core dump, task sensor\n    0x400d0010 panic_abort\n    0x400d0046 fail_once\n    registers: pc=0x400d0010 ";
    assert!(out.contains(frames), "{out}");
    assert!(out.contains("  core dump: assert failed: read_sensor"), "{out}");
    valid(&bench.run(&["doctor", "core.elf", "--format", "json"]).ok());
    let text = printed(&core());
    let console = format!(
        "I (1) wifi:connected with attic, aid = 1\nassert failed: read_sensor sensor.c:12 (data)\n\
         ================= CORE DUMP START =================\r\n{text}================= CORE DUMP END =================\r\n"
    );
    bench.write("boot.log", &console);
    let out = bench.run(&["doctor", "--no-proof", "boot.log"]).ok();
    let told = "  crash: core dump of line 3, task sensor: assert failed: read_sensor sensor.c:12 (data)\n    0x400d0010\n    0x400d0046\n";
    assert!(out.contains(told), "{out}");
    let alone: String = console.lines().skip(2).map(|it| format!("{it}\n")).collect();
    std::fs::create_dir(bench.path("logs")).unwrap();
    bench.write("logs/alone.log", &alone);
    let out = bench.run(&["doctor", "--no-proof", "--strict", "logs"]);
    assert_eq!(out.status, Some(1), "{}", out.err);
    assert!(out.out.contains("core dump of line 1, task sensor: assert failed"), "{}", out.out);
    bench.write("dump.b64", &text);
    let out = bench.run(&["doctor", "--no-proof", "dump.b64"]).ok();
    assert!(out.starts_with("dump.b64: task sensor crashed"), "{out}");
    // A line that was lost.
    let cut = console.lines().filter(|it| !it.starts_with("AAAA")).collect::<Vec<_>>().join("\n");
    bench.write("cut.log", &cut.replace("CORE DUMP END", ""));
    let out = bench.run(&["doctor", "--no-proof", "--full", "cut.log"]).ok();
    assert!(out.contains("The core dump of line 3 cannot be read"), "{out}");
    std::fs::write(bench.path("short.elf"), &core()[..200]).unwrap();
    let ran = bench.run(&["doctor", "short.elf"]);
    assert_eq!((ran.status, ran.err.lines().count()), (Some(2), 3), "{}", ran.err);
    assert!(ran.err.contains("cannot be read as a core dump"), "{}", ran.err);
}
