//! The lab with its fitted profile and environment, as files.

use crate::cli::{file, output};
use crate::user_error::UserError;
use crate::{labs, named_file, texts};
use anyhow::Context as _;
use espbench_engine::fit::{FitAnswer, FittedConstant};
use espbench_sim::lab::file::{FileKind, Library, built_in_text, is_path};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, Value, value};

/// Digits of a fitted constant that are written: its interval is wider than the rest.
const DIGITS: i32 = 4;

/// Checks, before anything is simulated, that the files can be written: a user's lab names others beside
/// it, so the fitted one stands there, too.
///
/// # Errors
/// An ending other than `.toml`, another folder, or the lab's own file.
pub(super) fn check(path: &Path, lab: Option<&str>) -> anyhow::Result<()> {
    let wrong = |why: &str, remedy: &str| {
        let what = format!("{} cannot be the fitted lab", path.display());
        Err(UserError::new(what).because(why).remedy(remedy).into())
    };
    if path.extension().is_none_or(|it| it != "toml") {
        return wrong("labs are TOML", "name a file that ends in .toml");
    }
    let folder = |path: &Path| path.parent().map(Path::to_owned).unwrap_or_default();
    if !folder(path).as_os_str().is_empty() && !folder(path).is_dir() {
        return wrong("there is no such folder", "make it, or name another one");
    }
    if let Some(lab) = lab.filter(|lab| is_path(lab)) {
        if folder(Path::new(lab)) != folder(path) {
            return wrong("files that your lab names lie beside it", "name a file in that folder");
        }
        if Path::new(lab) == path {
            return wrong("the lab's own file would be lost", "choose another name");
        }
    }
    Ok(())
}

/// Writes lab, profiles and environment, and returns their paths, the lab's first.
///
/// # Errors
/// A file cannot be read or written.
pub(super) fn write(
    path: &Path,
    answer: &FitAnswer,
    library: &Library,
    lab: Option<&str>,
    (run, plan): (&str, &str),
) -> anyhow::Result<Vec<PathBuf>> {
    let lab = lab.unwrap_or(&answer.lab);
    let stem = path.file_stem().and_then(|it| it.to_str()).unwrap_or("fitted");
    let mut by_file: BTreeMap<(&str, bool), Vec<&FittedConstant>> = BTreeMap::new();
    for it in &answer.constants {
        let is_profile = it.constant.kind == FileKind::Profile;
        by_file.entry((it.constant.file.as_str(), is_profile)).or_default().push(it);
    }
    let source = format!("fitted by espbench fit to the run {run}, {} cells", answer.cells.len());
    let mut document = parsed(FileKind::Lab, lab)?;
    let mut written = vec![path.to_owned()];
    let mut names = Vec::new();
    for ((old, is_profile), constants) in by_file {
        let short = old.rsplit(['/', '\\']).next().unwrap_or(old).trim_end_matches(".toml");
        let new = format!("{stem}-{short}.toml");
        let kind = if is_profile { FileKind::Profile } else { FileKind::Environment };
        names.extend(constants.iter().map(|it| format!("{new}/{}", it.constant.key)));
        let text = match kind {
            FileKind::Profile => profile(old, library, &constants, &source),
            _ => environment(old, library, &constants, &source)?,
        };
        rename(document.as_table_mut(), kind.word(), old, &new);
        let beside = path.with_file_name(&new);
        save(&beside, &text)?;
        written.push(beside);
    }
    record(document.as_table_mut(), answer, (run, plan), &names);
    save(path, &document.to_string())?;
    // What was written is read at once, so that a mistake of ours does not wait for the next run.
    labs::library(FileKind::Lab, &path.to_string_lossy())?;
    Ok(written)
}

/// Writes down what the lab was fitted to, in place of what stands there of the same run.
fn record(lab: &mut Table, answer: &FitAnswer, (run, plan): (&str, &str), constants: &[String]) {
    let mut one = Table::new();
    one["run"] = value(run);
    one["constants"] = value(constants.iter().collect::<toml_edit::Array>());
    one["plan"] = value(plan);
    let mut cells = ArrayOfTables::new();
    for cell in &answer.cells {
        let Some(test) = cell.measured.test.number else { continue };
        let mut figure = Table::new();
        figure["test"] = value(i64::from(test));
        figure["metric"] = value(cell.measured.id.metric.as_str());
        cells.push(figure);
    }
    one["cells"] = Item::ArrayOfTables(cells);
    let all = lab.entry("fitted").or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    if let Some(all) = all.as_array_of_tables_mut() {
        all.retain(|it| it.get("run").and_then(Item::as_str) != Some(run));
        all.push(one);
    }
}

fn save(path: &Path, text: &str) -> anyhow::Result<()> {
    file::replace(path, text.as_bytes()).with_context(|| output::cannot_write(path))
}

fn parsed(kind: FileKind, name: &str) -> anyhow::Result<DocumentMut> {
    let text = match built_in_text(kind, name) {
        Some(text) => text.to_owned(),
        None => texts::read(Path::new(name), kind.word(), named_file::WRITTEN)?,
    };
    text.parse().with_context(|| format!("{name} as TOML"))
}

/// Replaces a name wherever the file has it under that key.
fn rename(table: &mut Table, key: &str, old: &str, new: &str) {
    for (name, item) in table.iter_mut() {
        match item {
            Item::Value(it) if name == key && it.as_str() == Some(old) => *it = new.into(),
            Item::Table(inner) => rename(inner, key, old, new),
            Item::ArrayOfTables(all) => all.iter_mut().for_each(|it| rename(it, key, old, new)),
            _ => {}
        }
    }
}

/// Returns a constant's value as it is written: rounded, and whole where it must be.
fn rounded(it: &FittedConstant, library: &Library) -> Value {
    let exact = it.value.value.unwrap_or(it.constant.value);
    let scale = 10_f64.powi(DIGITS - 1 - exact.abs().log10().floor() as i32);
    let short = (exact * scale).round() / scale;
    let constant = &it.constant;
    let takes = |value| library.clone().tune(constant.kind, &constant.file, &constant.key, value);
    let value = if takes(short).is_ok() { short } else { exact.round() };
    if value.fract() == 0.0 { Value::from(value as i64) } else { Value::from(value) }
}

/// Returns a profile that leans on the old one.
fn profile(old: &str, library: &Library, constants: &[&FittedConstant], source: &str) -> String {
    let mut document = DocumentMut::new();
    let title = library.title(FileKind::Profile, old).unwrap_or(old);
    document["title"] = value(format!("{title}, with fitted constants"));
    document["like"] = value(old);
    for it in constants {
        if let Some((group, key)) = it.constant.key.rsplit_once('.') {
            let table = document.entry(group).or_insert_with(|| Item::Table(Table::new()));
            set(table, key, rounded(it, library), source);
        }
    }
    document.to_string()
}

/// Returns the text of an environment with its constants replaced.
fn environment(
    old: &str,
    library: &Library,
    constants: &[&FittedConstant],
    source: &str,
) -> anyhow::Result<String> {
    let mut document = parsed(FileKind::Environment, old)?;
    for it in constants {
        let Some((group, key)) = it.constant.key.rsplit_once('.') else { continue };
        let value = rounded(it, library);
        match group.strip_prefix("background.") {
            Some(name) => {
                let stations =
                    document.get_mut("background").and_then(Item::as_array_of_tables_mut);
                let station = stations.and_then(|all| station(all, name));
                if let Some(station) = station {
                    set_in(station, key, value, source);
                }
            }
            None => set(&mut document[group], key, value, source),
        }
    }
    Ok(document.to_string())
}

fn station<'a>(all: &'a mut ArrayOfTables, name: &str) -> Option<&'a mut Table> {
    all.iter_mut().find(|it| it.get("name").and_then(Item::as_str) == Some(name))
}

fn set(item: &mut Item, key: &str, value: Value, source: &str) {
    if let Some(table) = item.as_table_mut() {
        set_in(table, key, value, source);
    }
}

/// Sets a constant, names it as fitted, and says to what.
fn set_in(table: &mut Table, key: &str, value: Value, source: &str) {
    table[key] = Item::Value(value);
    let before = table.get("source").and_then(Item::as_str).map(ToOwned::to_owned);
    let text = match before {
        Some(before) if before.contains(source) => before,
        Some(before) => format!("{before}; {key}: {source}"),
        None => source.to_owned(),
    };
    table["source"] = toml_edit::value(text);
    let fitted = table.entry("fitted").or_insert_with(|| toml_edit::value(toml_edit::Array::new()));
    if let Some(names) = fitted.as_array_mut()
        && !names.iter().any(|it| it.as_str() == Some(key))
    {
        names.push(key);
    }
}
