//! Drawings of a report: one file per format. They compute nothing but where things stand.

pub mod csv;
pub mod html;
pub mod json;
pub mod markdown;
pub mod svg;
pub mod text;

/// Text from outside on one line, without control characters: a name must not move the cursor of
/// the reader's terminal.
fn tame(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\r' | '\t' => ' ',
            c if c.is_control() => '\u{fffd}',
            c => c,
        })
        .collect()
}
