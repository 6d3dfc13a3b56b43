//! A password that is typed at a console, and stays out of what is kept of it.
//!
//! ESP-IDF's line editor draws the line anew with every key, so that a console shows each beginning of
//! the password. What is printed while such a line is typed is therefore not kept at all; and whatever
//! is printed later has the password, whole, replaced.

use alloc::string::String;
use alloc::vec::Vec;

/// Text in place of a password.
pub(super) const MASK: &str = "****";

/// Filter of a console's bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct SecretFilter {
    secrets: Vec<Vec<u8>>,
    /// Bytes that may be the beginning of a secret.
    held: Vec<u8>,
    hidden: bool,
}

impl SecretFilter {
    /// Replaces this text from now on.
    pub(super) fn keep_out(&mut self, secret: &str) {
        let secret = secret.as_bytes();
        if !secret.is_empty() && !self.secrets.iter().any(|it| it == secret) {
            self.secrets.push(secret.to_vec());
        }
    }

    /// Hides all that comes, until the end of the line that is typed now.
    pub(super) fn hide(&mut self) {
        self.hidden = true;
    }

    /// Returns what may be kept of these bytes. `typed` says whether the line is typed to its end.
    pub(super) fn take(&mut self, bytes: &[u8], typed: bool) -> Vec<u8> {
        let mut kept = Vec::with_capacity(bytes.len());
        for &byte in bytes {
            if self.hidden {
                if byte == b'\n' && typed {
                    self.hidden = false;
                    kept.extend_from_slice(b" (a line with a password is not kept)\r\n");
                }
                continue;
            }
            self.held.push(byte);
            self.sift(&mut kept);
        }
        kept
    }

    /// Gives what was held back: nothing comes any more.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.held)
    }

    /// Returns a text without secrets.
    pub(super) fn masked(&self, text: &str) -> String {
        let mut filter = Self { held: Vec::new(), hidden: false, ..self.clone() };
        let mut kept = filter.take(text.as_bytes(), true);
        kept.extend(filter.finish());
        String::from_utf8_lossy(&kept).into_owned()
    }

    /// Lets go of the bytes with which no secret begins.
    fn sift(&mut self, kept: &mut Vec<u8>) {
        while !self.held.is_empty() {
            if self.secrets.contains(&self.held) {
                kept.extend_from_slice(MASK.as_bytes());
                self.held.clear();
            } else if self.secrets.iter().any(|it| it.starts_with(&self.held)) {
                return;
            } else {
                kept.push(self.held.remove(0));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn through(filter: &mut SecretFilter, text: &[u8], chunk: usize) -> Vec<u8> {
        let mut kept: Vec<u8> =
            text.chunks(chunk).flat_map(|chunk| filter.take(chunk, true)).collect();
        kept.extend(filter.finish());
        kept
    }

    #[test]
    fn a_line_with_a_password_and_its_beginnings_are_not_kept() {
        let mut filter = SecretFilter::default();
        filter.keep_out("hunter22");
        filter.hide();
        // The editor draws each beginning; a line of the log comes between.
        let drawn =
            b"\riperf> sta home h\riperf> sta home hu\r\nI (5) wifi: x\r\n\riperf> sta home hunte";
        assert!(filter.take(drawn, false).is_empty());
        let rest = filter.take(b"\riperf> sta home hunter22\r\nI (9) done\r\n", true);
        let rest = String::from_utf8(rest).unwrap();
        assert_eq!(rest, " (a line with a password is not kept)\r\nI (9) done\r\n");
        assert_eq!(filter.masked("AP mode, home hunter22"), "AP mode, home ****");
    }

    proptest! {
        #[test]
        fn no_secret_comes_through_and_all_else_does(
            parts in prop::collection::vec("[ab]{0,6}", 1..6),
            secret in "[ab]{2,5}",
            chunk in 1_usize..7,
        ) {
            let mut filter = SecretFilter::default();
            filter.keep_out(&secret);
            let text = parts.join(&secret);
            let kept = String::from_utf8(through(&mut filter, text.as_bytes(), chunk)).unwrap();
            prop_assert!(!kept.split(MASK).any(|part| part.contains(&secret)));
            // What was replaced is the secret, from the left.
            prop_assert_eq!(kept, text.replace(&secret, MASK));
            let none = SecretFilter::default().take(text.as_bytes(), true);
            prop_assert_eq!(none, text.into_bytes());
        }
    }
}
