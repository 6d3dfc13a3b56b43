//! Words that an argument may have, as its schema lists them: those of the command, of the library of labs, of the plans
//! and of the metrics.

use crate::cli::{builtin, command};
use espbench_measure::metric;
use espbench_sim::lab::file::{FileKind, Library};
use schemars::{Schema, SchemaGenerator, json_schema};

/// Returns the words of a flag of `espbench predict fleet`.
fn of_flag(flag: &str) -> Schema {
    let mut of = command();
    for word in ["predict", "fleet"] {
        of = of.find_subcommand(word).cloned().unwrap_or_default();
    }
    let found = of.get_arguments().find(|it| it.get_long() == Some(flag));
    let values = found.map(clap::Arg::get_possible_values).unwrap_or_default();
    let words: Vec<&str> = values.iter().map(clap::builder::PossibleValue::get_name).collect();
    json_schema!({ "anyOf": [{ "type": "string", "enum": words }, { "type": "null" }] })
}

/// Returns one of these words, or the path of a file.
fn or_file(words: &[&str], file: &str) -> Schema {
    json_schema!({ "anyOf": [
        { "type": "string", "enum": words },
        { "type": "string", "description": file },
        { "type": "null" },
    ]})
}

fn of_library(kind: FileKind, file: &str) -> Schema {
    let library = Library::built_in();
    let mut words: Vec<&str> = library.names(kind).collect();
    words.sort_unstable();
    or_file(&words, file)
}

pub(super) fn rooms(_: &mut SchemaGenerator) -> Schema {
    of_flag("room")
}

pub(super) fn casts(_: &mut SchemaGenerator) -> Schema {
    of_flag("cast")
}

pub(super) fn sleeps(_: &mut SchemaGenerator) -> Schema {
    of_flag("sleep")
}

pub(super) fn boots(_: &mut SchemaGenerator) -> Schema {
    of_flag("boot")
}

pub(super) fn labs(_: &mut SchemaGenerator) -> Schema {
    of_library(FileKind::Lab, "Path of a lab in TOML.")
}

pub(super) fn profiles(_: &mut SchemaGenerator) -> Schema {
    of_library(FileKind::Profile, "Path of a profile in TOML.")
}

pub(super) fn plans(_: &mut SchemaGenerator) -> Schema {
    let names: Vec<&str> = builtin::all().map(|(name, _)| name).collect();
    or_file(&names, "Path of a plan in TOML.")
}

pub(super) fn metrics(_: &mut SchemaGenerator) -> Schema {
    let names: Vec<String> = metric::registry().into_iter().map(|it| it.name).collect();
    json_schema!({ "type": "array", "items": { "type": "string", "enum": names } })
}
