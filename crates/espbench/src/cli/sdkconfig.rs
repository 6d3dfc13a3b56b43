//! Files of sdkconfig that flags name.

use crate::named_file;
use crate::user_error::{ForUser as _, UserError};
use espbench_model::sdkconfig::{Chip, ParsedSdkConfig, read_beside};
use espbench_model::text::count;
use std::path::Path;

/// Remedy for a file that is none.
const REMEDY: &str = "name the sdkconfig that idf.py has written into the project's folder";

/// Reads an sdkconfig, or an sdkconfig.defaults.
///
/// # Errors
/// It cannot be read, is none, or has no option that is known.
pub fn file(path: &Path) -> anyhow::Result<ParsedSdkConfig> {
    file_beside(path, None)
}

/// Reads an sdkconfig, or an sdkconfig.defaults, of a host that may not name the chip beside it.
///
/// # Errors
/// As [`file()`].
pub fn file_beside(path: &Path, beside: Option<Chip>) -> anyhow::Result<ParsedSdkConfig> {
    let text = text(path)?;
    let reading = read_beside(&text, beside)
        .for_user(|| format!("{} cannot be read as an sdkconfig", path.display()), REMEDY)?;
    // What is all defaults has comments only, as an advice of ours may; then a flag names the chip.
    let is_default = beside.is_some() && reading.others == 0 && !text.trim().is_empty();
    if reading.knows_nothing() && !is_default {
        let why = match reading.others {
            0 => "it has no option".to_owned(),
            others => format!("espbench knows none of its {}", count(others as usize, "option")),
        };
        let what = format!("{} says nothing about a device", path.display());
        return Err(UserError::new(what).because(why).remedy(REMEDY).into());
    }
    Ok(reading)
}

/// Reads the text of an sdkconfig.
///
/// # Errors
/// It cannot be read, or is no text.
pub fn text(path: &Path) -> anyhow::Result<String> {
    let named = || format!("cannot read {}", path.display());
    let remedy = "name the sdkconfig in the project's folder";
    if path.is_dir() {
        return Err(UserError::new(format!("cannot read {}", path.display()))
            .because("it is a folder")
            .remedy("name the sdkconfig in it")
            .into());
    }
    let bytes = std::fs::File::open(path)
        .and_then(named_file::unpacked)
        .and_then(|it| named_file::from(it, named_file::RECORDED))
        .for_user(named, remedy)?;
    Ok(String::from_utf8(bytes).for_user(|| format!("{} is no text", path.display()), remedy)?)
}
