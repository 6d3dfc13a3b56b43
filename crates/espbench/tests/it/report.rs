//! The drawings of a report.

use crate::synthetic;
use espbench::render;
use espbench_engine::published;
use espbench_measure::cell::{Cell, Origin};
use espbench_measure::columns::ResultColumn;
use espbench_measure::report::{Builder, Report};
use espbench_measure::run::RunFacts;
use espbench_measure::settings::SettingKey;
use std::collections::BTreeSet;

/// Returns a report that is small enough to be read in a snapshot.
fn small() -> Report {
    synthetic::report(&[1, 100, 900], 200)
}

#[test]
fn text() {
    insta::assert_snapshot!(render::text::render(&small()));
}

#[test]
fn markdown() {
    insta::assert_snapshot!(render::markdown::render(&small()));
}

#[test]
fn csv() {
    insta::assert_snapshot!(render::csv::render(&small()));
}

fn schema() -> jsonschema::Validator {
    let text = include_str!("../../../../docs/report.schema.json");
    let schema: serde_json::Value = serde_json::from_str(text).unwrap();
    jsonschema::meta::validate(&schema).expect("the schema is itself valid");
    jsonschema::validator_for(&schema).unwrap()
}

#[test]
fn the_schemas_name_each_field_and_no_other() {
    let names = |text: &str, of: &str| -> Vec<String> {
        let schema: serde_json::Value = serde_json::from_str(text).unwrap();
        let fields = schema["$defs"][of]["properties"].as_object().unwrap();
        fields.keys().cloned().collect()
    };
    let live = names(include_str!("../../../../docs/jsonl.schema.json"), "settings");
    assert_eq!(live, SettingKey::ALL.iter().map(|key| key.name()).collect::<Vec<_>>());

    let text = include_str!("../../../../docs/report.schema.json");
    let is_option = |it: &ResultColumn| it.name().starts_with("CONFIG_");
    let further = ResultColumn::further().filter(|it| !is_option(it));
    let columns: Vec<ResultColumn> = ResultColumn::usual().chain(further).collect();
    let mut wanted: Vec<&str> = columns.iter().map(|it| it.name()).collect();
    wanted.push("note");
    assert_eq!(names(text, "cell"), wanted);

    let schema: serde_json::Value = serde_json::from_str(text).unwrap();
    let cell = &schema["$defs"]["cell"];
    let required: Vec<&str> =
        columns.iter().filter(|it| it.is_required()).map(|it| it.name()).collect();
    assert_eq!(cell["required"], serde_json::json!(required));
    for column in columns {
        let field = &cell["properties"][column.name()];
        let is_list = field.get("enum").is_some() || field.get("$ref").is_some();
        let stated = field["type"].as_str().or_else(|| field["type"][0].as_str());
        let stated = if is_list { Some("string") } else { stated };
        assert_eq!(stated, Some(column.field_type().name()), "{}", column.name());
    }
}

fn parsed(report: &Report) -> serde_json::Value {
    serde_json::from_str(&render::json::render(report)).unwrap()
}

#[track_caller]
pub(crate) fn assert_valid(report: &Report) {
    assert_is_of_schema(report);
    assert_known(report);
}

/// Asserts that a report is as the schema says.
#[track_caller]
pub(crate) fn assert_is_of_schema(report: &Report) {
    let value = parsed(report);
    let faults: Vec<String> =
        schema().iter_errors(&value).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Asserts that a threshold may name each metric that a run has.
#[track_caller]
pub(crate) fn assert_known(report: &Report) {
    let ours = report.cells.iter().filter(|cell| cell.origin != Origin::Published);
    let unknown: Vec<String> =
        ours.filter_map(|cell| espbench_measure::metric::check(&cell.id.metric).err()).collect();
    assert!(unknown.is_empty(), "add to measure/src/metric/known.rs: {unknown:#?}");
}

#[test]
fn json_is_valid_against_the_committed_schema() {
    assert_valid(&small());
    let nothing = Builder::new(&RunFacts::default()).finish(None, 0, &[]);
    assert_valid(&nothing);
    // Every figure at its full size.
    assert_valid(&synthetic::report(&espbench_measure::kind::udp_echo::ECHO_SIZES, 1000));
}

#[test]
fn the_schema_refuses_broken_reports() {
    let schema = schema();
    let good = parsed(&small());
    assert!(schema.is_valid(&good));
    let broken = |pointer: &str, value: serde_json::Value| {
        let mut report = good.clone();
        *report.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = value;
        !schema.is_valid(&report)
    };
    assert!(broken("/schema", "espbench-report/0".into()));
    assert!(broken("/cells/0/value", "fast".into()));
    assert!(broken("/cells/0/origin", "guessed".into()));
    assert!(broken("/cells/0/payload_bytes", (-1).into()));
    assert!(broken("/figures/0/series/0/points/0/x", serde_json::Value::Null));
    assert!(broken("/tables/0/rows/0/0", 1.into()));
    let mut report = good.clone();
    report["cells"][0].as_object_mut().unwrap().remove("ci_low");
    assert!(!schema.is_valid(&report), "a missing interval end");
    let mut report = good.clone();
    report["cells"][0]["mean"] = 1.into();
    assert!(!schema.is_valid(&report), "an unknown member");
}

#[test]
fn json_reads_back_as_the_same_report() {
    let report = small();
    let json = render::json::render(&report);
    let back: Report = serde_json::from_str(&json).unwrap();
    assert_eq!(render::json::render(&back), json);
    assert_eq!(render::text::render(&back), render::text::render(&report));
}

#[test]
fn csv_reads_back_and_the_published_table_reads_alike() {
    let report = small();
    let csv = render::csv::render(&report);
    // Words about a value are for people: they are no fact of a table.
    let ours: Vec<_> = report.cells.iter().map(|it| Cell { note: None, ..it.clone() }).collect();
    assert_eq!(published::parse("ours.csv", &csv).unwrap(), ours);
    assert!(ours.iter().all(|it| it.origin == Origin::Measured));
    let with = small().with_published();
    let others = with.cells.len() - ours.len();
    let cells = published::parse("both.csv", &render::csv::render(&with)).unwrap();
    assert!(others > 0 && cells[ours.len()..].iter().all(|it| it.origin == Origin::Published));
    assert_eq!(&cells[..ours.len()], ours.as_slice());
    let shipped = include_str!("../../../../reference/published.csv").lines().next().unwrap();
    for name in shipped.split(',').filter(|it| *it != "note") {
        assert!(ResultColumn::find(name).is_some(), "{name}");
    }
}

#[test]
fn rows_of_csv_are_whole_and_told_apart() {
    let csv = render::csv::render(&small());
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let head: Vec<String> = reader.headers().unwrap().iter().map(String::from).collect();
    let at = |name: &str| head.iter().position(|it| it == name).expect(name);
    let key = ["run", "cell", "repetition", "trial", "metric"].map(at);
    let mut seen = BTreeSet::new();
    for row in reader.records() {
        let row = row.unwrap();
        assert_eq!(row.len(), head.len());
        assert!(seen.insert(key.map(|at| row[at].to_string())), "{row:?} stands twice");
        assert!(!row[at("seed")].is_empty() && !row[at("kind")].is_empty());
    }
    assert!(seen.len() > 100, "{}", seen.len());
}

#[test]
fn simulated_numbers_say_so_in_every_drawing() {
    let mut facts = synthetic::facts();
    facts.origin = Origin::Simulated;
    let mut builder = Builder::new(&facts);
    synthetic::cells(&[1, 100], 50).into_iter().for_each(|cell| builder.add(cell));
    let report = builder.finish(None, 0, &[]);
    assert!(report.cells.iter().all(|c| c.origin == Origin::Simulated));
    assert!(report.figures.iter().all(|f| f.full_title().contains("simulated")));
    for table in report.tables.iter().filter(|t| t.id != "findings") {
        assert!(table.full_title().contains("simulated"), "{}", table.title);
    }
    // A page says it once, and what is taken out of it still has the word.
    let html = render::html::render(&report);
    assert_eq!(html.matches(">simulated</span>").count(), 1);
    assert!(html.matches("data-origin=\"simulated\"").count() > report.figures.len());
    for drawing in [render::text::render(&report), render::markdown::render(&report)] {
        assert!(drawing.contains("All results are simulated"));
    }
    let csv = render::csv::render(&report);
    assert!(csv.lines().skip(1).all(|line| line.contains(",simulated,")));
}
