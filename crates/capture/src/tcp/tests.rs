//! Connections by hand.

use super::limit::TcpLimit;
use super::*;
use alloc::vec;
use proptest::prelude::*;

const CLIENT: [u8; 4] = [10, 0, 0, 1];
const SERVER: [u8; 4] = [10, 0, 0, 2];

/// Returns a packet from client to server or back: numbers, flags, window, length.
fn packet(up: bool, sequence: u32, ack: u32, flags: u8, window: u16, length: usize) -> Vec<u8> {
    let total = 40 + length as u16;
    let mut out = vec![0x45, 0];
    out.extend(total.to_be_bytes());
    out.extend([0, 0, 0, 0, 64, 6, 0, 0]);
    let (ends, ports) =
        if up { ([CLIENT, SERVER], [4000, 80]) } else { ([SERVER, CLIENT], [80, 4000]) };
    out.extend(ends.concat());
    out.extend(ports.map(u16::to_be_bytes).concat());
    out.extend(sequence.to_be_bytes());
    out.extend(ack.to_be_bytes());
    out.extend([0x50, flags]);
    out.extend(window.to_be_bytes());
    out.extend([0; 4]);
    out.resize(usize::from(total), 1);
    out
}

/// Takes a transfer of 100 segments in bursts, with a wait before each acknowledgement and before each burst.
fn transfer(burst: u32, window: u16, round_trip: u64, pause: u64) -> TcpFlow {
    let mut tcp = TcpAnalysis::default();
    let (mut number, mut at, mut sequence) = (0, 0, 1);
    let mut take = |at: u64, bytes: &[u8]| {
        number += 1;
        tcp.take(number, Some(at), bytes);
    };
    take(at, &packet(true, 0, 0, 2, 60_000, 0));
    take(at + round_trip, &packet(false, 0, 1, 18, window, 0));
    at += round_trip;
    for _ in 0..20 {
        at += pause;
        for _ in 0..burst {
            take(at, &packet(true, sequence, 1, 24, 60_000, 1000));
            sequence += 1000;
        }
        at += round_trip;
        take(at, &packet(false, 1, sequence, 16, window, 0));
    }
    tcp.finish().remove(0)
}

/// A device that wakes from deep sleep opens its connection with the same port and the same number again.
#[test]
fn a_device_that_starts_again_retransmits_nothing() {
    for (pause, flows, resent) in [(12_000_000_000, 3, 0), (200_000_000, 1, 2)] {
        let mut tcp = TcpAnalysis::default();
        let (mut number, mut at) = (0, 0);
        for _ in 0..3 {
            at += pause;
            for it in [
                packet(true, 6510, 0, 2, 5760, 0),
                packet(false, 700, 6511, 18, 60_000, 0),
                packet(true, 6511, 701, 24, 5760, 100),
                packet(false, 701, 6611, 16, 60_000, 0),
            ] {
                number += 1;
                at += 1_000_000;
                tcp.take(number, Some(at), &it);
            }
        }
        let all = tcp.finish();
        assert_eq!(all.len(), flows);
        let sent = all.iter().map(|it| it.directions[0].resent.count).sum::<u64>();
        assert!(if resent == 0 { sent == 0 } else { sent >= resent }, "{sent}");
    }
}

#[test]
fn the_limit_is_what_kept_the_sender_from_sending() {
    let most = |it: &TcpFlow| it.directions[0].limits.most().map(|it| it.0);
    // Four segments fill the window of 4000; the program waits; the way is long and the window has room.
    assert_eq!(most(&transfer(4, 4000, 5_000_000, 0)), Some(TcpLimit::Window));
    assert_eq!(most(&transfer(4, 60_000, 1_000_000, 30_000_000)), Some(TcpLimit::Sender));
    assert_eq!(most(&transfer(4, 60_000, 30_000_000, 0)), Some(TcpLimit::Network));
}

#[test]
fn round_trips_and_full_windows_are_counted() {
    let flow = transfer(4, 4000, 5_000_000, 0);
    let sender = &flow.directions[0];
    assert_eq!((sender.window_full.count, sender.octets, flow.opened), (20, 80_000, true));
    // The SYN and the last segment of each burst.
    assert_eq!((sender.rtt.count, sender.rtt.mean_ms()), (21, Some(5.0)));
    assert_eq!(sender.most_in_flight, 4000);
}

#[test]
fn a_new_syn_on_the_same_ports_is_another_connection() {
    let mut tcp = TcpAnalysis::default();
    for sequence in [100, 100, 9000] {
        tcp.take(1, Some(0), &packet(true, sequence, 0, 2, 1000, 0));
    }
    let flows = tcp.finish();
    assert_eq!(flows.iter().map(|it| it.directions[0].segments).collect::<Vec<_>>(), [2, 1]);
}

#[test]
fn packets_of_ip_version_6_and_fragments() {
    let mut six = vec![0x60, 0, 0, 0, 0, 28, 0, 64];
    six.extend([0xFD; 16]);
    six.extend([0xFE; 16]);
    // Hop by hop, then TCP.
    six.extend([6, 0, 0, 0, 0, 0, 0, 0]);
    six.extend(&packet(true, 5, 0, 2, 9, 0)[20..]);
    let mut tcp = TcpAnalysis::default();
    tcp.take(1, None, &six);
    let mut fragment = packet(true, 5, 0, 16, 9, 100);
    fragment[7] = 9;
    tcp.take(2, None, &fragment);
    assert_eq!((tcp.segments, tcp.fragments, tcp.packets), (1, 1, [2, 0, 0]));
    assert!(tcp.finish()[0].ends[0].0.is_ipv6());
}

#[test]
fn connections_beyond_the_room_give_way_to_new_ones() {
    let mut tcp = TcpAnalysis::default();
    for number in 0..5000_u64 {
        let mut bytes = packet(true, 5, 0, 2, 9, 0);
        bytes[20..22].copy_from_slice(&(number as u16).to_be_bytes());
        tcp.take(number, Some(number), &bytes);
    }
    assert!(tcp.dropped == 5000 - 4096 && tcp.finish().len() == 4096);
}

proptest! {
    #[test]
    fn any_packets(all in prop::collection::vec((any::<bool>(), any::<u32>(), any::<u32>(), any::<u8>(), any::<u16>(), 0_usize..50), 0..40)) {
        let mut tcp = TcpAnalysis::default();
        for (at, (up, sequence, ack, flags, window, length)) in all.iter().enumerate() {
            tcp.take(1, Some(at as u64), &packet(*up, *sequence, *ack, *flags, *window, *length));
        }
        for flow in tcp.finish() {
            for it in &flow.directions {
                let kinds = it.retransmissions + it.fast_retransmissions + it.spurious_retransmissions;
                prop_assert_eq!(kinds, it.resent.count);
            }
        }
    }

    #[test]
    fn any_bytes(bytes: Vec<u8>) {
        TcpAnalysis::default().take(1, None, &bytes);
    }
}
