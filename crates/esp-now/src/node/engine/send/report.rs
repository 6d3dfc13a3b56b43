//! Warnings about a transmission that goes wrong, and its outcome.

use super::job::{SendFunction, SendStatus, Transmission};
use crate::node::engine::TAG;
use crate::node::print::LogLevel;
use crate::node::task::{Cx, TransmitOutcome};

impl SendFunction {
    /// Returns the component's function, and the line of the warning in it.
    const fn place(self) -> (&'static str, u32) {
        match self {
            Self::Send => ("espnow_send", 715),
            Self::Group => ("espnow_set_group", 829),
            Self::Relay => ("espnow_send_forward", 979),
        }
    }
}

impl SendStatus {
    const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ESP_OK",
            Self::Fail | Self::NoChannel => "ESP_FAIL",
            Self::NoMemory => "ESP_ERR_ESPNOW_NO_MEM",
            Self::Timeout => "ESP_ERR_WIFI_TIMEOUT",
        }
    }
}

impl Transmission {
    /// Warns about a failed copy, with its place twice, as the component prints it.
    pub(super) fn warn(&self, cx: &mut Cx<'_>) {
        let (function, line) = self.kind.place();
        let name = self.status.name();
        let swept = cx.shared.air.country.first.saturating_add(self.index);
        let sweeps = self.kind != SendFunction::Send || self.config.channel == 15;
        let channel = if sweeps { swept } else { self.primary };
        let text = format_args!(
            "[{function}, {line}]: [{function}, {line}] <{name}> esp_now_send, channel: {channel}"
        );
        cx.log(LogLevel::Warn, TAG, text);
    }

    /// Warns that the channel cannot be set because the radio is bound to another one.
    pub(super) fn warn_locked(&self, cx: &mut Cx<'_>) {
        let (wanted, current) = (self.config.channel, cx.shared.air.channel);
        let text = format_args!("Can't set channel {wanted}, current is {current}");
        cx.log(LogLevel::Error, TAG, text);
    }

    /// Warns that the channel cannot be set because the country does not have it. `espnow_send`
    /// checks the upper end alone, before the driver checks both.
    pub(super) fn warn_country(&self, cx: &mut Cx<'_>) {
        let country = cx.shared.air.country;
        let wanted = self.config.channel;
        if self.beyond_country(cx) {
            let [a, b] = country.code.map(char::from);
            let text = format_args!(
                "[espnow_send, 671]Can't set channel {wanted}, not allowed in country {a}{b}."
            );
            cx.log(LogLevel::Warn, TAG, text);
        } else {
            let (function, line) = match self.kind {
                SendFunction::Send => ("espnow_send", 675),
                _ => ("espnow_set_group", 792),
            };
            let text = format_args!(
                "[{function}, {line}]esp_wifi_set_channel, err_name: ESP_ERR_INVALID_ARG"
            );
            cx.log(LogLevel::Warn, TAG, text);
        }
    }

    /// Returns whether `espnow_send` itself finds that the channel is above the country's.
    pub(super) fn beyond_country(&self, cx: &Cx<'_>) -> bool {
        let country = cx.shared.air.country;
        self.kind == SendFunction::Send
            && self.config.channel >= country.first.saturating_add(country.count)
    }

    /// Returns the outcome, where no acknowledgement is awaited any more.
    pub(super) fn outcome(&self) -> TransmitOutcome {
        match (self.kind, self.status) {
            // `espnow_set_group` always returns ESP_OK.
            (SendFunction::Group, _) | (_, SendStatus::Ok) => {
                TransmitOutcome::Done { attempts: self.attempts }
            }
            (_, SendStatus::NoChannel) => TransmitOutcome::Refused,
            (_, SendStatus::Timeout) => TransmitOutcome::TimedOut,
            (_, SendStatus::Fail | SendStatus::NoMemory) => TransmitOutcome::Failed,
        }
    }
}
