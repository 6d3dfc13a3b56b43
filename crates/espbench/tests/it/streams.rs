//! A stream that fails ends no run: it goes on, is stored, and exits as it would have.

use crate::util::{ChildProcess, Ran, TestDir, free_port, peer};
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::net::{SocketAddr, TcpStream};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Four cells, a tenth of a second each, with a line on stderr after each of them.
const SLOW: &str = "name = \"slow\"\n[[measure]]\nkind = \"udp-echo\"\nsize = [1, 2, 3, 4]\n\
                    count = 20\ninterval = \"5 ms\"\n";

fn bench() -> TestDir {
    let bench = TestDir::new();
    bench.write("slow.toml", SLOW);
    bench
}

#[track_caller]
fn is_whole(bench: &TestDir) {
    let runs = bench.run(&["runs"]).ok();
    assert!(runs.starts_with("slow-1") && runs.contains("  complete"), "{runs}");
}

fn full() -> File {
    File::options().write(true).open("/dev/full").unwrap()
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_after_one_line_ends_no_run() {
    let bench = bench();
    let (reader, writer) = std::io::pipe().unwrap();
    let mut command = bench.command(&["run", "slow.toml"]);
    command.stdout(writer.try_clone().unwrap()).stderr(writer);
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut line = String::new();
    BufReader::new(reader).read_line(&mut line).unwrap();
    assert!(line.starts_with("run slow-1, stored in "), "{line}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    is_whole(&bench);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_ends_no_run() {
    for args in [&["run", "slow.toml"][..], &["run", "slow.toml", "--format", "json"]] {
        let bench = bench();
        let mut command = bench.command(args);
        let status = command.stdout(Stdio::null()).stderr(full()).status().unwrap();
        assert_eq!(status.code(), Some(0), "{args:?} 2>/dev/full");
        is_whole(&bench);
    }
    let bench = bench();
    let mut command = bench.command(&["run", "slow.toml"]);
    let child = command.stdout(full()).stderr(Stdio::piped()).spawn().unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("stdout: No space left on device"), "{said}");
    assert!(said.contains("espbench report slow-1"), "{said}");
    is_whole(&bench);

    // Where printing is all that there is to do, it has failed.
    let mut command = bench.command(&["report", "slow-1"]);
    let status = command.stdout(full()).stderr(full()).status().unwrap();
    assert_eq!(status.code(), Some(2));
}

/// A threshold that fails is still told by the exit status.
#[cfg(target_os = "linux")]
#[test]
fn the_exit_status_is_what_it_would_have_been() {
    let bench = TestDir::new();
    let gate = "[[threshold]]\nmetric = \"rtt_p50\"\nmax = \"1 ns\"\n";
    bench.write("slow.toml", &format!("{SLOW}\n{gate}"));
    let mut command = bench.command(&["run", "slow.toml"]);
    assert_eq!(command.stdout(full()).stderr(full()).status().unwrap().code(), Some(1));
    is_whole(&bench);
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_outlives_its_terminal() {
    use std::os::fd::AsRawFd as _;
    use std::os::unix::process::CommandExt as _;

    let bench = bench();
    let (mut terminal, slave, _) = crate::pseudo_terminals::open_terminal();
    let mut command = bench.command(&["run", "slow.toml"]);
    let (theirs, closed) = (slave.as_raw_fd(), terminal.as_raw_fd());
    // SAFETY: between fork and exec only close and login_tty are called, which are system calls on
    // descriptors of the child's own.
    unsafe {
        command.pre_exec(move || {
            libc::close(closed);
            match libc::login_tty(theirs) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        });
    }
    let mut child = command.spawn().unwrap();
    drop(slave);
    let mut drawn = Vec::new();
    while !String::from_utf8_lossy(&drawn).contains("/4]") {
        let mut some = [0; 256];
        let len = std::io::Read::read(&mut terminal, &mut some).unwrap();
        drawn.extend_from_slice(&some[..len]);
    }
    // The kernel sends SIGHUP, and whatever is written from now on fails with EIO.
    drop(terminal);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    is_whole(&bench);
}

/// Returns that command with hang-ups as usual, also where these tests were started by `nohup`, which has them ignored.
#[cfg(target_os = "linux")]
fn with_hangups(command: &std::process::Command) -> std::process::Command {
    let mut env = std::process::Command::new("env");
    env.arg("--default-signal=HUP").arg(command.get_program()).args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        env.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => env.env(name, value),
            None => env.env_remove(name),
        };
    }
    env
}

/// `nohup` and a shell's second SIGHUP: neither stops a run.
#[cfg(target_os = "linux")]
#[test]
fn hangups_stop_no_run_but_a_server() {
    let hang_up = |id: u32| {
        Ran::of(std::process::Command::new("kill").args(["-HUP", &id.to_string()])).ok();
    };
    let bench = bench();
    let slow = bench.command(&["run", "slow.toml"]);
    let mut run = ChildProcess::start(&mut with_hangups(&slow), true);
    run.line("[1/4]");
    hang_up(run.id());
    hang_up(run.id());
    assert_eq!(run.wait(), Some(0));
    is_whole(&bench);

    let port = free_port().to_string();
    let args = ["iperf", "-s", "-u", "-B", "127.0.0.1", "-p", &port];
    let mut server = ChildProcess::start(&mut with_hangups(&bench.command(&args)), true);
    server.line("Server listening");
    hang_up(server.id());
    assert_eq!(server.wait(), Some(0));
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_whose_stderr_is_full_serves_its_clients() {
    let bench = TestDir::new();
    let ports: Vec<String> = (0..6).map(|_| free_port().to_string()).collect();
    let mut args = vec!["respond", "--echo-reply-port", "0"];
    let flags = ["echo", "plain-echo", "iperf", "sink", "source", "mqtt"];
    let flags: Vec<String> = flags.iter().map(|name| format!("--{name}-port")).collect();
    for (flag, port) in flags.iter().zip(&ports) {
        args.extend([flag.as_str(), port]);
    }
    let mut server = bench.command(&args).stdout(full()).stderr(full()).spawn().unwrap();
    let address: SocketAddr = format!("127.0.0.1:{}", ports[2]).parse().unwrap();
    let deadline = Instant::now() + crate::util::PATIENCE;
    while TcpStream::connect(address).is_err() {
        assert!(Instant::now() < deadline, "the server does not listen");
        std::thread::sleep(Duration::from_millis(5));
    }
    for more in [&[][..], &["-R"], &["-u", "-b", "10m"]] {
        let client = ["iperf", "-c", "127.0.0.1", "-p", &ports[2], "-n", "100000", "-q"];
        let ran = bench.run(&[&client[..], more].concat());
        assert_eq!(ran.status, Some(0), "{more:?}: {}\n{}", ran.out, ran.err);
    }
    server.kill().unwrap();
    server.wait().unwrap();
}

/// On a file system of 32 KiB, in a mount namespace of the test's own.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_no_part_of_a_report() {
    if !peer("unshare") {
        return;
    }
    let bench = bench();
    let disk = bench.path("disk");
    std::fs::create_dir(&disk).unwrap();
    let script = format!(
        "mount -t tmpfs -o size=32k none {disk} && cd {dir} && echo before > {disk}/old.html &&
         {exe} run slow.toml -q -o {disk}/small.csv -o {disk}/new.html -o {disk}/old.html; echo status $?
         ls -A {disk}; cat {disk}/old.html",
        disk = disk.display(),
        dir = bench.dir.path().display(),
        exe = env!("CARGO_BIN_EXE_espbench"),
    );
    let mut command = std::process::Command::new("unshare");
    command.args(["-r", "-m", "sh", "-c", &script]).env("ESPBENCH_STORE", bench.store());
    let ran = Ran::of(&mut command);
    assert!(ran.err.contains("nothing is lost: espbench report slow-1 -o FILE"), "{}", ran.err);
    assert!(ran.err.contains("No space left on device"), "{}", ran.err);
    assert!(ran.out.ends_with("status 2\nold.html\nsmall.csv\nbefore\n"), "{}", ran.out);
    is_whole(&bench);
}
