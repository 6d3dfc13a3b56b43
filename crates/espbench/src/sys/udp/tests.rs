//! Datagrams that come and go in batches.

use super::*;
use std::time::Duration;

#[test]
fn segments_arrive_as_single_datagrams_with_age_and_sender() {
    let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
    receiver.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    set_arrival_times(&receiver);
    let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
    let bytes: Vec<u8> = (0..50).flat_map(|i| [i; 100]).collect();
    let to = Some(receiver.local_addr().unwrap());
    assert_eq!(send_segments(&sender, to, &bytes, 100).unwrap(), 50);
    let (mut batch, mut seen) = (Batch::new(16, 64), 0);
    while seen < 50 {
        let count = batch.receive(&receiver).unwrap();
        for nth in 0..count {
            assert_eq!(batch.from(nth), Some(sender.local_addr().unwrap()));
            let datagram = batch.get(nth);
            assert_eq!(datagram.length, 100, "each one is a datagram of its own");
            assert!(datagram.bytes.iter().all(|&b| b == seen));
            seen += 1;
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_reader_that_is_too_slow_gets_datagrams_coalesced_and_sees_each_of_them() {
    let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
    receiver.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    set_arrival_times(&receiver);
    let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
    let to = receiver.local_addr().unwrap();
    // One slot: every batch is full. The last datagram of each send is a short one.
    let (mut batch, mut most) = (Batch::new(1, 64), 0);
    for round in 0..40u8 {
        let bytes: Vec<u8> =
            (0..10u8).flat_map(|i| [round.wrapping_mul(10).wrapping_add(i); 100]).collect();
        assert_eq!(send_segments(&sender, Some(to), &bytes[..950], 100).unwrap(), 10);
        let mut seen = 0;
        while seen < 10 {
            let count = batch.receive(&receiver).unwrap();
            most = most.max(count);
            for nth in 0..count {
                assert_eq!(batch.from(nth), Some(sender.local_addr().unwrap()));
                let datagram = batch.get(nth);
                assert_eq!(datagram.length, if seen == 9 { 50 } else { 100 });
                let expected = round.wrapping_mul(10).wrapping_add(seen);
                assert!(datagram.bytes.iter().all(|&b| b == expected), "{round} {seen}");
                assert!(datagram.age_ns.is_some());
                seen += 1;
            }
        }
    }
    assert_eq!(most, 10, "ten datagrams came as one buffer");
    // An empty datagram is one, too.
    sender.send_to(&[], to).unwrap();
    assert_eq!((batch.receive(&receiver).unwrap(), batch.get(0).length), (1, 0));
}

#[cfg(target_os = "linux")]
#[test]
fn an_overflow_is_counted() {
    let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket2::SockRef::from(&receiver).set_recv_buffer_size(4096).unwrap();
    let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
    assert_eq!(dropped(&receiver), Some(0));
    for _ in 0..100 {
        sender.send_to(&[0; 1000], receiver.local_addr().unwrap()).unwrap();
    }
    assert!(dropped(&receiver).unwrap() > 50);
}

#[test]
fn nothing_comes() {
    let receiver = UdpSocket::bind("[::1]:0").or_else(|_| UdpSocket::bind("127.0.0.1:0"));
    let receiver = receiver.unwrap();
    receiver.set_read_timeout(Some(Duration::from_millis(10))).unwrap();
    let error = Batch::new(4, 64).receive(&receiver).unwrap_err();
    assert!(matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut));
}
