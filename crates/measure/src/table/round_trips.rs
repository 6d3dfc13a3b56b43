//! Columns and settings of all kinds of round trips.

use super::Show::{Interval, Value};
use super::Spec;
use crate::report::digest::Digest;
use crate::settings::{Setting, SettingKey, Settings};
use alloc::string::String;

/// Losses and what else became of probes; every kind of round trip has them.
pub(crate) const LOSS: &[Spec] = &[
    ("loss", "loss", Value),
    ("loss", "loss 95 % interval", Interval),
    ("probes_late", "late", Value),
    ("probes_duplicate", "duplicate", Value),
    ("probes_corrupt", "corrupt", Value),
    ("rtt_kernel_p50", "p50 to the kernel's stamp", Value),
    ("rtt_kernel_p99", "p99 to the kernel's stamp", Value),
];

/// Returns the payload in bytes.
pub(crate) fn size(digest: &Digest) -> Option<u32> {
    match digest.settings.get(SettingKey::Size) {
        Some(Setting::Size(bytes)) => Some(*bytes),
        _ => None,
    }
}

/// Says the settings besides the size.
pub(crate) fn form(digest: &Digest) -> String {
    digest.words_but(&[SettingKey::Size])
}

/// Returns the settings besides the size.
pub(crate) fn form_of(digest: &Digest) -> Settings {
    digest.settings.without(&[SettingKey::Size])
}
