//! The heap: its users, and what a host gives up when it is short.

use super::*;

/// Checks that a datagram keeps the driver's buffer until it is read.
#[test]
fn datagrams_that_wait_take_their_bytes() {
    let mut net = TestNet::pair(esp(|_| {}), Stack::pc(), TestWire::delay(ms(1)));
    let port = net.at(0, |it| it.udp_bind(7)).expect("a port");
    let sender = net.at(1, |it| it.udp_bind(0)).expect("a port");
    let empty = net.hosts[0].heap();
    for _ in 0..9 {
        let to = Endpoint::new(address(0), 7);
        net.at(1, |it| it.udp_send(sender, to, &[1; 1000])).expect("room");
    }
    net.run(ms(10));
    let full = net.hosts[0].heap();
    let each = 1000 + 28 + Stack::esp(&SdkConfig::default()).heap.held;
    assert_eq!((net.hosts[0].held(), full.received), (6, 6 * each), "six fit the mailbox");
    assert_eq!(full.now - empty.now, full.received);
    let mut buf = [0; 10];
    net.at(0, |it| it.udp_receive(port, &mut buf)).expect("a datagram that is cut");
    assert_eq!(net.hosts[0].heap().received, 5 * each);
    net.at(0, |it| it.close(port));
    assert_eq!((net.hosts[0].heap().now, net.hosts[0].heap().received), (0, 0));
    assert_eq!(net.hosts[1].heap(), crate::net::HeapStats::default(), "nobody counts a PC's");
}

/// Checks that unread bytes of a window keep their buffers, too.
#[test]
fn a_window_that_nobody_reads_takes_its_bytes() {
    let stack = esp(|it| (it.tcp_window, it.tcp_mailbox) = (14_400, 32));
    let mut net = TestNet::pair(Stack::pc(), stack, TestWire::delay(ms(1)));
    let (a, b) = net.connect();
    net.fill(0, a);
    net.run(ms(500));
    let heap = net.hosts[1].heap();
    assert_eq!(heap.received, 14_400 + 10 * stack.heap.held);
    assert!(heap.now >= heap.received && heap.peak >= heap.now, "{heap:?}");
    net.drain(1, b);
    assert_eq!(net.hosts[1].heap().received, 0);
}

/// Checks that `tcp_write` takes as much as there is memory for, and that the program is told when
/// there is some again.
#[test]
fn a_writer_waits_for_memory() {
    let stack = esp(|it| it.tcp_send_buffer = 57_600);
    let rate = |limit: u32| {
        let mut net = TestNet::pair(stack, Stack::pc(), TestWire::delay(ms(10)));
        net.ends[0].limit = limit;
        let (a, b) = net.connect();
        let read = net.saturate(a, b, ms(3000));
        let peak = net.hosts[0].heap().peak;
        assert!(peak <= limit, "{peak} of {limit}");
        (read as f64 * 8.0 / 3e6, net.hosts[0].counters().starved)
    };
    let (free, starved) = rate(u32::MAX);
    assert_eq!(starved, 0);
    let (tight, starved) = rate(16_384);
    assert!(starved > 0 && tight < free / 2.0 && tight > free / 6.0, "{tight} of {free}");
}

/// Checks that the program is asked again after a while if something else has all the memory.
#[test]
fn a_writer_without_memory_is_told_later() {
    let mut net = TestNet::pair(esp(|_| {}), Stack::pc(), TestWire::delay(ms(10)));
    let (a, b) = net.connect();
    net.ends[0].limit = 0;
    assert_eq!(net.at(0, |it| it.tcp_send(a, &[1; 100])), Ok(0));
    net.hosts[0].changed(APP);
    net.ends[0].limit = u32::MAX;
    net.run(ms(1500));
    assert!(net.hosts[0].changed(APP), "it may write now");
    assert_eq!(net.at(0, |it| it.tcp_send(a, &[1; 100])), Ok(100));
    net.run(ms(50));
    assert_eq!(net.drain(1, b), 100);
}
