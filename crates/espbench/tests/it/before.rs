//! Files that earlier versions wrote: read where that can be, refused with what to do where not.

use crate::util::TestDir;
use espbench_measure::published::COLUMNS;

/// A store that was written while settings of cells were words.
const STORE: &str = include_str!("../fixtures/store-before.sql");

fn with_store() -> TestDir {
    let bench = TestDir::new();
    let db = rusqlite::Connection::open(bench.store()).unwrap();
    db.execute_batch(STORE).unwrap();
    bench
}

#[test]
fn a_store_of_before_is_read_and_its_cells_have_typed_settings() {
    let bench = with_store();
    assert!(bench.run(&["runs"]).ok().contains("complete"));
    let json = bench.run(&["report", "before-1", "--format", "json"]).ok();
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let cell = |table: &str| {
        let cells = report["cells"].as_array().unwrap();
        cells.iter().find(|it| it["table"] == table && it["origin"] == "measured").unwrap()
    };
    let (echo, rate) = (cell("udp-echo"), cell("tcp-rate"));
    assert_eq!((&echo["format"], &echo["in_flight"]), (&"binary".into(), &4.into()));
    assert_eq!((&rate["nagle"], &rate["run_time_s"]), (&true.into(), &0.1.into()));
    // The plan names cells by words; it is stored as it was typed.
    let check = &report["checks"][0];
    assert_eq!(check["threshold"], "rtt_p50 <= 10 s with binary, 4 in flight");
    assert_eq!(
        (&check["place"], &check["passed"]),
        (&"udp-echo, 16 B, binary, 4 in flight".into(), &true.into())
    );
    // What it was then and what it is now are the same cells.
    let both = bench.run(&["compare", "before-1", "before-1", "--format", "json"]).ok();
    let pairs: Vec<serde_json::Value> = serde_json::from_str(&both).unwrap();
    assert!(pairs.len() > 20 && pairs.iter().all(|it| it["verdict"] != "not-comparable"));
}

/// In such a store numbers counted over all plans.
#[test]
fn a_store_of_before_keeps_its_names_and_counts_on() {
    let bench = with_store();
    let db = rusqlite::Connection::open(bench.store()).unwrap();
    let older = "BEGIN; PRAGMA defer_foreign_keys = on; UPDATE cell SET run_id = 8; UPDATE run SET id = 8, \
                 name = 'before-8', facts = replace(facts, 'before-1', 'before-8'); COMMIT";
    db.execute_batch(older).unwrap();
    drop(db);
    for name in ["before", "other"] {
        let text =
            format!("name = \"{name}\"\n[[measure]]\nkind = \"udp-echo\"\nsize = 20\ncount = 5\n");
        bench.write("plan.toml", &text);
        bench.run(&["run", "plan.toml", "-q"]).ok();
    }
    let runs = bench.run(&["runs"]).ok();
    let names: Vec<&str> = runs.lines().filter_map(|it| it.split_whitespace().next()).collect();
    assert_eq!(names, ["before-8", "before-9", "other-1"]);
    bench.run(&["report", "before-8"]).ok();
}

#[test]
fn a_report_of_before_is_refused_with_what_to_do() {
    let bench = with_store();
    bench.run(&["report", "before-1", "-o", "new.json", "-o", "new.csv"]).ok();
    let text = std::fs::read_to_string(bench.path("new.json")).unwrap();
    bench.write("old.json", &text.replace("espbench-report/4", "espbench-report/3"));
    let refused = bench.run(&["compare", "old.json", "before-1"]);
    assert_eq!(refused.status, Some(2));
    let said = "espbench: old.json is a report of another espbench\n  \
                why: its form is espbench-report/3, and this one reads espbench-report/4\n  \
                do:  make it again from the run in the store, `espbench report RUN -o old.json`, or \
                measure again\n";
    assert_eq!(refused.err, said);
    bench.write("other.json", "{\"schema\": 1}");
    let other = bench.run(&["compare", "other.json", "before-1"]);
    assert!(other.err.contains("other.json is no report that espbench wrote"), "{}", other.err);
    // The same run as JSON, as CSV and in the store is the same.
    for file in ["new.json", "new.csv"] {
        let json = bench.run(&["compare", file, "before-1", "--format", "json"]).ok();
        let pairs: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
        let alike = |it: &serde_json::Value, name: &str| it["ours"][name] == it["other"][name];
        let settings = ["format", "in_flight", "nagle", "run_time_s", "phy_rate", "seed"];
        assert!(pairs.iter().all(|it| settings.iter().all(|name| alike(it, name))), "{file}");
        assert!(pairs.len() > 20, "{file}: {}", pairs.len());
    }
}

#[test]
fn settings_that_are_not_known_are_told_with_line_and_column() {
    let bench = with_store();
    bench.run(&["report", "before-1", "-o", "new.csv"]).ok();
    let text = std::fs::read_to_string(bench.path("new.csv")).unwrap();
    bench.write("typo.csv", &text.replace(",binary,", ",binery,"));
    let refused = bench.run(&["compare", "typo.csv", "before-1"]);
    assert_eq!(refused.status, Some(2));
    let said = "(format): `binery` is none of its words: Form of echo probes";
    assert!(refused.err.contains("typo.csv: line 2, column "), "{}", refused.err);
    assert!(refused.err.contains(said), "{}", refused.err);

    // A table that people made names settings by words.
    let head = "table,chip,transport,metric,value,unit,variant\n";
    let mine = |words: &str| format!("{head}udp-echo,host,udp,rtt_p50,1,ms,\"{words}\"\n");
    bench.write("mine.csv", &mine("4 in fight"));
    let refused = bench.run(&["compare", "mine.csv", "before-1"]);
    let said = "mine.csv: line 2, column 7 (variant): `4 in fight` is no setting that is known";
    assert!(refused.err.contains(said), "{}", refused.err);

    // What an earlier version packed into one column is not taken for words of a document.
    let packed = format!(
        "{}\n,udp-echo,host,udp,loopback,rtt_p50,16,1,,,,1,ms,\"origin=measured; n=3\"\n",
        COLUMNS.join(",")
    );
    bench.write("packed.csv", &packed);
    let refused = bench.run(&["compare", "packed.csv", "before-1"]);
    assert_eq!(refused.status, Some(2));
    let said =
        "packed.csv: line 2, column 14 (note): the table is of an earlier espbench, which wrote";
    assert!(refused.err.contains(said), "{}", refused.err);
    bench.write(
        "typo.toml",
        "name = \"x\"\n[[measure]]\nkind = \"udp-echo\"\n[[threshold]]\nmetric = \"rtt_p50\"\n\
         variant = \"4 in fight\"\nmax = \"1 s\"\n",
    );
    let refused = bench.run(&["run", "typo.toml"]);
    assert!(refused.err.contains("typo.toml: line 6"), "{}", refused.err);
    assert!(refused.err.contains("`4 in fight` is no setting that is known"), "{}", refused.err);
}
