//! Lines of an excerpt of the air, as a stored run may have them.

use espbench_model::excerpt::ExcerptLine;

/// Parses lines: a parsed line is written, and parsed again to the same value.
pub fn excerpt(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for line in text.lines() {
        let Some(read) = ExcerptLine::read(line) else { continue };
        let written = read.to_string();
        let Some(again) = ExcerptLine::read(&written) else {
            panic!("{line:?} was written {written:?}")
        };
        assert_eq!(again.to_string(), written);
    }
}
