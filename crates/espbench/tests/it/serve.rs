//! `espbench serve`, also among slow readers, and the script that builds its page.

use crate::util::{ChildProcess, PATIENCE, TestDir};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

#[test]
fn the_page_is_the_folder_that_the_environment_names() {
    let bench = TestDir::new();
    std::fs::create_dir(bench.path("page")).unwrap();
    bench.write("page/index.html", "<!doctype html><title>ours</title>");
    let mut command = bench.command(&["serve", "--port", "0"]);
    command.env("ESPBENCH_PAGE", bench.path("page"));
    let server = ChildProcess::start(&mut command, false);
    let url = server.line("http");
    let address = url.trim().trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.ends_with("<title>ours</title>"),
        "{answer}"
    );
}

#[cfg(unix)]
#[test]
fn who_lacks_tools_for_the_page_is_told_which_and_gets_no_status_of_success() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let bench = TestDir::new();
    std::fs::create_dir(bench.path("bin")).unwrap();
    std::os::unix::fs::symlink("/usr/bin/dirname", bench.path("bin/dirname")).unwrap();
    for (script, wanted) in [
        ("ci/page.sh", &["node is missing: apt-get install nodejs", "npm is missing", "lld"][..]),
        ("ci/wasm.sh", &["node is missing: apt-get install nodejs"]),
        ("ci/engine.sh", &["rustup target add wasm32-unknown-unknown", "apt-get install"]),
    ] {
        let mut command = Command::new("/bin/sh");
        command.arg(root.join(script)).env("PATH", bench.path("bin"));
        let ran = command.output().unwrap();
        let told = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{script}: {told}");
        assert!(ran.stdout.is_empty(), "{script}");
        for it in wanted {
            assert!(told.contains(it), "{script}: {told}");
        }
    }
}

#[cfg(target_os = "linux")]
/// Returns a figure of a process in kilobytes, as Linux tells it.
fn kilobytes(process: u32, field: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|it| it.starts_with(field)).expect("the field");
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[cfg(target_os = "linux")]
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
