//! Segments that no honest peer sends: nothing panics, memory stays bounded, and a stream does not
//! change by what is outside its windows.

use super::*;
use proptest::prelude::*;
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{Ipv4Address, Ipv4Repr, TcpSeqNumber};

/// A segment of anyone who knows the addresses and ports of a connection.
#[derive(Clone, Debug)]
struct Forged {
    seq: u32,
    ack: Option<u32>,
    window: u16,
    flags: u8,
    options: Vec<u8>,
    text: Vec<u8>,
}

impl Forged {
    /// Writes the packet from a port of host 0 to the listener of host 1.
    fn packet(&self, port: u16) -> Vec<u8> {
        let mut options = self.options.clone();
        options.resize(options.len().next_multiple_of(4), 0);
        let head = 20 + options.len();
        let ip = Ipv4Repr {
            src_addr: Ipv4Address::from(address(0)),
            dst_addr: Ipv4Address::from(address(1)),
            next_header: IpProtocol::Tcp,
            payload_len: head + self.text.len(),
            hop_limit: 64,
        };
        let mut bytes = vec![0; 20 + head + self.text.len()];
        let mut packet = Ipv4Packet::new_unchecked(&mut bytes[..]);
        ip.emit(&mut packet, &ChecksumCapabilities::ignored());
        let mut tcp = TcpPacket::new_unchecked(packet.payload_mut());
        tcp.set_src_port(port);
        tcp.set_dst_port(5001);
        tcp.set_seq_number(TcpSeqNumber(self.seq as i32));
        tcp.set_ack_number(TcpSeqNumber(self.ack.unwrap_or(0) as i32));
        tcp.clear_flags();
        tcp.set_header_len(head as u8);
        tcp.set_fin(self.flags & 1 != 0);
        tcp.set_syn(self.flags & 2 != 0);
        tcp.set_rst(self.flags & 4 != 0);
        tcp.set_psh(self.flags & 8 != 0);
        tcp.set_ack(self.ack.is_some());
        tcp.set_window_len(self.window);
        bytes[40..20 + head].copy_from_slice(&options);
        bytes[20 + head..].copy_from_slice(&self.text);
        bytes
    }
}

/// Returns the numbers that host 1 sees in the segments of host 0: the port, and the next byte's
/// sequence and acknowledgement numbers.
fn numbers(net: &mut TestNet, a: SocketId) -> (u16, u32, u32) {
    let before = net.on_the_way.len();
    net.at(0, |it| {
        it.tcp_no_delay(a, true);
        it.tcp_send(a, b"x").expect("room");
    });
    assert_eq!(net.on_the_way.len(), before + 1);
    let (_, packet) = net.on_the_way.last_key_value().expect("a segment").1.clone();
    let ip = Ipv4Packet::new_checked(&packet[..]).expect("a packet");
    let tcp = TcpPacket::new_checked(ip.payload()).expect("a segment");
    (tcp.src_port(), tcp.seq_number().0 as u32, tcp.ack_number().0 as u32)
}

/// Numbers near a window's edges, and anywhere.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![
        -3_i32..3,
        -1500_i32..1500,
        (-70_000_i32..70_000),
        any::<i32>(),
        Just(i32::MIN),
        Just(i32::MAX)
    ]
    .prop_map(|it| it as u32)
}

fn forged() -> impl Strategy<Value = Forged> {
    let text = prop_oneof![Just(0_usize), 1_usize..3, 1400_usize..1440, 0_usize..1440];
    let options = prop::collection::vec(any::<u8>(), 0..20);
    (number(), prop::option::weighted(0.9, number()), any::<u16>(), any::<u8>(), options, text)
        .prop_map(|(seq, ack, window, flags, options, text)| Forged {
            seq,
            ack,
            // Flags are mostly few.
            flags: if flags < 160 { 0 } else { flags & 15 },
            window: if window % 3 == 0 { window % 5 } else { window },
            options: if flags % 4 == 0 { options } else { vec![] },
            text: vec![0xEE; text],
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn any_segments_leave_bounds_and_nothing_held(
        seed in 0_u64..1000,
        lwip in any::<bool>(),
        segments in prop::collection::vec((forged(), 0_u8..8), 1..60),
    ) {
        let stack = if lwip { esp(|_| {}) } else { Stack::pc() };
        let mut net = TestNet::new(
            seed,
            &[(Stack::pc(), TestWire::delay(ms(1))), (stack, TestWire::delay(ms(1)))],
        );
        let (a, b) = net.connect();
        let (port, seq, ack) = numbers(&mut net, a);
        let mut handles = vec![b];
        for (segment, what) in segments {
            let segment = Forged {
                seq: seq.wrapping_add(segment.seq),
                ack: segment.ack.map(|it| ack.wrapping_add(it)),
                ..segment
            };
            let end = &mut net.ends[1];
            end.now = net.now;
            net.hosts[1].receive(net.now, &segment.packet(port), end);
            net.collect(1);
            match what {
                0 => drop(net.at(1, |it| it.tcp_send(b, &[1; 3000]))),
                1 => drop(net.drain(1, b)),
                2 => net.run(ms(u64::from(segment.window) / 8)),
                3 => net.at(1, |it| it.close(b)),
                _ => {}
            }
            let flow = net.hosts[1].observe(APP, b).unwrap_or_default();
            prop_assert!(flow.receive_queue <= stack.tcp_window);
            prop_assert!(flow.in_flight + flow.unsent <= stack.tcp_send_buffer + 1);
            let held = net.hosts[1].held();
            prop_assert!(held <= 2 * usize::from(u16::MAX), "{held} packets");
        }
        handles.push(a);
        net.at(1, |it| it.close(b));
        net.at(0, |it| it.close(a));
        net.ends[0].wire.loss = Chance::ALWAYS;
        net.run(ms(40_000_000));
        prop_assert_eq!((net.hosts[1].held(), net.hosts[1].connections()), (0, 0));
    }

    /// Checks that a stream is as it was sent, whatever comes with numbers outside its windows.
    #[test]
    fn what_is_outside_the_windows_changes_nothing(
        seed in 0_u64..1000,
        lwip in any::<bool>(),
        segments in prop::collection::vec((forged(), 70_000_u32..0x7FFF_0000), 1..40),
    ) {
        let stack = if lwip { esp(|_| {}) } else { Stack::pc() };
        let mut net = TestNet::new(
            seed,
            &[(Stack::pc(), TestWire::delay(ms(1))), (stack, TestWire::delay(ms(1)))],
        );
        let (a, b) = net.connect();
        let (port, seq, ack) = numbers(&mut net, a);
        let data: Vec<u8> = (0..40_000_u32).map(|n| ((n * 7) >> 2) as u8).collect();
        let (mut written, mut read) = (0, vec![]);
        let mut segments = segments.into_iter();
        let until = net.now + ms(1_000_000);
        while read.len() < data.len() + 1 {
            if let Some((segment, far)) = segments.next() {
                let segment =
                    Forged { seq: seq.wrapping_sub(far), ack: segment.ack.map(|_| ack), ..segment };
                let end = &mut net.ends[1];
                end.now = net.now;
                net.hosts[1].receive(net.now, &segment.packet(port), end);
                net.collect(1);
            }
            written += net.at(0, |it| it.tcp_send(a, &data[written..])).expect("a connection");
            let mut buf = [0; 3000];
            while let Ok(n @ 1..) = net.at(1, |it| it.tcp_receive(b, &mut buf)) {
                read.extend_from_slice(&buf[..n]);
            }
            prop_assert!(read.len() > data.len() || net.step(until), "{} came", read.len());
        }
        prop_assert!(read[0] == b'x' && read[1..] == data);
        prop_assert_eq!(net.hosts[1].counters().broken, 0);
    }
}

/// Returns an established connection of a PC and a forged segment's beginning.
fn victim() -> (TestNet, SocketId, u16, Forged) {
    let mut net = TestNet::pair(Stack::pc(), Stack::pc(), TestWire::delay(ms(1)));
    let (a, b) = net.connect();
    let (port, seq, ack) = numbers(&mut net, a);
    net.run(ms(100));
    let seq = seq.wrapping_add(1);
    let forged =
        Forged { seq, ack: Some(ack), window: 5000, flags: 0, options: vec![], text: vec![] };
    (net, b, port, forged)
}

fn strike(net: &mut TestNet, port: u16, segment: &Forged) -> usize {
    let before = net.on_the_way.len();
    let end = &mut net.ends[1];
    end.now = net.now;
    net.hosts[1].receive(net.now, &segment.packet(port), end);
    net.collect(1);
    net.on_the_way.len() - before
}

#[test]
fn a_reset_counts_only_inside_the_window() {
    let (mut net, b, port, it) = victim();
    for seq in [it.seq.wrapping_sub(1), it.seq.wrapping_add(70_000)] {
        assert_eq!(strike(&mut net, port, &Forged { flags: 4, seq, ..it.clone() }), 0);
        assert_eq!(net.stream(1, b), StreamState::Open);
    }
    strike(&mut net, port, &Forged { flags: 4, ..it });
    assert_eq!(net.stream(1, b), StreamState::Closed);
}

/// Checks RFC 5961 section 4.2: a SYN does not end a connection, wherever it is.
#[test]
fn a_syn_in_a_connection_is_answered_with_an_acknowledgement() {
    let (mut net, b, port, it) = victim();
    for seq in [it.seq, it.seq.wrapping_add(100), it.seq.wrapping_sub(9)] {
        let syn = Forged { flags: 2, seq, ack: None, ..it.clone() };
        assert_eq!(strike(&mut net, port, &syn), 1);
        assert_eq!(net.stream(1, b), StreamState::Open);
    }
}

/// Checks RFC 5961 section 7: bare acknowledgements that are out of place are answered rarely, data
/// always.
#[test]
fn answers_to_answers_are_rare() {
    let (mut net, _, port, it) = victim();
    let bare = Forged { seq: it.seq.wrapping_sub(100), ..it.clone() };
    let answers: usize = (0..20).map(|_| strike(&mut net, port, &bare)).sum();
    assert_eq!(answers, 1);
    net.now = net.now + ms(500);
    assert_eq!(strike(&mut net, port, &bare), 1);
    let data = Forged { text: vec![1; 50], ..bare };
    let answers: usize = (0..20).map(|_| strike(&mut net, port, &data)).sum();
    assert_eq!(answers, 20);
}

/// Checks that an acknowledgement of what was never sent is not believed.
#[test]
fn what_was_not_sent_is_not_acknowledged() {
    let (mut net, b, port, it) = victim();
    net.ends[1].wire.loss = Chance::ALWAYS;
    assert_eq!(net.at(1, |it| it.tcp_send(b, &[1; 100])), Ok(100));
    let ahead = Forged { ack: it.ack.map(|it| it.wrapping_add(101)), ..it.clone() };
    strike(&mut net, port, &ahead);
    assert_eq!(net.at(1, |it| it.tcp_unacknowledged(b)), 100);
    let right = Forged { ack: it.ack.map(|it| it.wrapping_add(100)), ..it };
    strike(&mut net, port, &right);
    assert_eq!(net.at(1, |it| it.tcp_unacknowledged(b)), 0);
}
