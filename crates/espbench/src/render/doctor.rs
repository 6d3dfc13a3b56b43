//! Diagnoses for a terminal and as Markdown.

use super::glance::{Colours, Screen};
use super::{markdown, wrap};
use espbench_doctor::finding::CauseFinding;
use espbench_doctor::report::{DiagnosisEntry, DoctorDocument, ProofOutcome, place_name};
use espbench_model::text::counted;
use std::fmt::Write as _;

/// Most lines without `--full`.
const LINES: usize = 25;

/// Causes that are shown without `--full`.
const CAUSES: usize = 3;

/// Renders all diagnoses; without `full` in 25 lines, which several share.
#[must_use]
pub fn text(document: &DoctorDocument, full: bool, screen: Screen) -> String {
    let count = document.diagnoses.len().max(1);
    // A blank line stands between two.
    let room = if full { usize::MAX } else { ((LINES + 1) / count).saturating_sub(1).max(2) };
    let entries = document.diagnoses.iter().map(|it| entry(it, full, room, screen));
    entries.collect::<Vec<_>>().join("\n")
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
        blocks.push(cause(at + 1, it, full, width));
        let proof = entry.proof.iter().filter(|proof| proof.is_of(at, it));
        blocks.extend(proof.map(|it| told("lab:", &it.words(), width)));
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

fn cause(number: usize, it: &CauseFinding, full: bool, width: usize) -> Block {
    let times = if it.incidents == 1 { "once" } else { &*format!("{} times", it.incidents) };
    let mut out: Block = wrap(&format!("{number} {}", it.title), width.saturating_sub(2));
    out.iter_mut().skip(1).for_each(|line| line.insert_str(0, "  "));
    out.push(format!(
        "  {times}, {:.0} % of what went wrong; certainty {}",
        it.share * 100.0,
        it.certainty.word()
    ));
    let most = if full { usize::MAX } else { 1 };
    for place in it.evidence.iter().take(most) {
        out.extend(told(&format!("{}:", place_name(place)), &place.text, width));
    }
    for (word, text) in [("do:     ", &it.remedy), ("confirm:", &it.confirm)] {
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
    let mut out = String::new();
    for entry in &document.diagnoses {
        let found = &entry.diagnosis;
        let _ = writeln!(out, "# {}\n", escape(&entry.title()));
        for (at, it) in found.findings.iter().enumerate() {
            let _ = writeln!(
                out,
                "{}. **{}**: {} times, {:.0} % of what went wrong, certainty {}",
                at + 1,
                escape(&it.title),
                it.incidents,
                100.0 * it.share,
                it.certainty.word()
            );
            for place in &it.evidence {
                let _ = writeln!(out, "   - {}: {}", place_name(place), escape(&place.text));
            }
            let _ = writeln!(out, "   - Do: {}", escape(&it.remedy));
            let _ = writeln!(out, "   - Confirm: {}", escape(&it.confirm));
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
