//! `variant`: the key that all kinds over IP share. With it a cell is of a device over Wi-Fi, whose
//! firmware, role and network the variant stands for.

use super::read::Scalar;
use alloc::format;
use alloc::string::String;
use espbench_model::workload::{Name, Wifi, Workload};

/// The key.
pub(super) const VARIANT: &str = "variant";

/// Makes a test over IP one of the variant of that name.
pub(super) fn set(work: &mut Workload, value: &Scalar) -> Result<(), String> {
    let variant = name(value.text()?)?;
    if let Some(test) = work.ip() {
        *work = Workload::Wifi(Wifi { variant, test });
    }
    Ok(())
}

/// Reads words with hyphens between, as names of labs have them.
fn name(text: &str) -> Result<Name, String> {
    let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    Name::new(text).filter(|_| !text.is_empty() && text.chars().all(known)).ok_or_else(|| {
        format!(
            "`{text}` is no name of a variant: 1 to {} letters, digits, `-`, `_` and `.`",
            Name::LEN
        )
    })
}
