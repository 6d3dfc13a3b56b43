//! `docs/data.md`: tables of results and of samples as other programs read them.

use crate::util::TestDir;
use espbench_measure::columns::{self, SampleTable};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
#[cfg(feature = "arrow")]
use std::process::Command;

/// Returns a path within the repository.
fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

fn page() -> String {
    std::fs::read_to_string(place("docs/data.md")).unwrap()
}

/// Checks that the page has the table under its mark. With `INSTA_UPDATE=always` it is put there.
fn holds(mark: &str, table: &str) {
    let text = page();
    let (begin, end) = (format!("<!-- {mark} -->\n\n"), format!("<!-- end of {mark} -->"));
    let from = text.find(&begin).expect(mark) + begin.len();
    let to = from + text[from..].find(&end).expect(mark);
    let table = format!("{table}\n");
    if text[from..to] == table {
        return;
    }
    if std::env::var("INSTA_UPDATE").as_deref() == Ok("always") {
        let updated = format!("{}{table}{}", &text[..from], &text[to..]);
        return std::fs::write(place("docs/data.md"), updated).unwrap();
    }
    panic!("docs/data.md has other {mark} than the code (INSTA_UPDATE=always mends it):\n{table}");
}

#[test]
fn the_page_has_each_column_with_unit_and_meaning() {
    holds("columns of every file", &columns::fixed());
    holds("columns of settings", &columns::settings());
    holds("columns of comparisons", &columns::further(columns::COMPARED));
    holds("columns of repetitions", &columns::further(columns::POWER));
    holds("columns of errors", &columns::further(columns::TRUTH));
    holds("columns of probes", &columns::samples(SampleTable::Probes));
    holds("columns of intervals", &columns::samples(SampleTable::Intervals));
}

/// Returns the blocks of the page in a language.
fn blocks(language: &str) -> Vec<String> {
    let text = page();
    let parts = text.split("```").skip(1).step_by(2);
    parts.filter_map(|it| it.strip_prefix(&format!("{language}\n"))).map(String::from).collect()
}

/// Measures the page's plan over loopback.
fn measured() -> TestDir {
    let bench = TestDir::new();
    let plans = blocks("toml");
    assert_eq!(plans.len(), 1);
    bench.write("desk.toml", &plans[0]);
    bench.run(&["run", "desk.toml", "-q", "-o", "results.csv"]).ok();
    bench
}

/// Returns rows of CSV by the names of their columns.
fn rows(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().map(Result::unwrap).collect()
}

/// Returns a Python that has the libraries of the page, if there is one. CI has made one
/// (`ci/python.txt`).
#[cfg(feature = "arrow")]
fn python() -> Option<PathBuf> {
    let own = place("target/python/bin/python");
    let has_all = |python: &PathBuf| {
        let mut asked = Command::new(python);
        asked.args(["-c", "import numpy, pandas, polars, pyarrow"]);
        asked.output().is_ok_and(|it| it.status.success())
    };
    let found = [own, PathBuf::from("python3")].into_iter().find(has_all);
    if found.is_none() {
        crate::util::missing("a Python with pandas, polars and pyarrow");
    }
    found
}

#[test]
#[cfg(feature = "arrow")]
fn the_examples_find_the_reports_figures() {
    let Some(python) = python() else { return };
    let bench = measured();
    bench.run(&["samples", "last", "-o", "samples.parquet"]).ok();
    let examples = blocks("python");
    assert_eq!(examples.len(), 2);
    for example in &examples {
        let mut command = Command::new(&python);
        let ran = command.args(["-c", example]).current_dir(bench.dir.path()).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success() && said.is_empty(), "{said}\n{example}");
        let out = String::from_utf8_lossy(&ran.stdout);
        assert!(out.contains("1400") && out.contains("rtt_p99"), "{out}");
    }
    // Other figures are not theirs.
    let wrong = examples[0].replace("quantile(0.99)", "quantile(0.01)");
    let mut command = Command::new(&python);
    let ran = command.args(["-c", &wrong]).current_dir(bench.dir.path()).output().unwrap();
    assert!(String::from_utf8_lossy(&ran.stderr).contains("AssertionError"));

    // All three forms have the same rows.
    for file in ["samples.csv", "samples.arrow"] {
        bench.run(&["samples", "last", "-o", file]).ok();
    }
    let same = "import pandas as pd; a, b, c = pd.read_csv('samples.csv'), \
                pd.read_parquet('samples.parquet'), pd.read_feather('samples.arrow'); \
                pd.testing.assert_frame_equal(b, c); \
                pd.testing.assert_frame_equal(a.dropna(axis=1), b.dropna(axis=1)); \
                assert len(a) == 1200 and list(a) == list(b)";
    let mut command = Command::new(&python);
    let ran = command.args(["-c", same]).current_dir(bench.dir.path()).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn figures_follow_from_the_samples() {
    let bench = measured();
    let results = rows(&std::fs::read_to_string(bench.path("results.csv")).unwrap());
    let samples = rows(&bench.run(&["samples"]).ok());
    assert_eq!(samples.len(), 1200);
    for cell in ["1", "2", "3"] {
        let of_cell = samples.iter().filter(|it| it["cell"] == cell);
        let delivered = of_cell.clone().filter(|it| it["fate"] == "delivered");
        let mut times: Vec<f64> =
            delivered.map(|it| 1e3 * it["round_trip_s"].parse::<f64>().unwrap()).collect();
        times.sort_by(f64::total_cmp);
        let figure = |metric: &str| {
            let is_it =
                |it: &&BTreeMap<String, String>| it["cell"] == cell && it["metric"] == metric;
            results.iter().find(is_it).unwrap()
        };
        let rank = |q: f64| times[(q * times.len() as f64).ceil() as usize - 1];
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        for (metric, value) in [("rtt_p50", rank(0.5)), ("rtt_p99", rank(0.99)), ("rtt_avg", mean)]
        {
            let row = figure(metric);
            let stated: f64 = row["value"].parse().unwrap();
            assert!((stated - value).abs() < 1e-9, "{metric}: {stated} and {value}");
            assert_eq!(row["n"], times.len().to_string());
            assert_eq!((&*row["unit"], &*row["interval_s"]), ("ms", "0.001"));
        }
        let lost = of_cell.clone().filter(|it| it["fate"] == "lost").count();
        assert_eq!(figure("loss")["lost"], lost.to_string());
        assert_eq!(figure("loss")["probes"], of_cell.count().to_string());
    }
}

#[test]
#[cfg(feature = "arrow")]
fn files_and_pipes_have_the_same_bytes() {
    let bench = measured();
    for (format, magic) in [("csv", &b"run,"[..]), ("parquet", b"PAR1"), ("arrow", b"ARROW1")] {
        let file = format!("samples.{format}");
        let ran = bench.run(&["samples", "last", "-o", &file]);
        assert_eq!(ran.err, format!("wrote {file}: 1200 probes of desk-1\n"));
        let bytes = std::fs::read(bench.path(&file)).unwrap();
        let piped = bench.command(&["samples", "--format", format]).output().unwrap();
        assert!(bytes.starts_with(magic) && piped.stdout == bytes, "{format}");
    }
    // The name does not matter where the format is given.
    bench.run(&["samples", "--format", "parquet", "-o", "samples.dat"]).ok();
    assert!(std::fs::read(bench.path("samples.dat")).unwrap().starts_with(b"PAR1"));
}

#[test]
fn streams_have_intervals() {
    let bench = TestDir::new();
    bench.write(
        "both.toml",
        "name = \"both\"\n[[measure]]\nkind = \"iperf\"\ntransport = \"tcp\"\ntime = \"0.3 s\"\n\
         [[measure]]\nkind = \"udp-echo\"\nsize = 20\ncount = 5\n",
    );
    bench.run(&["run", "both.toml", "-q"]).ok();
    let intervals = rows(&bench.run(&["samples", "--table", "intervals"]).ok());
    let total = intervals.iter().find(|it| it["total"] == "true").unwrap();
    let field = |name: &str| total[name].parse::<f64>().unwrap();
    let rate = 8.0 * field("bytes") / (field("end_s") - field("start_s"));
    assert!((field("bit_per_s") / rate - 1.0).abs() < 1e-6);
    assert!(intervals.iter().all(|it| it["kind"] == "iperf" && it["iperf_transport"] == "tcp"));
    // Probes come first, and the other table is named.
    let ran = bench.run(&["samples"]);
    assert_eq!(
        ran.err,
        "these are the probes; both-1 has intervals of streams, too: --table intervals\n"
    );
    let probes = rows(&ran.ok());
    assert!(probes.len() == 5 && probes.iter().all(|it| it["kind"] == "udp-echo"));
}

#[test]
fn what_cannot_be_written_is_told_in_few_lines() {
    let bench = measured();
    let refused = |args: &[&str], wanted: &str| {
        let ran = bench.run(&[&["samples"], args].concat());
        assert_eq!(ran.status, Some(2), "{args:?}");
        assert!(ran.err.contains(wanted) && ran.err.lines().count() <= 3, "{args:?}: {}", ran.err);
        assert!(ran.out.is_empty(), "{args:?}");
    };
    refused(&["nowhere"], "has no run `nowhere`");
    refused(&["last", "--format", "xlsx"], "possible values: csv, parquet, arrow");
    refused(&["last", "-o", "samples.xlsx"], "use .csv, .parquet or .arrow, or add --format");
    refused(&["last", "-o", "none/samples.csv"], "make the folder none first");
    refused(&["last", "--table", "intervals"], "use --table probes");
    for format in ["csv", "parquet", "arrow"] {
        let wanted = match format {
            "parquet" | "arrow" if cfg!(not(feature = "arrow")) => "cargo's `--features arrow`",
            _ => "No space left on device",
        };
        refused(&["last", "--format", format, "-o", "/dev/full"], wanted);
    }
    // A run that measured nothing.
    let failed = bench.run(&["rate", "tcp", "127.0.0.1:1", "-q"]);
    assert_eq!(failed.status, Some(2));
    refused(&["last"], "has no samples");
    let names = std::fs::read_dir(bench.dir.path()).unwrap().map(|it| it.unwrap().file_name());
    let left: Vec<_> = names.filter(|it| it.to_string_lossy().starts_with('.')).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A comparison has a row for each pair, with the columns of results and those of the other one.
#[test]
fn a_comparison_is_rows_with_a_column_a_fact() {
    let bench = measured();
    bench.run(&["run", "desk.toml", "-q"]).ok();
    let pairs = rows(&bench.run(&["compare", "desk-2", "desk-1", "--format", "csv"]).ok());
    let json = bench.run(&["compare", "desk-2", "desk-1", "--format", "json"]).ok();
    let json: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
    assert_eq!(pairs.len(), json.len());
    for (row, pair) in pairs.iter().zip(&json) {
        assert_eq!((&*row["run"], &*row["other_source"]), ("desk-2", "desk-1"));
        assert_eq!(row["verdict"], pair["verdict"].as_str().unwrap());
        let number = |text: &str| text.parse::<f64>().ok();
        assert_eq!(number(&row["value"]), pair["ours"]["value"].as_f64());
        assert_eq!(number(&row["other_value"]), pair["other"]["value"].as_f64());
        assert_eq!(number(&row["ratio_low"]), pair["ratio_low"].as_f64());
        assert_eq!(row["published"], "", "the other is no document");
    }
    let unlike = bench.run(&["compare", "desk-2", "--format", "csv"]);
    assert_eq!(unlike.status, Some(2), "nothing is comparable: {}", unlike.err);
    let published = rows(&unlike.out);
    let unlike = published.iter().filter(|row| row["verdict"] == "not-comparable");
    assert!(unlike.clone().count() > 0 && unlike.clone().all(|row| !row["reason"].is_empty()));
}

/// The errors of a simulator are rows, too.
#[test]
fn errors_of_the_lab_are_rows_with_a_column_a_fact() {
    let bench = TestDir::new();
    bench.run(&["espnow", "ping", "-q"]).ok();
    let ran = bench.run(&["report", "last", "--truth", "--format", "csv"]);
    let all = rows(&ran.out);
    let json = bench.run(&["report", "last", "--truth", "--format", "json"]).out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(!all.is_empty(), "{}", ran.err);
    assert_eq!(all.len(), json["rows"].as_array().unwrap().len());
    for row in &all {
        let number = |name: &str| row[name].parse::<f64>().expect(name);
        let (low, high) = (number("published_low"), number("published_high"));
        assert!(low <= number("published") && number("published") <= high);
        let near = number("value").clamp(low, high);
        let error = (number("value") - near) / near;
        assert!((error - number("error")).abs() < 1e-9, "{row:?}");
        assert!(["true", "false"].contains(&&*row["within"]) && row["origin"] == "simulated");
    }
}
