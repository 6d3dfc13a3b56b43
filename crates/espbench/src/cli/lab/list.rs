//! List of the built-in labs, profiles and environments.

use super::super::output;
use espbench_measure::table::Column;
use espbench_sim::lab::file::{FileKind, Library};

pub(super) fn run() -> anyhow::Result<()> {
    let library = Library::built_in();
    let mut out = String::new();
    for kind in [FileKind::Lab, FileKind::Environment, FileKind::Profile] {
        let rows = library.names(kind).map(|name| {
            vec![name.to_owned(), library.title(kind, name).unwrap_or_default().to_owned()]
        });
        let columns = vec![Column::words(kind.word()), Column::words("what")];
        out += &output::table(&super::table("list", "", columns, rows.collect()));
        out.push('\n');
    }
    out += "A path of a TOML file is as good as a name: docs/lab.md says what it may hold.\n";
    output::print_text(&out)
}
