//! The monitor, on a pipe and on a terminal.

use crate::pseudo_terminals::pseudo_terminal;
use crate::util::{ChildProcess, PATIENCE, TestDir};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::Stdio;
use std::time::Instant;

/// Reads until a text has come.
fn until(mut from: &File, text: &str) -> String {
    let (mut all, mut some, end) = (Vec::new(), [0; 1024], Instant::now() + PATIENCE);
    while !String::from_utf8_lossy(&all).contains(text) {
        assert!(Instant::now() < end, "no `{text}` in {:?}", String::from_utf8_lossy(&all));
        let count = from.read(&mut some).expect("the other end is open");
        all.extend_from_slice(&some[..count]);
    }
    String::from_utf8_lossy(&all).into_owned()
}

#[test]
fn a_pipe_gets_lines_with_times_and_functions_and_the_log_gets_bytes() {
    let bench = TestDir::new();
    let (mut line, _host, name) = pseudo_terminal();
    // This test is the program whose addresses are told.
    let elf = std::env::current_exe().unwrap();
    let file = object::File::parse(&*std::fs::read(&elf).unwrap().leak()).unwrap();
    let function = object::Object::symbols(&file)
        .find(|it| {
            object::ObjectSymbol::name(it).is_ok_and(|it| it.contains("a_pipe_gets_lines_with"))
        })
        .expect("this function");
    let address = object::ObjectSymbol::address(&function);
    let on = format!("serial:{name}");
    let arguments =
        ["board", "monitor", "--on", &on, "--elf", elf.to_str().unwrap(), "-o", "console.log"];
    let mut command = bench.command(&arguments);
    let mut monitor = ChildProcess::start(&mut command, false);
    let text = format!("\x1b[0;32mI (312) wifi: started\x1b[0m\r\nMEPC    : {address:#x}\nlast");
    // Whatever was sent before the port was open is still there, but its settings are not.
    while !bench.path("console.log").exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    std::thread::sleep(std::time::Duration::from_millis(200));
    line.write_all(text.as_bytes()).unwrap();
    let first = monitor.line("wifi: started");
    let (time, rest) = first.split_at(10);
    assert!(time.trim().parse::<f64>().is_ok_and(|it| it >= 0.0), "{first:?}");
    assert_eq!(rest, "  I (312) wifi: started");
    let function = monitor.line("a_pipe_gets_lines_with");
    assert!(function.contains("monitor.rs:"), "{function}");
    // SAFETY: kill sends a signal to a child of this test.
    unsafe { libc::kill(monitor.id() as i32, libc::SIGINT) };
    assert!(monitor.line("last").ends_with("  last"));
    assert_eq!(monitor.wait(), Some(0));
    assert_eq!(std::fs::read(bench.path("console.log")).unwrap(), text.as_bytes());
}

#[test]
fn a_board_that_is_unplugged_ends_it_with_a_cause() {
    let bench = TestDir::new();
    let (mut line, host, name) = pseudo_terminal();
    let on = format!("serial:{name}");
    let mut monitor = ChildProcess::start(
        &mut bench.command(&["board", "monitor", "--on", &on, "--reset"]),
        true,
    );
    monitor.line("no control lines: press the board's RESET");
    line.write_all(b"half a li").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(100));
    drop((line, host));
    monitor.line("the port went away");
    monitor.line("check cable and hub");
    assert_eq!(monitor.wait(), Some(2));
}

#[test]
fn a_terminal_types_to_the_board_and_its_keys_reset_and_leave() {
    let bench = TestDir::new();
    let (mut board, _held, name) = pseudo_terminal();
    let (mut screen, terminal, _) = pseudo_terminal();
    let on = format!("serial:{name}");
    let mut command = bench.command(&["board", "monitor", "--on", &on]);
    let end = |file: &File| Stdio::from(file.try_clone().unwrap());
    command.stdin(end(&terminal)).stdout(end(&terminal)).stderr(end(&terminal));
    let mut child = command.spawn().unwrap();
    until(&screen, "Ctrl-] leaves, Ctrl-R starts the board again");
    // A prompt is shown without an end of line, and what is typed goes to the board alone.
    board.write_all(b"esp> ").unwrap();
    until(&screen, "esp> ");
    screen.write_all(b"help\r").unwrap();
    assert_eq!(until(&board, "\r"), "help\r");
    board.write_all(b"help\r\nversion\r\n").unwrap();
    let shown = until(&screen, "version");
    assert!(shown.starts_with("help\r\n") && shown.trim_end().ends_with("  version"), "{shown:?}");
    // Ctrl-C is the board's too.
    screen.write_all(b"\x03\x12").unwrap();
    assert_eq!(until(&board, "\x03"), "\x03");
    until(&screen, "no control lines");
    screen.write_all(b"\x1d").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn an_end_after_seconds_and_a_file_that_is_no_elf() {
    let bench = TestDir::new();
    let (_line, _host, name) = pseudo_terminal();
    let on = format!("serial:{name}");
    let begun = Instant::now();
    bench.run(&["board", "monitor", "--on", &on, "--seconds", "1"]).ok();
    assert!(begun.elapsed().as_secs_f64() >= 1.0);
    bench.write("no.elf", "text");
    let refused = bench.run(&["board", "monitor", "--on", &on, "--elf", "no.elf"]);
    assert_eq!(refused.status, Some(2));
    assert!(refused.err.contains("cannot read no.elf"), "{}", refused.err);
    let two = bench.run(&["board", "monitor", "--on", "serial:/dev/a,/dev/b"]);
    assert!(two.err.contains("a monitor has one"), "{}", two.err);
}
