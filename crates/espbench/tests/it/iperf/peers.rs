//! Against Debian's iperf 2.1.8.
//!
//! Counts must be equal: bytes over TCP, datagrams and losses over UDP. Rates are compared at 5 %,
//! because a second on a busy machine has a hundredth of it at either end; `bench/iperf.py` holds
//! them to 1 % over longer tests.

use super::usher::Usher;
use super::{Server, TCP, Theirs, UDP, bytes, client, close, rate, their_client};
use crate::util::peer;
use espbench_model::sample::{Interval, Observer};
use espbench_model::workload::{Direction, Iperf};

const RATES: f64 = 0.05;

/// Two streams of short datagrams, 1000 a second each.
const SHORT: Iperf = Iperf { parallel: 2, length: 64, bandwidth: Some(512_000), ..UDP };

fn number(field: &str) -> f64 {
    field.parse().unwrap_or_else(|_| panic!("no number: {field}"))
}

/// Returns the bytes that iperf 2 counted. Fields of its comma-separated lines: 7 is bytes, 8 bits
/// a second, 9 jitter in ms, 10 lost, 11 total, 13 out of order.
fn their_bytes(lines: &[Vec<String>]) -> u64 {
    lines.iter().map(|line| number(&line[7]) as u64).sum()
}

/// Totals come in the order in which the streams end.
fn by_stream(totals: &[Interval]) -> Vec<Interval> {
    let mut totals = totals.to_vec();
    totals.sort_by_key(|it| it.link);
    totals
}

#[test]
fn our_tcp_client_their_server() {
    let Some(server) = Theirs::start(&[]) else { return };
    let (seen, result) = client(server.address, TCP);
    result.unwrap();
    let lines = server.lines();
    let ours = seen.totals(Observer::Sender);
    assert_eq!(their_bytes(&lines), bytes(&ours));
    close(rate(&ours[0]), number(&lines[0][8]) / 1e6, RATES);
    assert_eq!(seen.facts["peer"], "iperf 2.1.8");
    assert!(ours[0].retransmits.is_some() && ours[0].tcp_rtt_ns.is_some());
}

#[test]
fn our_tcp_client_with_two_streams_of_an_amount() {
    let Some(server) = Theirs::start(&[]) else { return };
    let work = Iperf { parallel: 2, bytes: Some(3_000_000), bandwidth: None, ..TCP };
    let (seen, result) = client(server.address, work);
    result.unwrap();
    let ours = seen.totals(Observer::Sender);
    assert_eq!(ours.iter().map(|t| t.bytes).collect::<Vec<_>>(), [3_000_000; 2]);
    let lines = server.lines();
    // A sum line may follow the two streams' own.
    assert_eq!(their_bytes(&lines[..2]), 6_000_000, "{lines:?}");
}

#[test]
fn our_tcp_client_receives_from_their_server() {
    let Some(server) = Theirs::start(&[]) else { return };
    let work = Iperf { direction: Direction::Reverse, ..TCP };
    let (seen, result) = client(server.address, work);
    result.unwrap();
    let ours = seen.totals(Observer::Receiver);
    let lines = server.lines();
    assert_eq!(their_bytes(&lines), bytes(&ours), "{lines:?}");
    close(rate(&ours[0]), number(&lines[0][8]) / 1e6, RATES);
    close(rate(&ours[0]), 80.0, 0.2);
}

#[test]
fn our_tcp_client_in_both_directions() {
    for direction in [Direction::FullDuplex, Direction::Dual, Direction::Tradeoff] {
        let Some(server) = Theirs::start(&[]) else { return };
        let (seen, result) = client(server.address, Iperf { direction, ..TCP });
        result.unwrap_or_else(|e| panic!("{direction:?}: {e}"));
        let sent = bytes(&seen.totals(Observer::Sender));
        let received = bytes(&seen.totals(Observer::Receiver));
        let lines = server.lines();
        let theirs: Vec<u64> = lines.iter().map(|l| number(&l[7]) as u64).collect();
        for (what, ours) in [("sent", sent), ("received", received)] {
            assert!(ours > 0 && theirs.contains(&ours), "{direction:?} {what} {ours}: {theirs:?}");
        }
    }
}

#[test]
fn our_udp_client_their_server() {
    let Some(server) = Theirs::start(&["-u"]) else { return };
    let (seen, result) = client(server.address, UDP);
    result.unwrap();
    let (sent, reported) = (seen.totals(Observer::Sender), seen.totals(Observer::Peer));
    let lines = server.lines();
    assert_eq!(reported[0].bytes, their_bytes(&lines));
    assert_eq!(reported[0].lost, Some(number(&lines[0][10]) as u64));
    let theirs = number(&lines[0][11]) as u64;
    let ours = sent[0].datagrams.unwrap();
    // iperf 2's comma-separated total is one less than its text's: without the last datagram.
    assert!(theirs == ours || theirs + 1 == ours, "{theirs} {ours}");
    close(rate(&sent[0]), number(&lines[0][8]) / 1e6, RATES);
    assert_eq!(seen.facts["server-report"], "received");
}

#[test]
fn our_udp_client_with_two_streams_of_short_datagrams() {
    let Some(server) = Theirs::start(&["-u"]) else { return };
    let usher = Usher::before(server.address);
    let (seen, result) = client(usher.address, SHORT);
    result.unwrap();
    let (sent, reported) = (seen.totals(Observer::Sender), seen.totals(Observer::Peer));
    assert_eq!((sent.len(), reported.len()), (2, 2));
    assert_eq!(bytes(&sent), bytes(&reported), "nothing is lost at 1000 a second");
    for (sent, reported) in by_stream(&sent).iter().zip(by_stream(&reported)) {
        let told = (reported.link, reported.datagrams, reported.lost);
        assert_eq!((sent.link, sent.datagrams, Some(0)), told);
    }
}

/// Two streams at once, as people run them. Datagrams that iperf counts as lost of the stream that
/// it let in last are those that it counts as out of order of the other, or were refused: see
/// [`Usher`]. Nothing else is missing from its report.
#[test]
fn our_udp_client_with_two_streams_loses_what_iperf_does_not_let_in() {
    let Some(server) = Theirs::start(&["-u"]) else { return };
    let (seen, result) = client(server.address, SHORT);
    result.unwrap();
    let (sent, reported) = (seen.totals(Observer::Sender), seen.totals(Observer::Peer));
    let mut streams: Vec<_> = by_stream(&sent).into_iter().zip(by_stream(&reported)).collect();
    streams.sort_by_key(|(_, reported)| reported.lost);
    let [(sent, first), (also_sent, second)] = streams[..] else { panic!("{reported:?}") };
    assert_eq!((sent.link, also_sent.link), (first.link, second.link), "{reported:?}");
    let (strayed, lost) = (first.out_of_order.unwrap(), second.lost.unwrap());
    assert_eq!((first.lost, second.out_of_order), (Some(0), Some(0)), "{reported:?}");
    assert!(strayed <= lost, "{reported:?}");
    let length = u64::from(SHORT.length);
    assert_eq!(first.bytes, sent.bytes + length * strayed, "{reported:?}");
    assert_eq!(second.bytes, also_sent.bytes - length * lost, "{reported:?}");
}

#[test]
fn our_udp_client_receives_from_their_server() {
    let Some(server) = Theirs::start(&["-u"]) else { return };
    let work = Iperf { direction: Direction::Reverse, ..UDP };
    let (seen, result) = client(server.address, work);
    result.unwrap();
    let ours = seen.totals(Observer::Receiver);
    assert_eq!(ours[0].lost, Some(0));
    assert!(ours[0].jitter_ns.is_some());
    close(rate(&ours[0]), 8.0, RATES);
    let lines = server.lines();
    close(bytes(&ours) as f64, their_bytes(&lines) as f64, 0.01);
}

#[test]
fn our_udp_client_in_both_directions() {
    for direction in [Direction::FullDuplex, Direction::Dual, Direction::Tradeoff] {
        let Some(server) = Theirs::start(&["-u"]) else { return };
        let (seen, result) = client(server.address, Iperf { direction, ..UDP });
        result.unwrap_or_else(|e| panic!("{direction:?}: {e}"));
        let (sent, received) = (seen.totals(Observer::Sender), seen.totals(Observer::Receiver));
        assert_eq!((sent.len(), received.len()), (1, 1), "{direction:?}");
        close(rate(&sent[0]), 8.0, RATES);
        close(rate(&received[0]), 8.0, RATES);
        let reports = usize::from(direction != Direction::FullDuplex);
        assert_eq!(seen.totals(Observer::Peer).len(), reports, "{direction:?}");
    }
}

#[test]
fn their_tcp_client_our_server() {
    if !peer("iperf") {
        return;
    }
    let server = Server::start();
    let args = ["-c", "127.0.0.1", "-p", &server.port(), "-t", "1", "-b", "80m", "-y", "C"];
    let text = their_client(&args);
    let line: Vec<&str> = text.lines().next().expect("a line").split(',').collect();
    let ours = server.totals(Observer::Receiver, 1);
    assert_eq!(bytes(&ours), number(line[7]) as u64, "{text}");
    close(rate(&ours[0]), number(line[8]) / 1e6, RATES);
}

#[test]
fn their_tcp_client_in_other_directions() {
    if !peer("iperf") {
        return;
    }
    for (flag, received, sent) in
        [("-R", 0, 1), ("--full-duplex", 1, 1), ("-r", 1, 1), ("-d", 1, 1), ("-P2", 2, 0)]
    {
        let server = Server::start();
        let listen = crate::util::free_port().to_string();
        let port = server.port();
        let mut args =
            vec!["-c", "127.0.0.1", "-p", &port, "-t", "1", "-b", "40m", "-y", "C", flag];
        if matches!(flag, "-r" | "-d") {
            args.extend(["-L", &listen]);
        }
        let text = their_client(&args);
        let theirs: Vec<u64> =
            text.lines().filter_map(|l| l.split(',').nth(7)?.parse().ok()).collect();
        for (observer, count) in [(Observer::Receiver, received), (Observer::Sender, sent)] {
            for total in server.totals(observer, count) {
                assert!(total.bytes > 0, "{flag} {observer:?}");
                assert!(theirs.contains(&total.bytes), "{flag} {}: {text}", total.bytes);
            }
        }
    }
}

#[test]
fn their_udp_client_our_server() {
    if !peer("iperf") {
        return;
    }
    let server = Server::start();
    let args = ["-u", "-c", "127.0.0.1", "-p", &server.port(), "-t", "1", "-b", "8m", "-f", "k"];
    let text = their_client(&args);
    let ours = server.totals(Observer::Receiver, 1);
    let (received, lost) = (ours[0].datagrams.unwrap(), ours[0].lost.unwrap());
    assert_eq!(lost, 0);
    // iperf 2 counts one that it does not send.
    assert!(text.contains(&format!("Sent {} datagrams", received + 1)), "{received}: {text}");
    // Their client prints our closing report.
    let report = text.split("Server Report:").nth(1).unwrap_or_else(|| panic!("{text}"));
    assert!(report.contains(&format!(" 0/{received} (0%)")), "{received}: {text}");
    assert!(!text.contains("WARNING"), "{text}");
    close(rate(&ours[0]), 8.0, RATES);
}

#[test]
fn their_udp_client_in_other_directions() {
    if !peer("iperf") {
        return;
    }
    for (flag, received, sent) in
        [("-R", 0, 1), ("--full-duplex", 1, 1), ("-r", 1, 1), ("-d", 1, 1), ("-P2", 2, 0)]
    {
        let server = Server::start();
        let listen = crate::util::free_port().to_string();
        let port = server.port();
        let mut args = vec!["-u", "-c", "127.0.0.1", "-p", &port, "-t", "1", "-b", "4m", flag];
        if matches!(flag, "-r" | "-d") {
            args.extend(["-L", &listen]);
        }
        let text = their_client(&args);
        both_ends_count_the_same(&server, [received, sent], &text);
    }
}

/// Asserts that the other end prints what each end counts. Rates and losses depend on the machine,
/// and so does whether a receiver comes to its report within the two seconds for which our sender
/// waits ("ack of last datagram failed" where it does not).
#[track_caller]
fn both_ends_count_the_same(server: &Server, [received, sent]: [usize; 2], text: &str) {
    for total in server.totals(Observer::Receiver, received) {
        let (came, lost) = (total.datagrams.unwrap(), total.lost.unwrap());
        // iperf 2 counts one that it does not send.
        let sent = format!("Sent {} datagrams", came + lost + 1);
        assert!(text.contains(&sent), "{came} {lost}: {text}");
    }
    for total in server.totals(Observer::Sender, sent) {
        let of_all = format!("/{} (", total.datagrams.unwrap());
        assert!(text.contains(&of_all), "{of_all}: {text}");
    }
}

#[test]
fn their_client_times_its_trips_in_both_directions() {
    if !peer("iperf") {
        return;
    }
    for (flag, udp) in [("-d", true), ("-r", true), ("-d", false), ("-r", false)] {
        let server = Server::start();
        let (port, listen) = (server.port(), crate::util::free_port().to_string());
        let mut args = vec!["-c", "127.0.0.1", "-p", &port, "-t", "1", "-b", "4m", "--trip-times"];
        args.extend(["-e", flag, "-L", &listen]);
        args.extend(udp.then_some("-u"));
        let text = their_client(&args);
        let timed = server.totals(Observer::Receiver, 1).swap_remove(0);
        assert!(timed.transit.is_some() && timed.bytes > 0, "{args:?} {timed:?}");
        if udp {
            both_ends_count_the_same(&server, [1, 1], &text);
        } else {
            let sent = server.totals(Observer::Sender, 1).swap_remove(0).bytes;
            for bytes in [timed.bytes, sent] {
                // Whole blocks of 128 KiB.
                assert!(text.contains(&format!(" {} KBytes", bytes / 1024)), "{bytes}: {text}");
            }
        }
    }
}
