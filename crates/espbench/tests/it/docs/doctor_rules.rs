//! `docs/doctor-rules.md`, written from the doctor's rules.

use super::page::{Page, root};
use super::{AGAIN, is_blessed};
use espbench_doctor::matcher::RuleBook;
use espbench_doctor::matcher::rule::Rule;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

const PAGE: &str = "docs/doctor-rules.md";

const HEAD: &str = concat!(
    r#"# The doctor's rules

What [`espbench doctor`](doctor.md) reads in a log is data: `crates/doctor/rules/*.toml` have a record for each line that tells something, `causes.toml` one for each
cause that lines are signs of. A test writes this page from them (`BLESS=1 cargo test -p espbench --features full --test it docs`).

## Add a rule

A rule is one record of TOML with an example. This file has a rule and a cause of a team's own, and `espbench doctor --rules team.toml boot.log` reads logs with it, beside
the rules below:

```toml
"#,
    include_str!("../../../../doctor/tests/team.toml"),
    r#"```

- Each of `examples` has to meet the rule and each of `not` must not: they are tried when the file is read, and a mistake names file, line or rule.
- `espbench doctor --rules team.toml --explain 'E (700) gateway: no answer from gateway 7'` tells which rules a line meets, and why those near to it do not.
- In a pattern `{number}`, `{signed}`, `{hex}`, `{address}`, `{ip}`, `{host}`, `{duration}`, `{bytes}` and `{word}` are captures, `{text}` is any text, `{sep}` are blanks and `: = ( ) [ ] ' " # > ,`, `^` and `$` are
  the begin and the end of the message, `|` is a border of a word. Letters are of any case.
- `with` has lists of which the message has a pattern, too, `without` patterns that it has not; `[lists]` names patterns for several rules (`@name`). In place of `sign` a rule may have an `event` that the
  doctor knows, as the rules below do, or nothing: then the line is in order (`turn = 0` in the head of the file).
- Of the rules of one topic the one with the highest `priority` tells; of two alike, the one that stands first. `crates/doctor/src/matcher/rule.rs` and `cause.rs` have all keys.

A rule for everybody goes into the file of its topic in `crates/doctor/rules`, where the same test tries it.
"#
);

/// Returns a text as a cell of a table.
fn cell(text: &str) -> String {
    text.replace('\\', "\\\\").replace('|', "\\|").replace('<', "&lt;").replace('*', "\\*")
}

/// Returns names as a cell.
fn names(names: &[String]) -> String {
    let name = |it: &String| match it.as_str() {
        "" => "lines without a tag".into(),
        name => format!("`{}`", name.replace('|', "\\|")),
    };
    names.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// Returns what a rule says: its event, or the causes that it is a sign of.
fn says(book: &RuleBook, rule: &Rule) -> String {
    let Some(sign) = &rule.sign else {
        return match rule.says() {
            none if none.is_empty() => "in order".into(),
            says => format!("`{says}`"),
        };
    };
    let of = book.causes().filter(|it| it.signs.contains(sign));
    let causes: Vec<String> = of.map(|it| it.stable_name().to_owned()).collect();
    if causes.is_empty() { format!("sign `{sign}`") } else { format!("cause {}", names(&causes)) }
}

fn written() -> String {
    let folder = root("crates/doctor/rules");
    let book =
        RuleBook::from_whole_files(|it| fs::read_to_string(folder.join(it)).unwrap()).unwrap();
    let mut topics: BTreeMap<&str, Vec<&Rule>> = BTreeMap::new();
    for rule in book.rules() {
        topics.entry(rule.topic.as_deref().unwrap_or_default()).or_default().push(rule);
    }
    let mut out = String::from(HEAD);
    let (rules, causes) = (book.rules().count(), book.causes().count());
    let _ = write!(
        out,
        "\n## All rules\n\n{rules} rules in {} topics, and {causes} records of causes.\n",
        topics.len()
    );
    for (topic, rules) in topics {
        let _ = write!(
            out,
            "\n### {topic}\n\n| rule | component | level | speaks of | event or cause | source |\n\
             |---|---|---|---|---|---|\n"
        );
        for rule in rules {
            let levels: Vec<String> =
                rule.level.iter().map(|it| format!("{it:?}").to_lowercase()).collect();
            let _ = writeln!(
                out,
                "| `{}` | {} | {} | {} | {} | {} |",
                rule.name,
                names(&rule.component),
                levels.join(", "),
                rule.speaks_of.name(),
                says(&book, rule),
                cell(&rule.source),
            );
        }
    }
    out
}

#[test]
fn the_page_of_rules_is_that_of_the_rules() {
    let expected = written();
    if is_blessed() {
        std::fs::write(root(PAGE), &expected).unwrap();
    }
    let found = std::fs::read_to_string(root(PAGE)).unwrap_or_default();
    assert!(found == expected, "{PAGE} is old: {AGAIN}");
}

#[test]
fn the_rule_that_the_page_shows_is_one() {
    let page = Page::read(PAGE);
    let fence = page.fences().into_iter().find(|it| it.info == "toml").expect("an example");
    let text = page.lines[fence.lines].join("\n");
    let read = RuleBook::from_files(&[("team.toml", &text)]).unwrap_or_else(|e| panic!("{e}"));
    let book: &'static RuleBook = Box::leak(Box::new(read));
    let own = book.rules().filter(|it| it.file == "team.toml");
    assert_eq!(own.map(|it| book.try_examples(it).unwrap()).count(), 1);
}
