//! `espbench serve` among slow readers.
#![cfg(target_os = "linux")]

use crate::util::{ChildProcess, PATIENCE, TestDir};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

/// Returns a figure of a process in kilobytes, as Linux tells it.
fn kilobytes(process: u32, field: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|it| it.starts_with(field)).expect("the field");
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Checks that answers are not copied: 64 readers of a file of 20 MB, which take a little of it each, are served from one copy.
#[test]
fn slow_readers_of_a_large_file_take_no_memory() {
    const FILE: usize = 20_000_000;
    let bench = TestDir::new();
    std::fs::create_dir(bench.path("page")).unwrap();
    bench.write("page/index.html", "<!DOCTYPE html>");
    std::fs::write(bench.path("page/large.bin"), vec![7; FILE]).unwrap();
    let mut command = bench.command(&["serve", "--page", "page", "--port", "0"]);
    let mut server = ChildProcess::start(&mut command, false);
    let url = server.line("http://");
    let before = kilobytes(server.id(), "VmRSS:");
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let mut readers = Vec::new();
    for _ in 0..64 {
        let mut reader = TcpStream::connect(address).unwrap();
        reader.set_read_timeout(Some(PATIENCE)).unwrap();
        reader.write_all(b"GET /large.bin HTTP/1.1\r\n\r\n").unwrap();
        readers.push(reader);
    }
    // Each answer has begun.
    for reader in &mut readers {
        let mut some = [0; 4096];
        reader.read_exact(&mut some).unwrap();
        assert!(some.starts_with(b"HTTP/1.1 200 OK"));
    }
    server.must_run();
    // Pages of the program itself, some 30 MB of a debug build, are not its memory.
    let own = kilobytes(server.id(), "RssAnon:");
    let grown = kilobytes(server.id(), "VmHWM:") - before;
    assert!(own < 50_000 && grown < 20_000, "{own} kB, {grown} kB more than before");
}
