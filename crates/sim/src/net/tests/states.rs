//! Ways through the states of a connection, with what is lost on them.

use super::loss::transfer;
use super::*;

fn pair() -> TestNet {
    TestNet::pair(esp(|_| {}), Stack::pc(), TestWire::delay(ms(5)))
}

fn connections(net: &TestNet) -> [usize; 2] {
    [0, 1].map(|n| net.hosts[n].connections())
}

/// Loses the next packets of a host.
fn lose(net: &mut TestNet, host: usize, packets: u64) {
    let sent = net.ends[host].sent;
    net.ends[host].lose.extend((1..=packets).map(|n| sent + n));
}

/// Checks `CLOSING`: both FINs cross, and both ends remember the connection for their own time.
#[test]
fn both_ends_close_at_once() {
    let mut net = pair();
    let (a, b) = net.connect();
    net.run(ms(1000));
    net.write_log();
    net.at(0, |it| it.close(a));
    net.at(1, |it| it.close(b));
    net.run(ms(59_000));
    assert_eq!(connections(&net), [1, 1]);
    let fins = net.log.as_ref().map_or(0, |log| log.matches("FIN").count());
    assert_eq!(fins, 2, "{:?}", net.log);
    // TCP_TIMEWAIT_LEN of Linux, and twice CONFIG_LWIP_TCP_MSL.
    net.run(ms(2000));
    assert_eq!(connections(&net), [1, 0]);
    net.run(ms(60_000));
    assert_eq!(connections(&net), [0, 0]);
    assert_eq!([0, 1].map(|n| net.hosts[n].counters().broken), [0, 0]);
}

/// Checks the same with each FIN lost once.
#[test]
fn lost_fins_that_cross_are_repeated() {
    let mut net = pair();
    let (a, b) = net.connect();
    net.run(ms(1000));
    (0..2).for_each(|host| lose(&mut net, host, 1));
    net.at(0, |it| it.close(a));
    net.at(1, |it| it.close(b));
    net.run(ms(130_000));
    assert_eq!(connections(&net), [0, 0]);
    assert_eq!([0, 1].map(|n| net.hosts[n].counters().broken), [0, 0]);
    assert!((1..=2).contains(&net.hosts[0].counters().timeouts));
}

/// Checks that `FIN-WAIT-2` ends although the peer never closes, after each stack's time.
#[test]
fn a_peer_that_never_closes_is_given_up() {
    for (closes, seconds) in [(0, 20), (1, 60)] {
        let mut net = pair();
        let sockets = net.connect();
        net.run(ms(1000));
        net.at(closes, |it| it.close([sockets.0, sockets.1][closes]));
        net.run(ms(1000 * seconds - 500));
        assert_eq!(connections(&net), [1, 1]);
        net.run(ms(1000));
        assert_eq!(net.hosts[closes].connections(), 0);
        // What the other end still sends finds nobody.
        let other = 1 - closes;
        let socket = [sockets.0, sockets.1][other];
        assert_eq!(net.stream(other, socket), StreamState::HalfClosed);
        net.at(other, |it| it.tcp_send(socket, b"late").expect("room"));
        net.run(ms(100));
        assert_eq!(net.stream(other, socket), StreamState::Closed);
        assert_eq!(net.hosts[other].counters().broken, 1);
    }
}

/// Checks that data after the peer's close is acknowledged, and that nothing is reset by it.
#[test]
fn one_end_goes_on_sending_after_the_other_has_closed() {
    let mut net = pair();
    let (a, b) = net.connect();
    net.run(ms(1000));
    net.at(1, |it| it.close(b));
    net.run(ms(100));
    let mut sent = 0;
    for _ in 0..100 {
        sent += net.at(0, |it| it.tcp_send(a, &[5; 1000])).expect("half closed");
        net.run(ms(50));
    }
    assert_eq!((sent, net.at(0, |it| it.tcp_unacknowledged(a))), (100_000, 0));
    net.at(0, |it| it.close(a));
    net.run(ms(70_000));
    assert_eq!(connections(&net), [0, 0]);
    assert_eq!([0, 1].map(|n| net.hosts[n].counters().broken), [0, 0]);
}

/// Checks that a program that closes before the answer leaves nothing at the other end either.
#[test]
fn a_connection_is_given_up_before_it_is_there() {
    let mut net = pair();
    let listener = net.at(1, |it| it.tcp_listen(80)).expect("a port");
    let to = Endpoint::new(address(1), 80);
    let a = net.at(0, |it| it.tcp_connect(to)).expect("an address");
    net.run(ms(7));
    assert_eq!(connections(&net), [1, 1]);
    net.at(0, |it| it.close(a));
    assert_eq!(connections(&net), [0, 1]);
    // The answer finds no connection, and the reset ends the one that waits.
    net.run(ms(20));
    assert_eq!(connections(&net), [0, 0]);
    assert!(net.at(1, |it| it.tcp_accept(listener)).is_none());
}

#[test]
fn a_lost_answer_to_a_syn_is_repeated() {
    for (a, b) in [(esp(|_| {}), Stack::pc()), (Stack::pc(), esp(|_| {}))] {
        let mut net = TestNet::pair(a, b, TestWire::delay(ms(5)));
        net.ends[1].lose = vec![1];
        net.connect();
        let took = net.now.since(Instant::ZERO);
        assert!(ms(990) <= took && took <= ms(1520), "{took:?}");
        net.run(ms(10_000));
        assert_eq!([0, 1].map(|n| net.hosts[n].counters().broken), [0, 0]);
    }
}

/// Checks that a lost last acknowledgement of the handshake is made up for by the data behind it.
#[test]
fn data_completes_a_handshake() {
    let mut net = pair();
    let listener = net.at(1, |it| it.tcp_listen(80)).expect("a port");
    let to = Endpoint::new(address(1), 80);
    net.ends[0].lose = vec![2];
    let a = net.at(0, |it| it.tcp_connect(to)).expect("an address");
    net.run(ms(15));
    assert_eq!(net.stream(0, a), StreamState::Open);
    assert!(net.at(1, |it| it.tcp_accept(listener)).is_none());
    net.at(0, |it| it.tcp_send(a, b"first").expect("room"));
    net.run(ms(10));
    let (b, _) = net.at(1, |it| it.tcp_accept(listener)).expect("a connection");
    let mut buf = [0; 9];
    assert_eq!(net.at(1, |it| it.tcp_receive(b, &mut buf)), Ok(5));
}

/// Checks that a stream goes over the end of the sequence numbers, with losses there.
#[test]
fn sequence_numbers_begin_again_at_zero() {
    for (a, b) in [(esp(|_| {}), Stack::pc()), (Stack::pc(), esp(|_| {}))] {
        let mut net = TestNet::pair(a, b, TestWire::delay(ms(5)));
        (net.hosts[0].first_sequence, net.hosts[1].first_sequence) = (u32::MAX - 9000, u32::MAX);
        net.ends[0].lose = vec![9, 10, 14];
        net.ends[1].lose = vec![7];
        transfer(&mut net, 60_000, 1440, ms(60_000));
        assert!(net.hosts[0].counters().retransmitted >= 3);
    }
}

/// Checks that a FIN is repeated which goes out, and is lost, while a closed window is probed.
#[test]
fn a_fin_that_is_lost_while_a_window_is_probed_is_repeated() {
    let mut net = TestNet::pair(Stack::pc(), esp(|_| {}), TestWire::delay(ms(1)));
    let (a, b) = net.connect();
    net.run(ms(1000));
    net.at(0, |it| it.tcp_send(a, &[1; 5761]).expect("room"));
    net.run(ms(100));
    // Room for the byte that probes, and none for more.
    assert_eq!(net.at(1, |it| it.tcp_receive(b, &mut [0])), Ok(1));
    while net.at(0, |it| it.tcp_unacknowledged(a)) > 0 {
        assert!(net.now < Instant::ZERO + ms(60_000), "no probe was taken");
        net.run(ms(1));
    }
    lose(&mut net, 0, 1);
    net.at(0, |it| it.close(a));
    net.run(ms(30_000));
    net.drain(1, b);
    net.run(ms(30_000));
    assert_eq!(net.stream(1, b), StreamState::HalfClosed);
}

/// Checks that a probe of a small window goes out after one that found the driver full.
#[test]
fn a_probe_that_finds_the_driver_full_comes_again() {
    let wire = TestWire { rate: 200_000, room: 1, ..TestWire::delay(ms(1)) };
    let mut net = TestNet::pair(Stack::pc(), esp(|_| {}), wire);
    let (a, b) = net.connect();
    let from = net.at(0, |it| it.udp_bind(0)).expect("a port");
    net.run(ms(1000));
    net.at(0, |it| it.tcp_send(a, &[1; 5000]).expect("room"));
    net.run(ms(2000));
    // 760 bytes of window are left: less than a segment, and nobody reads.
    net.at(0, |it| it.tcp_send(a, &[1; 2000]).expect("room"));
    assert_eq!(net.at(0, |it| it.tcp_unacknowledged(a)), 2000);
    let probe = net.next().expect("the timer of the probe");
    net.run(probe.since(net.now) - ms(1));
    net.at(0, |it| it.udp_send(from, Endpoint::new(address(1), 9), &[0; 1000])).expect("room");
    net.run(ms(10_000));
    assert_eq!(net.drain(1, b), 5760);
}

/// Checks that a lost window update is made up for by a probe.
#[test]
fn a_lost_window_update_does_not_end_a_stream() {
    let mut net = TestNet::pair(Stack::pc(), esp(|_| {}), TestWire::delay(ms(1)));
    let (a, b) = net.connect();
    net.run(ms(1000));
    net.fill(0, a);
    net.run(ms(1000));
    assert_eq!(net.hosts[0].observe(APP, a).expect("a connection").send_window, 0);
    lose(&mut net, 1, 2);
    assert_eq!(net.drain(1, b), 5760);
    net.run(ms(1));
    assert_eq!(net.hosts[0].observe(APP, a).expect("a connection").send_window, 0);
    let mut read = 0;
    for _ in 0..100 {
        net.run(ms(100));
        net.fill(0, a);
        read += net.drain(1, b);
    }
    assert!(read > 100_000, "{read} bytes");
}

/// Checks RFC 9293 section 3.8.6.2.1: a window below a segment is used if it is all there ever is.
#[test]
fn a_window_below_a_segment_is_used() {
    let narrow = esp(|it| it.tcp_window = 1000);
    let mut net = TestNet::pair(Stack::pc(), narrow, TestWire::delay(ms(5)));
    let took = transfer(&mut net, 10_000, 1440, ms(60_000));
    assert!(took < ms(1000), "{took:?}: a window for each round trip, without a timer");
    assert_eq!(net.hosts[0].counters().retransmitted, 0);
}

/// Checks that a reader of few bytes at a time does not make its peer send small segments
/// (the silly window of RFC 9293 section 3.8.6.2).
#[test]
fn a_slow_reader_gets_whole_segments() {
    let mut net = TestNet::pair(Stack::pc(), esp(|_| {}), TestWire::delay(ms(1)));
    let (a, b) = net.connect();
    net.run(ms(1000));
    let before = net.hosts[1].counters().received;
    let mut buf = [0; 100];
    let mut read = 0;
    while read < 28_800 {
        net.fill(0, a);
        net.run(ms(2));
        read += net.at(1, |it| it.tcp_receive(b, &mut buf)).expect("a connection");
    }
    let segments = net.hosts[1].counters().received - before;
    // What was read and what fills the window, and probes beside.
    let whole = (28_800 + 5760) / 1440;
    assert!((whole - 1..=whole + 10).contains(&segments), "{segments} segments");
}
