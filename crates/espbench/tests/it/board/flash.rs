//! Flashing, asking and erasing of a chip in its loader, by our command and by esptool.

use crate::pseudo_terminals::pseudo_terminal;
use crate::rom_loader::elf::{RISC_V, XTENSA, program};
use crate::rom_loader::machine::{ChipModel, Wrong};
use crate::rom_loader::{AttachedLoader, LineFaults};
use crate::util::{Ran, TestDir, missing};
use esp_now::node::ota::image::Scanner;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the program is in flash, by the default table of partitions.
const PROGRAM_AT: usize = 0x10000;

fn write_elf(bench: &TestDir, machine: u16) -> PathBuf {
    let path = bench.path("firmware.elf");
    std::fs::write(&path, program(machine, 70_000)).unwrap();
    path
}

/// Flashes a program with our command and returns the chip.
fn flashed(bench: &TestDir) -> AttachedLoader {
    write_elf(bench, RISC_V);
    let board = AttachedLoader::c3();
    bench.run(&["board", "flash", "firmware.elf", "--chip", "esp32c3", "--on", &board.on()]).ok();
    board
}

/// Returns the esptool that CI has installed (`ci/python.txt`), or that of the path, with these arguments.
fn esptool(arguments: &[&str]) -> Option<Ran> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/python/bin/esptool");
    let found = [own, PathBuf::from("esptool")]
        .into_iter()
        .find(|it| Command::new(it).arg("version").output().is_ok_and(|it| it.status.success()));
    let Some(found) = found else {
        missing("esptool (ci/python.txt)");
        return None;
    };
    Some(Ran::of(Command::new(found).args(arguments).env("NO_COLOR", "1").env("COLUMNS", "200")))
}

/// Runs esptool against a board. A pseudo-terminal has no control lines, so it shall not reset.
fn esptool_on(board: &AttachedLoader, baud: &str, arguments: &[&str]) -> Option<String> {
    let how =
        ["--port", &board.name, "--baud", baud, "--before", "no-reset", "--after", "no-reset"];
    Some(esptool(&[&how, arguments].concat())?.ok())
}

/// Asserts that a command failed with three lines at most that say these things.
#[track_caller]
fn refused(ran: &Ran, parts: &[&str]) {
    assert_eq!(ran.status, Some(2), "{}\n{}", ran.out, ran.err);
    let is_progress = |it: &&str| it.contains("written and verified at");
    assert!(ran.err.lines().filter(|it| !is_progress(it)).count() <= 3, "{}", ran.err);
    for part in parts {
        assert!(ran.err.contains(part), "no `{part}` in:\n{}", ran.err);
    }
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
}

#[test]
fn a_board_says_what_it_is() {
    let bench = TestDir::new();
    let board = AttachedLoader::c3();
    let text = bench.run(&["board", "info", "--on", &board.on()]).ok();
    for part in ["esp32c3", "v0.4", "60:55:f9:c0:db:01", "4 MiB", "40 MHz"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!board.with(|it| it.is_stub), "no stub is brought for a question");
    let json = bench.run(&["board", "info", "--on", &board.on(), "--format", "json"]).ok();
    let boards: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(boards[0]["flash_bytes"], 4 << 20);
    let csv = bench.run(&["board", "info", "--on", &board.on(), "--format", "csv"]).ok();
    assert!(csv.starts_with("port,chip,revision,mac,flash_bytes,crystal,features\n"), "{csv}");
    assert!(csv.contains(",esp32c3,v0.4,60:55:f9:c0:db:01,4194304,40 MHz,"), "{csv}");
}

#[test]
fn an_elf_is_written_with_a_bootloader_and_a_table_and_verified() {
    let bench = TestDir::new();
    let board = flashed(&bench);
    let counts = board.with(|it| it.counts);
    assert!(counts.compressed_blocks >= 2, "{counts:?}");
    // Each of three parts is asked for before and after.
    assert_eq!((counts.digests, counts.refused), (6, 0), "{counts:?}");
    assert!(board.with(|it| it.is_stub && it.baud == Some(460_800)));
    // Our node would take both images over the air.
    for at in [0, PROGRAM_AT] {
        let mut scanner = Scanner::new(1 << 20);
        assert_eq!(scanner.feed(&board.flash(at..4 << 20)), Ok(()), "{at:#x}");
        assert_eq!(scanner.image().unwrap().chip, 5);
    }
    let program_bytes = program(RISC_V, 70_000);
    let code = &program_bytes[program_bytes.len() - 60_000..][..1000];
    let flash = board.flash(0..4 << 20);
    assert!(flash.windows(code.len()).any(|it| it == code), "the program's code is in flash");
    // The second time nothing is sent.
    board.reset();
    let again = bench.run(&["board", "flash", "firmware.elf", "--on", &board.on()]).ok();
    assert!(again.contains("all there already"), "{again}");
    assert_eq!(board.with(|it| it.counts.blocks), counts.blocks);
}

#[test]
fn esptool_finds_what_we_wrote_valid_and_reads_it_back() {
    let bench = TestDir::new();
    let board = flashed(&bench);
    for at in [0, PROGRAM_AT] {
        let part = bench.path("part.bin");
        std::fs::write(&part, board.flash(at..0x40000)).unwrap();
        let Some(told) = esptool(&["image-info", part.to_str().unwrap()]) else { return };
        let told = told.ok();
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        for line in ["ESP32-C3", "(valid)"] {
            assert!(told.contains(line), "{line}: {told}");
        }
        assert_eq!(told.matches("(valid)").count(), 2, "checksum and hash: {told}");
    }
    // Another host brings its own stub to the same chip after a reset.
    board.reset();
    let copy = bench.path("copy.bin");
    let read = ["read-flash", "0", "0x40000", copy.to_str().unwrap()];
    esptool_on(&board, "460800", &read).unwrap();
    assert_eq!(std::fs::read(&copy).unwrap(), board.flash(0..0x40000));
    board.reset();
    let verified = esptool_on(&board, "115200", &["verify-flash", "0", copy.to_str().unwrap()]);
    assert!(verified.unwrap().contains("Verification successful"));
}

#[test]
fn a_merged_image_is_the_same_by_us_and_by_esptool() {
    let bench = TestDir::new();
    let merged = flashed(&bench).flash(0..0x40000);
    std::fs::write(bench.path("merged.bin"), &merged).unwrap();
    let ours = AttachedLoader::c3();
    bench.run(&["board", "flash", "merged.bin", "--on", &ours.on(), "--baud", "115200"]).ok();
    assert_eq!(ours.flash(0..0x40000), merged);
    assert!(ours.with(|it| it.baud.is_none()), "the rate is not changed to what it is");
    let theirs = AttachedLoader::c3();
    let path = bench.path("merged.bin");
    for stub in [&["--no-stub"][..], &[]] {
        let write = [stub, &["write-flash", "0", path.to_str().unwrap()]].concat();
        theirs.reset();
        if esptool_on(&theirs, "460800", &write).is_none() {
            return;
        }
        assert!(theirs.flash(0..4 << 20) == ours.flash(0..4 << 20), "{write:?}");
        assert_eq!(theirs.with(|it| it.counts.refused), 0, "{write:?}");
        theirs.with(|it| it.flash.fill(0xFF));
    }
    theirs.reset();
    let told = esptool_on(&theirs, "115200", &["read-mac"]).unwrap();
    assert!(told.contains("60:55:f9:c0:db:01"), "{told}");
}

#[test]
fn flash_is_erased_where_it_is_meant() {
    let bench = TestDir::new();
    let board = flashed(&bench);
    let on = board.on();
    let erase = |more: &[&str]| bench.run(&[&["board", "erase", "--on", &on], more].concat());
    let asked = erase(&[]);
    refused(&asked, &["nothing was erased", "say --yes"]);
    board.reset();
    assert!(erase(&["--region", "0x8000+0x1000", "--yes"]).ok().contains("erased"));
    assert_eq!(board.flash(0x8000..0x9000), [0xFF; 0x1000]);
    assert_ne!(board.flash(0..0x1000), [0xFF; 0x1000]);
    board.reset();
    refused(&erase(&["--region", "0x3ff000+0x2000", "--yes"]), &["beyond the flash"]);
    refused(&erase(&["--region", "0x10+0x1000", "--yes"]), &["sectors of 0x1000"]);
    board.reset();
    erase(&["--yes", "--chip", "esp32c3"]).ok();
    assert!(board.with(|it| it.flash.iter().all(|cell| *cell == 0xFF)));
}

/// Runs a command on a terminal, types an answer, and returns status and screen.
fn on_terminal(command: &mut Command, typed: &[u8]) -> (Option<i32>, String) {
    let (mut screen, terminal, _) = pseudo_terminal();
    let end = || std::process::Stdio::from(terminal.try_clone().unwrap());
    let mut child =
        command.stdin(end()).stdout(end()).stderr(end()).env("TERM", "xterm").spawn().unwrap();
    screen.write_all(typed).unwrap();
    let mut shown = screen.try_clone().unwrap();
    let reader = std::thread::spawn(move || {
        let (mut all, mut some) = (Vec::new(), [0; 4096]);
        while let Ok(n @ 1..) = shown.read(&mut some) {
            all.extend_from_slice(&some[..n]);
        }
        String::from_utf8_lossy(&all).into_owned()
    });
    let status = child.wait().unwrap().code();
    // Of the other end only copies are left; with them the reader ends.
    command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null());
    command.stderr(std::process::Stdio::null());
    drop(terminal);
    (status, reader.join().unwrap())
}

#[test]
fn a_terminal_is_asked_before_an_erasure() {
    let bench = TestDir::new();
    let board = flashed(&bench);
    let erase = |typed| {
        board.reset();
        let arguments = ["board", "erase", "--on", &board.on()];
        on_terminal(&mut bench.command(&arguments), typed)
    };
    let (status, shown) = erase(b"no\n");
    assert_eq!(status, Some(2), "{shown}");
    assert!(shown.contains("erase all of the flash of /dev/pts/"), "{shown}");
    assert!(shown.contains("nothing was erased"), "{shown}");
    assert_ne!(board.flash(0..16), [0xFF; 16]);
    let (status, shown) = erase(b"yes\n");
    assert_eq!(status, Some(0), "{shown}");
    assert!(board.with(|it| it.flash.iter().all(|cell| *cell == 0xFF)), "{shown}");
}

#[test]
fn a_terminal_shows_progress_in_place() {
    let bench = TestDir::new();
    write_elf(&bench, RISC_V);
    let board = AttachedLoader::c3();
    let arguments = ["board", "flash", "firmware.elf", "--on", &board.on()];
    let (status, shown) = on_terminal(&mut bench.command(&arguments), b"");
    assert_eq!(status, Some(0), "{shown}");
    let drawn: Vec<&str> = shown.split("\x1b[K").collect();
    for part in ["  0 %  writing at 0x10000", "100 %  writing at 0x10000", "verifying at 0x10000"] {
        assert!(drawn.iter().any(|it| it.contains(part)), "{part}: {shown:?}");
    }
    let last = drawn.last().unwrap();
    assert!(last.contains("MD5 of flash agrees") && !last.contains('%'), "{shown:?}");
}

#[test]
fn a_wrong_chip_is_refused_before_anything_is_written() {
    let bench = TestDir::new();
    write_elf(&bench, RISC_V);
    let other = AttachedLoader::new(ChipModel::C6, Wrong::default(), LineFaults::default());
    let flash = |more: &[&str]| bench.run(&[&["board", "flash"], more].concat());
    let elf = flash(&["firmware.elf", "--chip", "esp32c3", "--on", &other.on()]);
    refused(&elf, &["the chip is ESP32-C6, not ESP32-C3", "nothing was written"]);
    refused(
        &flash(&["firmware.elf", "--on", &other.on()]),
        &["the chip is ESP32-C6, not one with that processor and memory"],
    );
    // A merged image says itself for which chip it is.
    let merged = flashed(&bench).flash(0..0x40000);
    std::fs::write(bench.path("merged.bin"), &merged).unwrap();
    refused(&flash(&["merged.bin", "--on", &other.on()]), &["the chip is ESP32-C6, not ESP32-C3"]);
    refused(&flash(&["merged.bin", "--chip", "esp32c6"]), &["is for ESP32-C3, not ESP32-C6"]);
    assert_eq!(other.with(|it| it.counts.erased_sectors), 0);
    write_elf(&bench, XTENSA);
    let c3 = AttachedLoader::c3();
    refused(&flash(&["firmware.elf", "--on", &c3.on()]), &["the chip is ESP32-C3"]);
    assert_eq!(c3.with(|it| it.counts.erased_sectors), 0);
}

#[test]
fn files_that_cannot_be_flashed_are_refused_without_a_board() {
    let bench = TestDir::new();
    let merged = flashed(&bench).flash(0..0x40000);
    let case = |bytes: &[u8], parts: &[&str]| {
        std::fs::write(bench.path("file"), bytes).unwrap();
        refused(&bench.run(&["board", "flash", "file", "--on", "serial:/dev/none"]), parts);
    };
    let mut changed = merged.clone();
    changed[PROGRAM_AT + 500] ^= 1;
    case(&changed, &["is damaged", "program at 0x10000: its checksum differs"]);
    changed = merged.clone();
    changed[100] ^= 1;
    case(&changed, &["is damaged", "bootloader: its checksum differs"]);
    case(&merged[..0x12000], &["program at 0x10000: it ends before"]);
    case(&merged[PROGRAM_AT..], &["one part of an image", "--at 0x10000"]);
    case(b"# no image", &["neither an ELF nor an image"]);
    case(b"", &["neither an ELF nor an image"]);
    case(b"\x7FELF", &["not an ELF of 32 bits"]);
    case(&std::fs::read("/bin/true").unwrap(), &["not an ELF of 32 bits"]);
    let mut plain = program(RISC_V, 100);
    let at = plain.windows(15).position(|it| it == b".flash.appdesc\0").unwrap();
    plain[at] = b'x';
    case(&plain, &["no application descriptor", "esp_app_desc"]);
    refused(&bench.run(&["board", "flash", "none.elf"]), &["cannot read none.elf"]);
    case(&program(40, 100), &["for another processor"]);
    std::fs::write(bench.path("file"), &merged).unwrap();
    let there = bench.run(&["board", "flash", "file", "--on", "serial:/dev/none"]);
    refused(&there, &["cannot open /dev/none", "there is no such port"]);
    let idle = ["board", "flash", "file", "--on", "serial:/dev/none", "--partition-table", "a.csv"];
    refused(&bench.run(&idle), &["--partition-table does nothing"]);
}

#[test]
fn a_part_goes_where_it_is_told() {
    let bench = TestDir::new();
    let whole = flashed(&bench).flash(0..0x40000);
    std::fs::write(bench.path("data.bin"), b"stored values").unwrap();
    std::fs::write(bench.path("program.bin"), &whole[PROGRAM_AT..]).unwrap();
    let board = AttachedLoader::c3();
    let flash = |file: &str, at: &str| {
        board.reset();
        bench.run(&["board", "flash", file, "--at", at, "--on", &board.on()])
    };
    flash("data.bin", "0x9000").ok();
    flash("program.bin", "65536").ok();
    assert_eq!(board.flash(0x9000..0x9010), *b"stored values\xFF\xFF\xFF");
    assert_eq!(board.flash(PROGRAM_AT..0x40000), whole[PROGRAM_AT..]);
    refused(&flash("data.bin", "0x3ffff8"), &["does not fit the flash"]);
    refused(&flash("firmware.elf", "0x1000"), &["--at does nothing"]);
}

#[test]
fn the_table_of_our_firmware_is_written_beside_an_elf() {
    let bench = TestDir::new();
    write_elf(&bench, RISC_V);
    let board = AttachedLoader::c3();
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../firmware/partitions.csv");
    let with = |table: &str| {
        board.reset();
        let flash =
            ["board", "flash", "firmware.elf", "--on", &board.on(), "--partition-table", table];
        bench.run(&flash)
    };
    // An update over the air had made the bootloader start the second slot.
    bench.write("otadata.bin", &"\u{2}\0\0\0".repeat(8));
    bench.run(&["board", "flash", "otadata.bin", "--at", "0x9000", "--on", &board.on()]).ok();
    with(table.to_str().unwrap()).ok();
    assert!(board.flash(0x9000..0xB000).iter().all(|it| *it == 0xFF), "the new program starts");
    let entries = board.flash(0x8000..0x9000);
    let labels = entries
        .chunks(32)
        .take_while(|it| it.starts_with(&[0xAA, 0x50]))
        .map(|it| String::from_utf8_lossy(&it[12..28]).trim_end_matches('\0').to_owned());
    assert_eq!(labels.collect::<Vec<_>>(), ["otadata", "phy_init", "espbench", "ota_0", "ota_1"]);
    assert_eq!(board.flash(PROGRAM_AT..PROGRAM_AT + 1), [0xE9]);
    // A table that the library panics over, one that does not fit, and none.
    let one = "app, app, factory, 0x10000, 0x100000\n";
    bench.write("own.csv", &format!("{one}own, data, 0x40, 0x200000, 0x1000\n"));
    refused(&with("own.csv"), &["no image can be made", "own subtypes"]);
    bench.write("long.csv", "app, app, factory, 0x10000, 0x800000\n");
    refused(&with("long.csv"), &["no image can be made"]);
    bench.write("small.csv", "app, app, factory, 0x10000, 0x10000\n");
    refused(&with("small.csv"), &["no image can be made", "too big"]);
    refused(&with("none.csv"), &["cannot read none.csv", "name partitions.csv"]);
    #[cfg(unix)]
    refused(&with("/dev/zero"), &["cannot read /dev/zero", "no plain file"]);
}

#[test]
fn several_boards_are_flashed_and_one_that_fails_stops_none() {
    let bench = TestDir::new();
    write_elf(&bench, RISC_V);
    let boards = [AttachedLoader::c3(), AttachedLoader::c3()];
    let on = format!("serial:{},/dev/none,{}", boards[0].name, boards[1].name);
    let ran = bench.run(&["board", "flash", "firmware.elf", "--chip", "esp32c3", "--on", &on]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.err.contains("cannot open /dev/none"), "{}", ran.err);
    assert_eq!(ran.out.lines().filter(|it| it.contains("MD5 of flash agrees")).count(), 2);
    assert_eq!(boards[0].flash(0..0x40000), boards[1].flash(0..0x40000));
}

/// Chips and lines that are wrong, what is said of each, and whether the command may have written.
#[test]
fn each_fault_has_its_words() {
    let bench = TestDir::new();
    write_elf(&bench, RISC_V);
    let case = |wrong: Wrong, faults: LineFaults, parts: &[&str]| {
        let board = AttachedLoader::new(ChipModel::C3, wrong, faults);
        let ran = bench.run(&["board", "flash", "firmware.elf", "--on", &board.on()]);
        assert_eq!(ran.status, Some(2), "{wrong:?} {faults:?}: {}{}", ran.out, ran.err);
        refused(&ran, parts);
    };
    let (good, line) = (Wrong::default(), LineFaults::default());
    case(
        Wrong { is_silent: true, ..good },
        line,
        &["no answer from the chip's loader", "hold BOOT, press RESET"],
    );
    case(Wrong { has_bad_cell: true, ..good }, line, &["does not hold what was written", "MD5"]);
    case(Wrong { lies_about_length: true, ..good }, line, &["make no sense"]);
    // In the midst of the questions, of the stub's upload, and at the last digest.
    let all = flashed(&bench).with(|it| it.counts.requests);
    for requests in [8, all / 2, all - 4] {
        let faults = LineFaults { closes_after: Some(requests), ..line };
        case(good, faults, &["the port went away"]);
    }
    let noise = |after| LineFaults { noise: Some((after, b"\x00\xFF\x01")), ..line };
    case(good, noise(0), &["no answer from the chip's loader"]);
    case(
        good,
        noise(20),
        &["the chip's loader did not do as told", "try again with --baud 115200"],
    );
    case(good, noise(all - 4), &["the chip's loader did not do as told"]);
    let deaf = LineFaults { only_baud: Some(74_880), ..line };
    case(good, deaf, &["no answer from the chip's loader"]);
}

#[test]
fn noise_that_is_longer_than_an_answer_is_passed_over() {
    let bench = TestDir::new();
    write_elf(&bench, RISC_V);
    let noise = b"\x00\xFF\x80of a line that has no shield\xDB\xDC\x01";
    let faults = LineFaults { noise: Some((20, noise)), ..LineFaults::default() };
    let board = AttachedLoader::new(ChipModel::C3, Wrong::default(), faults);
    bench.run(&["board", "flash", "firmware.elf", "--on", &board.on()]).ok();
    assert_eq!(board.flash(0..0x40000), flashed(&bench).flash(0..0x40000));
}

#[test]
fn a_rate_that_the_line_cannot_do_is_a_failure_and_a_lower_one_works() {
    let bench = TestDir::new();
    write_elf(&bench, RISC_V);
    let faults = LineFaults { only_baud: Some(115_200), ..LineFaults::default() };
    let board = AttachedLoader::new(ChipModel::C3, Wrong::default(), faults);
    let flash = |baud: &str| {
        bench.run(&["board", "flash", "firmware.elf", "--baud", baud, "--on", &board.on()])
    };
    refused(&flash("921600"), &["try again with --baud 115200"]);
    board.reset();
    flash("115200").ok();
}
