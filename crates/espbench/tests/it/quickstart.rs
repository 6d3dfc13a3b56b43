//! The commands of the README's quick start, as they stand there. In place of the board there is the other
//! side that espbench carries; simulations are made smaller by flags at their end.

use crate::util::{ChildProcess, TestDir};
use std::path::Path;

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the blocks of the quick start: for whom, and its commands.
fn blocks() -> Vec<(String, Vec<String>)> {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let (_, rest) = readme.split_once("\n## Quick start\n").unwrap();
    let (part, _) = rest.split_once("\n## ").unwrap();
    let mut blocks = Vec::new();
    for (text, code) in part.split("```console\n").zip(part.split("```console\n").skip(1)) {
        let person = text.rsplit("**I ").next().and_then(|it| it.split("**").next()).unwrap();
        let code = code.split("```").next().unwrap();
        let commands = code.lines().filter_map(|line| line.strip_prefix("$ espbench "));
        let commands = commands.map(|it| it.split("  #").next().unwrap().trim().to_string());
        blocks.push((person.to_string(), commands.collect()));
    }
    blocks
}

/// Makes a folder with what the commands name: a log, an sdkconfig, and the repository's examples.
fn folder() -> TestDir {
    let bench = TestDir::new();
    let script = root().join("examples/talk/ping.talk");
    let talk =
        ["espnow", "talk", "--devices", "2", "--console", "node0=board.log", "-q", "--script"];
    bench.run(&[&talk[..], &[script.to_str().unwrap()]].concat()).ok();
    bench.write("sdkconfig", "CONFIG_IDF_TARGET=\"esp32\"\nCONFIG_LWIP_TCP_WND_DEFAULT=5760\n");
    let examples = bench.path("examples/research");
    std::fs::create_dir_all(&examples).unwrap();
    for name in ["hall.toml", "sweep.toml", "corridor.toml", "corridor.csv"] {
        std::fs::copy(root().join("examples/research").join(name), examples.join(name)).unwrap();
    }
    bench
}

#[test]
fn four_people_have_three_commands_each() {
    let all = blocks();
    let people: Vec<&str> = all.iter().map(|(person, _)| person.as_str()).collect();
    assert_eq!(
        people,
        ["have a board", "have a log or an sdkconfig", "plan a product", "do research"]
    );
    assert!(all.iter().all(|(_, commands)| commands.len() == 3), "{all:?}");
}

#[test]
fn the_commands_of_the_quick_start_run() {
    let bench = folder();
    let ports: Vec<u16> = (0..6).map(|_| crate::util::free_port()).collect();
    let flags = ["echo", "plain-echo", "iperf", "sink", "source", "mqtt"];
    let mut respond = vec!["respond".to_string()];
    for (flag, port) in flags.iter().zip(&ports) {
        respond.extend([format!("--{flag}-port"), port.to_string()]);
    }
    let respond: Vec<&str> = respond.iter().map(String::as_str).collect();
    let other = ChildProcess::start(&mut bench.command(&respond), false);
    other.line("MQTT broker");
    for (person, commands) in blocks() {
        for command in commands {
            let mut words: Vec<String> = command.split(' ').map(String::from).collect();
            let board = words.iter().position(|it| it == "192.168.1.50");
            match words[0].as_str() {
                "echo" => {
                    words[board.unwrap()] = format!("127.0.0.1:{}", ports[1]);
                    words.extend(["--local-port", "0", "-n", "50"].map(String::from));
                }
                "ping" => {
                    words[board.unwrap()] = "127.0.0.1".to_string();
                    words.extend(["-c", "3"].map(String::from));
                }
                "tune" if words.iter().any(|it| it == "--want") => {
                    words.iter_mut().for_each(|it| *it = it.trim_matches('\'').to_string());
                    words.extend(["--budget", "8", "--time", "500ms"].map(String::from));
                }
                "predict" => words.extend(["--rooms", "2", "--messages", "200"].map(String::from)),
                _ => assert_eq!(board, None, "{command}"),
            }
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let ran = bench.run(&words);
            assert_eq!(ran.status, Some(0), "{person}: espbench {}\n{}", words.join(" "), ran.err);
            assert!(!ran.out.trim().is_empty(), "{person}: {command} prints something");
            for file in words.iter().zip(&words[1..]).filter(|(flag, _)| **flag == "-o") {
                assert!(bench.path(file.1).metadata().unwrap().len() > 200, "{command}");
            }
        }
    }
}

/// The README names the folder that has the program.
#[test]
fn the_folder_that_is_installed_has_the_program() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let (_, rest) = readme.split_once("cargo install --path ").unwrap();
    let folder = rest.split('`').next().unwrap();
    let manifest = root().join(folder).join("Cargo.toml");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let metadata = std::process::Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"])
        .arg(&manifest)
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let manifest = manifest.canonicalize().unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let package =
        packages.iter().find(|it| Path::new(it["manifest_path"].as_str().unwrap()) == manifest);
    let targets = package.expect("a package")["targets"].as_array().unwrap().clone();
    let is_program = |it: &serde_json::Value| it["kind"][0] == "bin" && it["name"] == "espbench";
    assert!(targets.iter().any(is_program), "{targets:?}");
}
