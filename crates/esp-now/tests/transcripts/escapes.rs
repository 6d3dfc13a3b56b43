//! Transcripts of consoles as text files. In them `\e` stands for ESC, `\0` for NUL, `\r` for CR, `\b` for
//! backspace, `\xNN` for any byte and `\\` for a backslash. A line of the file ends with CR LF on the wire,
//! unless a backslash stands at its end. Lines that start with `#` are remarks.

/// Returns the bytes that a `.txt` file stands for.
pub(crate) fn bytes(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (line, end) = match line.strip_suffix('\\') {
            Some(open) if !open.ends_with('\\') => (open, &b""[..]),
            _ => (line, &b"\r\n"[..]),
        };
        let mut chars = line.chars();
        while let Some(c) = chars.next() {
            match (c == '\\').then(|| chars.next()).flatten() {
                None => out.extend(c.to_string().as_bytes()),
                Some('e') => out.push(0x1B),
                Some('0') => out.push(0),
                Some('r') => out.push(b'\r'),
                Some('b') => out.push(8),
                Some('x') => {
                    let hex: String = chars.by_ref().take(2).collect();
                    out.push(u8::from_str_radix(&hex, 16).expect("two hexadecimal digits"));
                }
                Some(other) => out.extend(other.to_string().as_bytes()),
            }
        }
        out.extend(end);
    }
    out
}
