//! Output of a live network: hosts, reports, counts, as text and as lines of JSON.

use super::bench::NetworkCounts;
use crate::cli::live_lab::LiveFormat;
use crate::cli::live_lab::port::Port;
use crate::cli::live_lab::shown::{lag_words, print_json, seconds};
use crate::say::say;
use espbench_ieee80211::mac::Mac;
use espbench_model::sample::Observer;
use espbench_model::time::Instant;
use espbench_sim::lab::live::{
    BEHIND, DeviceProgram, DeviceService, LatenessHistogram, LiveHost, LiveLease, LivePort,
    LiveRole, ServiceReport,
};
use espbench_sim::lab::scene::Scene;
use serde_json::{Value, json};
use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Duration;

/// Parts of the output that are wanted, and their form.
#[derive(Clone, Copy, Debug)]
pub(super) struct NetworkOutput {
    format: LiveFormat,
    quiet: bool,
}

impl NetworkOutput {
    pub(super) const fn new(format: LiveFormat, quiet: bool) -> Self {
        Self { format, quiet }
    }

    /// Prints a line for each host: on stderr as text, since stdout is the command's.
    pub(super) fn hosts(&self, hosts: &[LiveHost]) -> anyhow::Result<()> {
        if self.format == LiveFormat::Json {
            for it in hosts {
                print_json(&host_json(it))?;
            }
            return Ok(());
        }
        if !self.quiet {
            let width = hosts.iter().map(|it| it.name.len()).max().unwrap_or(0);
            for it in hosts {
                say!("{:width$}  {}  {}", it.name, Ipv4Addr::from(it.address), services(it));
            }
        }
        Ok(())
    }

    /// Prints a line for each console.
    pub(super) fn consoles(&self, consoles: &[LivePort], ports: &[Port]) -> anyhow::Result<()> {
        for (console, port) in consoles.iter().zip(ports) {
            match self.format {
                LiveFormat::Json => print_json(&json!({
                    "type": "device",
                    "device": console.name,
                    "address": console.address,
                    "chip": console.chip,
                    "baud": console.baud,
                    "port": port.path(),
                    "link": port.link(),
                }))?,
                LiveFormat::Text if self.quiet => {}
                LiveFormat::Text => {
                    let path = port.link().or(port.path()).unwrap_or_else(|| Path::new(""));
                    let LivePort { name, chip, baud, .. } = console;
                    say!("{name}  console of {chip}, {baud}  {}", path.display());
                }
            }
        }
        Ok(())
    }

    /// Tells that the lab begins.
    pub(super) fn ready(&self, scene: &Scene) -> anyhow::Result<()> {
        if self.format == LiveFormat::Text {
            return Ok(());
        }
        let (lab, variant) = (&scene.name, &scene.variant);
        print_json(&json!({ "type": "ready", "lab": lab, "variant": variant }))
    }

    /// Tells the result of a device's program.
    pub(super) fn report(
        &self,
        at: Instant,
        hosts: &[LiveHost],
        report: &ServiceReport,
    ) -> anyhow::Result<()> {
        let name = hosts.get(usize::from(report.device)).map_or("", |it| it.name.as_str());
        let total = &report.total;
        let time = total.end.since(total.start).as_secs_f64();
        let rate = if time > 0.0 { total.bytes as f64 * 8.0 / time / 1e6 } else { 0.0 };
        if self.format == LiveFormat::Json {
            return print_json(&json!({
                "type": "report",
                "time_s": seconds(at),
                "device": name,
                "program": report.program.name(),
                "observer": total.observer.name(),
                "seconds": time,
                "bytes": total.bytes,
                "mbit_s": rate,
                "datagrams": total.datagrams,
                "lost": total.lost,
            }));
        }
        if !self.quiet {
            let lost = total.lost.map(|it| format!(", {it} lost")).unwrap_or_default();
            let is_service = matches!(report.program, DeviceProgram::Service(_));
            let sent = if is_service && total.observer == Observer::Sender { " sent" } else { "" };
            say!(
                "{:9.3} s  {name} {}: {} bytes{sent} in {time:.2} s, {rate:.2} Mbit/s{lost}",
                seconds(at),
                report.program.name(),
                total.bytes,
            );
        }
        Ok(())
    }

    /// Tells that a host has got its address from the router: as text once, at its first time.
    pub(super) fn lease(
        &self,
        hosts: &[LiveHost],
        lease: LiveLease,
        is_first: bool,
    ) -> anyhow::Result<()> {
        let Some(host) = hosts.get(lease.host) else { return Ok(()) };
        let address = Ipv4Addr::from(host.address);
        match self.format {
            LiveFormat::Json => print_json(&json!({
                "type": "lease",
                "time_s": seconds(lease.at),
                "host": host.name,
                "address": address.to_string(),
                "hardware": host.hardware.map(|it| Mac(it).to_string()),
            })),
            LiveFormat::Text if self.quiet || !is_first => Ok(()),
            LiveFormat::Text => {
                say!("{:9.3} s  {} has {address} by DHCP", seconds(lease.at), host.name);
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
                let least = BEHIND.as_millis();
                say!(
                    "{:9.3} s  the simulation is {least} ms or more behind the clock",
                    seconds(at)
                );
                Ok(())
            }
        }
    }

    /// Prints the counts, at the end.
    pub(super) fn end(&self, at: Instant, counts: &NetworkCounts) -> anyhow::Result<()> {
        let NetworkCounts { packets, refused, failed, fragments, lag, lateness } = counts;
        if self.format == LiveFormat::Json {
            return print_json(&json!({
                "type": "end",
                "time_s": seconds(at),
                "packets_in": packets.came_in,
                "packets_out": packets.went_out,
                "strange": packets.strange,
                "no_room": packets.no_room,
                "overrun": packets.overrun + refused,
                "failed_programs": failed,
                "fragments_dropped": fragments.0,
                "unassembled": fragments.1,
                "behind_times": lag.times,
                "behind_longest_ms": ms(lag.longest),
                "behind_given_up_s": lag.given_up.as_secs_f64(),
                "invalid_times": lag.invalid,
                "valid": lag.is_valid(),
                "late_longest_ms": ms(lateness.longest()),
                "late": lateness.classes().map(class_json).collect::<Vec<_>>(),
            }));
        }
        if self.quiet {
            return Ok(());
        }
        say!(
            "{:.1} s: {} packets into the lab, {} out of it",
            seconds(at),
            packets.came_in,
            packets.went_out
        );
        let ignored = packets.strange;
        if ignored > 0 {
            let are = if ignored == 1 { "packet was" } else { "packets were" };
            say!(
                "{ignored} {are} left out: for nobody in the lab, or IPv6, which it does not carry"
            );
        }
        let dropped = packets.no_room + packets.overrun + refused;
        if dropped > 0 {
            let are = if dropped == 1 { "packet was" } else { "packets were" };
            say!("{dropped} {are} dropped between this host and the lab: a queue was full");
        }
        if fragments.0 + fragments.1 > 0 {
            say!(
                "{} fragments dropped by devices, {} packets not put together (--no-reassembly is \
                 ESP-IDF's default)",
                fragments.0,
                fragments.1
            );
        }
        if *failed > 0 {
            say!("{failed} programs of devices failed: a port or a connection was not to be had");
        }
        say!("{}; {}", lag_words(*lag), late_words(lateness));
        Ok(())
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Returns the shares of events by lateness in words.
fn late_words(lateness: &LatenessHistogram) -> String {
    let all = lateness.events();
    if all == 0 {
        return "no events".into();
    }
    let share = |most: Duration| lateness.within(most) as f64 * 100.0 / all as f64;
    format!(
        "of {all} events {:.1} % within 0.1 ms, {:.1} % within 1 ms, {:.1} % within 10 ms, all within {:.2} ms",
        share(Duration::from_micros(100)),
        share(Duration::from_millis(1)),
        share(Duration::from_millis(10)),
        ms(lateness.longest()),
    )
}

fn class_json((most, events): (Option<Duration>, u64)) -> Value {
    json!({ "most_ms": most.map(ms), "events": events })
}

pub(super) fn host_json(host: &LiveHost) -> Value {
    let services = DeviceService::ALL.into_iter().filter(|_| host.serves());
    let services = services.map(|it| {
        let transport = if it.is_tcp() { "tcp" } else { "udp" };
        json!({ "service": it.name(), "transport": transport, "port": it.port() })
    });
    json!({
        "type": "host",
        "name": host.name,
        "address": Ipv4Addr::from(host.address).to_string(),
        "hardware": host.hardware.map(|it| Mac(it).to_string()),
        "services": services.collect::<Vec<_>>(),
    })
}

fn services(host: &LiveHost) -> String {
    match host.role {
        LiveRole::Pc | LiveRole::Apart => "no services of the lab".into(),
        LiveRole::Router => "ping, DNS 53, DHCP 67".into(),
        LiveRole::Device => {
            let each = DeviceService::ALL.map(|it| format!("{} {}", it.name(), it.port()));
            each.join(", ")
        }
    }
}
