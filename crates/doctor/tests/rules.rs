//! Each rule is tried with its own examples: each of `examples` meets it and no other rule of its topic comes first, and
//! none of `not` meets it.

use espbench_doctor::log::{plain, records};
use espbench_doctor::matcher::RuleBook;

/// Returns the rules that tell what the records of a line say.
fn told(line: &str) -> Vec<&'static str> {
    let line = plain(line);
    let book = RuleBook::built_in();
    let mut told = Vec::new();
    for record in records(&line) {
        let reading = book.read(&record);
        // Whatever the turn of its topic.
        told.extend(reading.met().iter().map(|it| &*it.name));
        // A bare failure is of what the lines before it speak of: an example may begin with that.
        told.extend(reading.word_rules(None).iter().map(|it| &*it.name));
    }
    told
}

#[test]
fn each_rule_has_examples_that_meet_it_and_tells_where_they_come_from() {
    let mut wrong = Vec::new();
    for rule in RuleBook::built_in().rules() {
        if rule.examples.is_empty() || rule.source.is_empty() {
            wrong.push(format!("{}: it lacks an example or its source", rule.name));
        }
        for line in &rule.examples {
            let found = told(line);
            if !found.contains(&&*rule.name) {
                wrong.push(format!("{}: {line:?} meets {found:?}", rule.name));
            }
        }
        for line in &rule.not {
            if told(line).contains(&&*rule.name) {
                wrong.push(format!("{}: {line:?} meets it", rule.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
