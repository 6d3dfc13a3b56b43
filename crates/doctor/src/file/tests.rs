//! Files by their contents, however they are cut.

use super::{DoctorFile, DoctorFileFault, DoctorFileReader, HEAD, LARGEST_CONFIG, OwnForm};
use alloc::vec::Vec;
use espbench_measure::report::{PAGE_MARK, SCHEMA, TEXT_MARK};
use proptest::prelude::*;

const LOG: &str = "W (5252) wifi station: disconnected, reason: 15\n";
const CONFIG: &str = "# Espressif IoT Development Framework\nCONFIG_LWIP_TCP_WND_DEFAULT=2440\n";

/// Reads a file in pieces.
fn read(bytes: &[u8], piece: usize) -> Result<DoctorFile, DoctorFileFault> {
    let mut reader = DoctorFileReader::default();
    for piece in bytes.chunks(piece.max(1)) {
        reader.push(piece);
    }
    reader.finish()
}

/// Returns a pcap of IP without packets, and with one of five octets.
fn pcap(packet: bool) -> Vec<u8> {
    let mut file = 0xA1B2_C3D4_u32.to_be_bytes().to_vec();
    file.extend([0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 101]);
    if packet {
        file.extend([0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 1, 0x45]);
    }
    file
}

/// Returns a text as PowerShell writes it.
fn utf16(text: &str) -> Vec<u8> {
    let mut bytes = alloc::vec![0xff, 0xfe];
    bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    bytes
}

#[test]
fn contents_tell_the_kind() {
    let lines = |it| match it {
        Ok(DoctorFile::Log(log, _)) => log.recorded,
        other => panic!("{other:?}"),
    };
    assert_eq!(lines(read(&LOG.repeat(3).into_bytes(), 7)), 3);
    assert_eq!(lines(read(&utf16(&LOG.repeat(3)), 7)), 3);
    for bytes in [CONFIG.as_bytes().to_vec(), utf16(CONFIG)] {
        let Ok(DoctorFile::Config(config)) = read(&bytes, 5) else { panic!("no sdkconfig") };
        assert_eq!(config.lines.values().map(|it| it.line).collect::<Vec<_>>(), [2]);
    }
    let Ok(DoctorFile::Capture(seen)) = read(&pcap(true), 3) else { panic!("no capture") };
    assert_eq!(seen.packets, 1);
}

#[test]
fn what_is_none_of_them_is_refused() {
    let fault = |bytes: &[u8]| read(bytes, 4096).unwrap_err();
    assert_eq!(fault(b""), DoctorFileFault::Empty);
    assert_eq!(fault(&[0; 100]), DoctorFileFault::Binary);
    assert_eq!(fault(&[1; 2 * HEAD]), DoctorFileFault::Binary);
    assert!(matches!(fault(b"CONFIG_A=y\nCONFIG_B=\xff\xfe\n"), DoctorFileFault::Config(_)));
    for (text, form) in [
        (alloc::format!("<!DOCTYPE html>\n<head>{PAGE_MARK}\nwifi:disconnected\n"), OwnForm::Page),
        (alloc::format!("{TEXT_MARK}\n# espbench report: echo-1\n"), OwnForm::Markdown),
        (alloc::format!("{{\n  \"schema\": \"{SCHEMA}\","), OwnForm::Report),
        ("run,origin,suite,kind,cell,repetition,table\n".into(), OwnForm::Table),
        ("run,suite,kind,cell,repetition,fate\n".into(), OwnForm::Table),
    ] {
        assert_eq!(fault(text.as_bytes()), DoctorFileFault::Own(form), "{text}");
    }
    assert!(read(b"<!DOCTYPE html>\nI (12) wifi:mode : sta\n", 64).is_ok(), "another's page");
    assert!(matches!(fault(&pcap(false)[..20]), DoctorFileFault::Capture(_)));
    // A few odd octets are what a reset leaves.
    assert!(read(&after(&[0, 1], LOG), 9).is_ok());
}

/// Returns octets before a text.
fn after(octets: &[u8], text: &str) -> Vec<u8> {
    [octets, text.as_bytes()].concat()
}

#[test]
fn an_sdkconfig_has_a_bound() {
    let mut reader = DoctorFileReader::default();
    let piece = "CONFIG_LWIP_TCP_WND_DEFAULT=2440\n".repeat(HEAD / 16);
    let mut pushed = 0;
    while reader.push(piece.as_bytes()) {
        pushed += piece.len();
        assert!(pushed <= LARGEST_CONFIG, "{pushed} octets are kept");
    }
    assert_eq!(reader.finish().unwrap_err(), DoctorFileFault::LongConfig);
}

proptest! {
    #[test]
    fn pieces_do_not_matter(
        kind in 0_usize..4,
        tail in proptest::collection::vec(any::<u8>(), 0..400),
        piece in 1_usize..500,
    ) {
        let begin = [Vec::new(), LOG.repeat(4).into_bytes(), CONFIG.repeat(4).into_bytes(), pcap(true)];
        let bytes = [begin[kind].as_slice(), &tail].concat();
        let (whole, cut) = (read(&bytes, bytes.len()), read(&bytes, piece));
        prop_assert_eq!(alloc::format!("{:?}", whole), alloc::format!("{:?}", cut));
    }
}
