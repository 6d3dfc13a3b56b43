//! Segments that nobody has read.

use super::super::mailbox::Mailbox;

/// Returns the readable bytes, the waiting entries and the packets kept.
fn state(mailbox: &Mailbox) -> (u32, usize, u32) {
    (mailbox.readable(), mailbox.entries(), mailbox.packets())
}

#[test]
fn a_segment_beyond_the_limit_is_refused_and_offered_again() {
    let mut mailbox = Mailbox::new(2);
    assert!(mailbox.put(100, 100) && mailbox.put(50, 150));
    assert!(!mailbox.put(30, 180) && mailbox.refused());
    assert_eq!(state(&mailbox), (150, 2, 3), "what is refused is kept, and not readable");
    assert!(!mailbox.retry(), "there is still no place");
    mailbox.read(100);
    assert!(mailbox.retry() && !mailbox.refused());
    assert_eq!(state(&mailbox), (80, 2, 2));
}

/// Checks that a reader that has begun an entry has taken it out of the mailbox, with its packet.
#[test]
fn an_entry_that_is_begun_makes_room() {
    let mut mailbox = Mailbox::new(2);
    assert!(mailbox.put(100, 100) && mailbox.put(50, 150));
    mailbox.read(1);
    assert_eq!(state(&mailbox), (149, 1, 2));
    assert!(mailbox.put(30, 180));
    assert_eq!(state(&mailbox), (179, 2, 3));
    mailbox.read(99 + 50 + 10);
    assert_eq!(state(&mailbox), (20, 0, 1));
    mailbox.read(20);
    assert_eq!(state(&mailbox), (0, 0, 0));
}

#[test]
fn packets_out_of_order_are_freed_with_the_segment_that_completes_them() {
    let mut mailbox = Mailbox::new(0);
    assert!(mailbox.apart(300, 2) && mailbox.apart(200, 2));
    assert!(mailbox.apart(300, 2), "one that comes again takes no place");
    assert!(!mailbox.apart(400, 2));
    assert_eq!((mailbox.out_of_order(), state(&mailbox)), (2, (0, 0, 2)));
    // The missing bytes come: an entry of three packets.
    assert!(mailbox.put(300, 300));
    assert_eq!((mailbox.out_of_order(), state(&mailbox)), (0, (300, 1, 3)));
    mailbox.read(299);
    assert_eq!(state(&mailbox), (1, 0, 3), "its packets are kept until the last byte is read");
    mailbox.read(1);
    assert_eq!(state(&mailbox), (0, 0, 0));
}

#[test]
fn without_a_limit_nothing_is_refused() {
    let mut mailbox = Mailbox::new(0);
    assert!((1..=1000).all(|n| mailbox.put(1, n)));
    assert_eq!(state(&mailbox), (1000, 1000, 1000));
    mailbox.clear();
    assert_eq!(state(&mailbox), (0, 0, 0));
}
