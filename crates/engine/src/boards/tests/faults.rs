//! Boards that are missing, crash, are garbled or wait in their ROM.

use super::bench::{KeptBoards, LabBench, Mishap, PaperBench, PaperBoard};
use super::lab::{WORK, probes, text};
use crate::boards::{BoardError, BoardFault, BoardMemory, BoardSetup, run};
use alloc::string::ToString as _;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::sample::{Cause, Fate};
use espbench_model::time::Instant;
use espbench_model::workload::{EspNow, EspNowTest};
use espbench_sim::lab::live::late_line;

const fn seconds(n: u64) -> Instant {
    Instant::from_nanos(n * 1_000_000_000)
}

/// Carries out a cell in which something happens to a board; returns the fault.
fn with(work: &EspNow, port: usize, at: Instant, mishap: Mishap) -> (KeptBoards, BoardFault) {
    let mut bench = LabBench::of(work);
    bench.mishap = Some((port, at, mishap));
    let ports: Vec<usize> = (0..=usize::from(work.devices)).collect();
    let mut kept = KeptBoards::default();
    let (setup, mut memory) = (BoardSetup::default(), BoardMemory::default());
    let result = run(work, &ports, 1, &setup, &mut memory, &mut bench, &mut kept);
    match result {
        Err(BoardError::Fault { port: name, fault }) => {
            assert_eq!(name, alloc::format!("port{port}"));
            (kept, fault)
        }
        other => panic!("{other:?}\n{}", text(&kept)),
    }
}

/// Returns the causes of the probes that did not arrive.
fn causes(kept: &KeptBoards) -> Vec<Cause> {
    let lost = |fate| if let Fate::Lost(cause) = fate { Some(cause) } else { None };
    probes(kept).iter().filter_map(|probe| lost(probe.fate)).collect()
}

const CRASH: &[u8] = b"\r\nGuru Meditation Error: Core  0 panic'ed (LoadProhibited). Exception was unhandled.\r\n\r\n\
    Core  0 register dump:\r\nPC      : 0x400d1f2a  PS      : 0x00060630  A0      : 0x800d2ab4\r\n\r\n\
    Backtrace: 0x400d1f27:0x3ffb5c80 0x400d2ab1:0x3ffb5ca0\r\n\r\nRebooting...\r\n\
    ets Jun  8 2016 00:22:57\r\n\r\nrst:0xc (SW_CPU_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)\r\n";

#[test]
fn an_initiator_that_is_unplugged_takes_its_pings_with_it() {
    let work = EspNow { count: 2000, ..WORK };
    let (kept, fault) = with(&work, 0, seconds(16), Mishap::Unplugged);
    assert!(matches!(fault, BoardFault::Unplugged { .. }));
    assert_eq!(probes(&kept).len(), 2000, "each ping has its sample");
    let causes = causes(&kept);
    assert!(!causes.is_empty() && causes.len() < 2000, "{}", causes.len());
    assert!(causes.iter().all(|cause| *cause == Cause::DeviceGone));
}

#[test]
fn a_crash_is_told_with_its_reason_and_addresses() {
    let work = EspNow { count: 2000, ..WORK };
    let (kept, fault) = with(&work, 0, seconds(16), Mishap::Prints(CRASH));
    let BoardFault::Panicked { reason, backtrace } = &fault else { panic!("{fault:?}") };
    assert!(reason.contains("LoadProhibited"));
    assert!(
        backtrace.iter().any(|line| line.starts_with("Backtrace: 0x400d1f27")),
        "{backtrace:?}"
    );
    assert!(fault.to_string().contains("0x400d2ab1:0x3ffb5ca0"));
    assert_eq!(probes(&kept).len(), 2000);
    assert!(causes(&kept).iter().all(|cause| *cause == Cause::DeviceRestarted));
}

#[test]
fn a_device_that_starts_again_is_a_fault_of_its_own() {
    let work = EspNow { count: 2000, ..WORK };
    let boot = b"\r\nrst:0xf (RTCWDT_BROWN_OUT_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)\r\n";
    let (kept, fault) = with(&work, 1, seconds(16), Mishap::Prints(boot));
    assert_eq!(fault, BoardFault::Restarted { reason: "RTCWDT_BROWN_OUT_RESET".into() });
    assert!(causes(&kept).contains(&Cause::DeviceRestarted));
}

/// A fleet that was too late says so at its consoles: the run is invalid, with that cause on what is missing.
#[test]
fn a_simulated_board_that_is_too_late_makes_the_run_invalid() {
    let work = EspNow { count: 2000, ..WORK };
    let line = alloc::format!("\r\n{}\r\n", late_line(seconds(16), Duration::from_millis(1500)));
    let (kept, fault) = with(&work, 1, seconds(16), Mishap::Prints(line.leak().as_bytes()));
    assert_eq!(fault, BoardFault::Late { ms: 1500 });
    assert!(fault.to_string().contains("1500 ms behind the clock"));
    assert_eq!(probes(&kept).len(), 2000, "each ping has its sample");
    let causes = causes(&kept);
    assert!(!causes.is_empty() && causes.len() < 2000);
    assert!(causes.iter().all(|cause| *cause == Cause::LateClock), "{causes:?}");
}

#[test]
fn one_of_many_is_missing_and_the_others_are_measured() {
    let work = EspNow { test: EspNowTest::MultiPing, devices: 3, count: 10, size: 230, ..WORK };
    let (kept, fault) = with(&work, 2, seconds(2), Mishap::Unplugged);
    assert!(matches!(fault, BoardFault::Unplugged { .. }));
    let read = probes(&kept);
    assert_eq!(read.len(), 30, "{:?} {:?} {}", kept.facts, kept.counters, text(&kept));
    let gone = |it: &&espbench_model::sample::Probe| it.fate == Fate::Lost(Cause::DeviceGone);
    assert!(read.iter().filter(gone).all(|it| it.link.0 == 2));
    assert_eq!(read.iter().filter(gone).count(), 10);
}

/// Carries out a cell with two boards of paper; returns its error.
fn on_paper(first: PaperBoard, second: PaperBoard) -> (KeptBoards, BoardError) {
    on(PaperBench::new([first, second].into()))
}

/// Carries out a cell with two boards of paper that answer nothing; returns its error.
fn on_mute_paper(first: PaperBoard, second: PaperBoard) -> (KeptBoards, BoardError) {
    let mut bench = PaperBench::new([first, second].into());
    bench.mute = true;
    on(bench)
}

fn on(mut bench: PaperBench) -> (KeptBoards, BoardError) {
    let mut kept = KeptBoards::default();
    let (setup, mut memory) = (BoardSetup::default(), BoardMemory::default());
    let result = run(&WORK, &[0, 1], 1, &setup, &mut memory, &mut bench, &mut kept);
    (kept, result.unwrap_err())
}

const BOOT: &[u8] =
    b"ets Jul 29 2019 12:21:46\r\n\r\nrst:0x1 (POWERON_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)\r\n\
    \x1b[0;32mI (552) wifi:mode : sta (24:0a:c4:11:22:33)\x1b[0m\r\n\
    I (612) espnow: esp-now Version: 2.5.2\r\nI (613) espnow: mac: 24:0a:c4:11:22:33, version: 2\r\n\
    \x1b[6n\0esp32> ";

fn fault_of(error: BoardError) -> (alloc::string::String, BoardFault) {
    match error {
        BoardError::Fault { port, fault } => (port, fault),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_board_that_waits_for_a_download_is_told_so() {
    let rom: &[u8] =
        b"rst:0x1 (POWERON_RESET),boot:0x3 (DOWNLOAD_BOOT(UART0/UART1/SDIO_REI_REO_V2))\r\n\
                       waiting for download\r\n";
    let (kept, error) = on_paper(PaperBoard::new(BOOT), PaperBoard::new(rom));
    assert_eq!(fault_of(error), ("port1".into(), BoardFault::DownloadMode));
    assert_eq!(causes(&kept), [Cause::DeviceSilent; 20]);
}

#[test]
fn a_wrong_baud_rate_is_garble() {
    let garble: &[u8] = &[0x9C, 0xE0, 0x80, 0xFC, 0x1C, 0xF8, 0x00, 0x8E].repeat(40).leak()[..];
    let (kept, error) = on_mute_paper(PaperBoard::new(garble), PaperBoard::new(BOOT));
    assert!(matches!(fault_of(error), (_, BoardFault::Garbled { bytes: 320, bad: 280 })));
    assert_eq!(causes(&kept), [Cause::SerialLine; 20]);
}

#[test]
fn silence_and_a_console_without_a_prompt_differ() {
    let (_, error) = on_mute_paper(PaperBoard::new(b""), PaperBoard::new(BOOT));
    assert_eq!(fault_of(error), ("port0".into(), BoardFault::Silent));
    let example = b"I (30) boot: ESP-IDF v5.1\r\nI (300) app_main: espnow_send, count: 0, size: 5, data: hello\r\n";
    let (_, error) = on_mute_paper(PaperBoard::new(example), PaperBoard::new(BOOT));
    let (_, fault) = fault_of(error);
    assert!(
        matches!(fault, BoardFault::NoPrompt { ref last } if last.contains("hello")),
        "{fault:?}"
    );
}

#[test]
fn a_console_without_the_command_is_named_with_it() {
    let mut board = PaperBoard::new(BOOT);
    board.answers.push(("help", "help  [<string>]\r\n  Print the list\r\n\r\nrestart \r\n".into()));
    let (kept, error) = on_paper(board, PaperBoard::new(BOOT));
    let wanted = BoardError::NoCommand { port: "port0".into(), command: "espnow_iperf" };
    assert_eq!(error, wanted);
    assert_eq!(kept.facts["esp-now-release"], "2.5.2");
}
