//! The keys of an `iperf` block.

use super::{DIRECTIONS, TRANSPORTS};
use crate::plan::{DAY, MILLISECOND, PlanKey, PlanValue, words};
use core::time::Duration;

/// Longest hold that a server is asked for.
const HOLD_MOST: Duration = Duration::from_secs(60);

/// Keys of a plan.
pub(super) const KEYS: [PlanKey; 21] = [
    PlanKey::new("transport", PlanValue::Word(&words(&TRANSPORTS)), "\"udp\"", "TCP or UDP"),
    PlanKey::new(
        "direction",
        PlanValue::Word(&words(&DIRECTIONS)),
        "\"reverse\"",
        "who sends: the client, the server, both at once (over one connection or two), or one after the other",
    ),
    PlanKey::new(
        "time",
        PlanValue::Time(Duration::from_millis(10), DAY),
        "\"10 s\"",
        "time to send for",
    ),
    PlanKey::new(
        "bytes",
        PlanValue::Bytes(1, 1 << 50),
        "1048576",
        "bytes to send on each stream, in place of `time`",
    )
    .or("none"),
    PlanKey::new(
        "interval",
        PlanValue::Time(Duration::from_millis(5), DAY),
        "\"1 s\"",
        "length of a reported interval",
    ),
    PlanKey::new(
        "length",
        PlanValue::Bytes(1, 16 << 20),
        "1470",
        "bytes of a datagram or of a TCP write",
    )
    .or("131072; 1470 of UDP, 100 of `bounceback`"),
    PlanKey::new(
        "bandwidth",
        PlanValue::Form("1 bit/s to 10000 Gbit/s, or a number with iperf's suffix: `\"40m\"`"),
        "\"40 Mbit/s\"",
        "offered rate of each stream; UDP to a device of a lab needs it",
    )
    .or("as fast as it goes"),
    PlanKey::new("parallel", PlanValue::Whole(1, 128), "2", "streams at a time"),
    PlanKey::new("window", PlanValue::Bytes(1, 1 << 30), "65536", "socket buffer")
        .or("the system's"),
    PlanKey::new("no_delay", PlanValue::Switch, "true", "whether Nagle's algorithm is off"),
    PlanKey::new(
        "tos",
        PlanValue::Form("0 to 255, or a name such as `\"ef\"`"),
        "\"ef\"",
        "type of service of what is sent",
    ),
    PlanKey::new("mss", PlanValue::Whole(48, 65_495), "536", "largest TCP segment")
        .or("the system's"),
    PlanKey::new(
        "congestion",
        PlanValue::Form("name of a congestion control of the kernel"),
        "\"cubic\"",
        "TCP congestion control",
    )
    .or("the system's"),
    PlanKey::new(
        "trip_times",
        PlanValue::Switch,
        "true",
        "whether each datagram and write says when it was sent: both clocks must agree",
    ),
    PlanKey::new(
        "bounceback",
        PlanValue::Whole(1, 10_000),
        "10",
        "requests and replies over TCP, so many each period",
    )
    .or("none"),
    PlanKey::new(
        "bounceback_period",
        PlanValue::Time(Duration::ZERO, DAY),
        "\"1 s\"",
        "time from one burst of requests to the next",
    )
    .or("1 s"),
    PlanKey::new(
        "bounceback_hold",
        PlanValue::Time(Duration::ZERO, HOLD_MOST),
        "\"10 ms\"",
        "time that the server is to wait before it replies",
    )
    .or("0 s"),
    PlanKey::new(
        "bounceback_quick_ack",
        PlanValue::Switch,
        "false",
        "whether the server is to acknowledge at once",
    )
    .or("true"),
    PlanKey::new(
        "latency",
        PlanValue::Form("`\"icmp\"`, `\"udp\"` or `\"udp:PORT\"`"),
        "\"udp:10000\"",
        "echo probes beside the test",
    )
    .or("none"),
    PlanKey::new(
        "latency_idle",
        PlanValue::Time(MILLISECOND, DAY),
        "\"5 s\"",
        "time for which the idle link is probed first",
    )
    .or("5 s"),
    PlanKey::new(
        "latency_interval",
        PlanValue::Time(MILLISECOND, DAY),
        "\"50 ms\"",
        "time from one of these probes to the next",
    )
    .or("50 ms"),
];
