//! Levels that rise and fall over time: windows, queues, buffers, memory.

use core::fmt;

/// A quantity of a station that has a value at every instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StationLevel {
    /// TCP's congestion window, in bytes.
    CongestionWindow,
    /// Send window that the peer's last segment announced, in bytes.
    SendWindow,
    /// Data that was sent and not yet acknowledged, in bytes.
    InFlight,
    /// Data in TCP's send buffer, in bytes.
    SendBuffer,
    /// Packets in the mailbox of a socket or of the TCP/IP task.
    ReceiveQueue,
    /// Driver's buffers that hold received frames.
    RxBuffers,
    /// Driver's buffers that hold frames to send.
    TxBuffers,
    /// Frames that an access point keeps for sleeping stations.
    Buffered,
    /// Messages in the program's own queue.
    Messages,
    /// Heap in use, in bytes.
    Heap,
    /// Current that the device draws, in microamperes.
    Current,
}

impl StationLevel {
    /// All levels, in the order in which they are drawn.
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

    /// Returns the word for it in an excerpt.
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

    /// Returns the level of that word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }

    /// Returns the unit in which it is counted.
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

/// Value of a level from one instant until the next point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelPoint {
    /// Time in nanoseconds on the lab's clock.
    pub at: u64,
    /// Value from then on.
    pub value: u64,
}

/// Points as text: `AT:VALUE,SINCE:VALUE,…`. The first time is on the lab's clock; each other time
/// is the difference from the point before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Points<'a>(&'a str);

impl<'a> Points<'a> {
    /// Greatest number of points in a line; further points go into another line.
    pub const MOST: usize = 4096;

    /// Checks the form of a text of points; `None` where it is wrong or a time exceeds a `u64`.
    #[must_use]
    pub fn read(text: &'a str) -> Option<Self> {
        let mut at = 0_u64;
        for (number, part) in text.split(',').enumerate() {
            let (since, _) = pair(part).filter(|_| number < Self::MOST)?;
            at = at.checked_add(since)?;
        }
        Some(Self(text))
    }

    /// Returns the points, in the order of time.
    pub fn iter(self) -> impl Iterator<Item = LevelPoint> + 'a {
        self.0.split(',').filter_map(pair).scan(0, |at: &mut u64, (since, value)| {
            *at = at.saturating_add(since);
            Some(LevelPoint { at: *at, value })
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

/// Points in the order of time, written as [`Points`] reads them: the first [`Points::MOST`].
#[derive(Clone, Copy, Debug)]
pub struct Written<'a>(pub &'a [LevelPoint]);

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
