//! Reads one captured frame: `cargo run -p esp-now --example frame`.

use esp_now::component::Header;
use esp_now::frame;

/// An action frame without its FCS: "hello", broadcast by 24:0a:c4:00:00:01.
const CAPTURED: &[u8] =
    b"\xD0\0\0\0\xFF\xFF\xFF\xFF\xFF\xFF\x24\x0A\xC4\0\0\x01\xFF\xFF\xFF\xFF\xFF\xFF\
    \0\0\x7F\x18\xFE\x34\xDE\xAD\xBE\xEF\xDD\x1E\x18\xFE\x34\x04\x01\x2A\x05\x34\x12\x01\x88\x02\0\
    \xFF\xFF\xFF\xFF\xFF\xFF\x24\x0A\xC4\0\0\x01hello";

fn main() {
    let (frame, elements) = frame::parse(CAPTURED).expect("an ESP-NOW frame");
    println!("{} -> {}, {:?}", frame.transmitter, frame.receiver, frame.version);
    let mut data = [0; frame::DATA_MAX];
    let data = elements.gather(&mut data).expect("room for the longest");
    let (header, payload) = Header::parse(data).expect("the component's header");
    println!(
        "{:?}, packet {:#06x}: \"{}\"",
        header.data_type,
        header.magic,
        payload.escape_ascii()
    );
}
