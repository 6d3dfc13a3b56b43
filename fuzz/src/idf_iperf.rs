//! Lines of ESP-IDF's `iperf` example.

use espbench_proto::wire::iperf2::console::{IdfIperfLine, RowForm};

/// Reads lines: a row has time in it, and its bytes grow with the size of its unit; blanks around a line
/// say nothing.
pub fn idf_iperf(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for line in text.lines() {
        let read = IdfIperfLine::parse(line);
        assert_eq!(read, IdfIperfLine::parse(&format!("  {}\t", line.trim())), "{line:?}");
        let Some(IdfIperfLine::Row(row)) = read else { continue };
        assert!(row.start_s < row.end_s);
        let (decimal, binary) = (row.bytes(false), row.bytes(true));
        assert!(binary >= decimal && (row.form == RowForm::Columns || binary == decimal));
    }
}
