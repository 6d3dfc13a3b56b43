//! `docs/labs.md` says what the code says.

use super::*;
use std::path::Path;

const TEXT: &str = include_str!("../../../../../../docs/labs.md");
const GUIDE: &str = include_str!("../../../../../../docs/lab.md");

/// `BLESS=1` writes the tables again.
#[test]
fn the_documentation_has_all_keys_as_they_are_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/labs.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut expected = text.clone();
    for kind in FileKind::ALL {
        let begin = format!("<!-- keys: {} -->\n", kind.word());
        let (before, rest) = expected.split_once(&begin).unwrap();
        let (_, after) = rest.split_once("<!-- end -->").unwrap();
        expected = format!("{before}{begin}\n{}\n<!-- end -->{after}", document(kind).trim());
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &expected).unwrap();
        return;
    }
    assert!(text == expected, "old: BLESS=1 cargo test -p espbench-sim --lib documented");
}

#[test]
fn its_examples_are_read() {
    let mut examples = 0;
    let blocks = |text: &'static str| text.split("```toml\n").skip(1);
    for block in blocks(TEXT).chain(blocks(GUIDE)) {
        let text = block.split_once("```").map_or(block, |(text, _)| text);
        let (first, rest) = text.split_once('\n').unwrap();
        let kind = match first.trim_start_matches("# ") {
            "labs" => FileKind::Lab,
            "profiles" => FileKind::Profile,
            "environments" => FileKind::Environment,
            other => panic!("the first line of an example says its kind, not {other}"),
        };
        let said = complaint(kind, rest);
        assert_eq!(said, "nothing", "{text}");
        examples += 1;
    }
    assert!(examples >= 3, "{examples}");
}
