//! Stores of others: each column of text, and each text within its values.

use super::{HOSTILE, shown, store_of};
use crate::util::TestDir;
use espbench_measure::run::{LabFit, RunFacts, Site};
use rusqlite::Connection;
use serde_json::Value;
use std::collections::BTreeMap;

const PLAN: &str = "name = \"a\"\n[[measure]]\nkind = \"udp-echo\"\nsize = 20\ncount = 3\n\
                    [[measure]]\nkind = \"iperf\"\ntime = \"400 ms\"\ninterval = \"200 ms\"\n";

/// Formats of reports, each with what it needs.
const FORMATS: [&[&str]; 8] = [
    &["--format", "text"],
    &["--full"],
    &["--format", "csv"],
    &["--format", "json"],
    &["--format", "jsonl"],
    &["--format", "markdown"],
    &["--format", "html"],
    &["--format", "junit"],
];

/// Returns the columns of text of the tables that a store has.
fn columns(db: &Connection) -> Vec<(String, String)> {
    let mut tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").unwrap();
    let tables: Vec<String> =
        tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut found = Vec::new();
    for table in tables {
        let mut columns = db.prepare(&format!("PRAGMA table_info({table})")).unwrap();
        let columns = columns.query_map([], |row| Ok((row.get(1)?, row.get::<_, String>(2)?)));
        for (column, kind) in columns.unwrap().map(Result::unwrap) {
            if kind == "TEXT" {
                found.push((table.clone(), column));
            }
        }
    }
    found
}

/// Returns copies of a value, in each of which another text, or another name of a member, is hostile.
fn hostile_copies(value: &Value) -> Vec<Value> {
    match value {
        Value::String(_) => vec![HOSTILE.into()],
        Value::Array(items) => {
            let copies = items.iter().enumerate().flat_map(|(at, item)| {
                hostile_copies(item).into_iter().map(move |it| {
                    let mut copy = items.clone();
                    copy[at] = it;
                    Value::Array(copy)
                })
            });
            copies.collect()
        }
        Value::Object(members) => {
            let mut copies = Vec::new();
            for (key, member) in members {
                for it in hostile_copies(member) {
                    let mut copy = members.clone();
                    copy.insert(key.clone(), it);
                    copies.push(Value::Object(copy));
                }
            }
            let mut copy = members.clone();
            copy.insert(HOSTILE.into(), HOSTILE.into());
            copies.push(Value::Object(copy));
            copies
        }
        Value::Null => vec![HOSTILE.into()],
        Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

#[test]
fn no_text_of_a_store_reaches_the_terminal_raw() {
    let bench = TestDir::new();
    let whole = store_of(&bench, PLAN, "");
    let columns = columns(&Connection::open(&whole).unwrap());
    assert!(columns.len() >= 12, "{columns:?}");
    let mut tried = 0;
    for (table, column) in columns {
        let select = format!("SELECT {column} FROM {table} WHERE {column} IS NOT NULL LIMIT 1");
        let was: String = Connection::open(&whole)
            .unwrap()
            .query_row(&select, [], |row| row.get(0))
            .unwrap_or_default();
        let within: Option<Value> = serde_json::from_str(&was).ok().filter(Value::is_object);
        let mut values = vec![HOSTILE.to_owned(), format!("{was}{HOSTILE}")];
        values.extend(within.iter().flat_map(hostile_copies).map(|it| it.to_string()));
        for (at, value) in values.iter().enumerate() {
            std::fs::copy(&whole, bench.store()).unwrap();
            let db = Connection::open(bench.store()).unwrap();
            // Whoever makes a store for others has no checks in it.
            db.execute_batch("PRAGMA ignore_check_constraints = ON").unwrap();
            let set = format!("UPDATE OR IGNORE {table} SET {column} = ?1");
            db.execute(&set, [value]).unwrap();
            drop(db);
            shown(&bench, &["runs"]);
            // One value of a column tells of all formats, the others of what is told at once.
            for format in &FORMATS[..if at == 0 { FORMATS.len() } else { 1 }] {
                shown(&bench, &[&["report", "last"], *format].concat());
            }
            if at == 0 {
                shown(&bench, &["samples", "last"]);
                shown(&bench, &["compare", "last", "last"]);
                shown(&bench, &["runs", "--consoles", "last"]);
                shown(&bench, &["run", "--resume", "last", "-q", "--on", "loopback"]);
            }
            tried += 1;
        }
    }
    assert!(tried > 50, "{tried}");
}

/// Returns facts whose texts are hostile. Each field is named, so that a new one is decided on here.
fn hostile_facts(was: RunFacts) -> RunFacts {
    let hostile = || HOSTILE.to_owned();
    let RunFacts { origin, seed, plan_text, beside: _, own_lab, .. } = was;
    let fitted = LabFit {
        run: hostile(),
        plan_text: hostile(),
        constants: vec![hostile()],
        cells: vec![(1, hostile())],
    };
    RunFacts {
        name: hostile(),
        tool: hostile(),
        started: hostile(),
        target: hostile(),
        origin,
        seed,
        plan_name: hostile(),
        // It is parsed, and an error of it is among the texts above.
        plan_text,
        site: Site {
            chip: hostile(),
            mode: hostile(),
            distance_m: Some(1.0),
            security: Some(hostile()),
            environment: Some(hostile()),
        },
        beside: Some(hostile()),
        fitted: vec![fitted],
        library: Some(hostile()),
        own_lab,
        host: BTreeMap::from([(hostile(), hostile()), ("os".into(), hostile())]),
    }
}

/// All texts of a run at once, in each format: where one is an error above, others are not drawn.
#[test]
fn no_fact_of_a_run_reaches_the_terminal_raw() {
    let bench = TestDir::new();
    bench.write("plan.toml", PLAN);
    bench.run(&["run", "plan.toml", "--on", "loopback", "-q"]).ok();
    let db = Connection::open(bench.store()).unwrap();
    let facts: String = db.query_row("SELECT facts FROM run", [], |row| row.get(0)).unwrap();
    let facts = hostile_facts(serde_json::from_str(&facts).unwrap());
    let facts = serde_json::to_string(&facts).unwrap();
    db.execute("UPDATE run SET facts = ?1, name = ?2", [&facts, HOSTILE]).unwrap();
    // As an older espbench has recorded it, without a checksum.
    let unsummed =
        "UPDATE cell SET label = ?1, error = ?1, facts = json_remove(facts, '$.checksum')";
    db.execute(unsummed, [HOSTILE]).unwrap();
    drop(db);
    shown(&bench, &["runs"]).ok();
    for format in FORMATS {
        shown(&bench, &[&["report", HOSTILE], format].concat()).ok();
    }
    let coloured = crate::util::Ran::of(
        bench.command(&["report", HOSTILE]).env_remove("NO_COLOR").env("CLICOLOR_FORCE", "1"),
    );
    // The colours are ours.
    assert!(coloured.out.contains("\u{1b}[") && !coloured.out.contains("\u{1b}]"), "{coloured:?}");
    assert!(!coloured.out.contains(['\u{9b}', '\u{7}', '\u{202e}']), "{coloured:?}");
}
