//! The meaning of return codes (3.1.1) and reason codes (5), in words.

use super::Version;

/// The codes from here on are failures, in every packet that carries one (5: 2.4; 3.1.1: 3.9.3).
pub const FAILURE: u8 = 0x80;

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
