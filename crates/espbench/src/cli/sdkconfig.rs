//! Files of sdkconfig that flags name.

use crate::user_error::{ForUser as _, UserError};
use espbench_model::sdkconfig::{ParsedSdkConfig, read};
use std::path::Path;

/// Files beyond this are no sdkconfig: the largest have some 100 KB.
const LARGEST: u64 = 16 << 20;

/// Reads an sdkconfig, or an sdkconfig.defaults.
///
/// # Errors
/// It cannot be read, or is none.
pub fn file(path: &Path) -> anyhow::Result<ParsedSdkConfig> {
    let text = text(path)?;
    Ok(read(&text).for_user(
        || format!("{} cannot be read as an sdkconfig", path.display()),
        "name the sdkconfig that idf.py has written into the project's folder",
    )?)
}

/// Reads the text of an sdkconfig.
///
/// # Errors
/// It cannot be read, or is no text.
pub fn text(path: &Path) -> anyhow::Result<String> {
    let named = || format!("cannot read {}", path.display());
    let remedy = "name the sdkconfig in the project's folder";
    let facts = std::fs::metadata(path).for_user(named, remedy)?;
    if facts.is_dir() {
        return Err(UserError::new(format!("cannot read {}", path.display()))
            .because("it is a folder")
            .remedy("name the sdkconfig in it")
            .into());
    }
    if facts.len() > LARGEST {
        return Err(UserError::new(format!("{} is no sdkconfig", path.display()))
            .because(format!("it is larger than {} MB", LARGEST >> 20))
            .remedy("name the sdkconfig in the project's folder")
            .into());
    }
    let bytes = std::fs::read(path).for_user(named, remedy)?;
    Ok(String::from_utf8(bytes).for_user(|| format!("{} is no text", path.display()), remedy)?)
}
