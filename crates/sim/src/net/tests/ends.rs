//! The beginning and the end of connections.

use super::*;

fn pair() -> TestNet {
    TestNet::pair(esp(|_| {}), Stack::pc(), TestWire::delay(ms(5)))
}

#[test]
fn a_port_without_a_listener_refuses() {
    let mut net = pair();
    let to = Endpoint::new(address(1), 81);
    let a = net.at(0, |it| it.tcp_connect(to)).expect("an address");
    assert_eq!(net.stream(0, a), StreamState::Connecting);
    net.run(ms(9));
    assert_eq!(net.stream(0, a), StreamState::Connecting);
    net.run(ms(2));
    assert_eq!(net.stream(0, a), StreamState::Closed);
    assert!(net.hosts[0].changed(APP) && !net.hosts[0].changed(APP));
    assert_eq!(net.at(0, |it| it.tcp_send(a, b"x")), Err(SocketError::NotConnected));
    net.at(0, |it| it.close(a));
    assert_eq!((net.hosts[0].connections(), net.hosts[0].wait()), (0, None));
}

/// Checks that programs of a PC reach each other, while an ESP's have no way to.
#[test]
fn what_goes_to_ones_own_address_comes_back() {
    let mut net = pair();
    let own = |host| Endpoint::new(address(host), 80);
    assert_eq!(net.at(0, |it| it.tcp_connect(own(0))), Err(SocketError::NotConnected));
    let listener = net.at(1, |it| it.tcp_listen(80)).expect("a port");
    let a = net.at(1, |it| it.tcp_connect(own(1))).expect("an address");
    net.run(ms(20));
    let (b, from) = net.at(1, |it| it.tcp_accept(listener)).expect("a connection");
    assert_eq!(from.address, address(1));
    net.at(1, |it| it.tcp_send(a, b"question").expect("room"));
    net.at(1, |it| it.tcp_send(b, b"answer").expect("room"));
    net.run(ms(20));
    let mut buf = [0; 64];
    assert_eq!(net.at(1, |it| it.tcp_receive(b, &mut buf)), Ok(8));
    assert_eq!(net.at(1, |it| it.tcp_receive(a, &mut buf)), Ok(6));
    assert!(net.hosts[1].flow().is_none(), "none goes elsewhere");
}

#[test]
fn both_directions_end_on_their_own() {
    let mut net = pair();
    let (a, b) = net.connect();
    net.at(0, |it| it.tcp_send(a, b"question").expect("room"));
    net.run(ms(20));
    let mut buf = [0; 64];
    assert_eq!(net.at(1, |it| it.tcp_receive(b, &mut buf)), Ok(8));
    net.at(1, |it| {
        it.tcp_send(b, b"answer").expect("room");
        it.close(b);
    });
    net.run(ms(20));
    assert_eq!(net.stream(0, a), StreamState::HalfClosed);
    assert_eq!(net.at(0, |it| it.tcp_receive(a, &mut buf)), Ok(6));
    assert_eq!(net.at(0, |it| it.tcp_receive(a, &mut buf)), Ok(0), "the end");
    net.at(0, |it| it.close(a));
    net.run(ms(100));
    // The end that closed first remembers the connection.
    assert_eq!([0, 1].map(|n| net.hosts[n].connections()), [0, 1]);
    net.run(ms(61_000));
    assert_eq!(net.hosts[1].connections(), 0);
    assert_eq!([0, 1].map(|n| net.hosts[n].wait()), [None, None]);
    assert_eq!(net.hosts[0].counters().broken + net.hosts[1].counters().broken, 0);
    assert_eq!(net.hosts[0].heap().now, 0);
}

#[test]
fn what_was_handed_over_arrives_although_the_socket_is_closed() {
    let mut net = pair();
    let (a, b) = net.connect();
    net.fill(0, a);
    net.at(0, |it| it.close(a));
    let mut read = 0;
    for _ in 0..100 {
        net.run(ms(10));
        read += net.drain(1, b);
    }
    assert_eq!(read, 5760);
    assert_eq!(net.stream(1, b), StreamState::HalfClosed);
}

#[test]
fn closing_with_unread_data_resets() {
    let mut net = pair();
    let (a, b) = net.connect();
    net.at(0, |it| it.tcp_send(a, b"unread").expect("room"));
    net.run(ms(20));
    net.at(1, |it| it.close(b));
    net.run(ms(20));
    assert_eq!(net.stream(0, a), StreamState::Closed);
    let mut buf = [0; 8];
    assert_eq!(net.at(0, |it| it.tcp_receive(a, &mut buf)), Err(SocketError::NotConnected));
    assert_eq!(net.hosts[0].counters().broken, 1);
}

#[test]
fn a_listener_that_closes_resets_who_waits() {
    let mut net = pair();
    let listener = net.at(1, |it| it.tcp_listen(80)).expect("a port");
    let to = Endpoint::new(address(1), 80);
    let a = net.at(0, |it| it.tcp_connect(to)).expect("an address");
    net.run(ms(100));
    assert_eq!(net.stream(0, a), StreamState::Open, "the backlog has it");
    net.at(1, |it| it.close(listener));
    net.run(ms(100));
    assert_eq!(net.stream(0, a), StreamState::Closed);
    assert_eq!(net.hosts[1].connections(), 0);
}

#[test]
fn a_full_backlog_lets_others_try_again() {
    let mut net = TestNet::pair(Stack::pc(), esp(|it| it.sockets = 16), TestWire::delay(ms(5)));
    let listener = net.at(1, |it| it.tcp_listen(80)).expect("a port");
    let to = Endpoint::new(address(1), 80);
    let all: Vec<_> =
        (0..8).map(|_| net.at(0, |it| it.tcp_connect(to)).expect("an address")).collect();
    net.run(ms(500));
    let open = |net: &mut TestNet| {
        all.iter().filter(|&&it| net.stream(0, it) == StreamState::Open).count()
    };
    assert_eq!(open(&mut net), 6);
    while net.at(1, |it| it.tcp_accept(listener)).is_some() {}
    net.run(ms(3000));
    assert_eq!(open(&mut net), 8);
}

#[test]
fn an_accepted_connection_needs_a_socket() {
    let mut net = TestNet::pair(Stack::pc(), esp(|it| it.sockets = 2), TestWire::delay(ms(5)));
    let listener = net.at(1, |it| it.tcp_listen(80)).expect("a port");
    let to = Endpoint::new(address(1), 80);
    let all = [(); 2].map(|()| net.at(0, |it| it.tcp_connect(to)).expect("an address"));
    net.run(ms(100));
    assert!(net.at(1, |it| it.tcp_accept(listener)).is_some());
    assert!(net.at(1, |it| it.tcp_accept(listener)).is_none());
    net.run(ms(100));
    assert_eq!(all.map(|it| net.stream(0, it)), [StreamState::Open, StreamState::Closed]);
}

#[test]
fn who_hears_nothing_gives_up() {
    let mut net = pair();
    let (a, _) = net.connect();
    net.ends[0].wire.loss = Chance::ALWAYS;
    net.at(0, |it| it.tcp_send(a, b"lost").expect("room"));
    net.run(ms(3_600_000));
    assert_eq!(net.stream(0, a), StreamState::Closed);
    // CONFIG_LWIP_TCP_MAXRTX.
    assert_eq!(net.hosts[0].counters().timeouts, 12);
    assert_eq!((net.hosts[0].counters().broken, net.hosts[0].wait()), (1, None));
}

#[test]
fn connections_that_are_only_remembered_make_place() {
    let mut net = pair();
    let listener = net.at(1, |it| it.tcp_listen(80)).expect("a port");
    let to = Endpoint::new(address(1), 80);
    for _ in 0..40 {
        let a = net.at(0, |it| it.tcp_connect(to)).expect("a place");
        net.run(ms(50));
        let (b, _) = net.at(1, |it| it.tcp_accept(listener)).expect("a connection");
        net.at(0, |it| it.close(a));
        net.run(ms(50));
        net.at(1, |it| it.close(b));
        net.run(ms(50));
    }
    // CONFIG_LWIP_MAX_ACTIVE_TCP.
    assert_eq!(net.hosts[0].connections(), 16);
}
