//! Carries out the commands of a page: in a folder with what they name, with the other side that espbench
//! carries in place of the board.

use super::page::{Page, root};
use crate::tune::SDKCONFIG;
use crate::util::{ChildProcess, Ran, TestDir, free_port};
use std::cell::OnceCell;
use std::path::Path;

/// Address that the pages give to a board.
const BOARD: &str = "192.168.1.50";

/// A command that was carried out.
pub struct Done {
    pub command: String,
    bench: std::rc::Rc<TestDir>,
    ran: OnceCell<Ran>,
    json: OnceCell<Ran>,
}

impl Done {
    fn ran(&self) -> &Ran {
        self.ran.get_or_init(|| shell(&self.bench, &self.command))
    }

    pub fn screen(&self) -> &str {
        &self.ran().out
    }

    pub fn file(&self, name: &str) -> String {
        self.ran();
        std::fs::read_to_string(self.bench.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn json(&self) -> &str {
        let command = || format!("{} --format json", self.command);
        &self.json.get_or_init(|| shell(&self.bench, &command())).out
    }
}

/// Runs a line of a page by a shell, as its reader does; 1 is a status of commands that found something.
fn shell(bench: &TestDir, line: &str) -> Ran {
    let program = Path::new(env!("CARGO_BIN_EXE_espbench"));
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = std::process::Command::new("sh");
    command
        .args(["-c", line])
        .current_dir(bench.dir.path())
        .env("PATH", format!("{}:{path}", program.parent().unwrap().display()))
        .env("ESPBENCH_STORE", bench.store())
        .env("NO_COLOR", "1")
        .stdin(std::process::Stdio::null());
    let ran = Ran::of(&mut command);
    assert!(
        matches!(ran.status, Some(0 | 1)),
        "$ {line}\n{:?}\n{}\n{}",
        ran.status,
        ran.out,
        ran.err
    );
    ran
}

/// Copies a folder of the repository.
fn copy(bench: &TestDir, folder: &str) {
    std::fs::create_dir_all(bench.path(folder)).unwrap();
    for entry in std::fs::read_dir(root(folder)).unwrap() {
        let from = entry.unwrap().path();
        let to = bench.path(folder).join(from.file_name().unwrap());
        std::fs::copy(from, to).unwrap();
    }
}

/// Somebody who tries a page.
pub struct Reader {
    bench: std::rc::Rc<TestDir>,
    /// Ports of the board's UDP echo, TCP sink and iperf.
    board: OnceCell<(ChildProcess, Vec<u16>)>,
    done: Vec<std::rc::Rc<Done>>,
}

impl Reader {
    /// Makes a folder with what pages name: a log, an sdkconfig, the repository's examples and plans, and the
    /// plans of docs/plans.md and of the page.
    pub fn new(page: &Page) -> Self {
        let bench = TestDir::new();
        for folder in ["examples/talk", "examples/research", "plans"] {
            copy(&bench, folder);
        }
        bench.write("sdkconfig", SDKCONFIG);
        let script = bench.path("examples/talk/ping.talk");
        let talk = ["espnow", "talk", "--devices", "2", "-q", "--script", script.to_str().unwrap()];
        let logs = ["--console", "node0=board.log", "--console", "node1=board1.log"];
        bench.run(&[&talk[..], &logs].concat()).ok();
        std::fs::copy(bench.path("board.log"), bench.path("board0.log")).unwrap();
        let plans = Page::read("docs/plans.md");
        let of = |page: &Page| -> Vec<String> {
            let fences = page.fences().into_iter().filter(|it| it.info == "toml");
            fences.map(|it| page.lines[it.lines].join("\n") + "\n").collect()
        };
        for text in [of(&plans), of(page)].concat() {
            let name = text.strip_prefix("name = \"").and_then(|it| it.split('"').next());
            if let Some(name) = name {
                bench.write(&format!("{name}.toml"), &text);
            }
        }
        Self { bench: std::rc::Rc::new(bench), board: OnceCell::new(), done: Vec::new() }
    }

    /// Returns the port of a service of the board.
    fn port(&self, service: usize) -> u16 {
        let start = || {
            let ports: Vec<u16> = (0..6).map(|_| free_port()).collect();
            let flags = ["echo", "plain-echo", "iperf", "sink", "source", "mqtt"];
            let mut words = vec!["respond".to_string()];
            for (flag, port) in flags.iter().zip(&ports) {
                words.extend([format!("--{flag}-port"), port.to_string()]);
            }
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let other = ChildProcess::start(&mut self.bench.command(&words), false);
            other.line("MQTT broker");
            (other, ports)
        };
        self.board.get_or_init(start).1[service]
    }

    /// Returns a command of the page with the board of this machine, and as small as it may be.
    fn small(&self, line: &str) -> String {
        let board = |port: u16| line.replace(BOARD, &format!("127.0.0.1:{port}"));
        let words: Vec<&str> = line.split(' ').collect();
        match words[1..] {
            ["ping", ..] => set(&line.replace(BOARD, "127.0.0.1"), &["-c 3"]),
            ["echo", ..] => set(&board(self.port(1)), &["--local-port 0", "-n 50"]),
            ["run", ..] if line.contains(BOARD) => set(&board(self.port(1)), &["--local-port 0"]),
            ["run", "plans/esp-now-ota.toml", ..] => format!("{line} --shard 1/13"),
            ["predict", "fleet" | "rate", ..] => set(line, &["--rooms 2", "--messages 200"]),
            ["tune", ..] if line.contains("--want") => set(line, &["--budget 8", "--time 500ms"]),
            _ => line.into(),
        }
    }

    /// Carries out a command, to the letter.
    pub fn exactly(&mut self, command: &str) -> std::rc::Rc<Done> {
        if let Some(done) = self.done.iter().find(|it| it.command == command) {
            return done.clone();
        }
        let (ran, json) = (OnceCell::new(), OnceCell::new());
        let done = Done { command: command.into(), bench: self.bench.clone(), ran, json };
        self.done.push(std::rc::Rc::new(done));
        self.done.last().unwrap().clone()
    }

    /// Carries out a command of which the page shows nothing.
    pub fn tries(&self, command: &str) {
        // What reads the output may be missing here.
        let command = command.split(" | ").next().unwrap_or(command);
        let line = self.small(command);
        let ran = shell(&self.bench, &line);
        let is_told = !ran.out.is_empty() || !ran.err.is_empty() || line.contains(" > ");
        assert!(is_told, "$ {line} tells nothing");
        let words: Vec<&str> = line.split(' ').collect();
        for file in words.windows(2).filter(|it| it[0] == "-o").map(|it| it[1]) {
            assert!(self.bench.path(file).metadata().unwrap().len() > 200, "$ {line}: {file}");
        }
    }
}

/// Gives flags other values, or appends them.
fn set(line: &str, flags: &[&str]) -> String {
    let mut words: Vec<&str> = line.split(' ').collect();
    for flag in flags {
        let (name, value) = flag.split_once(' ').unwrap();
        match words.iter().position(|it| *it == name) {
            Some(at) => words[at + 1] = value,
            None => words.extend([name, value]),
        }
    }
    words.join(" ")
}
