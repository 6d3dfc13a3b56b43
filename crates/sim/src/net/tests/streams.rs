//! Streams in both directions at once, over wires that lose, reorder and duplicate: each arrives
//! whole and in order, both ends close, and no more is held than the buffers allow.

use super::laws::stack;
use super::*;
use proptest::prelude::*;

/// Makes a wire that loses, reorders and duplicates; where it loses nothing, everything comes at
/// last.
fn wire() -> impl Strategy<Value = TestWire> {
    (0_u64..20, 0_u64..30, 0_u32..15, 0_u32..30, 2_usize..40).prop_map(
        |(delay, jitter, loss, twice, room)| TestWire {
            room,
            loss: Chance::percent(loss),
            jitter: ms(jitter),
            twice: Chance::percent(twice),
            rate: 20_000_000,
            ..TestWire::delay(ms(delay) + Duration::from_micros(10))
        },
    )
}

/// One end of a stream: how much it sends and in what pieces, and what it has read.
struct End {
    socket: SocketId,
    total: usize,
    chunk: usize,
    written: usize,
    read: Vec<u8>,
    ended: bool,
}

/// Returns the byte at a place of what a host sends.
const fn byte(host: usize, place: usize) -> u8 {
    ((place * (37 + host)) >> 3) as u8
}

impl End {
    const fn new(socket: SocketId, (total, chunk): (usize, usize)) -> Self {
        Self { socket, total, chunk, written: 0, read: Vec::new(), ended: false }
    }

    /// Writes and reads what goes; closes after the last byte of both directions.
    fn go_on(&mut self, net: &mut TestNet, host: usize, other: usize) {
        let socket = self.socket;
        while self.written < self.total {
            let end = self.total.min(self.written + self.chunk);
            let data: Vec<u8> = (self.written..end).map(|n| byte(host, n)).collect();
            match net.at(host, |it| it.tcp_send(socket, &data)).expect("a connection") {
                0 => break,
                n => self.written += n,
            }
        }
        let mut buf = vec![0; self.chunk];
        while let Ok(n @ 1..) = net.at(host, |it| it.tcp_receive(socket, &mut buf)) {
            self.read.extend_from_slice(&buf[..n]);
        }
        if !self.ended && self.read.len() == other && self.written == self.total {
            net.at(host, |it| it.close(socket));
            self.ended = true;
        }
    }
}

/// Sends both ways at once, each until all has come.
fn exchange(net: &mut TestNet, stacks: [Stack; 2], work: [(usize, usize); 2]) {
    let (a, b) = net.connect();
    let mut ends = [End::new(a, work[0]), End::new(b, work[1])];
    let until = net.now + ms(40_000_000);
    while !ends.iter().all(|it| it.ended) {
        for (n, end) in ends.iter_mut().enumerate() {
            end.go_on(net, n, work[1 - n].0);
        }
        for (n, stack) in stacks.iter().enumerate() {
            let Some(flow) = net.hosts[n].observe(APP, ends[n].socket) else { continue };
            assert!(flow.receive_queue <= stack.tcp_window, "host {n}: {flow:?}");
            assert!(flow.in_flight + flow.unsent <= stack.tcp_send_buffer + 1, "{flow:?}");
        }
        let done = ends.iter().all(|it| it.ended);
        let came = [ends[0].read.len(), ends[1].read.len()];
        assert!(done || net.step(until), "{came:?} of {work:?}: nothing more happens");
    }
    for (n, end) in ends.iter().enumerate() {
        let sent = (0..work[1 - n].0).map(|place| byte(1 - n, place));
        assert!(end.read.iter().copied().eq(sent), "host {n} reads what was sent, in order");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn both_ways_arrive_whole_and_in_order(
        seed in 0_u64..100_000,
        stacks in [stack(), stack()],
        wires in [wire(), wire()],
        work in [(1_usize..40_000, 1_usize..4000), (1_usize..40_000, 1_usize..4000)],
    ) {
        let mut net = TestNet::new(seed, &[(stacks[0], wires[0]), (stacks[1], wires[1])]);
        exchange(&mut net, stacks, work);
        net.run(ms(40_000_000));
        prop_assert_eq!([0, 1].map(|n| net.hosts[n].connections()), [0, 0]);
        prop_assert_eq!([0, 1].map(|n| net.hosts[n].held()), [0, 0]);
        prop_assert_eq!((net.next(), net.on_the_way()), (None, 0));
    }
}

/// Checks that a lost acknowledgement of a FIN is sent again as often as the FIN is.
#[test]
fn each_copy_of_a_fin_is_answered() {
    let mut net = TestNet::pair(esp(|_| {}), Stack::pc(), TestWire::delay(ms(5)));
    let (a, b) = net.connect();
    net.run(ms(1000));
    net.at(0, |it| it.close(a));
    net.run(ms(20));
    // The PC closes as well; three acknowledgements of its FIN are lost on their way.
    net.ends[0].lose = (1..=3).map(|n| net.ends[0].sent + n).collect();
    net.at(1, |it| it.close(b));
    net.run(ms(10_000));
    assert_eq!(net.hosts[1].connections(), 0, "the fourth has come");
    assert_eq!(net.hosts[1].counters().timeouts, 3);
    assert_eq!(net.hosts[1].counters().broken, 0);
}

/// Checks that data is taken from a segment whose acknowledgement is older than another's.
#[test]
fn data_with_an_old_acknowledgement_is_data() {
    let mut net = TestNet::pair(Stack::pc(), Stack::pc(), TestWire::delay(ms(5)));
    let (a, b) = net.connect();
    net.at(1, |it| it.tcp_send(b, b"overtaken").expect("room"));
    // The data is late: an acknowledgement that is sent afterwards comes first.
    let late = net.on_the_way.pop_last().expect("the data").1;
    net.at(0, |it| it.tcp_send(a, b"question").expect("room"));
    net.run(ms(100));
    assert_eq!(net.at(0, |it| it.tcp_unacknowledged(a)), 0);
    let end = &mut net.ends[0];
    end.now = net.now;
    net.hosts[0].receive(net.now, &late.1, end);
    let mut buf = [0; 64];
    assert_eq!(net.at(0, |it| it.tcp_receive(a, &mut buf)), Ok(9));
    assert_eq!(net.hosts[1].counters().retransmitted, 0);
}
