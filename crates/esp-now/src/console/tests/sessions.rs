//! Sessions as exact bytes, and the effects of local commands.

use super::*;

#[test]
fn a_session_with_a_terminal_that_answers() {
    let mut desk = Desk::new(Idf::V5_1);
    assert_eq!(desk.after(0, b""), "\x1b[6n\0");
    assert_eq!(desk.after(3, b"\x1b[12;1R"), "\x1b[999C\0\x1b[6n\0");
    assert_eq!(desk.after(3, b"\x1b[12;"), "", "in pieces");
    assert_eq!(desk.after(3, b"100R"), "\x1b[99Desp32c3> ");
    // Typed: each character redraws the line.
    assert_eq!(desk.after(50, b"h"), "\r\x1b[0Kesp32c3> h\r\x1b[10C");
    assert_eq!(desk.after(50, b"x"), "\r\x1b[0Kesp32c3> hx\r\x1b[11C");
    assert_eq!(desk.after(50, b"\x7f"), "\r\x1b[0Kesp32c3> h\r\x1b[10C");
    assert_eq!(desk.after(50, b"\t"), "\x07", "heap and help");
    assert_eq!(desk.after(50, b"e"), "\r\x1b[0Kesp32c3> he\r\x1b[11C");
    // Pasted: echoed unchanged.
    assert_eq!(desk.after(10, b"ap"), "ap");
    assert_eq!(
        desk.after(0, b"\r"),
        "\r\x1b[0Kesp32c3> heap\r\x1b[13C\r\n\
         I (1269) esp_mem: Free heap, current: 200000, minimum: 190000\r\n\x1b[6n\0"
    );
}

#[test]
fn a_session_with_a_host_that_answers_r() {
    let mut desk = Desk::prompted(Idf::V5_1);
    assert_eq!(desk.after(100, b"\r"), "\r\x1b[0Kesp32c3> \r\x1b[9C\r\n\x1b[6n\0", "an empty line");
    assert_eq!(desk.after(1, b"R"), "esp32c3> ");
    assert_eq!(desk.run("nonsense"), "W (1203) espnow_console: Unrecognized command\r\n");
    let out = desk.run("restart -i");
    assert_eq!(out, "I (1305) restart_func: num: 1, reason: 1, crash: 0\r\n");
    assert_eq!(desk.run("restart"), "I (1407) restart_func: Restarting\r\n");
    assert_eq!(desk.shared.take_event(), Some(EspNowEvent::Restart));
    // Ctrl-C and Ctrl-U.
    assert_eq!(desk.after(1, b"garbage"), "garbage");
    assert_eq!(desk.after(40, b"\x15"), "\r\x1b[0Kesp32c3> \r\x1b[9C");
    assert_eq!(desk.after(40, b"\x03"), "\r\n\x1b[6n\0");
}

#[test]
fn a_host_that_does_not_answer_loses_the_beginning() {
    let mut desk = Desk::new(Idf::V5_1);
    let line = b"command ff:ff:ff:ff:ff:ff \"heap\"\r";
    assert_eq!(desk.after(0, &line[..30]), "\x1b[6n\0", "line feeds and 30 bytes do not end it");
    assert_eq!(
        desk.after(0, &line[30..]),
        "esp32c3> \"\r\x1b[0Kesp32c3> \"\r\x1b[10C\r\n\
         W (1000) espnow_console: Unrecognized command\r\n\x1b[6n\0"
    );
    assert_eq!(desk.after(0, b"\r\n\r\n"), "", "they do not count");
}

#[test]
fn quick_end_of_line_is_pasted_by_idf_4_4() {
    let mut desk = Desk::prompted(Idf::V4_4);
    assert_eq!(desk.after(1, b"he\r"), "he\r\n", "taken into the line");
    assert_eq!(desk.after(29, b"ap"), "ap");
    let out = desk.after(30, b"\r");
    assert!(out.contains("Free heap, current: 200000"), "and taken out before it runs: {out:?}");
    let mut desk = Desk::prompted(Idf::V5_0);
    assert!(desk.after(1, b"heap\r").contains("Free heap"), "5.0 executes at once");
}

#[test]
fn bytes_wait_while_a_command_runs() {
    let mut desk = Desk::prompted(Idf::V5_1);
    desk.console.receive(b"version\rR");
    let (mut cx, console, _) = desk.cx();
    assert_eq!(console.run(&mut cx), Ready::Line);
    assert_eq!(console.line(), b"version");
    console.receive(&[b'x'; 300]);
    assert_eq!((console.run(&mut cx), console.dropped()), (Ready::Line, 45), "256 places");
    console.finished(&mut cx, Err(EspError::Fail));
    assert_eq!(console.run(&mut cx), Ready::Busy, "what is printed has to be taken in between");
    let out = desk.printed() + &desk.after(0, b"");
    assert!(out.contains("non-zero error code: 0xffffffff (ESP_FAIL)\r\n\x1b[6n\0esp32c3> xxx"));
}

#[test]
fn lines_are_bounded_and_rows_are_counted() {
    let mut desk = Desk::prompted(Idf::V5_1);
    for _ in 0..6 {
        desk.after(1, &[b'x'; 100]);
    }
    assert_eq!(desk.console.dropped(), 600 - 511);
    assert!(desk.after(1, b"\r").contains("Unrecognized command"));
    desk.after(1, b"R");
    desk.after(1, &[b'y'; 71]);
    let row = "y".repeat(71);
    let full = std::format!("\r\x1b[0Kesp32c3> {row}\x08");
    assert_eq!(desk.after(50, b"\x08"), std::format!("\r\x1b[0Kesp32c3> {}\r\x1b[79C", &row[1..]));
    assert_eq!(desk.after(50, b"y"), full.replace('\x08', "\r\n\r\r"));
    let up = "\r\x1b[0K\x1b[1A\r\x1b[0Kesp32c3> ";
    assert_eq!(desk.after(50, b"z"), std::format!("{up}{row}z\r\x1b[1C"));
}

#[test]
fn settings_are_kept_and_told() {
    let mut desk = Desk::prompted(Idf::V5_1);
    let says = |desk: &mut Desk, line: &str, text: &str| {
        let out = desk.run(line);
        assert!(out.contains(text), "{line}: {out}");
    };
    says(
        &mut desk,
        "wifi_config -s net -p secret -c 6 -C jp -t 60 -i",
        "rx: 0, tx_power: 60, country: JP, channel: 6, mode: 1\r\n",
    );
    let stored = desk.board.1.clone().unwrap();
    assert_eq!(
        (stored.len(), &stored[..4], &stored[32..39]),
        (96, &b"net\0"[..], &b"secret\0"[..])
    );
    assert_eq!(desk.shared.take_event(), Some(EspNowEvent::Connect));
    assert_eq!((desk.shared.air.channel, desk.shared.air.country.count), (6, 11), "read once");
    says(&mut desk, "wifi_config -c 15", "error code: 0x102 (ESP_ERR_INVALID_ARG)");
    says(&mut desk, "espnow_config -p 15 -t 84", "");
    says(&mut desk, "espnow_config -i", "Wi-Fi protocol bitmap: 0x0f");
    says(&mut desk, "espnow_config -i", "iperf_cmd: Maximum transmitting power: 84\r\n");
    says(&mut desk, "espnow_config -r 3", "iperf_cmd: Loss rate config value");
    says(&mut desk, "log -m espnow -l warn -i", "uart: INFO, espnow: WARN, flash: NONE");
    assert_eq!(desk.shared.print.remote, LogLevel::Warn);
    says(&mut desk, "log -f size", "The flash partition that stores the log size: 0");
    says(
        &mut desk,
        "time -s 1700000000 -g -z CST-8",
        "strftime: Wed Nov 15 06:13:20 2023, sec: 17",
    );
    says(&mut desk, "gpio -s 4 -l 1", "Set gpio num: 4, level: 1");
    assert_eq!(desk.board.2, Some((4, true)));
    says(&mut desk, "reset", "reset_func: Restarting");
    assert_eq!((desk.board.1.take(), desk.shared.take_event()), (None, Some(EspNowEvent::Restart)));
    for name in ["coredump", "tasks", "deep_sleep", "light_sleep", "uart", "wifi_scan", "gpio -g 1"]
    {
        says(&mut desk, name, "error code: 0x106 (ESP_ERR_NOT_SUPPORTED)");
    }
    says(&mut desk, "log -t espnow_console -l NONE", "");
    assert_eq!(desk.run("nonsense"), "", "its tag says nothing any more");
}

#[test]
fn the_start_is_told_and_marked() {
    for (hz, ms) in [(100, 500), (1000, 5000)] {
        let mut desk = Desk::new(Idf::V5_1);
        desk.now = Instant::ZERO;
        desk.shared.settings.tick = crate::node::tick::Tick::from_hz(hz);
        let (mut cx, _, local) = desk.cx();
        let at = Instant::ZERO + Duration::from_millis(ms);
        assert_eq!(local.run(&mut cx), TaskStep::Until(at));
        cx.now = at;
        assert_eq!(local.run(&mut cx), TaskStep::Idle);
        assert_eq!(
            desk.printed(),
            std::format!(
                "I (0) espnow: esp-now Version: 2.5.3\r\n\
                 I (0) espnow: mac: 24:0a:c4:00:00:01, version: 2\r\n\
                 I (0) espnow: Enable main task\r\n\
                 I (0) espnow: main task entry\r\n\
                 I ({ms}) restart_func: num: 1, reason: 1, crash: 0\r\n"
            )
        );
    }
}

#[test]
fn drawing_a_long_line_again_and_again_waits_for_the_output_to_be_taken() {
    let mut desk = Desk::prompted(Idf::V5_1);
    assert_eq!(desk.after(0, &[b'x'; 250]).len(), 250);
    assert_eq!(desk.after(0, &[b'y'; 250]).len(), 250);
    // Each deletes a character and redraws the line; no output is lost.
    let mut drawn = 0;
    for _ in 0..20 {
        drawn += desk.after(40, &[0x08, 0x15, b'z', 0x08]).matches("esp32c3> ").count();
    }
    assert!(drawn >= 20, "{drawn}");
}
