//! Drawings of a report: one file per format. They compute nothing but where things stand.

pub mod csv;
pub mod html;
pub mod json;
pub mod lab;
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

/// Characters, which for the scripts that occur here are columns of the terminal.
fn width(text: &str) -> usize {
    text.chars().count()
}

/// Breaks at spaces; a word longer than the line is cut.
fn wrap(text: &str, limit: usize) -> Vec<String> {
    let limit = limit.max(1);
    let mut lines: Vec<String> = Vec::new();
    for word in tame(text).split(' ') {
        let chars: Vec<char> = word.chars().collect();
        let fits = lines.last().is_some_and(|l| width(l) + 1 + chars.len() <= limit);
        match lines.last_mut() {
            Some(line) if fits => {
                line.push(' ');
                line.push_str(word);
            }
            _ if chars.is_empty() => lines.push(String::new()),
            _ => lines.extend(chars.chunks(limit).map(|c| c.iter().collect::<String>())),
        }
    }
    lines
}
