//! Sequence numbers, windows, states.

use super::super::segment::Segment;
use super::super::sequence::{ReceiveSequence, SendSequence, after};
use super::super::state::TcpState;
use super::*;
use espbench_proto::node::app::Endpoint;

fn segment(seq: u32, window: u16) -> Segment<'static> {
    Segment {
        from: Endpoint::new([10, 0, 0, 1], 1),
        port: 2,
        seq,
        ack: None,
        window,
        syn: false,
        fin: false,
        rst: false,
        mss: None,
        shift: None,
        text: &[],
    }
}

#[test]
fn numbers_are_compared_around_their_end() {
    assert!(after(1, 0) && !after(0, 1) && !after(5, 5));
    assert!(after(3, u32::MAX - 3) && !after(u32::MAX - 3, 3));
    assert!(after(0x8000_0000, 1) && !after(0x8000_0000, 0), "half of all numbers are after one");
}

#[test]
fn what_is_in_flight_is_counted_around_the_end() {
    let mut snd = SendSequence::new(u32::MAX - 9);
    snd.nxt = 20;
    snd.max = 20;
    assert_eq!(snd.in_flight(), 30);
    snd.acknowledge(5);
    assert_eq!(snd.in_flight(), 15);
    snd.rewind();
    assert_eq!((snd.in_flight(), snd.max), (0, 20));
    // What was received although it counted as lost need not be sent again.
    snd.acknowledge(15);
    assert_eq!((snd.nxt, snd.in_flight()), (15, 0));
}

/// Checks RFC 9293 section 3.10.7.4: an older segment does not take the window back.
#[test]
fn only_a_newer_segment_changes_the_window() {
    let mut snd = SendSequence::new(0);
    snd.synchronize(&segment(100, 1000), 0);
    let mut wnd = |seq, ack, window| {
        snd.update_window(&segment(seq, window), ack);
        snd.wnd
    };
    assert_eq!(wnd(101, 1, 500), 500, "newer by its sequence number: it may shrink");
    assert_eq!(wnd(101, 10, 400), 400, "newer by its acknowledgement");
    assert_eq!(wnd(101, 9, 900), 400, "older");
    assert_eq!(wnd(101, 10, 300), 400, "the same numbers do not shrink it");
    assert_eq!(wnd(101, 10, 600), 600, "but open it");
    assert_eq!(wnd(90, 8, 10), 600);
    assert_eq!(snd.widest, 1000);
}

/// Checks RFC 7323 section 2.2: the window of a SYN is as it stands, later ones are scaled.
#[test]
fn windows_are_scaled_after_the_syn() {
    let mut snd = SendSequence::new(0);
    snd.synchronize(&segment(100, 1000), 3);
    assert_eq!(snd.wnd, 1000);
    snd.update_window(&segment(101, 1000), 1);
    assert_eq!((snd.wnd, snd.widest), (8000, 8000));
    let wide = Stack { tcp_window: 400_000, ..Stack::pc() };
    assert!(wide.scales() && !Stack::pc().scales());
    let mut rcv = ReceiveSequence::new(400_000);
    rcv.synchronize(&segment(9, 0), wide.window_shift());
    assert_eq!((wide.window_shift(), rcv.field()), (3, 50_000));
    rcv.announced(rcv.field());
    assert_eq!((rcv.nxt, rcv.told()), (10, 400_000));
}

/// Checks RFC 9293 section 3.8.6.2.2: the edge moves by a segment at least, and never back.
#[test]
fn the_edge_of_the_window_moves_by_segments() {
    let stack = esp(5760);
    let mut rcv = ReceiveSequence::new(5760);
    rcv.synchronize(&segment(u32::MAX, 0), 0);
    rcv.announced(5760);
    // The buffer is full, and then read by and by.
    rcv.nxt += 5760;
    assert_eq!((rcv.open(&stack, 0), rcv.window()), (0, 0));
    assert_eq!((rcv.open(&stack, 1439), rcv.window()), (0, 0), "not worth a segment");
    assert_eq!((rcv.open(&stack, 1440), rcv.window()), (1440, 1440));
    rcv.announced(rcv.field());
    assert_eq!((rcv.open(&stack, 2000), rcv.window()), (0, 1440));
    assert_eq!((rcv.open(&stack, 5760), rcv.window()), (4320, 5760));
}

/// Checks the picture of RFC 9293 section 3.3.2, but for `LISTEN`.
#[test]
fn states_follow_the_rfcs_picture() {
    use TcpState::*;
    let all = [
        SynSent,
        SynReceived,
        Established,
        FinWait1,
        FinWait2,
        CloseWait,
        Closing,
        LastAck,
        TimeWait,
        Closed,
    ];
    let next = |step: fn(TcpState) -> TcpState| {
        let moves = all.into_iter().filter(|&it| step(it) != it).map(|it| (it, step(it)));
        moves.collect::<std::vec::Vec<_>>()
    };
    assert_eq!(
        next(TcpState::closed),
        [(SynSent, Closed), (SynReceived, FinWait1), (Established, FinWait1), (CloseWait, LastAck)]
    );
    assert_eq!(
        next(TcpState::finished),
        [(Established, CloseWait), (FinWait1, Closing), (FinWait2, TimeWait)]
    );
    assert_eq!(next(|it| it.acknowledged(false)), [(SynReceived, Established)]);
    assert_eq!(
        next(|it| it.acknowledged(true)),
        [(SynReceived, Established), (FinWait1, FinWait2), (Closing, TimeWait), (LastAck, Closed)]
    );
    let fits = |test: fn(TcpState) -> bool| all.into_iter().filter(|&it| test(it)).count();
    assert_eq!(fits(TcpState::takes_bytes), 2);
    assert_eq!(fits(TcpState::takes_text), 3);
    assert_eq!(fits(TcpState::ends_with_fin), 3);
    assert_eq!(fits(TcpState::is_handshake), 2);
}
