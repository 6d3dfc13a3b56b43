//! Completions and manual pages: each shell gets all subcommands, and each subcommand has a page.

use crate::util::TestDir;

#[test]
fn each_shell_completes_each_subcommand() {
    let dir = TestDir::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let text = dir.run(&["completions", shell]).ok();
        for subcommand in ["run", "echo", "iperf", "predict", "tune", "report", "compare"] {
            assert!(text.contains(subcommand), "{shell}: {subcommand}");
        }
        assert!(text.contains("openmetrics"), "{shell} has options");
    }
    // Plans and labs are files, too.
    let zsh = dir.run(&["completions", "zsh"]).ok();
    for function in ["_espbench_plans", "_espbench_labs"] {
        assert!(
            zsh.contains(&format!(":{function}'")) && zsh.contains(&format!("\n{function}() {{"))
        );
    }
    let (defined, called) = (zsh.rfind("_espbench_plans() {"), zsh.rfind("compdef _espbench"));
    assert!(defined < called, "defined before it may be called");
    assert!(zsh.contains("'files:file:_files'") && !zsh.contains("]:(one-way-latency"));
    let unknown = dir.run(&["completions", "csh"]);
    assert_eq!(unknown.status, Some(2));
    assert!(unknown.err.contains("possible values: bash"), "{}", unknown.err);
}

#[test]
fn bash_reads_its_completions() {
    let dir = TestDir::new();
    dir.write("espbench.bash", &dir.run(&["completions", "bash"]).ok());
    for (typed, wanted) in [
        (&["espbench", "re"][..], &["respond", "report"][..]),
        (&["espbench", "run", "round"], &["round-trip", "round-trip-secure"]),
        (&["espbench", "lab", "show", "room-h"], &["room-hall", "room-home"]),
    ] {
        let (words, last) = (typed.join(" "), typed[typed.len() - 1]);
        let script = format!(
            "source ./espbench.bash && COMP_WORDS=({words}) COMP_CWORD={} && \
             _espbench espbench {last} {} && echo \"${{COMPREPLY[@]}}\"",
            typed.len() - 1,
            typed[typed.len() - 2],
        );
        let bash = std::process::Command::new("bash")
            .args(["-c", &script])
            .current_dir(dir.dir.path())
            .output()
            .unwrap();
        let words = String::from_utf8_lossy(&bash.stdout);
        let found: Vec<&str> = words.split_whitespace().collect();
        assert_eq!(found, wanted, "{}", String::from_utf8_lossy(&bash.stderr));
    }
}

#[test]
fn each_subcommand_has_a_page() {
    let dir = TestDir::new();
    let own = dir.run(&["man"]).ok();
    assert!(own.contains(".TH espbench 1") && own.contains("Exit status"), "{own}");
    dir.run(&["man", "pages/man1"]).ok();
    for page in ["espbench.1", "espbench-run.1", "espbench-tune.1", "espbench-espnow-talk.1"] {
        let text = std::fs::read_to_string(dir.path(&format!("pages/man1/{page}"))).unwrap();
        assert!(text.contains(".SH SYNOPSIS"), "{page}");
    }
    let refused = dir.run(&["man", "pages/man1/espbench.1"]);
    assert_eq!(refused.status, Some(2));
    assert!(refused.err.contains("cannot write manual pages to"), "{}", refused.err);
}
