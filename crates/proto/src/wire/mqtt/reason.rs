//! Return codes (3.1.1) and reason codes (5: table 2-6): names of those that an end decides on, and the meaning of
//! each in words.

use super::Version;

/// Success, normal disconnection, QoS 0 granted.
pub const SUCCESS: u8 = 0x00;
/// The client leaves, and its will is to be published.
pub const WITH_WILL: u8 = 0x04;
/// Nobody subscribed to the topic.
pub const NO_SUBSCRIBERS: u8 = 0x10;
/// There was no such subscription.
pub const NO_SUBSCRIPTION: u8 = 0x11;
/// An unspecified error, and the failure of a 3.1.1 SUBACK. The codes from here on are failures, in every
/// packet that carries one (5: 2.4; 3.1.1: 3.9.3).
pub const FAILURE: u8 = 0x80;
/// A packet that cannot be parsed.
pub const MALFORMED: u8 = 0x81;
/// A packet that may not come here, or not like this.
pub const PROTOCOL_ERROR: u8 = 0x82;
/// A protocol name or level that the server does not speak.
pub const UNSUPPORTED_VERSION: u8 = 0x84;
/// A client identifier that the server does not take.
pub const CLIENT_ID: u8 = 0x85;
/// The server has no room for another client.
pub const BUSY: u8 = 0x89;
/// The server ends.
pub const SHUTTING_DOWN: u8 = 0x8b;
/// An authentication method that the server does not know.
pub const AUTHENTICATION: u8 = 0x8c;
/// Nothing came for one and a half times the keep-alive.
pub const KEEP_ALIVE: u8 = 0x8d;
/// Another connection uses the client identifier.
pub const TAKEN_OVER: u8 = 0x8e;
/// A topic filter that is not allowed.
pub const FILTER: u8 = 0x8f;
/// A topic name that is not allowed.
pub const TOPIC: u8 = 0x90;
/// A packet identifier that nothing is known of.
pub const NO_PACKET_ID: u8 = 0x92;
/// A topic alias of 0, above the maximum, or never set.
pub const TOPIC_ALIAS: u8 = 0x94;
/// A packet above the maximum packet size.
pub const TOO_LARGE: u8 = 0x95;
/// A limit of the server is reached.
pub const QUOTA: u8 = 0x97;

/// Returns the words for the answer to CONNECT (3.1.1: table 3.1; 5: table 3-1).
#[must_use]
pub const fn connect(version: Version, code: u8) -> &'static str {
    match (version, code) {
        (_, 0) => "accepted",
        (Version::V311, 1) => "unacceptable protocol version",
        (Version::V311, 2) => "client identifier rejected",
        (Version::V311, 3) => "server unavailable",
        (Version::V311, 4) => "bad user name or password",
        (Version::V311, 5) => "not authorized",
        (_, code) => name(code),
    }
}

/// Returns the words for a reason code of version 5 (5: table 2-6); 0x80 is also the failure of a
/// 3.1.1 SUBACK.
#[must_use]
pub const fn name(code: u8) -> &'static str {
    match code {
        0x00 => "success",
        0x04 => "disconnect with will message",
        0x10 => "no matching subscribers",
        0x80 => "unspecified error",
        0x81 => "malformed packet",
        0x82 => "protocol error",
        0x83 => "implementation specific error",
        0x84 => "unsupported protocol version",
        0x85 => "client identifier not valid",
        0x86 => "bad user name or password",
        0x87 => "not authorized",
        0x88 => "server unavailable",
        0x89 => "server busy",
        0x8a => "banned",
        0x8b => "server shutting down",
        0x8c => "bad authentication method",
        0x8d => "keep alive timeout",
        0x8e => "session taken over",
        0x8f => "topic filter invalid",
        0x90 => "topic name invalid",
        0x91 => "packet identifier in use",
        0x92 => "packet identifier not found",
        0x93 => "receive maximum exceeded",
        0x94 => "topic alias invalid",
        0x95 => "packet too large",
        0x96 => "message rate too high",
        0x97 => "quota exceeded",
        0x98 => "administrative action",
        0x99 => "payload format invalid",
        0x9a => "retain not supported",
        0x9b => "QoS not supported",
        0x9c => "use another server",
        0x9d => "server moved",
        0x9e => "shared subscriptions not supported",
        0x9f => "connection rate exceeded",
        0xa0 => "maximum connect time",
        0xa1 => "subscription identifiers not supported",
        0xa2 => "wildcard subscriptions not supported",
        _ => "a code that the standard does not know",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that each failure of table 2-6 (5: 2.4) has words of its own, and nothing else has.
    #[test]
    fn failures_have_words_of_their_own() {
        let unknown = name(0xFF);
        let known = |code: &u8| name(*code) != unknown;
        assert!((0x80..=0xA2).all(|code| known(&code)));
        assert!([0x00, 0x04, 0x10].iter().all(known));
        assert!(!known(&0x7F) && !known(&0xA3) && !unknown.is_empty());
        for code in 0x80..=0xA2 {
            let same = (0..=0xFF).filter(|other| name(*other) == name(code)).count();
            assert_eq!(same, 1, "{code:x}");
        }
        assert_eq!((name(0x00), name(0x80)), ("success", "unspecified error"));
        assert_eq!((name(0x8D), name(0x95)), ("keep alive timeout", "packet too large"));
    }

    #[test]
    fn answers_to_connect_by_version() {
        let old = [0, 1, 2, 3, 4, 5, 6].map(|code| connect(Version::V311, code));
        let unknown = name(0xFF);
        let table = [
            "accepted",
            "unacceptable protocol version",
            "client identifier rejected",
            "server unavailable",
            "bad user name or password",
            "not authorized",
            unknown,
        ];
        assert_eq!(old, table);
        assert_eq!((connect(Version::V5, 0), connect(Version::V5, 1)), ("accepted", unknown));
        assert_eq!(connect(Version::V5, 0x8A), "banned");
    }
}
