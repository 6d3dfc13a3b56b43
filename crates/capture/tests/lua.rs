//! The dissector for Wireshark, run by tshark over frames of the component.

use esp_now::component::iperf::{IperfHead, IperfKind};
use esp_now::component::time_sync::{TimeSyncKind, TimeSyncMessage};
use esp_now::component::{DataType, FrameConfig, Header, debug};
use esp_now::frame::{ActionFrame, EspNowVersion, MPDU_MAX};
use esp_now::ieee80211::mac::Mac;
use std::process::Command;

const A: Mac = Mac([0x24, 0x0A, 0xC4, 0, 0, 1]);
const B: Mac = Mac([0x24, 0x0A, 0xC4, 0, 0, 2]);

/// Returns frames of the component: header and payload.
fn frames() -> Vec<(Header, Vec<u8>)> {
    let config = FrameConfig {
        channel: 11,
        filter_weak: true,
        ack: true,
        copies: 10,
        ttl: 3,
        rssi: -65,
        ..FrameConfig::default()
    };
    let header = |data_type, config| Header {
        data_type,
        version: 2,
        size: 0,
        magic: 0xBEEF,
        config,
        dest: B,
        src: A,
    };
    let mut text = [0; 32];
    let len = debug::emit(b"restart", &mut text).unwrap();
    let mut ping = [0; 16];
    IperfHead { kind: IperfKind::Ping, seq: 7 }.emit(&mut ping, 16).unwrap();
    let mut time = [0; 18];
    let message = TimeSyncMessage {
        version: 1,
        kind: TimeSyncKind::Broadcast,
        timestamp_us: 12_345_678,
        utc_us: 0,
    };
    message.emit(&mut time).unwrap();
    vec![
        (header(DataType::DebugCommand, config), text[..len].to_vec()),
        (header(DataType::Reserved, FrameConfig::UNICAST), ping.to_vec()),
        (header(DataType::TimeSync, FrameConfig::default()), time.to_vec()),
        (header(DataType::Data, FrameConfig { security: true, ..config }), vec![0x5A; 20]),
        // ESP-NOW v2.0: three elements.
        (header(DataType::OtaData, FrameConfig::UNICAST), vec![0x11; 600]),
    ]
}

#[test]
fn tshark_decodes_the_component_with_our_dissector() {
    if Command::new("tshark").arg("-v").output().is_err() {
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "tshark is missing");
        eprintln!("skipped: tshark is missing");
        return;
    }
    let mut file = vec![
        0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0, 105, 0, 0, 0,
    ];
    for (number, (header, payload)) in frames().into_iter().enumerate() {
        let header = Header { size: payload.len() as u8, ..header };
        let data = [&header.emit()[..], &payload].concat();
        let frame = ActionFrame {
            receiver: B,
            transmitter: A,
            sequence: number as u16,
            retry: false,
            random: [1, 2, 3, 4],
            version: EspNowVersion::of_data(data.len()),
        };
        let mut buf = [0; MPDU_MAX];
        let len = frame.emit(&data, &mut buf).unwrap();
        for word in [1, number as u32, len as u32, len as u32] {
            file.extend(word.to_le_bytes());
        }
        file.extend(&buf[..len]);
    }
    let folder = std::env::temp_dir().join(format!("espbench-lua-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (capture, script) = (folder.join("a.pcap"), folder.join("espnow.lua"));
    std::fs::write(&capture, &file).unwrap();
    std::fs::write(&script, espbench_capture::lua::dissector()).unwrap();
    let fields = [
        "type",
        "packet_id",
        "src",
        "dest",
        "channel",
        "filter_weak",
        "ack",
        "copies",
        "ttl",
        "rssi",
        "security",
        "text",
        "iperf.number",
        "time.us",
        "size",
    ];
    let names: Vec<String> = fields.iter().map(|it| format!("espnow.{it}")).collect();
    let output = Command::new("tshark")
        .arg("-X")
        .arg(format!("lua_script:{}", script.display()))
        .args(["-Y", "espnow", "-T", "fields", "-E", "separator=|"])
        .args(names.iter().flat_map(|it| ["-e", it]))
        .arg("-r")
        .arg(&capture)
        .output()
        .unwrap();
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(output.status.success() && !err.contains("Lua"), "{err}");
    let (a, b) = ("24:0a:c4:00:00:01", "24:0a:c4:00:00:02");
    assert_eq!(
        out.lines().collect::<Vec<_>>(),
        [
            format!("9|0xbeef|{a}|{b}|11|1|1|10|3|191|0|restart|||8"),
            format!("15|0xbeef|{a}|{b}|0|0|0|0|0|0|0||7||16"),
            format!("14|0xbeef|{a}|{b}|0|0|0|10|0|0|0|||12345678|18"),
            format!("10|0xbeef|{a}|{b}|11|1|1|10|3|191|1||||20"),
            format!("7|0xbeef|{a}|{b}|0|0|0|0|0|0|0||||88"),
        ],
        "{err}"
    );
}
