//! Datagrams: the mailbox, the driver without room, pings.

use super::*;
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{Icmpv4Packet, Icmpv4Repr, Ipv4Address, Ipv4Repr};

/// Returns how many datagrams of a burst an ESP gets that reads only afterwards.
fn burst(mailbox: u16, size: usize) -> (usize, u64) {
    let stack = esp(|it| it.udp_mailbox = mailbox);
    let mut net = TestNet::pair(Stack::pc(), stack, TestWire::delay(ms(1)));
    let a = net.at(0, |it| it.udp_bind(0)).expect("a port");
    let b = net.at(1, |it| it.udp_bind(3333)).expect("a port");
    for n in 0..size {
        let to = Endpoint::new(address(1), 3333);
        net.at(0, |it| it.udp_send(a, to, &[n as u8; 10])).expect("room");
    }
    net.run(ms(10));
    let mut got = 0;
    let mut buf = [0; 64];
    while let Some(it) = net.at(1, |it| it.udp_receive(b, &mut buf)) {
        assert_eq!((it.len, it.from.address, buf[0]), (10, address(0), got as u8));
        got += 1;
    }
    assert_eq!(net.hosts[1].held(), 0);
    (got, net.hosts[1].counters().udp_mailbox_full)
}

#[test]
fn a_burst_loses_what_the_mailbox_does_not_take() {
    let cliff = [(6, 6), (6, 7), (6, 9), (64, 30), (64, 65)].map(|(mailbox, n)| burst(mailbox, n));
    assert_eq!(cliff, [(6, 0), (6, 1), (6, 3), (30, 0), (64, 1)]);
}

#[test]
fn a_driver_without_room_is_the_programs_to_know() {
    let wire = TestWire { rate: 1_000_000, room: 4, ..TestWire::delay(ms(1)) };
    let mut net = TestNet::pair(esp(|_| {}), Stack::pc(), wire);
    let a = net.at(0, |it| it.udp_bind(0)).expect("a port");
    let b = net.at(1, |it| it.udp_bind(5001)).expect("a port");
    let to = Endpoint::new(address(1), 5001);
    let results: Vec<_> = (0..6).map(|_| net.at(0, |it| it.udp_send(a, to, &[0; 1000]))).collect();
    assert_eq!(results.iter().filter(|it| it.is_ok()).count(), 4);
    assert_eq!(results[5], Err(SocketError::NoMemory));
    assert_eq!(net.hosts[0].counters().no_memory, 2);
    net.run(ms(100));
    assert_eq!(net.at(0, |it| it.udp_send(a, to, &[0; 1000])), Ok(()));
    assert_eq!(net.at(0, |it| it.udp_send(a, to, &[0; 1472])), Ok(()));
    assert_eq!(net.at(0, |it| it.udp_send(a, to, &[0; 65_508])), Err(SocketError::TooLong));
    net.run(ms(100));
    let mut buf = [0; 8];
    let lens: Vec<_> = core::iter::from_fn(|| net.at(1, |it| it.udp_receive(b, &mut buf)))
        .map(|it| it.len)
        .collect();
    assert_eq!(lens, [8; 6], "the longer ones are cut");
}

#[test]
fn sockets_are_bounded_and_ports_are_taken_once() {
    let mut net = TestNet::pair(esp(|it| it.sockets = 3), Stack::pc(), TestWire::delay(ms(1)));
    let a = net.at(0, |it| it.udp_bind(9)).expect("a port");
    assert_eq!(net.at(0, |it| it.udp_bind(9)), Err(SocketError::NoSocket));
    net.at(0, |it| it.udp_bind(10)).expect("a port");
    net.at(0, |it| it.tcp_listen(9)).expect("TCP has ports of its own");
    assert_eq!(net.at(0, |it| it.udp_bind(0)), Err(SocketError::NoSocket));
    let to = Endpoint::new(address(1), 1);
    assert_eq!(net.at(0, |it| it.tcp_connect(to)), Err(SocketError::NoSocket));
    net.at(0, |it| it.close(a));
    assert_eq!(net.at(0, |it| it.udp_send(a, to, &[])), Err(SocketError::NotConnected));
    assert_eq!(net.at(0, |it| it.udp_bind(9)), Ok(a));
}

#[test]
fn handles_are_a_programs_own() {
    let mut net = TestNet::pair(esp(|_| {}), Stack::pc(), TestWire::delay(ms(1)));
    let mine = net.at(0, |it| it.udp_bind(9)).expect("a port");
    let end = &mut net.ends[0];
    let mut other = net.hosts[0].api(Instant::ZERO, ProgramId(1), end);
    other.close(mine);
    assert_eq!(other.udp_send(mine, Endpoint::default(), &[]), Err(SocketError::NotConnected));
    assert_ne!(other.udp_bind(0), Ok(mine));
}

#[test]
fn pings_are_answered() {
    let mut net = TestNet::pair(esp(|_| {}), Stack::pc(), TestWire::delay(ms(1)));
    let icmp = Icmpv4Repr::EchoRequest { ident: 1, seq_no: 2, data: &[3; 1472] };
    let ip = Ipv4Repr {
        src_addr: Ipv4Address::from(address(1)),
        dst_addr: Ipv4Address::from(address(0)),
        next_header: IpProtocol::Icmp,
        payload_len: icmp.buffer_len(),
        hop_limit: 64,
    };
    let mut bytes = vec![0; 1500];
    let mut packet = Ipv4Packet::new_unchecked(&mut bytes);
    let plain = ChecksumCapabilities::ignored();
    ip.emit(&mut packet, &plain);
    icmp.emit(&mut Icmpv4Packet::new_unchecked(packet.payload_mut()), &plain);
    net.hosts[0].receive(net.now, &bytes, &mut net.ends[0]);
    let (_, answer) = net.ends[0].given.pop().expect("an answer");
    let ip = Ipv4Packet::new_checked(&answer[..]).expect("a packet");
    let icmp = Icmpv4Packet::new_checked(ip.payload()).expect("ICMP");
    let echo = Icmpv4Repr::parse(&icmp, &plain).expect("a message");
    assert_eq!(echo, Icmpv4Repr::EchoReply { ident: 1, seq_no: 2, data: &[3; 1472] });
}
