//! Packets of a capture, counted.

use espbench_capture::file::CaptureReader;
use espbench_capture::link::{LinkContent, content};

fn main() {
    // A pcap file of link type 101 with one IP packet.
    let mut file =
        vec![0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 101, 0, 0, 0];
    file.extend([1, 0, 0, 0, 5, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 0x45, 0, 0, 4]);
    let mut packets = 0;
    let mut reader = CaptureReader::default();
    for chunk in file.chunks(7) {
        reader
            .push(chunk, &mut |it| packets += u32::from(matches!(content(it), LinkContent::Ip(_))))
            .unwrap();
    }
    assert_eq!(packets, 1);
    println!("{packets} IP packets, cut: {}", reader.finish().unwrap());
}
