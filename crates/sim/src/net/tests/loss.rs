//! Lost segments are sent again, and a mailbox refuses.

use super::*;

/// Sends bytes that tell their place from host 0, and checks that all come.
pub(super) fn transfer(net: &mut TestNet, total: usize, chunk: usize, most: Duration) -> Duration {
    let (a, b) = net.connect();
    let data: Vec<u8> = (0..total).map(|n| ((n * 31) >> 3) as u8).collect();
    let (mut written, mut read) = (0, Vec::new());
    let begin = net.now;
    let until = begin + most;
    let mut buf = vec![0; chunk];
    while read.len() < total {
        while written < total {
            let end = total.min(written + chunk);
            match net.at(0, |it| it.tcp_send(a, &data[written..end])).expect("a connection") {
                0 => break,
                n => written += n,
            }
        }
        while let Ok(n @ 1..) = net.at(1, |it| it.tcp_receive(b, &mut buf)) {
            read.extend_from_slice(&buf[..n]);
        }
        if read.len() < total {
            assert!(net.step(until), "{} of {total} after {most:?}", read.len());
        }
    }
    assert!(read == data, "the bytes are the same");
    net.now.since(begin)
}

#[test]
fn the_third_duplicate_repeats_a_segment() {
    let mut big = esp(|it| (it.tcp_send_buffer, it.tcp_window) = (28_800, 28_800));
    big.tcp_out_of_order = 0;
    for (a, b) in [(big, Stack::pc()), (Stack::pc(), big)] {
        let mut net = TestNet::pair(a, b, TestWire::delay(ms(5)));
        net.ends[0].lose = vec![20];
        let took = transfer(&mut net, 200_000, 1440, ms(10_000));
        let counters = net.hosts[0].counters();
        assert_eq!((counters.fast_retransmits, counters.timeouts), (1, 0));
        assert_eq!(counters.retransmitted, 1);
        assert!(net.hosts[1].counters().out_of_order >= 3);
        assert!(took < ms(400), "{took:?}");
    }
}

#[test]
fn an_esp_that_keeps_four_segments_out_of_order_needs_more_of_them_again() {
    let big = esp(|it| it.tcp_window = 28_800);
    let mut net = TestNet::pair(Stack::pc(), big, TestWire::delay(ms(5)));
    net.ends[0].lose = vec![20];
    transfer(&mut net, 200_000, 1440, ms(10_000));
    let dropped = net.hosts[1].counters().out_of_order_dropped;
    assert!(dropped > 0);
    assert!(net.hosts[0].counters().retransmitted > dropped);
}

#[test]
fn a_lost_tail_waits_for_the_timer() {
    let wait = |a, b| {
        let mut net = TestNet::pair(a, b, TestWire::delay(ms(5)));
        net.ends[0].lose = vec![4];
        let took = transfer(&mut net, 2 * 1440, 1440, ms(10_000));
        assert_eq!(net.hosts[0].counters().timeouts, 1);
        took
    };
    // Three slow ticks of 500 ms, of which the first is under way; 200 ms and the round trip on
    // Linux.
    let esp = wait(esp(|_| {}), Stack::pc());
    assert!(ms(1000) <= esp && esp <= ms(1520), "{esp:?}");
    let pc = wait(Stack::pc(), Stack::pc());
    assert!(ms(200) <= pc && pc <= ms(240), "{pc:?}");
}

#[test]
fn a_lost_syn_is_sent_again() {
    for (stack, least, most) in [(esp(|_| {}), 1000, 1515), (Stack::pc(), 1000, 1015)] {
        let mut net = TestNet::pair(stack, Stack::pc(), TestWire::delay(ms(5)));
        net.ends[0].lose = vec![1];
        net.connect();
        let took = net.now.since(Instant::ZERO);
        assert!(ms(least) <= took && took <= ms(most), "{took:?}");
    }
}

#[test]
fn a_mailbox_that_is_full_costs_retransmissions() {
    let mut net = TestNet::pair(Stack::pc(), esp(|_| {}), TestWire::delay(ms(1)));
    let (a, b) = net.connect();
    net.at(0, |it| it.tcp_no_delay(a, true));
    for _ in 0..20 {
        net.at(0, |it| it.tcp_send(a, &[5; 50])).expect("room");
    }
    net.run(ms(50));
    let counters = *net.hosts[1].counters();
    // Six are in the mailbox, one is refused; the others are dropped although the window has room.
    assert_eq!(counters.tcp_mailbox_full, 13);
    let flow = net.hosts[1].observe(APP, b).expect("a connection");
    assert_eq!((flow.mailbox, flow.receive_queue), (6, 350));
    assert_eq!(net.drain(1, b), 300);
    let mut read = 300;
    for _ in 0..100 {
        net.run(ms(20));
        read += net.drain(1, b);
    }
    assert_eq!(read, 1000);
    assert!(net.hosts[0].counters().retransmitted > 0);
}

#[test]
fn a_driver_without_room_only_delays_tcp() {
    let wire = TestWire { rate: 2_000_000, room: 3, ..TestWire::delay(ms(2)) };
    let big = esp(|it| it.tcp_send_buffer = 28_800);
    for (a, b) in [(big, Stack::pc()), (Stack::pc(), big)] {
        let mut net = TestNet::pair(a, b, wire);
        let took = transfer(&mut net, 100_000, 1440, ms(20_000));
        assert!(net.hosts[0].counters().blocked > 0);
        assert_eq!(net.hosts[0].counters().retransmitted, 0);
        // 1480 bytes take 5.92 ms.
        assert!(took < ms(600), "{took:?}");
    }
}

#[test]
fn loss_costs_throughput() {
    let big = esp(|it| (it.tcp_send_buffer, it.tcp_window, it.tcp_mailbox) = (57_600, 57_600, 64));
    let mut table = String::new();
    for (name, a, b) in [("up", big, Stack::pc()), ("down", Stack::pc(), big)] {
        for per_mille in [0, 1, 5, 20, 50] {
            let loss = Chance::of(f64::from(per_mille) / 1000.0);
            let wire = TestWire { loss, rate: 40_000_000, room: 64, ..TestWire::delay(ms(3)) };
            let mut net = TestNet::pair(a, b, wire);
            let took = transfer(&mut net, 3_000_000, 1440, ms(600_000));
            let counters = net.hosts[0].counters();
            writeln!(
                table,
                "{name:>4} {per_mille:>2} ‰ {:>6.2} Mbit/s, {:>3} fast, {:>3} timeouts, {:>4} again",
                24.0 / took.as_secs_f64(),
                counters.fast_retransmits,
                counters.timeouts,
                counters.retransmitted
            )
            .expect("a string");
        }
    }
    insta::assert_snapshot!(table);
}
