//! Counts how many of the lines that sources can print meet a rule.
//!
//! `coverage FILE.tsv [all]` reads a table of formats with the columns component, file, tag, level (E, W, I or -), format,
//! whether it tells a failure (1 or 0), and meaning. It fills each format with plausible values, reads the line as the doctor
//! does, and prints a row per component: formats, those that tell a failure, of these with a rule, of those with a rule that
//! names a part of their text (others meet one by their tag and level, or by words), and those that tell no failure but meet a
//! rule. Behind it stand the failures without a rule, and with `all` each line with what it tells.

use espbench_doctor::log::{LogEvent, events, plain, records};
use espbench_doctor::matcher::RuleBook;
use std::collections::BTreeMap;

/// Formats of a component.
#[derive(Default)]
struct Counts {
    formats: u64,
    failures: u64,
    covered: u64,
    named: u64,
    alarms: u64,
}

fn main() {
    let mut args = std::env::args().skip(1);
    let path = args.next().expect("usage: coverage FILE.tsv [all]");
    let all = args.next().is_some_and(|it| it == "all");
    let text = std::fs::read_to_string(&path).expect("a table of formats");
    let mut counted: BTreeMap<&str, Counts> = BTreeMap::new();
    let mut lines = Vec::new();
    for row in text.lines() {
        let columns: Vec<&str> = row.split('\t').collect();
        let [component, file, tag, level, format, failure, ..] = *columns else { continue };
        let line = line(component, file, tag, level, &filled(format));
        let told = told(&line);
        let counts = counted.entry(component).or_default();
        counts.formats += 1;
        let is_failure = failure == "1";
        let is_covered = told.iter().any(tells_failure);
        counts.failures += u64::from(is_failure);
        counts.covered += u64::from(is_failure && is_covered);
        counts.named += u64::from(is_failure && is_covered && is_named(&line));
        counts.alarms += u64::from(!is_failure && is_covered);
        let mark = match (is_failure, is_covered) {
            (true, true) => "known",
            (true, false) => "missed",
            (false, true) => "alarm",
            (false, false) => "silent",
        };
        if all || mark == "missed" {
            lines.push(format!("{mark}\t{component}\t{line}\t{told:?}"));
        }
    }
    println!("component\tformats\tfailures\twith a rule\tby text\tother with a rule");
    for (component, it) in counted {
        let Counts { formats, failures, covered, named, alarms } = it;
        println!("{component}\t{formats}\t{failures}\t{covered}\t{named}\t{alarms}");
    }
    for line in lines {
        println!("{line}");
    }
}

/// Returns what a line tells.
fn told(line: &str) -> Vec<LogEvent> {
    records(&plain(line)).iter().flat_map(events).collect()
}

/// Returns whether a rule that names a part of the line's text tells a failure.
fn is_named(line: &str) -> bool {
    let line = plain(line);
    let is = |record| {
        let told = RuleBook::built_in().read(&record).told();
        told.iter()
            .any(|it| !it.rule.patterns.is_empty() && it.event.as_ref().is_some_and(tells_failure))
    };
    records(&line).into_iter().any(is)
}

/// Returns whether an event is one of a failure.
fn tells_failure(event: &LogEvent) -> bool {
    use espbench_doctor::log::WordCause::{LinkTry, ServerTry};
    match event {
        LogEvent::Sign(sign) => {
            RuleBook::built_in().causes().any(|it| it.signs.iter().any(|it| it == sign.0))
        }
        LogEvent::Setting(..)
        | LogEvent::Chip(_)
        | LogEvent::Release(_)
        | LogEvent::Clock(_)
        | LogEvent::Dtim(_)
        | LogEvent::Phy(_)
        | LogEvent::BlockAck(_)
        | LogEvent::PhyRate(_)
        | LogEvent::FastReply
        | LogEvent::EspNowHeard
        | LogEvent::EspNowReceived
        | LogEvent::Associated
        | LogEvent::GotIp
        | LogEvent::Rssi(_)
        | LogEvent::OtherRssi(_)
        | LogEvent::PowerSave(_)
        | LogEvent::Channel(_)
        | LogEvent::ClientJoinedAp
        | LogEvent::ClientServed
        | LogEvent::JoinBegins
        | LogEvent::JoinEnds
        | LogEvent::TlsCode(_)
        | LogEvent::ConnectionMade
        | LogEvent::Entered
        | LogEvent::FreeHeap(_)
        | LogEvent::FileSystemMounted
        | LogEvent::Words(LinkTry | ServerTry) => false,
        _ => true,
    }
}

/// Returns a record as the component's program prints it.
fn line(component: &str, file: &str, tag: &str, level: &str, text: &str) -> String {
    let file = file.rsplit('/').next().unwrap_or(file);
    match component.split('/').next().unwrap_or(component) {
        "arduino" => format!("[ 51220][{level}][{file}:183] begin(): {text}"),
        "esphome" => format!("[10:21:52][{level}][{tag}:183]: {text}"),
        "tasmota" => format!("00:00:51.220 {text}"),
        "micropython" if level == "E" && tag == "(exception)" => format!("OSError: {text}"),
        "esp-hosted" if tag == "(kernel)" => {
            format!("[   51.220000] esp32_sdio: esp_probe: {text}")
        }
        _ if level == "-" => text.to_owned(),
        // What comes before a program.
        "bootloader" | "bootloader_support" | "spi_flash" | "esp_system" => {
            format!("{level} (512) {tag}: {text}")
        }
        _ => format!("{level} (51220) {tag}: {text}"),
    }
}

/// Fills the conversions of a format of `printf` with plausible values.
fn filled(format: &str) -> String {
    let mut text = String::new();
    let mut chars = format.chars().peekable();
    while let Some(char) = chars.next() {
        if char != '%' {
            text.push(char);
            continue;
        }
        let mut spec = String::new();
        while let Some(next) = chars.next_if(|it| "0123456789.-+ #*lhzjt".contains(*it)) {
            spec.push(next);
        }
        match chars.next() {
            Some('d' | 'i') if is_errno(&text) => text.push_str("104"),
            Some('d' | 'i') => text.push('7'),
            Some('u') => text.push_str("42"),
            Some('x' | 'X') if spec.starts_with("02") => text.push_str("5e"),
            Some('x' | 'X') => text.push_str("102"),
            Some('p') => text.push_str("0x3ffb1c40"),
            Some('c') => text.push('c'),
            Some('f' | 'g' | 'e') => text.push_str("1.5"),
            Some('s') if is_errno(&text) => text.push_str("Connection reset by peer"),
            Some('s') => text.push_str("node"),
            Some('%') => text.push('%'),
            Some(other) => text.extend(['%', other]),
            None => text.push('%'),
        }
    }
    text
}

/// Returns whether the error of a socket comes next.
fn is_errno(text: &str) -> bool {
    let end = text.trim_end_matches([' ', ':', '=', '[', '(', '-', '0', 'x']);
    end.to_ascii_lowercase().ends_with("errno")
        || end.ends_with("error in send")
        || end.ends_with("error in recv")
}
