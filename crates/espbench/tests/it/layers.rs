//! The dependency rule of ARCHITECTURE.md, read from cargo.

use std::collections::BTreeSet;
use std::process::Command;

#[test]
fn crates_depend_only_downwards() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let names: BTreeSet<&str> = packages.iter().map(|p| p["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 13, "{names:?}: a new crate needs a place in the rule");
    let mut edges = BTreeSet::new();
    for package in packages {
        for dependency in package["dependencies"].as_array().unwrap() {
            let (from, to) = (&package["name"], &dependency["name"]);
            if names.contains(to.as_str().unwrap()) && dependency["kind"] != "dev" {
                edges.insert(format!("{} -> {}", from.as_str().unwrap(), to.as_str().unwrap()));
            }
        }
    }
    let allowed = [
        "esp-now -> espbench-ieee80211",
        "esp-now -> espbench-model",
        "espbench -> esp-now",
        "espbench -> espbench-capture",
        "espbench -> espbench-doctor",
        "espbench -> espbench-dot11",
        "espbench -> espbench-engine",
        "espbench -> espbench-ieee80211",
        "espbench -> espbench-measure",
        "espbench -> espbench-model",
        "espbench -> espbench-proto",
        "espbench -> espbench-sim",
        "espbench -> espbench-stats",
        "espbench-dot11 -> espbench-model",
        "espbench-capture -> esp-now",
        "espbench-capture -> espbench-dot11",
        "espbench-capture -> espbench-ieee80211",
        "espbench-capture -> espbench-measure",
        "espbench-doctor -> espbench-capture",
        "espbench-doctor -> espbench-measure",
        "espbench-doctor -> espbench-model",
        "espbench-engine -> esp-now",
        "espbench-engine -> espbench-capture",
        "espbench-engine -> espbench-dot11",
        "espbench-engine -> espbench-ieee80211",
        "espbench-engine -> espbench-measure",
        "espbench-engine -> espbench-model",
        "espbench-engine -> espbench-proto",
        "espbench-engine -> espbench-sim",
        "espbench-engine -> espbench-stats",
        "espbench-measure -> esp-now",
        "espbench-measure -> espbench-dot11",
        "espbench-measure -> espbench-ieee80211",
        "espbench-measure -> espbench-model",
        "espbench-measure -> espbench-proto",
        "espbench-measure -> espbench-stats",
        "espbench-proto -> espbench-model",
        // The Python package stands above all.
        "espbench-python -> espbench",
        "espbench-python -> espbench-doctor",
        "espbench-python -> espbench-engine",
        "espbench-python -> espbench-measure",
        "espbench-python -> espbench-model",
        "espbench-python -> espbench-sim",
        "espbench-python -> espbench-stats",
        "espbench-sim -> esp-now",
        "espbench-sim -> espbench-dot11",
        "espbench-sim -> espbench-ieee80211",
        "espbench-sim -> espbench-model",
        "espbench-sim -> espbench-proto",
        "espbench-stats -> espbench-model",
    ];
    assert_eq!(edges, allowed.map(String::from).into());
}

/// `target`, `store`, `render` and `respond` do not know each other: only `cli` knows all, and the
/// loopback target and its calibration start responders.
#[test]
fn the_hosts_folders_do_not_import_sideways() {
    let src = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let allowed = [
        // The recorder is the sink that a target writes to.
        ("store/recorder.rs", "target"),
        ("target/loopback.rs", "respond"),
        ("target/calibrate.rs", "respond"),
        // The server of this host that boards send to.
        ("target/serial/peer.rs", "respond"),
        // The ports that the other side listens on by default.
        ("target/spec.rs", "respond"),
    ];
    let mut wrong = Vec::new();
    for folder in ["target", "store", "render", "respond"] {
        for file in files(&src.join(folder)) {
            let text = std::fs::read_to_string(&file).unwrap();
            let name = file.strip_prefix(&src).unwrap().to_str().unwrap().replace('\\', "/");
            for other in ["target", "store", "render", "respond", "cli"] {
                let used = text.contains(&format!("crate::{other}::"));
                if used && other != folder && !allowed.contains(&(name.as_str(), other)) {
                    wrong.push(format!("{name} uses {other}"));
                }
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// Settings and reasons are values: no text that espbench made is taken apart to decide something.
#[test]
fn no_product_source_splits_prose() {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let prose =
        [r#"split(", ")"#, r#"split_once(", ")"#, r#"rsplit(", ")"#, r#"rsplit_once(", ")"#];
    let mut read = 0;
    let mut wrong = Vec::new();
    for name in ["measure/src", "engine/src", "espbench/src"] {
        for file in files(&crates.join(name)) {
            read += 1;
            let text = std::fs::read_to_string(&file).unwrap();
            let lines =
                text.lines().zip(1..).filter(|(line, _)| prose.iter().any(|it| line.contains(it)));
            wrong
                .extend(lines.map(|(line, number)| format!("{}:{number}: {line}", file.display())));
        }
    }
    assert!(read > 100, "only {read} files were read");
    assert_eq!(wrong, Vec::<String>::new(), "compare `Settings`, and make words in `label`");
}

pub(crate) fn files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
    found
}
