//! `docs/lab.md` says what the code says.

use super::*;

const TEXT: &str = include_str!("../../../../../../docs/lab.md");

#[test]
fn the_documentation_has_all_keys_as_they_are_read() {
    for kind in FileKind::ALL {
        let expected = document(kind);
        let begin = format!("<!-- keys: {} -->", kind.word());
        let part = TEXT.split_once(&begin).and_then(|(_, rest)| rest.split_once("<!-- end -->"));
        let part = part.map_or("", |(part, _)| part);
        assert!(
            part.trim() == expected.trim(),
            "docs/lab.md: put this between `{begin}` and `<!-- end -->`:\n{expected}"
        );
    }
}

#[test]
fn its_examples_are_read() {
    let mut examples = 0;
    for block in TEXT.split("```toml\n").skip(1) {
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
