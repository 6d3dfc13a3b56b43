//! Reads a captured action frame: `cargo run -p espbench-ieee80211 --example action_frame`.

use espbench_ieee80211::mpdu::{MacHeader, check_fcs};

fn main() {
    let captured = b"\xD0\0\x2C\0\x24\x0A\xC4\0\0\x01\x24\x0A\xC4\0\0\x02\
        \x24\x0A\xC4\0\0\x01\x70\x02\x7Fhello\x64\x7E\xF3\xE5";
    let frame = check_fcs(captured).expect("whole");
    let (header, body) = MacHeader::parse(frame).expect("a management frame");
    println!("{} -> {}, number {}", header.transmitter, header.receiver, header.sequence);
    assert_eq!((header.sequence, body), (39, &b"\x7Fhello"[..]));
}
