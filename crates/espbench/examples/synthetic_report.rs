//! Writes every drawing of a made-up run into a folder, for looking at them:
//! `cargo run --example synthetic_report -- FOLDER`.

#[path = "../tests/it/synthetic.rs"]
mod synthetic;

use espbench::render;
use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let folder = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("."), PathBuf::from);
    std::fs::create_dir_all(&folder)?;
    let report = synthetic::report(&espbench_measure::kind::udp_echo::ECHO_SIZES, 1000);
    let write = |name: &str, text: String| std::fs::write(folder.join(name), text);
    write("report.txt", render::text::render(&report))?;
    write("report.json", render::json::render(&report))?;
    write("report.csv", render::csv::render(&report))?;
    write("report.html", render::html::render(&report))?;
    write("report.md", render::markdown::render(&report))
}
