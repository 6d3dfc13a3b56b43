//! Captures, console logs and tables of others, which become traces of links.

use espbench_engine::traces::{TraceReader, TraceSettings, TraceWindows};
use espbench_sim::lab::file::Library;
use std::time::Duration;

/// Converts bytes in chunks whose length the first byte chooses. What is converted is read by a lab, and is
/// the same for chunks of any size.
pub fn trace_source(data: &[u8]) {
    let [chunk, bytes @ ..] = data else { return };
    let whole = convert(bytes, bytes.len());
    let parts = convert(bytes, usize::from(*chunk) + 1);
    assert_eq!(whole, parts);
    let Some(csv) = whole.filter(|csv| csv.lines().count() > 1) else { return };
    if let Err(wrong) = Library::new().add_link_trace("any.csv", &csv) {
        panic!("{wrong}\n{csv}");
    }
}

fn convert(bytes: &[u8], chunk: usize) -> Option<String> {
    let settings = TraceSettings {
        window: Duration::from_secs(1),
        at: Some("node0".into()),
        names: Vec::new(),
    };
    let mut windows = TraceWindows::new(settings);
    let mut reader = TraceReader::of(bytes);
    for part in bytes.chunks(chunk.max(1)) {
        reader.push(part, &mut windows).ok()?;
    }
    reader.finish(&mut windows).ok()?;
    Some(windows.csv())
}
