//! Properties that hold for any seed, loss and limits.

use super::loss::transfer;
use super::*;
use proptest::prelude::*;

pub(super) fn stack() -> impl Strategy<Value = Stack> {
    let esp =
        (1_u32..40, 1_u32..40, 1_u16..70, 500_u16..1441).prop_map(|(window, send, mail, mss)| {
            esp(|it| {
                it.tcp_mss = mss;
                it.tcp_window = (window * 1440).min(65_535);
                it.tcp_send_buffer = send * 1440;
                it.tcp_mailbox = mail;
            })
        });
    prop_oneof![esp, Just(Stack::pc())]
}

fn wire() -> impl Strategy<Value = TestWire> {
    (0_u64..30, 0_u32..20, 1_usize..40, prop_oneof![Just(0_u64), 1_000_000_u64..50_000_000])
        .prop_map(|(delay, loss, room, rate)| TestWire {
            delay: ms(delay) + Duration::from_micros(10),
            rate,
            room,
            loss: Chance::percent(loss),
            ..TestWire::delay(Duration::ZERO)
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn what_is_sent_is_what_comes(
        seed in 0_u64..1000,
        (a, b) in (stack(), stack()),
        (up, down) in (wire(), wire()),
        (total, chunk) in (1_usize..60_000, 1_usize..4000),
    ) {
        let run = || {
            let mut net = TestNet::new(seed, &[(a, up), (b, down)]);
            net.write_log();
            transfer(&mut net, total, chunk, ms(40_000_000));
            (net.now, net.log, *net.hosts[0].counters(), *net.hosts[1].counters())
        };
        let once = run();
        prop_assert!(once == run(), "the same seed, the same packets");
    }

    #[test]
    fn what_is_echoed_comes_back(
        seed in 0_u64..1000,
        (a, b) in (stack(), stack()),
        (up, down) in (wire(), wire()),
        (total, chunk) in (1_usize..20_000, 1_usize..3000),
    ) {
        let mut net = TestNet::new(seed, &[(a, up), (b, down)]);
        let (x, y) = net.connect();
        let (mut sent, mut back, mut held) = (0, 0, Vec::new());
        let mut buf = vec![0; chunk];
        let until = net.now + ms(40_000_000);
        while back < total {
            let before = (sent, back, held.len());
            let data: Vec<u8> = (sent..total.min(sent + chunk)).map(|n| n as u8).collect();
            sent += net.at(0, |it| it.tcp_send(x, &data)).expect("a connection");
            if held.is_empty() {
                let n = net.at(1, |it| it.tcp_receive(y, &mut buf)).expect("a connection");
                held.extend_from_slice(&buf[..n]);
            }
            let n = net.at(1, |it| it.tcp_send(y, &held)).expect("a connection");
            held.drain(..n);
            let n = net.at(0, |it| it.tcp_receive(x, &mut buf)).expect("a connection");
            prop_assert!((0..n).all(|i| buf[i] == (back + i) as u8));
            back += n;
            if (sent, back, held.len()) == before {
                prop_assert!(net.step(until), "{back} of {total} came back of {sent}");
            }
        }
    }

    #[test]
    fn heap_is_given_back(seed in 0_u64..1000, b in stack(), loss in 0_u32..10) {
        ends_with_nothing_held(seed, b, loss);
    }
}

/// Lets a device and a host with stack `b` talk, closes the connection at both ends, and checks that
/// nothing of it is left.
fn ends_with_nothing_held(seed: u64, b: Stack, loss: u32) {
    let wire = TestWire { loss: Chance::percent(loss), ..TestWire::delay(ms(3)) };
    let mut net = TestNet::new(seed, &[(esp(|_| {}), wire), (b, wire)]);
    let (x, y) = net.connect();
    for n in 0..40 {
        net.at(0, |it| it.tcp_send(x, &[1; 1000])).ok();
        net.at(1, |it| it.tcp_send(y, &[1; 300])).ok();
        net.run(ms(7));
        if n % 3 == 0 {
            net.drain(0, x);
        }
    }
    let heap = net.hosts[0].heap();
    assert!(heap.peak >= heap.now && heap.peak > 0);
    net.drain(0, x);
    net.at(0, |it| it.close(x));
    net.at(1, |it| it.close(y));
    net.run(ms(40_000_000));
    assert_eq!((net.hosts[0].heap().now, net.hosts[0].held()), (0, 0));
    assert_eq!(net.hosts[0].connections() + net.hosts[1].connections(), 0);
    assert_eq!((net.next(), net.on_the_way()), (None, 0));
}

#[test]
fn a_fin_behind_a_retransmitted_segment_is_repeated() {
    for (loss, seed) in [(4, 722), (6, 52), (9, 640)] {
        ends_with_nothing_held(seed, Stack::pc(), loss);
    }
}
