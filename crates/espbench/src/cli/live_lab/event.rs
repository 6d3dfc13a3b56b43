//! Events at a time of one's choice: a cable pulled out and put in again, a reset.

use super::what_if::WhatIfAt;
use crate::user_error::UserError;
use espbench_measure::units;
use espbench_sim::lab::live::WhatIf;
use std::time::Duration;

/// `--unplug node1@10s`, `node1@10s-15s`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnplugAt {
    device: String,
    from: Duration,
    to: Option<Duration>,
}

/// `--restart node1@10s`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ResetAt {
    device: String,
    at: Duration,
}

/// A planned event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Planned {
    /// The cable is pulled out.
    Unplug,
    /// The cable is put in again.
    Plug,
    /// The reset button is pressed.
    Reset,
}

/// Parses `DEVICE@TIME-TIME`.
pub(super) fn unplug(text: &str) -> Result<UnplugAt, String> {
    let (device, times) = split(text, "node1@10s, or node1@10s-15s")?;
    let (from, to) = match times.split_once('-') {
        Some((from, to)) => (units::seconds(from)?, Some(units::seconds(to)?)),
        None => (units::seconds(times)?, None),
    };
    if to.is_some_and(|to| to <= from) {
        return Err("the second time must be after the first".into());
    }
    Ok(UnplugAt { device, from, to })
}

/// Parses `DEVICE@TIME`.
pub(super) fn reset(text: &str) -> Result<ResetAt, String> {
    let (device, at) = split(text, "node1@10s")?;
    Ok(ResetAt { device, at: units::seconds(at)? })
}

pub(super) fn split<'a>(text: &'a str, example: &str) -> Result<(String, &'a str), String> {
    let parts = text.split_once('@').filter(|(device, _)| !device.is_empty());
    parts.map(|(device, times)| (device.into(), times)).ok_or_else(|| format!("write {example}"))
}

/// Returns all events in the order of their times, each with its device.
pub(super) fn all(
    unplugs: &[UnplugAt],
    resets: &[ResetAt],
    devices: usize,
) -> anyhow::Result<Vec<(Duration, usize, Planned)>> {
    let mut events = Vec::new();
    for UnplugAt { device, from, to } in unplugs {
        let node = node(device, "--unplug", devices)?;
        events.push((*from, node, Planned::Unplug));
        events.extend(to.map(|to| (to, node, Planned::Plug)));
    }
    for ResetAt { device, at } in resets {
        events.push((*at, node(device, "--restart", devices)?, Planned::Reset));
    }
    events.sort_unstable();
    Ok(events)
}

/// Returns the changes of `--what-if` in the order of their times, each with its device.
pub(super) fn changes(
    all: &[WhatIfAt],
    devices: usize,
) -> anyhow::Result<Vec<(Duration, Option<usize>, WhatIf)>> {
    let flag = "--what-if";
    let mut planned = Vec::new();
    for it in all {
        if matches!(it.what, WhatIf::Sleep(_)) {
            let error = UserError::new(format!("{flag}: boards of ESP-NOW do not sleep here"));
            return Err(error.remedy("leave `sleep` out, or choose wifi-home").into());
        }
        let device = it.device.as_ref().map(|name| node(name, flag, devices)).transpose()?;
        if matches!(it.what, WhatIf::Distance(_)) && device == Some(0) {
            let error = UserError::new(format!("{flag}: distances are those from node0"));
            return Err(error.remedy("name another device, or none").into());
        }
        planned.push((it.at, device, it.what));
    }
    planned.sort_by_key(|it| it.0);
    Ok(planned)
}

/// Returns the number of the device of that name, which a flag names.
fn node(device: &str, flag: &str, devices: usize) -> anyhow::Result<usize> {
    Ok(number(device, devices).ok_or_else(|| unknown(&format!("{flag}: "), device, devices))?)
}

/// Returns the number of the device of that name, which a request names.
pub(super) fn asked_for(device: &str, devices: usize) -> Result<usize, UserError> {
    number(device, devices).ok_or_else(|| unknown("", device, devices))
}

fn number(device: &str, devices: usize) -> Option<usize> {
    let number = device.strip_prefix("node").and_then(|it| it.parse().ok());
    number.filter(|number| *number < devices)
}

fn unknown(place: &str, device: &str, devices: usize) -> UserError {
    let error = UserError::new(format!("{place}there is no device `{device}`"));
    error.remedy(format!("use node0 to node{}", devices - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_the_order_of_their_times() {
        let unplugs = [unplug("node1@10s-15s").unwrap(), unplug("node0@1 s").unwrap()];
        let resets = [reset("node1@12.5s").unwrap()];
        let at = Duration::from_millis;
        assert_eq!(
            all(&unplugs, &resets, 2).unwrap(),
            [
                (at(1000), 0, Planned::Unplug),
                (at(10_000), 1, Planned::Unplug),
                (at(12_500), 1, Planned::Reset),
                (at(15_000), 1, Planned::Plug),
            ]
        );
        let said = all(&[], &[reset("node2@1s").unwrap()], 2).unwrap_err().to_string();
        assert_eq!(said, "--restart: there is no device `node2`; use node0 to node1");
    }

    #[test]
    fn rubbish_is_refused_with_an_example() {
        for text in
            ["", "node1", "@1s", "node1@", "node1@x", "node1@2s-1s", "node1@1s-", "node1@-1s"]
        {
            assert!(unplug(text).is_err(), "{text}");
        }
        assert!(reset("node1@1s-2s").is_err());
    }
}
