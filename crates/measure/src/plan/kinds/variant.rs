//! `variant`: the key that all kinds over IP share. With it a cell is of a device over Wi-Fi, whose
//! firmware, role and network the variant stands for.

use super::Kind;
use crate::plan::print::quoted;
use crate::plan::read::Scalar;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::workload::Name;

/// The key.
pub(in crate::plan) const VARIANT: &str = "variant";

/// A kind of test with the device's variant, where one is named.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Varied<K> {
    pub(super) variant: Option<Name>,
    pub(super) test: K,
}

impl<K: Kind> Kind for Varied<K> {
    const KEYS: &'static [&'static str] = K::KEYS;

    fn keys() -> Vec<&'static str> {
        let mut keys = K::KEYS.to_vec();
        keys.push(VARIANT);
        keys
    }

    fn set(&mut self, key: &str, value: &Scalar) -> Result<(), String> {
        if key != VARIANT {
            return self.test.set(key, value);
        }
        self.variant = Some(name(value.text()?)?);
        Ok(())
    }

    fn get(&self, key: &str) -> Option<String> {
        if key == VARIANT { Some(quoted(self.variant?.as_str())) } else { self.test.get(key) }
    }

    fn complete(&mut self, named: &[&str]) {
        self.test.complete(named);
    }

    fn check(&self) -> Result<(), String> {
        self.test.check()
    }
}

/// Words with hyphens between, as names of labs have them.
fn name(text: &str) -> Result<Name, String> {
    let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    Name::new(text).filter(|_| !text.is_empty() && text.chars().all(known)).ok_or_else(|| {
        format!(
            "`{text}` is no name of a variant: 1 to {} letters, digits, `-`, `_` and `.`",
            Name::LEN
        )
    })
}
