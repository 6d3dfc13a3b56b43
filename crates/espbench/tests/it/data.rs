//! `docs/data.md`: tables of results and of samples as other programs read them.

use espbench_measure::columns;
use std::path::PathBuf;

fn page() -> (PathBuf, String) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/data.md");
    let text = std::fs::read_to_string(&path).unwrap();
    (path, text)
}

/// Checks that the page has the table under its mark. With `INSTA_UPDATE=always` it is put there.
fn holds(mark: &str, table: &str) {
    let (path, text) = page();
    let (begin, end) = (format!("<!-- {mark} -->\n\n"), format!("\n<!-- end of {mark} -->"));
    let from = text.find(&begin).expect(mark) + begin.len();
    let to = from + text[from..].find(&end).expect(mark);
    if text[from..to] == *table {
        return;
    }
    if std::env::var("INSTA_UPDATE").as_deref() == Ok("always") {
        let updated = format!("{}{table}{}", &text[..from], &text[to..]);
        return std::fs::write(path, updated).unwrap();
    }
    panic!("docs/data.md has other {mark} than the code (INSTA_UPDATE=always mends it):\n{table}");
}

#[test]
fn the_page_has_each_column_with_unit_and_meaning() {
    holds("columns of every file", &columns::fixed());
    holds("columns of settings", &columns::settings());
}
