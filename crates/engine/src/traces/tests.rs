//! Whether conversions keep what was measured.

use super::*;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_ieee80211::mac::Mac;
use espbench_ieee80211::mpdu::{FrameControl, MacHeader};
use espbench_ieee80211::radiotap::Radiotap;
use espbench_sim::lab::file::Library;
use proptest::prelude::*;

const A: Mac = Mac([0x24, 0x0A, 0xC4, 0, 0, 1]);
const B: Mac = Mac([0x24, 0x0A, 0xC4, 0, 0, 2]);

fn settings(at: Option<&str>) -> TraceSettings {
    let names = vec![(A.to_string(), "node0".into()), (B.to_string(), "node1".into())];
    TraceSettings { window: Duration::from_secs(1), at: at.map(Into::into), names }
}

fn convert(bytes: &[u8], chunk: usize, at: Option<&str>) -> Result<TraceWindows, TraceError> {
    let mut windows = TraceWindows::new(settings(at));
    let mut reader = TraceReader::of(bytes);
    for part in bytes.chunks(chunk.max(1)) {
        reader.push(part, &mut windows)?;
    }
    reader.finish(&mut windows)?;
    Ok(windows)
}

fn frame(from: Mac, to: Mac, sequence: u16, retry: bool, signal: i8) -> Vec<u8> {
    let mut packet = [0; Radiotap::EMIT_MAX];
    let length = Radiotap { flags: None, ..Radiotap::captured(0, 1, signal) }.emit(&mut packet);
    let header = MacHeader {
        control: FrameControl::ACTION.with_retry(retry),
        duration: 0,
        receiver: to,
        transmitter: from,
        bssid: Mac::BROADCAST,
        sequence,
        fragment: 0,
    };
    [&packet[..length.unwrap()], &header.emit()].concat()
}

/// Returns a pcap file of packets with their times in microseconds.
fn pcap(packets: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let mut file = 0xA1B2_C3D4_u32.to_le_bytes().to_vec();
    file.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 127, 0, 0, 0]);
    for (us, packet) in packets {
        let length = packet.len() as u32;
        for word in [(us / 1_000_000) as u32, (us % 1_000_000) as u32, length, length] {
            file.extend(word.to_le_bytes());
        }
        file.extend(packet);
    }
    file
}

/// Returns the same as pcapng, with the high bytes first where asked for.
fn pcapng(packets: &[(u64, Vec<u8>)], swapped: bool) -> Vec<u8> {
    let word = |it: u32| if swapped { it.to_be_bytes() } else { it.to_le_bytes() };
    let half = |it: u16| if swapped { it.to_be_bytes() } else { it.to_le_bytes() };
    let block = |kind: u32, mut body: Vec<u8>| {
        body.resize(body.len().next_multiple_of(4), 0);
        let length = word(body.len() as u32 + 12);
        [&word(kind)[..], &length, &body, &length].concat()
    };
    let section = [&word(0x1A2B_3C4D)[..], &half(1), &half(0), &[0xFF; 8]].concat();
    // Nanoseconds: if_tsresol 9.
    let options = [&half(9)[..], &half(1), &[9, 0, 0, 0], &[0; 4]].concat();
    let interface = [&half(127)[..], &half(0), &word(0), &options].concat();
    let mut file = [block(0x0A0D_0D0A, section), block(1, interface)].concat();
    for (us, packet) in packets {
        let (ns, length) = (us * 1000, word(packet.len() as u32));
        let times = [word((ns >> 32) as u32), word(ns as u32)].concat();
        file.extend(block(6, [&word(0)[..], &times, &length, &length, packet].concat()));
    }
    file
}

/// Returns frames of two stations, captured at the second: of A's eight frames two are missing, and B's second one
/// was sent three times.
fn conversation() -> Vec<(u64, Vec<u8>)> {
    let heard = |at: u64, number, signal| (at * 100_000, frame(A, B, number, false, signal));
    let own = |at: u64, number, retry| (at * 100_000, frame(B, A, number, retry, 0));
    let mut all = vec![heard(0, 10, -60), heard(1, 11, -62), heard(2, 14, -64)];
    all.extend([own(3, 100, false), own(4, 101, false), own(5, 101, true), own(6, 101, true)]);
    // The next second but one: two seconds without a frame of B.
    all.extend([heard(20, 15, -80), heard(21, 16, -80), heard(22, 17, -80)]);
    all
}

#[test]
fn a_capture_tells_rssi_and_delivery_of_both_directions() {
    let expected = "time_s,from,to,rssi_dbm,delivery\n\
                    0,node0,node1,-62.0,0.6000\n\
                    0,node1,node0,,0.5000\n\
                    2,node0,node1,-80.0,1.0000\n";
    let packets = conversation();
    for file in [pcap(&packets), pcapng(&packets, false), pcapng(&packets, true)] {
        let windows = convert(&file, 7, Some("node1")).unwrap();
        assert_eq!(windows.csv(), expected);
        let gaps = windows.gaps();
        assert_eq!(gaps[0].link, ("node0".into(), "node1".into()));
        let gap = |it: &TraceGap| (it.windows, it.missing, it.longest);
        assert_eq!([gap(&gaps[0]), gap(&gaps[1])], [(2, 1, 1), (1, 2, 2)]);
    }
}

#[test]
fn a_capture_from_outside_counts_retries_of_the_link() {
    let windows = convert(&pcap(&conversation()), 1000, None).unwrap();
    let rows: Vec<_> = windows.csv().lines().skip(1).map(ToString::to_string).collect();
    assert_eq!(rows[0], "0,node0,node1,-62.0,1.0000");
    assert_eq!(rows[1], "0,node1,node0,0.0,0.5000");
}

#[test]
fn a_console_log_tells_rssi_and_loss() {
    let log = "I (1000) iperf_cmd: 10 bytes from 24:0a:c4:00:00:01: seq=0 rssi=-40 time=5 ms\r\n\
               W (1500) iperf_cmd: seq=1 Destination Host Unreachable\r\n\
               I (2100) iperf_cmd: 10 bytes from 24:0a:c4:00:00:01: seq=2 rssi=-50 time=5 ms\r\n";
    let windows = convert(log.as_bytes(), 5, Some("node1")).unwrap();
    assert_eq!(
        windows.csv(),
        "time_s,from,to,rssi_dbm,delivery\n0,node0,node1,-40.0,0.5000\n1,node0,node1,-50.0,1.0000\n"
    );
}

#[test]
fn tables_of_others_are_read_by_their_columns() {
    let table = "Timestamp,src,dst,RSSI,received,note\n100,\"a, b\",c,-60,1,x\n100.2,\"a, b\",c,-70,0,\n\
                 100.4,c,\"a, b\",,yes,\n103,c,\"a, b\",-61,,\n";
    let windows = convert(table.as_bytes(), 3, None).unwrap();
    let rows = "0,\"a, b\",c,-65.0,0.5000\n0,c,\"a, b\",,1.0000\n3,c,\"a, b\",-61.0,\n";
    assert_eq!(windows.csv(), std::format!("time_s,from,to,rssi_dbm,delivery\n{rows}"));
    let said = |row: &str| {
        convert(std::format!("time,from,to,rssi\n{row}").as_bytes(), 9, None)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(said("0,a,b,loud"), "line 2: `rssi` is `loud`: use a number from -127 to 20");
    assert_eq!(said("0,,b,-1"), "line 2: `from` and `to` name two stations");
    let none = convert(b"time,from,to\n", 9, None).unwrap_err();
    assert!(none.what.contains("one is needed"), "{none}");
}

#[test]
fn what_is_no_capture_of_frames_says_so() {
    let mut ethernet = pcap(&conversation());
    ethernet[20] = 1;
    let said = convert(&ethernet, 99, None).unwrap_err().what;
    assert!(said.starts_with("packet 1 is no frame") && said.contains("monitor mode"), "{said}");
    let mut long = pcap(&conversation());
    long[24 + 11] = 0x7F;
    assert!(convert(&long, 99, None).unwrap_err().what.contains("longer than a megabyte"));
}

/// Checks that a lab reads what was written, whatever was seen.
fn is_read_by_a_lab(windows: &TraceWindows) {
    if !windows.is_empty() {
        let csv = windows.csv();
        let has_rows = csv.lines().count() > 1;
        let read = Library::new().add_link_trace("t.csv", &csv);
        assert!(!has_rows || read.is_ok(), "{read:?}\n{csv}");
    }
}

proptest! {
    #[test]
    fn chunks_of_any_size_give_the_same_trace(chunk in 1_usize..400, cut in 0_usize..700) {
        let whole = pcapng(&conversation(), false);
        let bytes = &whole[..whole.len().min(cut + 80)];
        let one = convert(bytes, bytes.len(), Some("node1")).map(|it| it.csv());
        let other = convert(bytes, chunk, Some("node1")).map(|it| it.csv());
        prop_assert_eq!(one, other);
    }

    #[test]
    fn any_bytes_are_read_or_refused(
        kind in 0_usize..4,
        noise in proptest::collection::vec(any::<u8>(), 0..300),
        at in 0_usize..700,
    ) {
        let table = b"time,from,to,rssi,delivered\n0,a,b,-1,1\n".to_vec();
        let packets = conversation();
        let files = [pcap(&packets), pcapng(&packets, true), table, Vec::new()];
        let mut file = files[kind].clone();
        let at = at.min(file.len());
        file.splice(at..(at + 20).min(file.len()), noise);
        if let Ok(windows) = convert(&file, 50, Some("z")) {
            is_read_by_a_lab(&windows);
        }
    }
}
