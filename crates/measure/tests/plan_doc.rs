//! `docs/plans.md` has every key as it is read, and its plans are plans.

#![allow(clippy::unwrap_used, reason = "a test")]

use espbench_measure::plan::{Plan, document};
use std::path::Path;

const BEGIN: &str = "<!-- keys -->\n";
const END: &str = "<!-- end -->\n";

fn file() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/plans.md")
}

#[test]
fn the_tables_of_keys_are_those_of_the_reader() {
    let text = std::fs::read_to_string(file()).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let expected = format!("{before}{BEGIN}\n{}\n{END}{after}", document());
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(file(), &expected).unwrap();
        return;
    }
    assert!(text == expected, "old: BLESS=1 cargo test -p espbench-measure --test plan_doc");
}

#[test]
fn the_plans_of_the_page_are_read() {
    let text = std::fs::read_to_string(file()).unwrap();
    let plans: Vec<&str> =
        text.split("```toml\n").skip(1).filter_map(|it| it.split("```").next()).collect();
    assert_eq!(plans.len(), 2);
    for plan in plans {
        Plan::parse(plan).unwrap_or_else(|e| panic!("{e}\n{plan}"));
    }
}
