//! Encrypted payloads between engines: section 3.1.

use crate::component::{ComponentRelease, DataType, FrameConfig};
use crate::node::security::{Policy, Secret};
use crate::node::task::{SendRequest, TransmitOutcome};
use crate::node::tests::medium::{TestMedium, ms, outgoing, settings};
use espbench_ieee80211::mac::Mac;
use std::vec::Vec;

const SEALED: FrameConfig =
    FrameConfig { security: true, broadcast: true, copies: 2, ..FrameConfig::UNICAST };

fn key(first: u8) -> Option<Secret> {
    Some(Secret::new(core::array::from_fn(|i| first.wrapping_add(i as u8))))
}

fn secured(count: usize) -> TestMedium {
    let mut medium = TestMedium::new(count, &settings(1000));
    for station in &mut medium.stations {
        station.shared.settings.encrypt.enabled = true;
        (station.shared.keys.encrypt, station.shared.keys.decrypt) = (key(0), key(0));
    }
    medium
}

fn payloads(medium: &TestMedium, n: usize) -> Vec<&[u8]> {
    medium.stations[n].inbox.iter().map(|(_, data)| &data[..]).collect()
}

#[test]
fn a_payload_is_sealed_once_for_all_copies_and_opened() {
    let mut medium = secured(2);
    for magic in [1, 2] {
        medium.send(0, &SendRequest { magic, ..outgoing(Mac::BROADCAST, SEALED, 5) }, b"hello");
        medium.run_until(ms(10 * u64::from(magic)));
    }
    let data: Vec<&[u8]> = medium.log.iter().map(|aired| &aired.data[..]).collect();
    assert_eq!((data.len(), data[0].len(), data[0][1]), (4, 20 + 5 + 12, 17));
    assert_eq!((data[0], data[2]), (data[1], data[3]), "the copies are equal");
    assert_ne!(data[0][20..], data[2][20..], "the nonce is not");
    assert_eq!(payloads(&medium, 1), [b"hello"; 2]);
    assert_eq!(medium.stations[1].inbox[0].0.len, 5);
}

#[test]
fn up_to_2_2_the_nonce_is_the_key_s() {
    let mut medium = secured(2);
    medium
        .stations
        .iter_mut()
        .for_each(|s| s.shared.settings.compat.release = ComponentRelease::V2_0);
    medium.send(0, &outgoing(Mac::BROADCAST, SEALED, 5), b"hello");
    medium.run_until(ms(10));
    assert_eq!(medium.log[0].data.len(), 20 + 5 + 4);
    assert_eq!(payloads(&medium, 1), [b"hello"]);
}

#[test]
fn another_key_an_unset_key_and_no_security_at_all() {
    let mut medium = secured(4);
    medium.stations[1].shared.keys.decrypt = key(9);
    medium.stations[2].shared.keys.decrypt = None;
    medium.stations[3].shared.settings.encrypt.enabled = false;
    medium.send(0, &outgoing(Mac::BROADCAST, SEALED, 5), b"hello");
    medium.run_until(ms(10));
    let counters = [1, 2, 3].map(|n| medium.stations[n].engine.counters());
    assert_eq!(counters.map(|c| c.delivered), [0; 3]);
    assert_eq!((counters[0].decrypt_failed, counters[1].no_key), (1, 1));
    assert_eq!(counters[2].no_security, 2);
    let failed = "E (1) espnow_sec: Failed at mbedtls_ccm_auth_decrypt with error code : -15\r\n\
                  W (1) espnow: [espnow_recv_process, 899]espnow_sec_auth_decrypt, err_name: \
                  ESP_FAIL\r\n";
    assert_eq!(medium.stations[1].printed(), failed);
    assert_eq!(medium.stations[2].printed(), "E (1) espnow: Security key is not set\r\n");
    assert_eq!(medium.stations[3].printed(), "");
}

#[test]
fn without_security_the_frame_leaves_in_clear_with_the_bit_set() {
    let mut medium = secured(2);
    medium.stations[0].shared.settings.encrypt.enabled = false;
    medium.send(0, &outgoing(Mac::BROADCAST, SEALED, 20), &[7; 20]);
    medium.run_until(ms(10));
    assert_eq!(medium.log[0].data[20..], [7; 20]);
    assert!(medium.log[0].header().config.security);
    assert_eq!(medium.stations[1].engine.counters().decrypt_failed, 1, "and nobody can read it");
}

#[test]
fn the_handshake_s_own_types_are_never_sealed() {
    for data_type in [DataType::Ack, DataType::Group, DataType::Security, DataType::SecurityStatus]
    {
        let mut medium = secured(1);
        medium.send(0, &SendRequest { data_type, ..outgoing(Mac::BROADCAST, SEALED, 3) }, b"abc");
        medium.run_until(ms(10));
        assert_eq!(&medium.log[0].data[20..], b"abc", "{data_type:?}");
    }
}

#[test]
fn without_a_key_or_a_payload_nothing_is_sent() {
    let mut medium = secured(1);
    medium.send(0, &outgoing(Mac::BROADCAST, SEALED, 0), b"");
    medium.run_until(ms(1));
    medium.stations[0].shared.keys.encrypt = None;
    medium.send(0, &outgoing(Mac::BROADCAST, SEALED, 1), b"x");
    medium.run_until(ms(2));
    let outcomes: Vec<TransmitOutcome> = medium.stations[0].outcomes.iter().map(|o| o.1).collect();
    assert_eq!((outcomes, medium.log.len()), (Vec::from([TransmitOutcome::Refused; 2]), 0));
    let want = "E (0) espnow: Security encrypt return error\r\n\
                W (1) espnow: [espnow_send, 583] <ESP_FAIL> Security key is not set\r\n";
    assert_eq!(medium.stations[0].printed(), want);
}

#[test]
fn what_is_too_short_to_be_sealed_is_dropped_in_silence() {
    let mut medium = secured(2);
    medium.stations[0].shared.settings.encrypt.enabled = false;
    for len in [8, 12] {
        let out = SendRequest { magic: len as u16, ..outgoing(Mac::BROADCAST, SEALED, len) };
        medium.send(0, &out, &[0; 12][..len]);
        medium.run_until(ms(10 * len as u64));
    }
    assert_eq!(medium.stations[1].engine.counters().decrypt_failed, 2);
    assert!(payloads(&medium, 1).is_empty());
}

#[test]
fn a_recorded_payload_under_a_new_header_is_refused_where_the_policy_says_so() {
    for (policy, taken) in [(Policy::COMPATIBLE, 2), (Policy::STRICT, 1)] {
        let mut medium = secured(2);
        medium.stations[1].shared.settings.policy = policy;
        medium.send(0, &outgoing(Mac::BROADCAST, SEALED, 5), b"hello");
        medium.run_until(ms(10));
        let recorded = medium.log[0].data[20..].to_vec();
        // A station without a key sends the bytes in clear, with the bit set.
        medium.stations[0].shared.settings.encrypt.enabled = false;
        let out = SendRequest { magic: 9, ..outgoing(Mac::BROADCAST, SEALED, recorded.len()) };
        medium.send(0, &out, &recorded);
        medium.run_until(ms(20));
        assert_eq!(payloads(&medium, 1).len(), taken);
        assert_eq!(medium.stations[1].engine.counters().replayed, 2 - taken as u32);
    }
}
