//! Our client against our server.

use super::{Server, TCP, UDP, bytes, client, rate};
use espbench_model::sample::Observer;
use espbench_model::workload::{Direction, Iperf};
use std::time::Duration;

const DIRECTIONS: [Direction; 5] = [
    Direction::Forward,
    Direction::Reverse,
    Direction::FullDuplex,
    Direction::Tradeoff,
    Direction::Dual,
];

#[test]
fn every_direction_of_both_transports_with_two_streams() {
    let short = Duration::from_millis(300);
    for work in [TCP, UDP] {
        for direction in DIRECTIONS {
            let server = Server::start();
            let work = Iperf { direction, parallel: 2, time: short, interval: short / 3, ..work };
            let (seen, result) = client(server.service.address, work);
            result.unwrap_or_else(|e| panic!("{:?} {direction:?}: {e}", work.transport));
            let (sent, received) = (seen.totals(Observer::Sender), seen.totals(Observer::Receiver));
            let sends = direction != Direction::Reverse;
            let receives = direction != Direction::Forward;
            let what = format!("{:?} {direction:?}", work.transport);
            assert_eq!(
                (sent.len(), received.len()),
                (2 * usize::from(sends), 2 * usize::from(receives)),
                "{what}"
            );
            if sends {
                let theirs = server.totals(Observer::Receiver, 2);
                assert_eq!(bytes(&theirs), bytes(&sent), "{what}");
            }
            if receives {
                let theirs = server.totals(Observer::Sender, 2);
                assert_eq!(bytes(&theirs), bytes(&received), "{what}");
            }
        }
    }
}

/// A server that kept the first connection sent all that it had time for before the client listened.
#[test]
fn what_comes_back_is_taken_as_it_is_sent() {
    let server = Server::start();
    let work = Iperf { direction: Direction::Tradeoff, ..TCP };
    let (seen, result) = client(server.service.address, work);
    result.unwrap();
    let received = seen.totals(Observer::Receiver)[0];
    let took = received.end.since(received.start);
    assert!(took > work.time.mul_f64(0.8), "{took:?}");
    assert!(rate(&received) < 100.0, "80 Mbit/s were asked for: {received:?}");
}

#[test]
fn intervals_sum_to_the_total() {
    let server = Server::start();
    let work = Iperf { interval: Duration::from_millis(100), ..TCP };
    let (seen, result) = client(server.service.address, work);
    result.unwrap();
    for observer in [Observer::Peer, Observer::Sender] {
        let mine = seen.samples.iter().filter(|i| i.observer == observer && !i.total);
        let parts: Vec<_> = mine.collect();
        let total = seen.totals(observer)[0];
        assert!(parts.len() >= 9, "{parts:?}");
        for pair in parts.windows(2) {
            assert_eq!((pair[0].end, pair[0].seq + 1), (pair[1].start, pair[1].seq));
        }
        let sum: u64 = parts.iter().map(|i| i.bytes).sum();
        // A rest of less than a hundredth of an interval is in the total only.
        assert!(sum <= total.bytes && sum + 1_000_000 > total.bytes, "{sum} {total:?}");
    }
    let (taken, sent) = (seen.totals(Observer::Peer)[0], seen.totals(Observer::Sender)[0]);
    assert!(taken.bytes <= sent.bytes && taken.end <= sent.end, "{taken:?} {sent:?}");
}

#[test]
fn ctrl_c_keeps_what_was_measured_and_ends_soon() {
    for work in [TCP, UDP] {
        let server = Server::start();
        let mut sink = super::Collect { cancel_after: Some(1), ..super::Collect::default() };
        let site = espbench_measure::run::Site::default();
        let mut target = espbench::target::iperf::IperfTarget::new(server.service.address, site);
        let work = Iperf { time: Duration::from_secs(3600), ..work };
        let work = espbench_model::workload::Workload::Iperf(work);
        let result = espbench::target::Target::run(&mut target, &work, &mut sink);
        assert!(matches!(result, Err(espbench::target::TargetError::Cancelled)));
        assert_eq!(sink.totals(Observer::Sender).len(), 1);
    }
}

#[test]
fn a_server_that_stops_ends_its_tests() {
    let server = Server::start();
    let address = server.service.address;
    let thread = std::thread::spawn(move || {
        client(address, Iperf { time: Duration::from_secs(3600), ..TCP })
    });
    server.says("client sends");
    drop(server);
    let (seen, result) = thread.join().unwrap();
    let text = result.unwrap_err().to_string();
    assert!(text.contains("in the middle of the test"), "{text}");
    assert_eq!(seen.totals(Observer::Sender).len(), 1, "what came before is kept");
}
