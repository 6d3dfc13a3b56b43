//! Captures of logic analysers: any bytes as a file, in each format.

#[path = "../../crates/espbench/src/logic/mod.rs"]
#[expect(dead_code, unreachable_pub, reason = "a part of another crate")]
mod logic;

use logic::session::SessionCapture;
use logic::{LogicCapture, LogicChange};
use std::io::Cursor;

/// Reads a capture, whatever the bytes. Times do not run backwards, and the end comes last.
pub fn logic_capture(data: &[u8]) {
    let mut last = None;
    let mut ended = false;
    let mut each = |change: LogicChange| {
        let (LogicChange::Level { at, .. } | LogicChange::Gap { at, .. } | LogicChange::End { at }) =
            change;
        assert!(!ended && last.is_none_or(|before| before <= at), "{change:?} after {last:?}");
        ended = matches!(change, LogicChange::End { .. });
        last = Some(at);
    };
    let whole = if data.starts_with(b"PK") {
        SessionCapture::open(Cursor::new(data), None).and_then(|it| it.read(&mut each))
    } else {
        LogicCapture::of_text(Box::new(Cursor::new(data.to_vec())), Some(1_000_000))
            .and_then(|it| it.read(&mut each))
    };
    assert_eq!(whole.is_ok(), ended, "{whole:?}");
}
