//! Packets that are longer than a frame: in fragments there, and whole again at the other end.

use super::{APP, TestNet, TestWire, address, esp};
use crate::net::{REASSEMBLY_AGE, Stack, fill_checksums};
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::time::Instant;
use espbench_proto::node::app::{Endpoint, SocketId, Sockets as _};
use proptest::prelude::*;
use smoltcp::wire::{IpProtocol, Ipv4Address, Ipv4Packet, UdpPacket};

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Returns a PC and an ESP that keeps so many fragments, with a UDP socket each.
fn pair(most: u16) -> (TestNet, SocketId, SocketId) {
    let mut net = TestNet::pair(esp(|_| {}), Stack::pc(), TestWire::delay(ms(1)));
    net.hosts[0].set_reassembly(most);
    let device = net.at(0, |it| it.udp_bind(7)).expect("a port");
    let pc = net.at(1, |it| it.udp_bind(8)).expect("a port");
    (net, device, pc)
}

#[test]
fn a_long_datagram_arrives_both_ways() {
    let (mut net, device, pc) = pair(Stack::REASSEMBLED);
    let bytes: Vec<u8> = (0..3000).map(|it| it as u8).collect();
    let (mut got, to) = (vec![0; 4000], |host, port| Endpoint::new(address(host), port));
    assert_eq!(net.at(1, |it| it.udp_send(pc, to(0, 7), &bytes)), Ok(()));
    net.run(ms(10));
    let taken = net.at(0, |it| it.udp_receive(device, &mut got)).expect("a datagram");
    assert_eq!((taken.len, taken.from), (3000, to(1, 8)));
    assert_eq!(got[..3000], bytes);
    assert_eq!(net.at(0, |it| it.udp_send(device, to(1, 8), &bytes)), Ok(()));
    net.run(ms(10));
    let taken = net.at(1, |it| it.udp_receive(pc, &mut got)).expect("a datagram");
    assert_eq!((taken.len, &got[..3000]), (3000, &bytes[..]));
    assert_eq!((net.hosts[0].held(), net.hosts[1].held()), (0, 0));
    assert_eq!(net.hosts[0].counters().sent, 3, "of 1480, 1480 and 48 bytes");
}

#[test]
fn lwip_without_reassembly_drops_each_fragment() {
    let (mut net, device, pc) = pair(0);
    let to = Endpoint::new(address(0), 7);
    assert_eq!(net.at(1, |it| it.udp_send(pc, to, &[1; 3000])), Ok(()));
    net.run(ms(10));
    assert!(net.at(0, |it| it.udp_receive(device, &mut [0; 10])).is_none());
    assert_eq!(net.hosts[0].counters().fragments_dropped, 3);
}

#[test]
fn what_waits_is_bounded_in_number_and_in_time() {
    let (mut net, device, pc) = pair(4);
    let to = Endpoint::new(address(0), 7);
    // Of each datagram the second of three fragments is lost.
    net.ends[1].lose = vec![1, 4, 7];
    for _ in 0..3 {
        assert_eq!(net.at(1, |it| it.udp_send(pc, to, &[1; 3000])), Ok(()));
    }
    net.run(ms(10));
    assert!(net.at(0, |it| it.udp_receive(device, &mut [0; 10])).is_none());
    assert_eq!((net.hosts[0].held(), net.hosts[0].counters().unassembled), (4, 1));
    net.run(REASSEMBLY_AGE);
    assert_eq!((net.hosts[0].held(), net.hosts[0].counters().unassembled), (0, 3));
}

#[test]
fn a_ping_of_4000_bytes_is_answered() {
    let (mut net, ..) = pair(Stack::REASSEMBLED);
    let mut request = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, 1, 0, 0];
    request.extend_from_slice(&address(1));
    request.extend_from_slice(&address(0));
    request.extend_from_slice(&[8, 0, 0, 0, 1, 2, 3, 4]);
    request.extend_from_slice(&[9; 4000]);
    let len = request.len() as u16;
    request[2..4].copy_from_slice(&len.to_be_bytes());
    for (offset, more, range) in [(370, 0, 2960..4008), (0, 0x20, 0..1480), (185, 0x20, 1480..2960)]
    {
        let mut piece = request[..20].to_vec();
        piece.extend_from_slice(&request[20..][range]);
        let len = piece.len() as u16;
        piece[2..4].copy_from_slice(&len.to_be_bytes());
        piece[6..8].copy_from_slice(&(more << 8 | offset as u16).to_be_bytes());
        net.hosts[0].receive(net.now, &piece, &mut net.ends[0]);
    }
    let given: Vec<_> = net.ends[0].given.drain(..).map(|it| it.1).collect();
    let parts: Vec<_> = given.iter().map(|it| it.len()).collect();
    assert_eq!(parts, [1500, 1500, 1068]);
    assert_eq!(given[0][20..22], [0, 0], "a reply");
    // The checksum in the first fragment is that of the whole message.
    let mut whole = given[0][..20].to_vec();
    given.iter().for_each(|it| whole.extend_from_slice(&it[20..]));
    whole[2..4].copy_from_slice(&len.to_be_bytes());
    whole[6..8].fill(0);
    let told = whole[22..24].to_vec();
    fill_checksums(&mut whole);
    assert_eq!(whole[22..24], told);
}

proptest! {
    #[test]
    fn fragments_in_any_order_make_the_packet(
        len in 1473_usize..14_000,
        order in proptest::collection::vec(any::<prop::sample::Index>(), 12),
        twice in any::<bool>(),
    ) {
        let (mut net, device, pc) = pair(20);
        let bytes: Vec<u8> = (0..len).map(|it| (it / 7) as u8).collect();
        let end = &mut net.ends[1];
        let mut api = net.hosts[1].api(Instant::ZERO, APP, end);
        api.udp_send(pc, Endpoint::new(address(0), 7), &bytes).expect("is sent");
        let mut pieces: Vec<_> = net.ends[1].given.drain(..).map(|it| it.1).collect();
        for (at, other) in order.iter().enumerate().take(pieces.len()) {
            let other = other.index(pieces.len());
            pieces.swap(at, other);
        }
        if twice {
            pieces.insert(1, pieces[0].clone());
        }
        for piece in &pieces {
            net.hosts[0].receive(net.now, piece, &mut net.ends[0]);
        }
        let mut got = vec![0; 15_000];
        let taken = net.at(0, |it| it.udp_receive(device, &mut got)).expect("a datagram");
        prop_assert_eq!((taken.len, &got[..taken.len]), (len, &bytes[..]));
        prop_assert_eq!(net.hosts[0].held(), 0);
    }

    #[test]
    fn rubbish_in_fragments_is_bounded(
        pieces in proptest::collection::vec((any::<[u8; 20]>(), 0_usize..1480), 1..60),
    ) {
        let (mut net, ..) = pair(Stack::REASSEMBLED);
        for (mut head, len) in pieces {
            head[0] = 0x45;
            head[2..4].copy_from_slice(&(20 + len as u16).to_be_bytes());
            head[4] = 0;
            head[6] &= 0x3F;
            head[16..20].copy_from_slice(&address(0));
            let mut packet = head.to_vec();
            packet.resize(20 + len, 7);
            net.hosts[0].receive(net.now, &packet, &mut net.ends[0]);
            prop_assert!(net.hosts[0].held() <= usize::from(Stack::REASSEMBLED));
        }
    }
}

#[test]
fn a_fragment_has_the_checksum_of_its_header_alone() {
    let mut packet = vec![0x45, 0, 0, 36, 0, 1, 0x20, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    packet.extend_from_slice(&[0, 7, 0, 7, 0, 16, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
    fill_checksums(&mut packet);
    let ip = Ipv4Packet::new_checked(&packet[..]).expect("a packet");
    assert!(ip.verify_checksum() && ip.next_header() == IpProtocol::Udp);
    assert_eq!(ip.dst_addr(), Ipv4Address::new(10, 0, 0, 2));
    assert_eq!(UdpPacket::new_checked(ip.payload()).map(|it| it.checksum()), Ok(0));
}
