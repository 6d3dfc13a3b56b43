//! Pages do not go stale: what a page shows of a command is what it prints, and its commands run.
//!
//! In README.md, docs/*.md and docs/notes/*.md
//!
//! - a command of a console, `$ espbench …`, is carried out in a folder that has what pages name ([`run`]). The lines
//!   below it are what it prints, and `…` stands for lines that are left out. A comment above the console,
//!   `<!-- not run: WHY -->`, leaves it at reading its command lines.
//! - `<!-- shows PART; PART -->` above a block says what that shows of the last command above ([`shown`]).
//! - `<!-- figure: SOURCE -->VALUE<!-- -->` is a figure in a sentence ([`figures`]).
//! - every other command line is one that the command takes, and every flag one that it has ([`commands`]).
//!
//! `BLESS=1 cargo test -p espbench --features full --test it docs` writes all of it again.

mod commands;
mod doctor_rules;
mod figures;
mod page;
mod run;
mod shown;

use page::{Fence, Page, pages};
use run::Reader;

/// Remedy where a page is old.
const AGAIN: &str = "BLESS=1 cargo test -p espbench --features full --test it docs";

fn is_blessed() -> bool {
    std::env::var_os("BLESS").is_some()
}

/// Returns the pages whose commands are carried out.
fn is_carried_out(page: &Page) -> bool {
    let folder = page.name.rsplit_once('/').map_or("", |it| it.0);
    page.name == "README.md" || ["docs", "docs/notes"].contains(&folder)
}

/// Lines of a page, and those that should stand there.
type Change = (std::ops::Range<usize>, Vec<String>);

/// Carries out the commands of a page, and returns what it shows of them.
fn shown_on(page: &Page) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut reader = Reader::new(page);
    // A command of which the page has shown nothing yet.
    let mut last: Option<String> = None;
    let mut is_shown = true;
    for fence in page.fences() {
        if let Some(note) = fence.note.strip_prefix("shows ") {
            let command = last
                .as_ref()
                .unwrap_or_else(|| panic!("{}: no command above", page.place(fence.lines.start)));
            changes.push((fence.lines.clone(), shown::shown(note, &reader.exactly(command))));
            is_shown = true;
        }
        if fence.note.starts_with("not run: ") {
            continue;
        }
        for command in page.commands(&fence) {
            if !std::mem::replace(&mut is_shown, true) {
                reader.tries(last.as_ref().unwrap());
            }
            if !command.text.starts_with("espbench ") {
                continue;
            }
            if command.prints.is_empty() {
                is_shown = false;
            } else {
                let lines = &page.lines[command.prints.clone()];
                let out = reader.exactly(&command.text);
                let new = shown::renewed(lines, out.screen());
                let place = page.place(command.at);
                let new =
                    new.unwrap_or_else(|| panic!("{place}: no such lines in\n{}", out.screen()));
                changes.push((command.prints, new));
            }
            last = Some(command.text);
        }
    }
    if !is_shown {
        reader.tries(last.as_ref().unwrap());
    }
    changes
}

/// Says where a page and an output part.
fn difference(page: &Page, lines: &std::ops::Range<usize>, new: &[String]) -> String {
    let shown = &page.lines[lines.clone()];
    let part =
        shown.iter().zip(new).position(|(a, b)| a != b).unwrap_or(shown.len().min(new.len()));
    let line = |lines: &[String]| lines.get(part).map_or("(ends)", |it| it).to_string();
    let place = page.place(lines.start + part);
    format!("{place}: the page shows\n  {}\nand the command prints\n  {}", line(shown), line(new))
}

/// Asserts that a page shows what its commands print and what its figures are; with `BLESS=1` it is made so.
fn check(mut page: Page) {
    let mut old = Vec::new();
    for figure in page.figures().into_iter().rev() {
        let value = figures::value(&figure.source);
        let line = &mut page.lines[figure.at];
        if line[figure.value.clone()] != value {
            old.push(format!("{}:{}: {} is {value} now", page.name, figure.at + 1, figure.source));
            line.replace_range(figure.value, &value);
        }
    }
    for (lines, new) in shown_on(&page).into_iter().rev() {
        if page.lines[lines.clone()] != new[..] {
            old.push(difference(&page, &lines, &new));
            page.lines.splice(lines, new);
        }
    }
    if is_blessed() {
        page.write();
    } else {
        assert!(old.is_empty(), "{AGAIN}\n{}", old.join("\n"));
    }
}

#[test]
fn the_readme_shows_what_its_commands_print() {
    check(Page::read("README.md"));
}

#[test]
fn the_page_of_predictions_shows_what_its_commands_print() {
    check(Page::read("docs/predict.md"));
}

#[test]
fn the_page_of_rates_shows_what_its_commands_print() {
    check(Page::read("docs/rate.md"));
}

#[test]
fn the_page_of_settings_shows_what_its_commands_print() {
    check(Page::read("docs/tune.md"));
}

#[test]
fn all_other_pages_show_what_their_commands_print() {
    let own = ["README.md", "docs/predict.md", "docs/rate.md", "docs/tune.md"];
    for page in pages().into_iter().filter(|it| is_carried_out(it) && !own.contains(&&*it.name)) {
        check(page);
    }
}

/// Returns whether a test reads what is between two fences: what nobody reads goes stale.
fn is_read(page: &Page, fence: &Fence) -> bool {
    let is_console = page.lines[fence.lines.clone()].iter().any(|it| it.starts_with("$ "));
    let by_others = ["toml", "json", "python", "yaml", "c", "rust", "sh"];
    let notes = ["shows ", "not run: ", "not printed: "];
    is_console
        || by_others.contains(&&*fence.info)
        || notes.iter().any(|it| fence.note.starts_with(it))
}

#[test]
fn no_block_is_without_a_command() {
    let mut wrong = Vec::new();
    for page in pages().into_iter().filter(is_carried_out) {
        let fences = page.fences();
        let unread = fences.iter().filter(|it| !is_read(&page, it));
        wrong.extend(unread.map(|it| page.place(it.lines.start)));
    }
    assert!(wrong.is_empty(), "say what they show, or `<!-- not printed: WHY -->`: {wrong:#?}");
}
