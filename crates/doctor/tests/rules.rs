//! Each rule is tried with its own examples: each of `examples` meets it and no other rule of its topic comes first, and
//! none of `not` meets it. Files of others are read with the doctor's own, and mistakes in them are told.

use espbench_doctor::log::{plain, records};
use espbench_doctor::matcher::{RuleBook, RuleFault};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use toml::{Table, Value};

/// Returns the doctor's own rules with their examples.
fn whole() -> &'static RuleBook {
    static BOOK: OnceLock<RuleBook> = OnceLock::new();
    BOOK.get_or_init(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("rules");
        RuleBook::from_whole_files(|it| fs::read_to_string(folder.join(it)).unwrap()).unwrap()
    })
}

#[test]
fn files_lose_nothing_but_comments_examples_and_sources() {
    let table = |path: PathBuf| fs::read_to_string(path).unwrap().parse::<Table>().unwrap();
    let mut rules = 0;
    for file in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("rules")).unwrap() {
        let path = file.unwrap().path();
        let stripped = table(Path::new(env!("OUT_DIR")).join(path.file_name().unwrap()));
        let mut whole = table(path);
        for rule in whole.get_mut("rule").and_then(Value::as_array_mut).into_iter().flatten() {
            let rule = rule.as_table_mut().unwrap();
            assert!(rule.remove("examples").is_some() && rule.remove("source").is_some());
            rule.remove("not");
            rules += 1;
        }
        assert_eq!(stripped, whole);
    }
    assert_eq!(rules, RuleBook::built_in().rules().count());
}

#[test]
fn each_rule_has_examples_that_meet_it_and_tells_where_they_come_from() {
    let book = whole();
    let faults = book.rules().filter_map(|it| book.try_examples(it).err());
    let wrong: Vec<String> = faults.map(|it| it.to_string()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_harmless_rule_swallows_what_another_rule_tells() {
    let book = whole();
    let mut swallowed = Vec::new();
    for rule in book.rules().filter(|it| it.sign.is_some() || it.event.is_some()) {
        for line in &rule.examples {
            let line = plain(line);
            let told = records(&line).iter().flat_map(|it| book.told(it)).collect::<Vec<_>>();
            let harmless = told.iter().find(|it| it.is_harmless);
            swallowed
                .extend(harmless.map(|it| format!("{}: {line} ({})", rule.name, it.rule.name)));
        }
    }
    assert!(swallowed.is_empty(), "{}", swallowed.join("\n"));
}

/// A rule and a cause of a team's own.
const OWN: &str = include_str!("team.toml");

/// Reads a file of others.
fn own(text: &str) -> Result<RuleBook, RuleFault> {
    RuleBook::from_files(&[("own.toml", text)])
}

#[test]
fn rules_of_others_tell_beside_the_own_ones() {
    let book: &'static RuleBook = Box::leak(Box::new(own(OWN).unwrap()));
    let rule = book.rules().find(|it| it.name == "gateway-lost").unwrap();
    assert_eq!((&*rule.file, rule.topic.as_deref()), ("own.toml", Some("our-gateway")));
    book.try_examples(rule).unwrap();
    assert_eq!(book.rules().count(), RuleBook::built_in().rules().count() + 1);
}

#[test]
fn a_mistake_in_a_file_of_rules_is_told_with_its_place() {
    for (from, to, said) in [
        ("patterns", "patern", "own.toml, line 8: unknown field `patern`"),
        ("level = [\"error\"]", "level = [\"eror\"]", "own.toml, line 6: unknown variant `eror`"),
        ("{number}", "{nmber}", "own.toml: rule gateway-lost: pattern"),
        (
            "name = \"gateway-lost\"",
            "name = \"associated\"",
            "own.toml: rule associated: there is another",
        ),
        (
            "[\"gateway-lost\"]",
            "[\"gone\"]",
            "own.toml: cause gateway-silent: no rule has the sign gone",
        ),
        (
            "weight = 3",
            "weight = 3\nmakes = [\"gone\"]",
            "own.toml: cause gateway-silent: there is no cause gone",
        ),
        (
            "topic = \"our-gateway\"",
            "topic = \"clause\"",
            "own.toml: topic clause has turn 3 and aside false: give the file the same, or another topic",
        ),
        ("[\"no answer", "[\"@none\", \"no answer", "own.toml: rule gateway-lost: no list is none"),
    ] {
        assert!(OWN.contains(from), "{from}");
        let fault = own(&OWN.replace(from, to)).unwrap_err().to_string();
        assert!(fault.starts_with(said), "{fault}");
    }
    for (from, to, said) in [
        ("gateway 7\"]\nnot", "gateway\"]\nnot", "its example"),
        ("not = [\"I", "not = [\"E", "which stands under `not`"),
        (
            "source = \"our firmware 2.1, gateway.c\"",
            "source = \"\"",
            "lacks an example or its source",
        ),
    ] {
        assert!(OWN.contains(from), "{from}");
        let book: &'static RuleBook = Box::leak(Box::new(own(&OWN.replace(from, to)).unwrap()));
        let rule = book.rules().find(|it| it.name == "gateway-lost").unwrap();
        let fault = book.try_examples(rule).unwrap_err().to_string();
        assert!(fault.contains(said), "{fault}");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]

    #[test]
    fn a_damaged_file_of_rules_is_read_or_refused(at in 0..OWN.len(), with in "[\\]\\[\"={}@a-z0-9\\\\ \n|^$.]{0,8}") {
        let text = [&OWN[..at], &with, &OWN[(at + with.len()).min(OWN.len())..]].concat();
        if let Err(fault) = own(&text) {
            proptest::prop_assert!(fault.to_string().starts_with("own.toml"), "{fault}");
        }
    }
}

#[test]
fn lists_within_lists_have_an_end() {
    let many = |name: &str, of: &str| format!("{name} = {{ patterns = [{}] }}\n", of.repeat(2000));
    let lists = [many("a", "\"@b\","), many("b", "\"@c\","), "c = { words = [\"x\"] }\n".into()];
    let text = OWN.replace("[[rule]]", &format!("[lists]\n{}\n[[rule]]", lists.concat()));
    let fault = own(&text.replace("[\"no answer", "[\"@a\", \"no answer")).unwrap_err();
    assert!(fault.why.contains("lists within lists"), "{fault}");
}
