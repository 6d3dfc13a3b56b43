//! `espbench serve`, and the script that builds its page.

use crate::util::{ChildProcess, TestDir};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

#[test]
fn the_page_is_the_folder_that_the_environment_names() {
    let bench = TestDir::new();
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
