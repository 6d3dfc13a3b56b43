//! Acknowledgements: lwIP's second segment and tick, Linux's first ones and 40 ms; Nagle.

use super::*;

#[test]
fn lwip_acknowledges_every_second_segment_and_the_rest_with_its_tick() {
    let wide = esp(|it| (it.tcp_window, it.tcp_mailbox) = (57_600, 64));
    let mut net = TestNet::pair(Stack::pc(), wide, TestWire::delay(ms(1)));
    let (a, b) = net.connect();
    net.run(ms(1000));
    net.write_log();
    net.at(0, |it| it.tcp_no_delay(a, true));
    for _ in 0..5 {
        net.at(0, |it| it.tcp_send(a, &[1; 100]).expect("room"));
    }
    net.run(ms(600));
    net.drain(1, b);
    net.run(ms(600));
    insta::assert_snapshot!(net.log.expect("a log"));
}

#[test]
fn an_esp_with_small_buffers_tells_its_window_with_every_segment_read() {
    let mut net = TestNet::pair(Stack::pc(), esp(|_| {}), TestWire::delay(ms(1)));
    let (a, b) = net.connect();
    net.run(ms(1000));
    net.write_log();
    net.at(0, |it| it.tcp_send(a, &[1; 8 * 1440]).expect("room"));
    for _ in 0..30 {
        let until = net.now + ms(500);
        net.step(until);
        net.drain(1, b);
    }
    insta::assert_snapshot!(net.log.expect("a log"));
}

#[test]
fn a_window_that_nobody_reads_closes_and_is_probed() {
    let mut net = TestNet::pair(Stack::pc(), esp(|_| {}), TestWire::delay(ms(1)));
    let (a, b) = net.connect();
    net.run(ms(1000));
    net.write_log();
    net.fill(0, a);
    net.run(ms(3000));
    let read = net.drain(1, b);
    net.run(ms(100));
    assert_eq!((read, net.drain(1, b)), (5760, 5760));
    insta::assert_snapshot!(net.log.expect("a log"));
}

#[test]
fn linux_acknowledges_at_once_first_and_then_after_40_ms() {
    let mut net = TestNet::pair(esp(|_| {}), Stack::pc(), TestWire::delay(ms(1)));
    let (a, b) = net.connect();
    net.at(0, |it| it.tcp_no_delay(a, true));
    let mut waits = vec![];
    for _ in 0..24 {
        net.at(0, |it| it.tcp_send(a, &[1; 100]).expect("room"));
        let begin = net.now;
        while net.at(0, |it| it.tcp_unacknowledged(a)) > 0 {
            let until = net.now + ms(1000);
            net.step(until);
            net.drain(1, b);
        }
        waits.push(net.now.since(begin).as_millis());
    }
    // The handshake has taken one of the sixteen.
    assert!(waits[..15].iter().all(|&it| it == 2), "{waits:?}");
    assert!(waits[16..].iter().all(|&it| it == 42), "{waits:?}");
}

/// Returns the window that is told after two segments of 1440 bytes have been read into a buffer of so many bytes,
/// and once nothing is left to read.
fn windows(buffer: usize) -> [u32; 2] {
    let mut net = TestNet::pair(Stack::pc(), esp(|_| {}), TestWire::delay(ms(1)));
    let (a, b) = net.connect();
    net.run(ms(1000));
    net.at(0, |it| it.tcp_send(a, &[1; 2 * 1440]).expect("room"));
    net.run(ms(100));
    let mut buf = vec![0; buffer];
    [2880, 0].map(|read| {
        assert_eq!(net.at(1, |it| it.tcp_receive(b, &mut buf)), Ok(read.min(buffer)));
        net.run(ms(300));
        net.hosts[0].flow().expect("a connection").send_window
    })
}

#[test]
fn lwip_opens_the_window_when_a_call_has_filled_its_buffer_or_found_nothing_left() {
    assert_eq!(windows(16_384), [2880, 5760]);
    assert_eq!(windows(2880), [5760, 5760]);
}

/// Returns the segments for 12 messages of 100 bytes, written 1 ms after each other, and the time
/// at which all were read.
fn messages(no_delay: bool) -> (u64, u128) {
    let mut net =
        TestNet::pair(esp(|_| {}), esp(|it| it.tcp_mailbox = 16), TestWire::delay(ms(20)));
    let (a, b) = net.connect();
    net.at(0, |it| it.tcp_no_delay(a, no_delay));
    let before = net.hosts[0].counters().sent;
    let begin = net.now;
    for _ in 0..12 {
        assert_eq!(net.at(0, |it| it.tcp_send(a, &[1; 100])), Ok(100));
        net.run(ms(1));
    }
    let mut read = 0;
    while read < 1200 {
        assert!(net.step(begin + ms(2000)), "{read}");
        read += net.drain(1, b);
    }
    (net.hosts[0].counters().sent - before, net.now.since(begin).as_millis())
}

#[test]
fn nagle_waits_for_the_acknowledgement_of_what_is_on_its_way() {
    assert_eq!(messages(true), (12, 31));
    let (segments, later) = messages(false);
    assert_eq!(segments, 2, "the first message, and all others together");
    // The sender waits for the peer's tick, at most 250 ms.
    assert!((60..=310).contains(&later), "{later}");
}

#[test]
fn an_esp_queues_so_many_segments_and_no_more() {
    let mut net = TestNet::pair(esp(|_| {}), Stack::pc(), TestWire::delay(ms(20)));
    let (a, _) = net.connect();
    net.at(0, |it| it.tcp_no_delay(a, true));
    let taken = (0..30).filter(|_| net.at(0, |it| it.tcp_send(a, &[1; 10])) == Ok(10)).count();
    // TCP_SND_QUEUELEN for 5760 and 1440 bytes.
    assert_eq!(taken, 16);
}
