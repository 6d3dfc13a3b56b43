//! JSON lines: what happens, as it happens. `docs/jsonl.schema.json` describes them.

use super::json;
use espbench_measure::live::event::LiveEvent;
use espbench_measure::report::Report;

/// Renders an event as one line of JSON, ended by a line feed.
#[must_use]
pub fn line(event: &LiveEvent) -> String {
    // Plain data with text keys; a number that is none becomes null.
    let text = serde_json::to_string(event).expect("an event is plain data");
    json::escaped(text + "\n")
}

/// Renders the last line of a run, which holds the report.
#[must_use]
pub fn render(report: &Report) -> String {
    line(&LiveEvent::report(report))
}
