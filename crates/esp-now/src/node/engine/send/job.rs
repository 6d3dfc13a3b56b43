//! A transmission: its frame, its progress, and the time that the caller would still wait.

use crate::component::{FrameConfig, Header};
use crate::node::engine::SEND_MAX_MS;
use crate::node::task::Cx;
use crate::node::tick::Tick;
use espbench_ieee80211::mac::Mac;
use espbench_model::time::{Duration, Instant};

/// Function of the component that sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SendFunction {
    /// Function `espnow_send`.
    Send,
    /// Function `espnow_set_group`.
    Group,
    /// Function `espnow_send_forward`.
    Relay,
}

/// Value of the component's variable `ret`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SendStatus {
    Ok,
    /// `ESP_FAIL`: no result, or a bad one.
    Fail,
    /// `ESP_ERR_ESPNOW_NO_MEM`: the driver refused it.
    NoMemory,
    /// `ESP_ERR_WIFI_TIMEOUT`: no acknowledgement within the back-off.
    Timeout,
    /// The channel cannot be set.
    NoChannel,
}

/// Next step of a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SendStep {
    /// Tune to the channel that is wanted.
    Open,
    /// Begin the next copy on the next channel.
    Round,
    /// Hand the frame to the driver.
    Attempt,
    /// The work of handing it over is done.
    Ready,
    /// The driver has it, unless it refuses at once.
    Handed,
    /// The driver has it, and is not waited for.
    Taken,
    /// The driver has no place for it.
    Refused,
    /// Ask the driver again at [`Transmission::until`].
    Full,
    /// Wait for the driver's answer, at most until [`Transmission::until`].
    Callback,
    /// Wait for the application's acknowledgement in slices of 2 ms; this one ends at
    /// [`Transmission::until`].
    Slice,
    /// Evaluate an attempt that is over.
    Judge,
    /// Return to the former channel.
    Close,
    /// Release the lock.
    End,
}

/// A transmission, while it holds the lock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transmission {
    pub(super) kind: SendFunction,
    pub(super) step: SendStep,
    /// Time until which the step waits, if it is one that waits.
    pub(super) until: Instant,
    /// Number of slices of the back-off that are left.
    pub(super) slices: u8,
    pub(super) config: FrameConfig,
    pub(super) magic: u16,
    pub(super) to: Mac,
    pub(super) len: u16,
    /// Whether the application of the destination is to acknowledge, and has not yet.
    pub(super) awaited: bool,
    /// Index of the copy or attempt, from 0.
    pub(super) count: u8,
    /// Index of the channel among the country's, from 0.
    pub(super) index: u8,
    /// Channel at the start.
    pub(super) primary: u8,
    /// Ticks at the start.
    pub(super) start: u64,
    /// Ticks that the caller would wait; `u32::MAX` for ever.
    pub(super) wait: u32,
    pub(super) attempts: u8,
    /// Number of times that a full driver is still asked for this copy.
    pub(super) retries: u8,
    pub(super) status: SendStatus,
}

impl Transmission {
    pub(super) fn new(
        cx: &Cx<'_>,
        kind: SendFunction,
        header: &Header,
        len: u16,
        wait: Duration,
    ) -> Self {
        let config = header.config;
        let tick = cx.shared.settings.tick;
        Self {
            kind,
            step: SendStep::Open,
            until: Instant::ZERO,
            slices: 0,
            config,
            magic: header.magic,
            to: if config.broadcast || kind == SendFunction::Group {
                Mac::BROADCAST
            } else {
                header.dest
            },
            len,
            awaited: kind == SendFunction::Send && config.ack && !header.dest.is_broadcast(),
            count: 0,
            index: 0,
            primary: cx.shared.air.channel,
            start: ticks_at(tick, cx.now),
            wait: wait_ticks(tick, wait),
            attempts: 0,
            retries: 0,
            status: SendStatus::Ok,
        }
    }

    /// Returns the ticks since the start.
    pub(super) fn elapsed(&self, cx: &Cx<'_>) -> u64 {
        ticks_at(cx.shared.settings.tick, cx.now).saturating_sub(self.start)
    }

    /// Returns when a wait ends that is as long as the caller would still wait, and at most
    /// `send_max_timeout`.
    pub(super) fn patience(&self, cx: &Cx<'_>) -> Instant {
        let tick = cx.shared.settings.tick;
        let left = match self.wait {
            u32::MAX => u32::MAX,
            wait => u64::from(wait).saturating_sub(self.elapsed(cx)) as u32,
        };
        tick.delay(cx.now, left.min(tick.ticks(SEND_MAX_MS)))
    }

    /// Returns whether the transmission goes over all channels, as things stand now.
    pub(super) fn sweeps(&self, cx: &Cx<'_>) -> bool {
        self.config.channel == FrameConfig::ALL_CHANNELS
            && !cx.shared.air.locked
            && (self.kind != SendFunction::Relay || cx.shared.settings.forward_all_channels)
    }
}

fn ticks_at(tick: Tick, now: Instant) -> u64 {
    let period = tick.period().as_nanos() as u64;
    now.as_nanos().checked_div(period).unwrap_or(0)
}

fn wait_ticks(tick: Tick, wait: Duration) -> u32 {
    if wait == Duration::MAX {
        return u32::MAX;
    }
    let ticks = wait.as_nanos().checked_div(tick.period().as_nanos()).unwrap_or(0);
    u32::try_from(ticks).unwrap_or(u32::MAX)
}
