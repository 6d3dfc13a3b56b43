//! Constants with their sources.

use super::super::output;
use crate::labs;
use crate::render::text;
use espbench_measure::table::Column;
use espbench_sim::lab::file::{Constant, Constants, Kind, Library, constants};

/// Flags.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A profile or an environment: a built-in name, or a TOML file
    name: String,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let (kind, library) = find(&args.name)?;
    let mut list = match kind {
        Kind::Environment => constants(Constants::Environment(&library.environment(&args.name)?)),
        _ => constants(Constants::Profile(&*library.profile(&args.name)?)),
    };
    let title = library.title(kind, &args.name).unwrap_or_default();
    list.retain(|it| it.value.is_some());
    let fitted = list.iter().filter(|it| it.fitted).count();
    let mut out = format!("{} {}: {title}\n\n", kind.word(), args.name);
    out += &text::table(&table(&list));
    out += &format!(
        "\n{} constants, {fitted} of them fitted to published cells; the sources of those say \
         which.\n",
        list.len()
    );
    output::print(&out)
}

/// A profile, or else an environment.
fn find(name: &str) -> anyhow::Result<(Kind, Library)> {
    let profile = labs::library(Kind::Profile, name);
    match profile {
        Ok(library) => Ok((Kind::Profile, library)),
        Err(error) => match labs::library(Kind::Environment, name) {
            Ok(library) => Ok((Kind::Environment, library)),
            Err(_) => Err(error),
        },
    }
}

fn table(list: &[Constant]) -> espbench_measure::table::Table {
    let columns = vec![
        Column::words("constant"),
        Column::setting("value", ""),
        Column::words("fitted"),
        Column::words("source"),
    ];
    let rows = list.iter().map(|it| {
        let value = it.value.map_or_else(String::new, |value| value.to_string());
        let fitted = if it.fitted { "fitted" } else { "" };
        vec![it.key.clone(), value, fitted.into(), it.source.clone()]
    });
    super::table("constants", "", columns, rows.collect())
}
