//! Output of a live lab: devices, events, counts, as text and as lines of JSON.

use super::LiveFormat;
use super::port::{Port, PortCounters};
use super::what_if::key_and_value;
use crate::cli::output;
use crate::render::json;
use crate::say::say;
use espbench_model::text::counted;
use espbench_model::time::Instant;
use espbench_sim::lab::live::{self, BEHIND, ConsoleBytes, Lag, WhatIf};
use espbench_sim::lab::nodes::NodeId;
use espbench_sim::lab::scene::{Device, Scene};
use serde_json::{Value, json};
use std::path::Path;

/// An event of a port or device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Happened {
    /// A program has opened the port.
    Opened,
    /// No program has it open any more.
    Closed,
    /// The cable was pulled out.
    Unplugged,
    /// The cable was put in again.
    Plugged,
    /// The reset button was pressed.
    Reset,
}

impl Happened {
    /// Returns the word for it, in JSON and as text.
    const fn word(self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::Closed => "closed",
            Self::Unplugged => "unplugged",
            Self::Plugged => "plugged",
            Self::Reset => "reset",
        }
    }
}

/// Parts of the output that are wanted, and their form.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown {
    format: LiveFormat,
    quiet: bool,
}

impl Shown {
    pub(super) const fn new(format: LiveFormat, quiet: bool) -> Self {
        Self { format, quiet }
    }

    /// Prints a line for each device.
    pub(super) fn devices(
        &self,
        scene: &Scene,
        baud: Option<u32>,
        ports: &[Port],
    ) -> anyhow::Result<()> {
        let rows = scene.nodes.iter().zip(ports).enumerate();
        let baud_of = |device: &Device| baud.unwrap_or_else(|| live::baud(&device.profile));
        match self.format {
            LiveFormat::Json => {
                for (node, (device, port)) in rows {
                    print_json(&device_json(node, device, port, baud_of(device)))?;
                }
                print_json(&json!({ "type": "ready", "lab": scene.name, "devices": ports.len() }))
            }
            LiveFormat::Text => {
                let width = |of: fn(&Device) -> &str, least: usize| {
                    scene.nodes.iter().map(|it| of(it).len()).max().unwrap_or(0).max(least)
                };
                let name = ports.iter().map(|it| it.name().len()).max().unwrap_or(0);
                let group = width(|it| &it.group, 0);
                let chip = width(|it| &it.profile.chip_name, 0);
                let mut text = String::new();
                for (node, (device, port)) in rows {
                    let path = port.link().or(port.path()).unwrap_or_else(|| Path::new(""));
                    text += &format!(
                        "{:name$}  {:group$}  {}  {:chip$}  {:>7}  {}\n",
                        port.name(),
                        device.group,
                        NodeId(node as u16).mac(),
                        device.profile.chip_name,
                        baud_of(device),
                        path.display(),
                    );
                }
                output::print(&text)
            }
        }
    }

    /// Tells an event.
    pub(super) fn event(&self, at: Instant, port: &Port, happened: Happened) -> anyhow::Result<()> {
        let word = happened.word();
        match self.format {
            LiveFormat::Json => print_json(&json!({
                "type": word,
                "time_s": seconds(at),
                "device": port.name(),
                "port": port.path(),
                "link": port.link(),
            })),
            LiveFormat::Text if self.quiet => Ok(()),
            LiveFormat::Text => {
                let path = port.path().map(|path| format!(" {}", path.display()));
                let (path, name) = (path.unwrap_or_default(), port.name());
                say!("{:9.3} s  {name} {word}{path}", seconds(at));
                Ok(())
            }
        }
    }

    /// Tells that a return was typed and no line was taken.
    pub(super) fn unanswered(
        &self,
        at: Instant,
        port: &Port,
        off: Option<u64>,
    ) -> anyhow::Result<()> {
        match self.format {
            LiveFormat::Json => print_json(&json!({
                "type": "unanswered",
                "time_s": seconds(at),
                "device": port.name(),
                "typed": port.counters.read,
                "typed_off": off,
            })),
            LiveFormat::Text if self.quiet => Ok(()),
            LiveFormat::Text => {
                let (at, name) = (seconds(at), port.name());
                match off {
                    Some(off) => say!(
                        "{at:9.3} s  {name}: {} typed while it starts, and lost: wait for its prompt, and type them again",
                        counted(off, "byte", "bytes")
                    ),
                    None => say!(
                        "{at:9.3} s  {name}: {} bytes typed, and no command was run: wait for the prompt{}",
                        port.counters.read,
                        if port.cursor.is_never() {
                            ", and leave --answer-cursor=never out (docs/live.md)"
                        } else {
                            ""
                        }
                    ),
                }
                Ok(())
            }
        }
    }

    /// Tells that a property was changed, of a device or of all.
    pub(super) fn changed(
        &self,
        at: Instant,
        device: Option<&str>,
        what: WhatIf,
    ) -> anyhow::Result<()> {
        let (key, value) = key_and_value(what);
        let usual = if key == "load" { "the channel" } else { "all devices" };
        let whose = device.unwrap_or(usual);
        match self.format {
            LiveFormat::Json => print_json(&json!({
                "type": "changed",
                "time_s": seconds(at),
                "device": device,
                "key": key,
                "value": value,
            })),
            LiveFormat::Text if self.quiet => Ok(()),
            LiveFormat::Text => {
                say!("{:9.3} s  {}: {key} {value}", seconds(at), whose);
                Ok(())
            }
        }
    }

    /// Tells that simulating takes longer than the time that passes, at the first time.
    pub(super) fn behind(&self, at: Instant) -> anyhow::Result<()> {
        match self.format {
            LiveFormat::Json => print_json(&json!({ "type": "behind", "time_s": seconds(at) })),
            LiveFormat::Text if self.quiet => Ok(()),
            LiveFormat::Text => {
                say!(
                    "{:9.3} s  the simulation is {} ms or more behind the clock: further times are \
                     counted and told at the end",
                    seconds(at),
                    BEHIND.as_millis()
                );
                Ok(())
            }
        }
    }

    /// Prints the counts, at the end.
    pub(super) fn end(
        &self,
        at: Instant,
        ports: &[Port],
        bytes: &[ConsoleBytes],
        lag: Lag,
    ) -> anyhow::Result<()> {
        if self.format == LiveFormat::Json {
            let devices = ports.iter().zip(bytes).map(|(port, bytes)| counts_json(port, *bytes));
            return print_json(&json!({
                "type": "end",
                "time_s": seconds(at),
                "behind_times": lag.times,
                "behind_longest_ms": lag.longest.as_secs_f64() * 1e3,
                "behind_given_up_s": lag.given_up.as_secs_f64(),
                "invalid_times": lag.invalid,
                "valid": lag.is_valid(),
                "devices": devices.collect::<Vec<_>>(),
            }));
        }
        if self.quiet {
            return Ok(());
        }
        let port =
            |of: fn(&PortCounters) -> u64| ports.iter().map(|it| of(&it.counters)).sum::<u64>();
        let console = |of: fn(&ConsoleBytes) -> u64| bytes.iter().map(of).sum::<u64>();
        say!(
            "{} devices, {:.1} s: {} bytes typed, {} of them while a device was off, {} beyond what its \
             buffer holds",
            ports.len(),
            seconds(at),
            port(|it| it.read),
            console(|it| it.typed_off),
            console(|it| it.typed_lost),
        );
        say!(
            "{} bytes printed, {} of them while nobody had the console open, {} lost by readers that were \
             too slow",
            console(|it| it.printed + it.printed_lost),
            port(|it| it.unheard),
            port(|it| it.overrun) + console(|it| it.printed_lost),
        );
        say!("{}", lag_words(lag));
        Ok(())
    }
}

pub(super) fn lag_words(lag: Lag) -> String {
    let least = BEHIND.as_millis();
    if lag.times == 0 {
        return format!("never {least} ms or more behind the clock");
    }
    let mut text = format!(
        "{} {least} ms or more behind the clock, {:.0} ms at most",
        counted(lag.times, "time", "times"),
        lag.longest.as_secs_f64() * 1e3
    );
    if !lag.given_up.is_zero() {
        text += &format!(", {:.1} s of it not caught up", lag.given_up.as_secs_f64());
    }
    text
}

fn device_json(node: usize, device: &Device, port: &Port, baud: u32) -> Value {
    let compat = device.settings.compat;
    json!({
        "type": "device",
        "device": port.name(),
        "role": device.group,
        "address": NodeId(node as u16).mac().to_string(),
        "chip": device.profile.chip_name,
        "release": compat.release.name(),
        "idf": compat.idf.name(),
        "baud": baud,
        "port": port.path(),
        "link": port.link(),
    })
}

fn counts_json(port: &Port, bytes: ConsoleBytes) -> Value {
    let counters = port.counters;
    json!({
        "device": port.name(),
        "opened": counters.opened,
        "typed": counters.read,
        "typed_off": bytes.typed_off,
        "typed_lost": bytes.typed_lost,
        "printed": bytes.printed + bytes.printed_lost,
        "written": counters.written,
        "unheard": counters.unheard,
        "overrun": counters.overrun + bytes.printed_lost,
    })
}

pub(super) fn seconds(at: Instant) -> f64 {
    at.since(Instant::ZERO).as_secs_f64()
}

pub(super) fn print_json(value: &Value) -> anyhow::Result<()> {
    output::print(&json::escaped(format!("{value}\n")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn being_behind_is_told_with_its_counts() {
        assert_eq!(lag_words(Lag::default()), "never 20 ms or more behind the clock");
        let longest = Duration::from_millis(1234);
        let lag = Lag { times: 3, longest, given_up: longest, invalid: 1 };
        assert_eq!(
            lag_words(lag),
            "3 times 20 ms or more behind the clock, 1234 ms at most, 1.2 s of it not caught up"
        );
    }
}
