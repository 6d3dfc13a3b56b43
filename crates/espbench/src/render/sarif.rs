//! SARIF 2.1.0 (OASIS), as code scanning reads it: what `espbench tune --check` finds in an sdkconfig, at its lines.

use espbench_measure::tune::check::{Checked, Finding, Severity};
use serde_json::{Map, Value, json};

/// Renders the findings of a check. `text` is that of its file.
#[must_use]
pub fn render(checked: &Checked, text: &str) -> String {
    let mut rules: Vec<&str> = checked.findings.iter().map(|it| it.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    let rule = |id: &&str| json!({ "id": id });
    let uri = uri(&checked.file);
    let driver = json!({
        "name": env!("CARGO_PKG_NAME"),
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "rules": rules.iter().map(rule).collect::<Vec<_>>(),
    });
    let result = |it: &Finding| {
        let index = rules.iter().position(|rule| *rule == it.rule);
        result(it, index, &uri, text)
    };
    let log = json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver },
            "results": checked.findings.iter().map(result).collect::<Vec<_>>(),
        }],
    });
    super::json::escaped(format!("{log:#}\n"))
}

fn result(finding: &Finding, index: Option<usize>, uri: &str, text: &str) -> Value {
    let level = match finding.severity {
        Severity::Wrong => "error",
        Severity::Limits => "warning",
        Severity::Note => "note",
    };
    let change = |it: &espbench_measure::tune::check::SettingChange| {
        format!("Set {}={} (now {}).", it.name, it.to, it.from)
    };
    let words = [ended(&finding.what), ended(&finding.why)].into_iter();
    let words: Vec<String> = words.chain(finding.set.iter().map(change)).collect();
    let mut place = Map::from_iter([("artifactLocation".to_owned(), json!({ "uri": uri }))]);
    let line = finding.line.or_else(|| finding.set.iter().find_map(|it| line_of(text, &it.name)));
    // What is found in a default has no line; readers such as GitHub's show the first one.
    place.insert("region".into(), json!({ "startLine": line.unwrap_or(1) }));
    json!({
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": level,
        "message": { "text": words.join(" ") },
        "locations": [{ "physicalLocation": place }],
    })
}

/// Returns the text with a full stop, unless it ends in one.
fn ended(text: &str) -> String {
    let text = text.trim_end();
    if text.ends_with('.') { text.to_owned() } else { format!("{text}.") }
}

/// Returns the line, from 1, in which an option is set: the last one, which counts.
fn line_of(text: &str, option: &str) -> Option<usize> {
    let is_set = |line: &str| {
        let line = line.trim();
        let line = line.strip_prefix('#').map_or(line, str::trim_start);
        let rest = line.strip_prefix(option).map(str::trim_start);
        rest.is_some_and(|rest| rest.starts_with('=') || rest.starts_with("is not set"))
    };
    let lines: Vec<&str> = text.lines().collect();
    lines.iter().rposition(|line| is_set(line)).map(|at| at + 1)
}

/// Returns a path as a URI reference (RFC 3986), relative where the path is.
fn uri(path: &str) -> String {
    let mut uri = String::new();
    if path.starts_with('/') {
        uri.push_str("file://");
    }
    for byte in path.bytes() {
        match byte {
            b'\\' => uri.push('/'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte.into())
            }
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_has_its_last_line() {
        let text = "A=1\r\nCONFIG_B=2\n # CONFIG_C is not set\nCONFIG_B=3\nCONFIG_BB=1\n";
        assert_eq!(line_of(text, "CONFIG_B"), Some(4));
        assert_eq!(line_of(text, "CONFIG_C"), Some(3));
        assert_eq!(line_of(text, "CONFIG_D"), None);
    }

    #[test]
    fn a_path_is_a_reference() {
        assert_eq!(uri("my project/sdkconfig"), "my%20project/sdkconfig");
        assert_eq!(uri("/tmp/ä"), "file:///tmp/%C3%A4");
        assert_eq!(uri("a\\b:c"), "a/b%3Ac");
    }
}
