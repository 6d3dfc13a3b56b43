//! Tells the program its git revision and which partition table it is built for.

use std::process::Command;

fn main() {
    let revision = Command::new("git")
        .args(["describe", "--always", "--dirty", "--abbrev=10", "--exclude=*"])
        .output()
        .ok()
        .filter(|it| it.status.success())
        .and_then(|it| String::from_utf8(it.stdout).ok());
    // Sources from an archive have no revision.
    let revision = revision.as_deref().map_or("unknown", str::trim);
    println!("cargo::rustc-env=ESPBENCH_REVISION={revision}");
    println!("cargo::rerun-if-changed=../.git/HEAD");
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-changed=core/src");
}
