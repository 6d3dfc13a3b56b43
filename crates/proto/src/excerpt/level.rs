//! Levels that go up and down: windows, queues, buffers, memory.

use core::fmt;

/// Something of a station that has a height at every instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Bytes of TCP's congestion window.
    CongestionWindow,
    /// Bytes that the peer is ready to take: what its last segment told.
    SendWindow,
    /// Bytes that were sent and not acknowledged.
    InFlight,
    /// Bytes in TCP's send buffer.
    SendBuffer,
    /// Packets in the mailbox of a socket or of the TCP/IP task.
    ReceiveQueue,
    /// Buffers of the driver that hold frames that came.
    RxBuffers,
    /// Buffers of the driver that hold frames to send.
    TxBuffers,
    /// Frames that an access point keeps for stations that sleep.
    Buffered,
    /// Messages in the program's own queue.
    Messages,
    /// Bytes of the heap in use.
    Heap,
    /// Microamperes that the device draws.
    Current,
}

impl Level {
    /// All of them, in the order in which they are drawn.
    pub const ALL: [Self; 11] = [
        Self::CongestionWindow,
        Self::SendWindow,
        Self::InFlight,
        Self::SendBuffer,
        Self::Messages,
        Self::TxBuffers,
        Self::Buffered,
        Self::RxBuffers,
        Self::ReceiveQueue,
        Self::Heap,
        Self::Current,
    ];

    /// Its word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CongestionWindow => "cwnd",
            Self::SendWindow => "send-window",
            Self::InFlight => "in-flight",
            Self::SendBuffer => "send-buffer",
            Self::ReceiveQueue => "receive-queue",
            Self::RxBuffers => "rx-buffers",
            Self::TxBuffers => "tx-buffers",
            Self::Buffered => "buffered-at-ap",
            Self::Messages => "messages",
            Self::Heap => "heap",
            Self::Current => "current",
        }
    }

    /// The level of that word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }

    /// What it is counted in.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::CongestionWindow
            | Self::SendWindow
            | Self::InFlight
            | Self::SendBuffer
            | Self::Heap => "B",
            Self::ReceiveQueue => "packets",
            Self::RxBuffers | Self::TxBuffers => "buffers",
            Self::Buffered => "frames",
            Self::Messages => "messages",
            Self::Current => "uA",
        }
    }
}

/// When a level became what: it stays so until the next point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// Nanoseconds on the lab's clock.
    pub at: u64,
    /// Its height from then on.
    pub value: u64,
}

/// Points as text: `AT:VALUE,SINCE:VALUE,…`. The first time is on the lab's clock, the others are
/// since the point before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Points<'a>(&'a str);

impl<'a> Points<'a> {
    /// Most points of one line: what is beyond is another line's.
    pub const MOST: usize = 4096;

    /// Those of a text, if it is of that form and no time is beyond what a `u64` holds.
    #[must_use]
    pub fn read(text: &'a str) -> Option<Self> {
        let mut at = 0_u64;
        for (number, part) in text.split(',').enumerate() {
            let (since, _) = pair(part).filter(|_| number < Self::MOST)?;
            at = at.checked_add(since)?;
        }
        Some(Self(text))
    }

    /// The points, in the order of time.
    pub fn iter(self) -> impl Iterator<Item = Point> + 'a {
        self.0.split(',').filter_map(pair).scan(0, |at: &mut u64, (since, value)| {
            *at = at.saturating_add(since);
            Some(Point { at: *at, value })
        })
    }
}

impl fmt::Display for Points<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

fn pair(text: &str) -> Option<(u64, u64)> {
    let (since, value) = text.split_once(':')?;
    Some((since.parse().ok()?, value.parse().ok()?))
}

/// Points in the order of time, as [`Points`] reads them: the first [`Points::MOST`] of them.
#[derive(Clone, Copy, Debug)]
pub struct Written<'a>(pub &'a [Point]);

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = 0;
        for (number, point) in self.0.iter().take(Points::MOST).enumerate() {
            let comma = if number > 0 { "," } else { "" };
            write!(f, "{comma}{}:{}", point.at.saturating_sub(before), point.value)?;
            before = point.at.max(before);
        }
        Ok(())
    }
}
