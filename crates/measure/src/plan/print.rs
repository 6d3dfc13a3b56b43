//! Workloads back to a plan's text, so that a command's flags are stored as a plan too.

use super::{Plan, lab};
use crate::kind;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;
use espbench_model::untrusted::is_unsafe;
use espbench_model::workload::Workload;

/// Returns a text in TOML's quotes.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if is_unsafe(c) => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Prints a plan of these workloads; [`Plan::parse`](super::Plan::parse) gives them back.
#[must_use]
pub fn print(name: &str, seed: u64, workloads: &[Workload]) -> String {
    format!("name = {}\nseed = {seed}\n", quoted(name)) + &blocks(workloads)
}

/// Prints a plan without its limits on results.
pub(super) fn plan(plan: &Plan) -> String {
    let Plan { name, title, goal, battery, seed, repetitions, workloads, .. } = plan;
    let mut text = format!("name = {}\n", quoted(name));
    if let Some(title) = title {
        let _ = writeln!(text, "title = {}", quoted(title));
    }
    if let Some(goal) = goal {
        let _ = writeln!(text, "goal = {}", quoted(goal.name()));
    }
    if let Some(battery) = battery {
        let _ = writeln!(text, "battery = {}", quoted(&battery.name));
    }
    let _ = write!(text, "seed = {seed}\nrepetitions = {repetitions}\n");
    text + &blocks(workloads)
}

/// Returns the lines of a plan that set something of its work, or of what is made of its results.
pub(crate) fn key_lines(plan: &Plan) -> Vec<String> {
    let mut head = alloc::vec![format!("repetitions = {}", plan.repetitions)];
    head.extend(plan.goal.map(|it| format!("goal = {}", quoted(it.name()))));
    head.extend(plan.battery.as_ref().map(|it| format!("battery = {}", quoted(&it.name))));
    head.extend(plan.thresholds.iter().map(|it| format!("threshold {it}")));
    let blocks = blocks(&plan.workloads);
    let lines = blocks.lines().filter(|it| it.contains('=')).map(String::from);
    head.into_iter().chain(lines).collect()
}

/// Returns the keys of a test in a line.
pub(crate) fn test_line(workload: &Workload) -> String {
    let block = blocks(core::slice::from_ref(workload));
    block.lines().filter(|it| it.contains('=')).collect::<Vec<_>>().join(", ")
}

/// Prints a block for each workload.
fn blocks(workloads: &[Workload]) -> String {
    let mut text = String::new();
    for workload in workloads {
        let _ = write!(text, "\n[[measure]]\nkind = \"{}\"\n", workload.kind());
        for (key, value) in settings(workload).into_iter().chain(lab::print(workload)) {
            let _ = writeln!(text, "{key} = {value}");
        }
    }
    text
}

/// Returns the kind's keys and values in which a workload differs from its defaults.
fn settings(workload: &Workload) -> Vec<(&'static str, String)> {
    let Some(usual) = kind::default_of(workload.kind()) else { return Vec::new() };
    let (ours, usual) = (kind::of(workload), kind::of(&usual));
    let differs = |key: &str| ours.get(key) != usual.get(key);
    // What a reader of the text would complete otherwise has to be said, too.
    let names = || ours.keys().iter().map(|key| key.name);
    let told: Vec<&str> = names().filter(|key| differs(key)).collect();
    let mut completed = *workload;
    kind::of_mut(&mut completed).complete(&told);
    let completed = kind::of(&completed);
    let changed = |key: &&'static str| differs(key) || completed.get(key) != ours.get(key);
    names().filter(changed).filter_map(|key| Some((key, ours.get(key)?))).collect()
}
