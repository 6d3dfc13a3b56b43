//! Signs of failure that are denied by what stands around them: "error: 0", "0 errors", "no errors" are none.

use super::pattern::Match;

/// Returns whether a sign of failure is none.
pub(super) fn is_denied(text: &str, hit: &Match) -> bool {
    is_short(text, hit) || is_of_path(text, hit) || denies(text, hit)
}

/// Returns whether what stands behind "timeout" is its length: a setting.
pub(super) fn is_setting(text: &str, hit: &Match) -> bool {
    let rest = text[hit.end..].trim_start_matches([' ', ':', '=', '(', '[', '_', 's']);
    let words =
        ["set", "not set", "is set", "value", "ms", "of ", "configured", "limit", "default"];
    rest.starts_with(|it: char| it.is_ascii_digit()) || words.iter().any(|it| rest.starts_with(it))
}

/// Returns whether a sign is in the path of a page or a file: `/fail.css`, `https://mill.example/error`.
fn is_of_path(text: &str, hit: &Match) -> bool {
    let from = text[..hit.start].rfind([' ', ',', ';', '|']).map_or(0, |it| it + 1);
    let token = &text[from..hit.start];
    token.starts_with('/') || token.contains("://")
}

/// Returns whether "err" is a part of another word.
fn is_short(text: &str, hit: &Match) -> bool {
    &text[hit.start..hit.end] == "err"
        && text[hit.end..].starts_with(|it: char| it.is_ascii_alphabetic())
}

/// Returns whether the rest of a name, such as "invalid_password: NO", has a value that denies it.
fn says_no(behind: &str) -> bool {
    let name = behind.find(|it: char| !(it.is_ascii_alphanumeric() || it == '_')).unwrap_or(0);
    let value = behind[name..]
        .trim_start()
        .strip_prefix([':', '='])
        .map(|it| it.trim_matches([' ', '\'', '"']));
    matches!(value, Some("no" | "false" | "none" | "off"))
}

/// Nouns between a sign and its number, with blanks alone beside them: "lost packets 0", "0 packets lost".
const COUNTED: [&str; 6] =
    ["packets", "frames", "messages", "datagrams", "allocations", "attempts"];

/// Returns whether a sign of failure is denied by what stands around it.
fn denies(text: &str, hit: &Match) -> bool {
    let before = &text[..hit.start];
    let noun = COUNTED.iter().find_map(|it| before.trim_end_matches(' ').strip_suffix(it));
    let before = noun.unwrap_or(before).trim_end_matches([' ', '_', '-', '=', ':']);
    let word = before.rsplit(|it: char| !it.is_alphanumeric() && it != '\'').next().unwrap_or("");
    if matches!(
        word,
        "no" | "not" | "none" | "0" | "without" | "zero" | "never" | "any" | "kein" | "keine"
    ) {
        return true;
    }
    if says_no(&text[hit.end..]) {
        return true;
    }
    // Behind the rest of the word and of "error code", a zero.
    let rest = text[hit.end..].trim_start_matches(|it: char| it.is_ascii_alphabetic() || it == '_');
    let noun =
        rest.strip_prefix(' ').and_then(|it| COUNTED.iter().find_map(|noun| it.strip_prefix(noun)));
    let rest = noun.unwrap_or(rest).trim_start_matches([' ', ':', '=', '(', '[', '#']);
    let rest = [
        "code",
        "count",
        "number",
        "status",
        "s",
        "reported from esp-tls",
        "captured from",
        "codes",
    ]
    .iter()
    .find_map(|it| rest.strip_prefix(it))
    .unwrap_or(rest)
    .trim_start_matches([' ', ':', '=', '(', '[']);
    let zero = rest.strip_prefix("0x0").or_else(|| rest.strip_prefix('0'));
    zero.is_some_and(|it| {
        let it = it.trim_start_matches('0');
        !it.starts_with(|it: char| it.is_ascii_alphanumeric() || it == '.')
    })
}
