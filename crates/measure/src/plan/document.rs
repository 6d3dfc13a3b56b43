//! The keys of plans as tables, for `docs/plans.md`.

use super::key::PlanKey;
use super::{lab, limits, matrix, read};
use crate::kind;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Writes the tables of all keys in Markdown.
#[must_use]
pub fn document() -> String {
    let mut text = String::from("### The plan\n");
    let of_plan: Vec<PlanKey> = read::KEYS.into_iter().copied().collect();
    table(&mut text, &of_plan, |_| None);
    text += "\n### `[[measure]]` of every kind\n";
    table(&mut text, &[matrix::KIND], |_| None);
    for test in kind::all() {
        text += &format!("\n### `kind = \"{}\"`\n", test.name());
        table(&mut text, test.keys(), |key| test.get(key));
    }
    text += "\n### What a plan varies of the virtual lab\n";
    table(&mut text, &lab::KEYS, |_| None);
    text += "\nKinds over Wi-Fi also have:\n";
    table(&mut text, &lab::OVER_WIFI, |_| None);
    text += "\n### `[[threshold]]`\n";
    let of_threshold: Vec<PlanKey> = limits::KEYS.into_iter().copied().collect();
    table(&mut text, &of_threshold, |_| None);
    text
}

fn table(text: &mut String, keys: &[PlanKey], default: impl Fn(&str) -> Option<String>) {
    *text += "\n| key | value | if left out | example | meaning |\n|---|---|---|---|---|\n";
    for key in keys {
        let usual = match default(key.name) {
            Some(value) if key.usual.is_empty() => format!("`{value}`"),
            _ => key.usual.into(),
        };
        let example = match key.example {
            "" => String::new(),
            value => format!("`{} = {value}`", key.name),
        };
        *text +=
            &format!("| `{}` | {} | {usual} | {example} | {} |\n", key.name, key.takes, key.about);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Plan;
    use super::super::key::PlanValue;
    use super::*;
    use crate::units::print_duration;
    use alloc::string::ToString;
    use core::time::Duration;

    /// Reads a plan of one block.
    fn read(kind: &str, lines: &str) -> Result<Plan, String> {
        let text = format!("name = \"a\"\n[[measure]]\nkind = \"{kind}\"\n{lines}\n");
        Plan::parse(&text).map_err(|e| e.message)
    }

    /// Returns other keys that a key needs beside it.
    fn beside(kind: &str, key: &str) -> &'static str {
        match (kind, key) {
            ("udp-echo", "in_flight") => "format = \"binary\"",
            ("mqtt-rate", "session_expiry") => "version = \"5\"",
            ("mqtt-rate", "in_flight") => "qos = 1",
            ("esp-now-messages", "devices" | "cast" | "schedule" | "radio") => {
                "pattern = \"many-to-one\""
            }
            ("esp-now", "devices") => "test = \"multi-ping\"",
            ("iperf", "bounceback_period" | "bounceback_hold" | "bounceback_quick_ack") => {
                "bounceback = 10\nlength = 100"
            }
            ("iperf", "bounceback") => "length = 100",
            _ => "",
        }
    }

    #[test]
    fn every_example_is_read() {
        for test in kind::all() {
            let kind = test.name();
            for key in test.keys() {
                let line = format!("{}\n{} = {}", beside(kind, key.name), key.name, key.example);
                let plan = read(kind, &line).unwrap_or_else(|e| panic!("{kind}: {line}: {e}"));
                assert_eq!(plan.workloads.len(), 1);
            }
        }
        for key in lab::KEYS.iter().chain(&lab::OVER_WIFI) {
            let name = key.name.replace("CONFIG_NAME", "CONFIG_LWIP_UDP_RECVMBOX_SIZE");
            let variant = if name == "variant" { "" } else { "variant = \"a\"" };
            read("udp-echo", &format!("{variant}\n{name} = {}", key.example)).unwrap();
        }
        let block = "[[measure]]\nkind = \"ping\"\n";
        for key in read::KEYS.iter().filter(|it| !it.example.is_empty() && it.name != "name") {
            Plan::parse(&format!("name = \"a\"\n{} = {}\n{block}", key.name, key.example)).unwrap();
        }
        for key in limits::KEYS {
            let others = ["metric = \"rtt_p99\"", "max = \"1 s\""];
            let others = others.into_iter().filter(|it| !it.starts_with(key.name));
            let lines: Vec<&str> = others.collect();
            let line = format!("{} = {}", key.name, key.example);
            let text =
                format!("name = \"a\"\n{block}[[threshold]]\n{}\n{line}\n", lines.join("\n"));
            Plan::parse(&text).unwrap_or_else(|e| panic!("{line}: {e}"));
        }
    }

    /// Returns values beyond the ends of a range, and the words of the error.
    fn beyond(takes: PlanValue) -> Vec<(String, String)> {
        let nanosecond = Duration::from_nanos(1);
        match takes {
            PlanValue::Whole(least, most) => {
                let said = format!("use {least} to {most}");
                let below = least.checked_sub(1).map(|it| it.to_string());
                let above = (most < i64::MAX as u64).then(|| (most + 1).to_string());
                below.into_iter().chain(above).map(|it| (it, said.clone())).collect()
            }
            PlanValue::Bytes(least, most) => {
                let said = format!("use {least} to {most}");
                let below = least.checked_sub(1).map(|it| it.to_string());
                below
                    .into_iter()
                    .chain([(most + 1).to_string()])
                    .map(|it| (it, said.clone()))
                    .collect()
            }
            PlanValue::Time(least, most) => {
                let said = format!("use {} to {}", print_duration(least), print_duration(most));
                let below = least.checked_sub(nanosecond);
                let quoted = |it: Duration| format!("\"{} s\"", it.as_secs_f64());
                let above = most + Duration::from_secs(1);
                below.into_iter().chain([above]).map(|it| (quoted(it), said.clone())).collect()
            }
            PlanValue::Switch => [("3".into(), "expected true or false".into())].into(),
            PlanValue::Word(words) => {
                [("\"nonsense\"".into(), format!("use one of {}", words.join(", ")))].into()
            }
            PlanValue::Number(..) | PlanValue::Form(_) => Vec::new(),
        }
    }

    #[test]
    fn what_is_beyond_a_range_is_refused_with_the_range() {
        let mut tried = 0;
        for test in kind::all() {
            for key in test.keys() {
                for (value, said) in beyond(key.takes) {
                    let line = format!("{} = {value}", key.name);
                    let error = read(test.name(), &line).expect_err(&line);
                    assert!(error.contains(&said), "{}: {line}: {error}", test.name());
                    tried += 1;
                }
            }
        }
        assert!(tried > 70, "{tried}");
    }

    /// Values at the ends may be refused beside other keys, but not for their range.
    #[test]
    fn the_ends_of_a_range_are_in_it() {
        for test in kind::all() {
            for key in test.keys() {
                let ends = match key.takes {
                    PlanValue::Whole(least, most) | PlanValue::Bytes(least, most) => {
                        [least, most].map(|it| it.to_string())
                    }
                    PlanValue::Time(least, most) => {
                        [least, most].map(|it| format!("\"{}\"", print_duration(it)))
                    }
                    _ => continue,
                };
                for end in ends {
                    let line = format!("{}\n{} = {end}", beside(test.name(), key.name), key.name);
                    let error = read(test.name(), &line).err().unwrap_or_default();
                    assert!(!error.contains("out of range"), "{}: {line}: {error}", test.name());
                }
            }
        }
    }
}
