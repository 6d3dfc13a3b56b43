//! Diagnoses for a terminal and as Markdown.

use super::glance::{Colours, Screen};
use super::text::table_on;
use super::{markdown, wrap};
use espbench_doctor::crash::report::{CrashFrame, CrashReport};
use espbench_doctor::finding::{CauseFinding, TroubleCause};
use espbench_doctor::report::{DiagnosisEntry, DoctorDocument, ProofOutcome, place_name};
use espbench_measure::report::TEXT_MARK;
use espbench_model::text::counted;
use std::fmt::Write as _;

/// Most lines without `--full`.
const LINES: usize = 25;

/// Frames of a crash that are shown without `--full`.
const FRAMES: usize = 8;

/// Causes that are shown without `--full`.
const CAUSES: usize = 3;

/// Lines of a diagnosis that tell what to do.
const LEAST: usize = 7;

/// Renders all diagnoses; without `full` in 25 lines, which several share. Of many devices it tells first who suffers from
/// what, and without `full` only the first device of a cause has lines of its own.
#[must_use]
pub fn text(document: &DoctorDocument, full: bool, screen: Screen) -> String {
    let all: Vec<&DiagnosisEntry> = document.diagnoses.iter().collect();
    if !document.is_grouped() {
        return entries(&all, full, LINES, screen);
    }
    let head = groups(document, full, screen);
    if full {
        return format!("{head}\n{}", entries(&all, true, LINES, screen));
    }
    let room = LINES.saturating_sub(head.lines().count() + 2);
    let groups = document.groups();
    let firsts = groups.iter().filter(|it| it.cause.is_some()).map(|it| it.entries[0]);
    let firsts: Vec<&DiagnosisEntry> = firsts.take((room + 1) / (LEAST + 1)).collect();
    let Colours { faint, .. } = Colours::new(screen.coloured);
    let shown = match firsts.is_empty() {
        true => String::new(),
        false => format!("\n{}", entries(&firsts, false, room, screen)),
    };
    format!("{head}{shown}  {faint}each device: --full{faint:#}\n")
}

/// Renders who suffers from what.
fn groups(document: &DoctorDocument, full: bool, screen: Screen) -> String {
    let Colours { title, .. } = Colours::new(screen.coloured);
    let groups = document.groups();
    let ill = groups.iter().filter(|it| it.cause.is_some());
    let (causes, devices) = ill.fold((0, 0), |it, group| (it.0 + 1, it.1 + group.entries.len()));
    let all = document.diagnoses.len();
    let causes = counted(causes, "cause", "causes");
    let line = match devices {
        0 => format!("none of {all} devices shows a cause"),
        1 => format!("1 of {all} devices suffers from {causes}"),
        _ => format!("{devices} of {all} devices suffer from {causes}"),
    };
    format!("{title}{line}{title:#}\n\n{}", table_on(&document.devices(full), screen))
}

/// Renders diagnoses; without `full` in so many lines, which they share.
fn entries(all: &[&DiagnosisEntry], full: bool, lines: usize, screen: Screen) -> String {
    let count = all.len().max(1);
    // A blank line stands between two.
    let room = if full { usize::MAX } else { ((lines + 1) / count).saturating_sub(1).max(2) };
    let drawn = all.iter().map(|it| entry(it, full, room, screen));
    drawn.collect::<Vec<_>>().join("\n")
}

/// Lines of one part of a diagnosis, which is shown whole or not at all.
type Block = Vec<String>;

fn entry(entry: &DiagnosisEntry, full: bool, room: usize, screen: Screen) -> String {
    let (colours, width) = (Colours::new(screen.coloured), screen.width());
    let Colours { title, faint, warning, .. } = colours;
    let mut head: Block =
        wrap(&entry.title(), width).iter().map(|it| format!("{title}{it}{title:#}")).collect();
    if let (Some(lines), Some(recorded)) = (entry.lines, entry.recorded) {
        let word = if lines == 1 { "line" } else { "lines" };
        head.push(format!(
            "  {faint}{lines} {word}, {recorded} of them of a known format{faint:#}"
        ));
    }
    let mut blocks: Vec<Block> = Vec::new();
    let found = &entry.diagnosis;
    let most = if full { usize::MAX } else { CAUSES };
    for (at, it) in found.findings.iter().enumerate().take(most) {
        blocks.push(cause(at, &found.findings, full, width));
        let proof = entry.proof.iter().filter(|proof| proof.is_of(at, it));
        blocks.extend(proof.map(|it| told("lab:", &it.words(), width)));
        if at == 0 {
            blocks.extend(entry.crashes.iter().take(most).map(|it| crash(it, full, width)));
        }
    }
    if found.findings.is_empty() {
        blocks.extend(entry.crashes.iter().take(most).map(|it| crash(it, full, width)));
    }
    for it in &found.contradictions {
        let mut block = told("contradiction:", it, width);
        block[0] = format!("{warning}{}{warning:#}", block[0]);
        blocks.push(block);
    }
    blocks.extend(found.notes.iter().map(|it| told("note:", it, width)));
    let mut hidden = found.findings.len().saturating_sub(most);
    let mut out = head;
    for (at, block) in blocks.into_iter().enumerate() {
        // A blank line before it, and the line that tells of what is hidden.
        let fits = out.len() + block.len() + 1 < room;
        if fits || (hidden == 0 && at == 0 && room > 2) {
            out.push(String::new());
            out.extend(block);
        } else {
            hidden += 1;
        }
    }
    if !full {
        out.truncate(room.saturating_sub(usize::from(hidden > 0)).max(1));
    }
    if hidden > 0 {
        let more = counted(hidden as u64, "more finding", "more findings");
        out.push(format!("  {faint}{more}: --full{faint:#}"));
    }
    out.join("\n") + "\n"
}

/// Returns a sentence behind its word, wrapped.
fn told(word: &str, text: &str, width: usize) -> Block {
    let mut lines = wrap(&format!("{word} {text}"), width.saturating_sub(4));
    for (at, line) in lines.iter_mut().enumerate() {
        line.insert_str(0, if at == 0 { "  " } else { "    " });
    }
    lines
}

/// Returns a crash with its frames; without `full` the innermost ones.
fn crash(it: &CrashReport, full: bool, width: usize) -> Block {
    let mut out = told("crash:", &it.title(), width);
    let most = if full { usize::MAX } else { FRAMES };
    out.extend(it.frames.iter().take(most).flat_map(|it| indented(&it.words(), width)));
    let more = it.frames.len().saturating_sub(most);
    if more > 0 {
        out.push(format!("    and {}", counted(more as u64, "more frame", "more frames")));
    }
    if full {
        let registers = it.registers.iter().map(|it| format!("{}={:#010x}", it.name, it.value));
        let registers: Vec<String> = registers.collect();
        if !registers.is_empty() {
            out.extend(indented(&format!("registers: {}", registers.join(" ")), width));
        }
        if !it.others.is_empty() {
            out.extend(indented(&format!("other tasks: {}", it.others.join(", ")), width));
        }
    }
    out
}

/// Returns a text under the head of a block, wrapped.
fn indented(text: &str, width: usize) -> Block {
    let mut lines = wrap(text, width.saturating_sub(6));
    for (at, line) in lines.iter_mut().enumerate() {
        line.insert_str(0, if at == 0 { "    " } else { "      " });
    }
    lines
}

/// Returns how often a finding came, and its share of what went wrong. A setting does not come now and then.
fn weight(it: &CauseFinding) -> String {
    match (it.cause, it.incidents) {
        (TroubleCause::Settings(_), _) => "a setting".into(),
        (_, 1) => format!("once, {:.0} % of what went wrong", 100.0 * it.share),
        (_, times) => format!("{times} times, {:.0} % of what went wrong", 100.0 * it.share),
    }
}

/// Returns the number of the finding that one follows from, and its title.
fn root<'a>(it: &CauseFinding, all: &'a [CauseFinding]) -> Option<(usize, &'a str)> {
    let at = all.iter().position(|other| Some(other.cause) == it.follows_from)?;
    Some((at + 1, &all[at].title))
}

fn cause(at: usize, all: &[CauseFinding], full: bool, width: usize) -> Block {
    let (number, it) = (at + 1, &all[at]);
    let mut out: Block = wrap(&format!("{number} {}", it.title), width.saturating_sub(2));
    out.iter_mut().skip(1).for_each(|line| line.insert_str(0, "  "));
    out.push(format!("  {}; certainty {}", weight(it), it.certainty.word()));
    let most = if full { usize::MAX } else { 1 };
    for place in it.evidence.iter().take(most) {
        out.extend(told(&format!("{}:", place_name(place)), &place.text, width));
    }
    let follows = root(it, all).map(|(number, _)| format!("from {number}"));
    let rows = [
        ("follows:", follows.as_deref()),
        ("do:     ", Some(&*it.remedy)),
        ("confirm:", Some(&*it.confirm)),
        ("page:   ", it.link.as_deref().filter(|_| full)),
    ];
    for (word, text) in rows.into_iter().filter_map(|it| Some((it.0, it.1?))) {
        for (at, line) in wrap(text, width.saturating_sub(11)).into_iter().enumerate() {
            let word = if at == 0 { word } else { "        " };
            out.push(format!("  {word} {line}"));
        }
    }
    out
}

/// Renders all diagnoses as Markdown.
#[must_use]
pub fn markdown(document: &DoctorDocument) -> String {
    let escape = markdown::escape;
    let mut out = format!("{TEXT_MARK}\n");
    for entry in &document.diagnoses {
        let found = &entry.diagnosis;
        let _ = writeln!(out, "# {}\n", escape(&entry.title()));
        for (at, it) in found.findings.iter().enumerate() {
            let (number, title, sure) = (at + 1, escape(&it.title), it.certainty.word());
            let _ = writeln!(out, "{number}. **{title}**: {}, certainty {sure}", weight(it));
            for place in &it.evidence {
                let _ = writeln!(out, "   - {}: {}", place_name(place), escape(&place.text));
            }
            if let Some((number, title)) = root(it, &found.findings) {
                let _ = writeln!(out, "   - Follows from {number}: {}", escape(title));
            }
            let _ = writeln!(out, "   - Do: {}", escape(&it.remedy));
            let _ = writeln!(out, "   - Confirm: {}", escape(&it.confirm));
            if let Some(link) = &it.link {
                let _ = writeln!(out, "   - Page: <{link}>");
            }
        }
        for it in &entry.crashes {
            let _ = writeln!(out, "\n{}\n", escape(&it.title()));
            for words in it.frames.iter().map(CrashFrame::words) {
                let _ = writeln!(out, "- {}", escape(&words));
            }
        }
        let proof = entry.proof.iter().map(ProofOutcome::words);
        let rest = found.contradictions.iter().chain(&found.notes).cloned();
        for line in proof.chain(rest) {
            let _ = writeln!(out, "\n{}", escape(&line));
        }
        out.push('\n');
    }
    out
}
