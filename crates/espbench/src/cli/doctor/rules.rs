//! Rules of a team's own, and which rules a line meets.

use crate::named_file::WRITTEN;
use crate::texts;
use crate::user_error::UserError;
use espbench_doctor::log::{LogRecord, plain, records};
use espbench_doctor::matcher::explain::{ExplainedRule, RuleOutcome};
use espbench_doctor::matcher::{RuleBook, RuleFault};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Rules that do not tell, of a record, at most.
const OTHERS: usize = 10;

/// Remedy of a file of rules that is none.
const REMEDY: &str = "correct it: docs/doctor-rules.md has the keys, and a rule with an example";

/// A file of rules: its name and its text.
type RuleText = (String, String);

/// Books of rules that one process reads, at most.
const MOST: usize = 64;

/// Books of rules that were read, each by its texts, with a fault where an example does not meet its rule.
type RuleBooks = Vec<(Vec<RuleText>, Result<&'static RuleBook, RuleFault>)>;

/// Books of this process: a summary of a log refers to its book, which therefore stays.
static BOOKS: Mutex<RuleBooks> = Mutex::new(Vec::new());

/// Returns the doctor's own rules with those of some files, whose examples are tried.
///
/// # Errors
/// A file cannot be read, or has a mistake.
pub(super) fn book(paths: &[PathBuf]) -> anyhow::Result<&'static RuleBook> {
    if paths.is_empty() {
        return Ok(RuleBook::built_in());
    }
    let read = |it: &PathBuf| {
        let remedy = "give --rules a .toml file: docs/doctor-rules.md has one";
        let text = texts::read(it, "rules", WRITTEN);
        let text = text.map_err(|why| UserError::new(format!("{why:#}")).remedy(remedy))?;
        Ok((it.display().to_string(), text))
    };
    let texts: Vec<RuleText> = paths.iter().map(read).collect::<anyhow::Result<_>>()?;
    let mut books = BOOKS.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(of_texts(texts, &mut books, MOST)?)
}

/// Returns the book of some texts: one that is known, or one more of at most so many.
fn of_texts(
    texts: Vec<RuleText>,
    books: &mut RuleBooks,
    most: usize,
) -> Result<&'static RuleBook, UserError> {
    if let Some(known) = books.iter().find(|it| it.0 == texts) {
        return known.1.clone().map_err(|it| told(&it));
    }
    if books.len() >= most {
        return Err(UserError::new("too many files of rules")
            .because(format!("this process has read {most} different ones, and keeps them all"))
            .remedy("start espbench anew"));
    }
    let borrowed: Vec<(&str, &str)> = texts.iter().map(|it| (&*it.0, &*it.1)).collect();
    let read = RuleBook::from_files(&borrowed).map_err(|it| told(&it))?;
    let book: &'static RuleBook = Box::leak(Box::new(read));
    let mut own = book.rules().filter(|rule| texts.iter().any(|it| it.0 == rule.file));
    let tried = own.try_for_each(|it| book.try_examples(it).map(drop)).map(|()| book);
    drop(own);
    books.push((texts, tried.clone()));
    tried.map_err(|it| told(&it))
}

fn told(fault: &RuleFault) -> UserError {
    let RuleFault { file, line, why } = fault;
    let place = line.map_or_else(String::new, |it| format!("line {it}: "));
    UserError::new(format!("{file} cannot be read as rules"))
        .because(format!("{place}{why}"))
        .remedy(REMEDY)
}

/// Tells which rules the records of a line meet, and why those near to it do not.
pub(super) fn explained(book: &'static RuleBook, line: &str) -> String {
    let line = plain(line);
    let found = records(&line);
    let mut out = String::new();
    for record in &found {
        if !out.is_empty() {
            out.push('\n');
        }
        let _ = writeln!(out, "{}", head(record));
        let (met, others): (Vec<_>, Vec<_>) =
            book.read(record).explain().into_iter().partition(|it| is_met(&it.outcome));
        if met.is_empty() {
            out += "  no rule tells what it says\n";
        }
        for it in met.iter().chain(others.iter().take(OTHERS)) {
            let _ = writeln!(out, "  {}", one(it));
        }
        if others.len() > OTHERS {
            let _ = writeln!(out, "  and {} more that do not", others.len() - OTHERS);
        }
    }
    if found.is_empty() {
        out += "the line is empty\n";
    }
    out
}

const fn is_met(outcome: &RuleOutcome) -> bool {
    matches!(outcome, RuleOutcome::Tells | RuleOutcome::Words)
}

/// Returns a record by its parts.
fn head(record: &LogRecord<'_>) -> String {
    match record.level {
        Some(level) => format!("{level:?} of \"{}\": {}", record.tag, record.text),
        None => format!("a line of no known format: {}", record.text),
    }
}

/// Returns a rule in one line: outcome, name, file, and what it says.
fn one(it: &ExplainedRule) -> String {
    let says = match &*it.says {
        "" => "the line is in order".into(),
        says => says.to_owned(),
    };
    let causes = match it.causes.join(", ") {
        none if none.is_empty() => none,
        causes => format!(", cause {causes}"),
    };
    let is = if is_met(&it.outcome) { "+" } else { "-" };
    format!("{is} {} ({}) {}: {says}{causes}", it.name, it.file, it.outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEAM: &str = include_str!("../../../../doctor/tests/team.toml");

    #[test]
    fn books_are_read_once_and_have_a_bound() {
        let mut books = RuleBooks::new();
        let mut read =
            |text: &str| of_texts(vec![("team.toml".into(), text.into())], &mut books, 2);
        let first = read(TEAM).unwrap();
        assert!(std::ptr::eq(read(TEAM).unwrap(), first));
        // What is wrong is kept, too.
        let wrong = TEAM.replace("from gateway 7\"]\nnot", "from it\"]\nnot");
        assert_ne!(wrong, TEAM);
        let fault = read(&wrong).unwrap_err();
        assert!(fault.why.contains("its example"), "{fault}");
        assert_eq!(read(&wrong).unwrap_err(), fault);
        let other = read(&format!("{TEAM}\n")).unwrap_err();
        assert!(other.why.contains("2 different ones"), "{other}");
        read(TEAM).unwrap();
    }
}
