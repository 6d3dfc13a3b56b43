//! Timelines of the medium, and the script that zooms them.

use super::super::svg::timeline as drawing;
use super::escape;
use espbench_measure::air::Timeline;
use std::fmt::Write as _;

/// The only script of a page: our own, in the page, for timelines. Without it they are pictures.
pub(super) const SCRIPT: &str = include_str!("timeline.js");

/// SHA-256 of [`SCRIPT`] in base64: what the page's policy lets run, and nothing else (Content
/// Security Policy Level 3, 6.7.3.3). A test computes it.
pub(super) const HASH: &str = "sha256-UVbd/zYBHzfbkXTdWQmDDpHkotLCgcOciG7iqk51+5c=";

pub(super) fn draw(out: &mut String, timelines: &[Timeline]) {
    if timelines.is_empty() {
        return;
    }
    out.push_str("<div class=\"timelines\"><h3 id=\"timelines\">Who sent what, and when</h3>\n");
    out.push_str(&drawing::legend());
    for timeline in timelines {
        for (number, window) in timeline.windows.iter().enumerate() {
            let title = format!("{}: {}", timeline.place, window.why.to_lowercase());
            let _ = writeln!(
                out,
                "<figure class=\"wide\"><figcaption>{}</figcaption>{}<p class=\"alt\" aria-hidden=\"true\">{}</p></figure>",
                escape(&title),
                drawing::draw(timeline, number, &title),
                escape(&window.alt())
            );
        }
    }
    out.push_str("</div>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest as _, Sha256};

    /// Encodes bytes in Base64 (RFC 4648, clause 4).
    fn base64(bytes: &[u8]) -> String {
        const LETTERS: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut out = String::new();
        for three in bytes.chunks(3) {
            let word = (0..3).fold(0, |word, at| {
                word << 8 | u32::from(three.get(at).copied().unwrap_or_default())
            });
            for at in 0..4 {
                let letter = LETTERS[(word >> (18 - 6 * at)) as usize & 63];
                out.push(if at > three.len() { '=' } else { char::from(letter) });
            }
        }
        out
    }

    #[test]
    fn the_policy_names_the_scripts() {
        for (script, hash) in [(SCRIPT, HASH), (super::super::SCRIPT, super::super::HASH)] {
            assert_eq!(hash, format!("sha256-{}", base64(&Sha256::digest(script))));
            assert!(!script.contains("</"), "it would end the element");
        }
    }
}
