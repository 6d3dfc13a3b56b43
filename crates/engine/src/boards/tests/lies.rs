//! Consoles that answer a test with nothing, nonsense, another's words, the same twice, or zeros: none of it is a result.

use super::bench::{KeptBoards, PaperBench, PaperBoard};
use super::lab::{WORK, probes};
use crate::boards::{BoardError, BoardMemory, BoardSetup, run};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_measure::live::FateCounts;
use espbench_model::sample::Fate;
use espbench_model::workload::{EspNow, EspNowTest, Workload};

const FIRST: &str = "24:0a:c4:11:22:33";
const SECOND: &str = "24:0a:c4:44:55:66";

/// Returns a board of this address.
fn board(mac: &str) -> PaperBoard {
    let boot = format!(
        "ets Jul 29 2019 12:21:46\r\n\r\nrst:0x1 (POWERON_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)\r\n\
         I (552) wifi:mode : sta ({mac})\r\nI (612) espnow: esp-now Version: 2.5.2\r\n\
         I (613) espnow: mac: {mac}, version: 2\r\n\x1b[6n\0esp32> "
    );
    PaperBoard::new(boot.leak().as_bytes())
}

/// Carries out a cell in which the first board answers the command with these lines, and the second with those.
fn told(
    work: &EspNow,
    command: &'static str,
    lines: &str,
    device: &str,
) -> (KeptBoards, Result<(), BoardError>) {
    let (mut first, mut second) = (board(FIRST), board(SECOND));
    first.answers.push((command, lines.replace('\n', "\r\n")));
    second.answers.push(("espnow_iperf -s", device.replace('\n', "\r\n")));
    let mut bench = PaperBench::new([first, second].into());
    let mut kept = KeptBoards::default();
    let (setup, mut memory) = (BoardSetup::default(), BoardMemory::default());
    let ports: Vec<usize> = (0..=usize::from(work.devices)).collect();
    let result = run(work, &ports, 1, &setup, &mut memory, &mut bench, &mut kept);
    (kept, result)
}

/// Returns whether a cell has a result, as a recorder tells.
fn has_result(work: &EspNow, kept: &KeptBoards, result: &Result<(), BoardError>) -> bool {
    let mut tally = FateCounts::default();
    kept.samples.iter().for_each(|it| tally.add(it));
    result.is_ok() && tally.nothing(&Workload::EspNow(*work)).is_none()
}

/// Returns the lines of pings with these numbers.
fn pings(from: &str, numbers: impl IntoIterator<Item = u32>, ms: &str) -> String {
    let line =
        |seq| format!("I (9) iperf_cmd: 10 bytes from {from}: seq={seq} rssi=-40 time={ms} ms\n");
    numbers.into_iter().map(line).collect()
}

fn report(sent: u32, received: u32) -> String {
    let lost = 100.0 - f64::from(received) * 100.0 / f64::from(sent.max(1));
    format!(
        "I (99) iperf_cmd: {sent} packets transmitted, {received} received, {lost:.2}% packet loss, \
         time: total 99 ms, max: 5, min: 5, average 5.00 ms\n"
    )
}

#[test]
fn pings_that_nobody_answered_are_no_result() {
    let twenty = || 0..20;
    let cases: [(&str, String, usize); 10] = [
        ("nothing", String::new(), 0),
        ("nonsense", "\u{7f}~~ 17 bytes from nowhere: seq=x\n".repeat(30), 0),
        ("no such command", "Unrecognized command\n".into(), 0),
        (
            "an error",
            "Command returned non-zero error code: 0x102 (ESP_ERR_INVALID_ARG)\n".into(),
            0,
        ),
        ("the report alone", report(20, 20), 0),
        ("a report of zeros", report(0, 0), 0),
        ("all lost", report(20, 0), 0),
        (
            "another device's answers",
            pings("24:0a:c4:ff:ff:ff", twenty(), "5") + &report(20, 20),
            0,
        ),
        ("numbers that were not asked for", pings(SECOND, 20..60, "5") + &report(40, 40), 0),
        ("each twice", pings(SECOND, twenty().flat_map(|it| [it, it]), "5") + &report(20, 20), 20),
    ];
    for (name, lines, most) in cases {
        let (kept, result) = told(&WORK, "espnow_iperf -c", &lines, "");
        let delivered = probes(&kept).iter().filter(|it| it.fate == Fate::Delivered).count();
        assert!(delivered <= most, "{name}: {delivered} of {} {result:?}", probes(&kept).len());
        assert!(probes(&kept).iter().all(|it| it.seq < 20), "{name}: {:?}", probes(&kept));
        assert_eq!(has_result(&WORK, &kept, &result), most > 0, "{name}: {result:?}");
    }
    // The truth is a result.
    let (kept, result) =
        told(&WORK, "espnow_iperf -c", &(pings(SECOND, twenty(), "5") + &report(20, 20)), "");
    assert!(has_result(&WORK, &kept, &result), "{result:?}");
}

#[test]
fn streams_without_a_byte_are_no_result() {
    let work = EspNow { test: EspNowTest::Throughput, size: 230, ..WORK };
    for lines in [
        "",
        "garbage\n",
        "I (9) iperf_cmd: [ ID] Interval Transfer Bandwidth\n",
        "I (9) iperf_cmd: [  1]    0-    6 sec  0.00 KBytes  0.00 Mbits/sec\n",
        "I (99) iperf_cmd: [  1]  0.0- 0.0 sec  0 KBytes  0.00 Mbits/sec\n",
    ] {
        let (kept, result) = told(&work, "espnow_iperf -c", lines, lines);
        assert!(!has_result(&work, &kept, &result), "{lines:?}: {result:?} {:?}", kept.samples);
    }
}

#[test]
fn a_time_of_nothing_is_no_time() {
    let work = EspNow { test: EspNowTest::Crypto, size: 100, ..WORK };
    let lines = |sealed: &str, opened: &str| {
        format!(
            "Encrypting data of 100 bytes takes an average of {sealed} us\n\
             Decrypting data of 100 bytes takes an average of {opened} us\n"
        )
    };
    for (sealed, opened) in [("0", "0"), ("-5", "130"), ("136", "0"), ("x", "y")] {
        let (kept, result) = told(&work, "sec_test", &lines(sealed, opened), "");
        assert!(
            !has_result(&work, &kept, &result),
            "{sealed} {opened}: {result:?} {:?}",
            kept.samples
        );
    }
    let (kept, result) = told(&work, "sec_test", &lines("136", "130"), "");
    assert!(has_result(&work, &kept, &result), "{result:?}");
}
