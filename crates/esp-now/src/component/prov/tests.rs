use super::*;
use crate::component::ComponentRelease;
use proptest::prelude::*;
use std::format;
use std::string::ToString;

fn on(idf: Idf) -> Compat {
    Compat { idf, ..Compat::default() }
}

#[test]
fn vector_13_of_the_protocol_reference() {
    let product_id = FixedText::new(b"responder_test").unwrap();
    let beacon =
        ProvMessage::Beacon(ProvIdentity { product_id, device_name: FixedText::default() });
    let mut buf = [0xAA; BEACON_LEN];
    assert_eq!(beacon.emit(&mut buf, Compat::default()), Some(33));
    let mut wire = [0; 33];
    wire[1..15].copy_from_slice(&[
        0x72, 0x65, 0x73, 0x70, 0x6F, 0x6E, 0x64, 0x65, 0x72, 0x5F, 0x74, 0x65, 0x73, 0x74,
    ]);
    assert_eq!(buf, wire);
    assert_eq!(ProvMessage::parse(&wire, Compat::default()), Some(beacon));
}

#[test]
fn lengths_follow_esp_idf() {
    let lengths = [
        (Idf::V4_4, 170, 136),
        (Idf::V5_0, 174, 140),
        (Idf::V5_0_8, 178, 144),
        (Idf::V5_1, 218, 184),
        (Idf::V5_4, 222, 188),
        (Idf::V5_4_2, 222, 188),
    ];
    for (idf, len, token) in lengths {
        let mut wifi = WifiCredentials::new(FixedText::default(), FixedText::default());
        wifi.token = FixedText([0x77; 32]);
        let mut buf = [0; 256];
        assert_eq!(ProvMessage::Wifi(wifi).emit(&mut buf, on(idf)), Some(len), "{idf:?}");
        assert_eq!(buf.iter().position(|&b| b == 0x77), Some(1 + token), "{idf:?}");
        assert_eq!(ProvMessage::Device(ProvDevice::default()).emit(&mut buf, on(idf)), Some(len));
    }
    let v2 = Compat { release: ComponentRelease::Head, ..on(Idf::V5_4) };
    assert!(wifi_len(on(Idf::V5_4)) > on(Idf::V5_4).data_max(), "not with ESP-NOW v1.0");
    assert!(wifi_len(v2) < v2.data_max());
}

/// Writes a request and an answer by hand from the tables of the module, for ESP-IDF 4.4.
#[test]
fn request_and_answer_by_their_bytes() {
    let identity = ProvIdentity {
        product_id: FixedText::new(b"product").unwrap(),
        device_name: FixedText::new(b"name").unwrap(),
    };
    let custom = Vec::from_slice(&[0xC1, 0xC2]).unwrap();
    let device = ProvDevice {
        identity,
        auth_mode: 0x0102_0304,
        secret: FixedText::new(b"secret").unwrap(),
        custom: custom.clone(),
    };
    let mut wire = [0; 172];
    wire[0] = 1;
    wire[1..8].copy_from_slice(b"product");
    wire[17..21].copy_from_slice(b"name");
    wire[33..37].copy_from_slice(&[4, 3, 2, 1]);
    wire[37..43].copy_from_slice(b"secret");
    wire[69..72].copy_from_slice(&[2, 0xC1, 0xC2]);
    let mut buf = [0xEE; 172];
    let device = ProvMessage::Device(device);
    assert_eq!(device.emit(&mut buf, on(Idf::V4_4)), Some(170));
    assert_eq!(buf[..170], wire[..170]);
    assert_eq!(ProvMessage::parse(&buf[..170], on(Idf::V4_4)), Some(device));

    let mut wifi =
        WifiCredentials::new(FixedText::new(b"home").unwrap(), FixedText::new(b"key").unwrap());
    (wifi.mode, wifi.scan_method, wifi.custom) = (1, ALL_CHANNEL_SCAN, custom);
    wifi.token = FixedText::new(b"token").unwrap();
    let mut wire = [0; 172];
    wire[..2].copy_from_slice(&[2, 1]);
    wire[5..9].copy_from_slice(b"home");
    wire[37..40].copy_from_slice(b"key");
    wire[101] = 1;
    wire[137..142].copy_from_slice(b"token");
    wire[169..].copy_from_slice(&[2, 0xC1, 0xC2]);
    let answer = ProvMessage::Wifi(wifi);
    assert_eq!(answer.emit(&mut buf, on(Idf::V4_4)), Some(172));
    assert_eq!(buf, wire);
    assert_eq!(ProvMessage::parse(&wire, on(Idf::V4_4)), Some(answer));
    assert_eq!(ProvMessage::parse(&[3; 172], on(Idf::V4_4)), None, "no such message");
    // With a byte more it is not the structure of this release, so only the network is believed.
    let longer = [&wire[..], &[0]].concat();
    let Some(ProvMessage::Wifi(read)) = ProvMessage::parse(&longer, on(Idf::V4_4)) else {
        panic!()
    };
    assert_eq!((read.mode, read.scan_method, read.custom.len()), (1, 0, 0));
    assert_eq!((read.ssid.bytes(), read.token), (&b"home"[..], FixedText::default()));
    assert_eq!(format!("{read:?}"), "Wifi { mode: 1, ssid: \"home\", … }");
}

#[test]
fn ssid_and_password_are_read_across_releases_and_nothing_else() {
    let mut wifi =
        WifiCredentials::new(FixedText::new(b"home").unwrap(), FixedText::new(b"secret").unwrap());
    wifi.token = FixedText::new(b"token").unwrap();
    let mut buf = [0; 256];
    let len = ProvMessage::Wifi(wifi.clone()).emit(&mut buf, on(Idf::V4_4)).unwrap();
    assert_eq!((&buf[5..9], &buf[37..43]), (&b"home"[..], &b"secret"[..]));
    let Some(ProvMessage::Wifi(read)) = ProvMessage::parse(&buf[..len], on(Idf::V5_4)) else {
        panic!()
    };
    assert_eq!((read.ssid, read.password), (wifi.ssid, wifi.password));
    assert_eq!(read.token, FixedText::default());
    assert!(!format!("{read:?}").contains("secret"));
}

#[test]
fn text_stays_in_its_field_and_steers_no_terminal() {
    assert_eq!(FixedText([b'x'; 4]).to_string(), "xxxx", "no zero at the end");
    assert_eq!(FixedText(*b"a\x1b[\n\0rest").to_string(), "a?[?");
    assert_eq!(FixedText(*b"\xC3\xA9\xFF\0").to_string(), "é?");
    assert_eq!(FixedText::<4>::new(b"five!"), None);
}

#[test]
fn custom_data_that_is_not_there_is_none() {
    let mut payload = [0; 170];
    payload[0] = 1;
    payload[69] = 200;
    let Some(ProvMessage::Device(device)) = ProvMessage::parse(&payload, on(Idf::V4_4)) else {
        panic!()
    };
    assert!(device.custom.is_empty());
    assert_eq!(ProvMessage::parse(&payload[..69], on(Idf::V4_4)), None);
}

fn any_idf() -> impl Strategy<Value = Idf> {
    prop::sample::select(&[Idf::V4_4, Idf::V5_0, Idf::V5_0_8, Idf::V5_1, Idf::V5_4, Idf::V5_4_2])
}

/// `Debug` and the console show the network of credentials, and never the password; credentials that were
/// wiped are gone.
#[test]
fn secrets_are_neither_shown_nor_kept() {
    let ssid = FixedText::new(b"hall").unwrap();
    let mut wifi = WifiCredentials::new(ssid, FixedText::new(b"secret words").unwrap());
    wifi.mode = 1;
    wifi.token = FixedText::new(b"token").unwrap();
    let shown = format!("{wifi:?} {:?}", ProvMessage::Wifi(wifi.clone()));
    assert!(shown.starts_with("Wifi { mode: 1, ssid: \"hall\", … } "), "{shown}");
    assert!(!shown.contains("secret") && !shown.contains("token"), "{shown}");
    assert_eq!(format!("{:?}", wifi.password), "\"secret words\"", "a text alone is shown");
    wifi.password.zeroize();
    assert_eq!(wifi.password, FixedText::default());
    assert_eq!((wifi.password.bytes(), wifi.ssid), (&b""[..], ssid));
}

/// A text on a console does not move the cursor, whatever a device calls itself.
#[test]
fn texts_are_shown_without_what_a_terminal_would_act_on() {
    for (text, shown) in [
        (&b"lamp"[..], "lamp"),
        (b"", ""),
        (b"a\x1b[2Jb", "a?[2Jb"),
        (b"tab\there\r\n", "tab?here??"),
        (b"caf\xc3\xa9", "café"),
        (b"\xff\xfe", "??"),
        (b"a\0b", "a"),
    ] {
        let text = FixedText::<16>::new(text).unwrap();
        assert_eq!(text.to_string(), shown);
        assert_eq!(format!("{text:?}"), format!("\"{shown}\""));
    }
    assert_eq!(FixedText::<4>::new(b"12345"), None);
    assert_eq!(FixedText::<4>::new(b"1234").map(|it| it.to_string()), Some("1234".into()));
}

proptest! {
    #[test]
    fn reads_back(
        which in 0u8..3, mode: u32, id: [u8; 16], long: [u8; 32], word: [u8; 32],
        data in prop::collection::vec(any::<u8>(), 0..64), idf in any_idf(),
    ) {
        let identity = ProvIdentity { product_id: FixedText(id), device_name: FixedText(id) };
        let custom = Vec::from_slice(&data).unwrap();
        let message = match which {
            0 => ProvMessage::Beacon(identity),
            1 => ProvMessage::Device(ProvDevice { identity, auth_mode: mode, secret: FixedText(long), custom }),
            _ => ProvMessage::Wifi(WifiCredentials {
                mode,
                ssid: FixedText(long),
                password: FixedText::new(&word).unwrap(),
                scan_method: mode,
                token: FixedText(word),
                custom,
            }),
        };
        let mut buf = [0xFF; 300];
        let len = message.emit(&mut buf, on(idf)).unwrap();
        prop_assert_eq!(message.emit(&mut buf[..len - 1], on(idf)), None);
        let len = message.emit(&mut buf, on(idf)).unwrap_or(len);
        prop_assert_eq!(ProvMessage::parse(&buf[..len], on(idf)), Some(message));
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300), kind in 0u8..3, idf in any_idf()) {
        let mut bytes = bytes;
        let _ = ProvMessage::parse(&bytes, on(idf));
        if let Some(first) = bytes.first_mut() {
            *first = kind;
        }
        if let Some(message) = ProvMessage::parse(&bytes, on(idf)) {
            prop_assert!(message.emit(&mut [0; 300], on(idf)).is_some());
        }
    }
}
