//! JUnit's XML, as CI systems read it: a test for each threshold of the plan, and one for the measuring itself.
//!
//! The form is that of Jenkins and of Maven's Surefire, which nobody has standardized; `docs/junit.xsd` has
//! the part that is written. A threshold that fails is a failure, a cell that was not measured is an error, and
//! what a run that was cut short or a prediction that was stopped has left out is skipped: none of them passes.

use super::tame;
use espbench_measure::cell::{Cell, Origin};
use espbench_measure::digits;
use espbench_measure::label;
use espbench_measure::report::{CellFailure, Check, Report};
use espbench_measure::table::unit_sign;
use std::fmt::Write as _;

/// Outcome of a test.
enum Outcome {
    Passed,
    /// Finding of a test.
    Failed(String),
    /// Why nothing was found.
    Error(String),
    /// Why nothing was tried.
    Skipped(String),
}

struct TestCase {
    name: String,
    outcome: Outcome,
}

/// Renders the report as one test suite.
#[must_use]
pub fn render(report: &Report) -> String {
    let cases = cases(report);
    let count = |is: fn(&Outcome) -> bool| cases.iter().filter(|it| is(&it.outcome)).count();
    let tests = cases.len();
    let failures = count(|it| matches!(it, Outcome::Failed(_)));
    let errors = count(|it| matches!(it, Outcome::Error(_)));
    let skipped = count(|it| matches!(it, Outcome::Skipped(_)));
    let counts = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\"");
    let run = &report.run;
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // The head of JUnit's tree counts no skipped tests.
    let _ = writeln!(out, "<testsuites name=\"espbench\" {counts}>");
    let _ =
        write!(out, "  <testsuite name=\"{}\" {counts} skipped=\"{skipped}\"", escaped(&run.name));
    if let Some(time) = run.started.strip_suffix('Z') {
        let _ = write!(out, " timestamp=\"{}\"", escaped(time));
    }
    out.push_str(">\n    <properties>\n");
    let seed = run.seed.to_string();
    let facts = [
        ("tool", run.tool.as_str()),
        ("target", &run.target),
        ("origin", run.origin.name()),
        ("seed", &seed),
        ("library", run.library.as_deref().unwrap_or_default()),
    ];
    for (name, value) in facts.into_iter().filter(|it| !it.1.is_empty()) {
        let _ = writeln!(out, "      <property name=\"{name}\" value=\"{}\"/>", escaped(value));
    }
    out.push_str("    </properties>\n");
    let suite = if run.plan_name.is_empty() { &run.name } else { &run.plan_name };
    for case in &cases {
        write_case(&mut out, suite, case);
    }
    let _ = writeln!(out, "    <system-out>{}</system-out>", escaped_lines(&figures(report)));
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

fn cases(report: &Report) -> Vec<TestCase> {
    let failed = |CellFailure { place, error, .. }: &CellFailure| TestCase {
        name: format!("measured: {place}"),
        outcome: Outcome::Error(error.clone()),
    };
    let mut cases: Vec<TestCase> = report.failures.iter().map(failed).collect();
    if let Some(why) = report.lacks() {
        cases.push(TestCase { name: "measured: the rest".into(), outcome: Outcome::Skipped(why) });
    }
    if cases.is_empty() {
        cases.push(TestCase { name: "measured: all cells".into(), outcome: Outcome::Passed });
    }
    cases.extend(report.checks.iter().map(threshold));
    cases
}

fn threshold(check: &Check) -> TestCase {
    let Check { threshold, place, value, unit, passed, .. } = check;
    let found = match value {
        Some(value) => format!("{} {}", digits::plain(*value), unit_sign(unit)),
        None => "no value".to_owned(),
    };
    let outcome = match passed {
        true => Outcome::Passed,
        false => Outcome::Failed(format!("{found}, and not {threshold}")),
    };
    TestCase { name: format!("{threshold}: {place}"), outcome }
}

fn write_case(out: &mut String, suite: &str, case: &TestCase) {
    let (name, suite) = (escaped(&case.name), escaped(suite));
    let _ = write!(out, "    <testcase classname=\"{suite}\" name=\"{name}\"");
    let (element, told) = match &case.outcome {
        Outcome::Passed => {
            out.push_str("/>\n");
            return;
        }
        Outcome::Failed(told) => ("failure", told),
        Outcome::Error(told) => ("error", told),
        Outcome::Skipped(told) => ("skipped", told),
    };
    let told = escaped(told);
    let _ = match element {
        "skipped" => writeln!(out, ">\n      <skipped message=\"{told}\"/>\n    </testcase>"),
        _ => writeln!(
            out,
            ">\n      <{element} message=\"{told}\" type=\"{}\">{told}</{element}>\n    </testcase>",
            if element == "failure" { "threshold" } else { "not-measured" }
        ),
    };
}

/// Returns the figures, one a line.
fn figures(report: &Report) -> String {
    let own = report.cells.iter().filter(|it| it.origin != Origin::Published);
    let line = |cell: &Cell| {
        let value = digits::sentence(cell).unwrap_or_else(|| "no value".into());
        format!("{}: {} {value}", label::test(cell), cell.id.metric)
    };
    own.map(line).collect::<Vec<_>>().join("\n")
}

/// Returns text as an attribute's value or an element's content, in one line.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in tame(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Characters that XML 1.0 does not have, beside those that are control characters.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

fn escaped_lines(text: &str) -> String {
    text.lines().map(escaped).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn markup_in_names_stays_text() {
        assert_eq!(
            escaped("a<b>&\"c\"\n\u{1b}[2J\u{ffff}"),
            "a&lt;b&gt;&amp;&quot;c&quot; \u{fffd}[2J\u{fffd}"
        );
    }

    #[test]
    fn a_prediction_that_was_stopped_does_not_pass() {
        let card = r#"{"question": "rate", "title": "1M", "rows": [], "limited_by": []}"#;
        let prediction = Some(serde_json::from_str(card).unwrap());
        let empty = Report::empty(espbench_measure::run::RunFacts::default());
        for (incomplete, passed) in [(false, 1), (true, 0)] {
            let text =
                render(&Report { incomplete, prediction: prediction.clone(), ..empty.clone() });
            assert_eq!(text.matches("measured: all cells").count(), passed, "{text}");
            assert_eq!(
                text.matches("<skipped message=\"The prediction was stopped").count(),
                1 - passed
            );
        }
    }

    proptest! {
        #[test]
        fn any_text_is_characters_of_xml(text in any::<String>()) {
            let out = escaped(&text);
            let bad = |c: char| c < ' ' || matches!(c, '<' | '>' | '"' | '\u{fffe}' | '\u{ffff}');
            prop_assert!(!out.contains(bad), "{}", out);
        }
    }
}
