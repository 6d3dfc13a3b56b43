//! `espbench rate`: messages a second over TCP or MQTT.

use super::common::{MeasureArgs, SiteArgs, count_cells, idle};
use super::flow::{self, Measurement};
use super::mqtt_access::MqttAccessArgs;
use crate::respond::tcp;
use crate::target::{Target, spec};
use anyhow::{anyhow, bail};
use clap::{ArgAction, Args as Flags, Subcommand, ValueEnum};
use espbench_measure::plan::{DEFAULT_SEED, Plan, defaults, print};
use espbench_measure::units;
use espbench_model::workload::{MqttMode, MqttRate, MqttVersion, TcpRate, Workload};
use std::ops::RangeInclusive;
use std::process::ExitCode;
use std::time::Duration;

/// Flags.
#[derive(Debug, Flags)]
pub struct Args {
    #[command(subcommand)]
    over: Over,
}

#[derive(Debug, Subcommand)]
enum Over {
    /// Measure messages a second over TCP, in runs of one second, as the published benchmark counts
    /// them
    Tcp(Box<TcpArgs>),
    /// Send numbered messages through an MQTT broker and measure rate, loss by place and time in
    /// each stage; or, with --listen, take those that a device publishes
    Mqtt(Box<MqttArgs>),
}

/// Nagle's algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Nagle {
    /// Small messages wait for the acknowledgement of earlier ones (the system's default)
    On,
    /// TCP_NODELAY
    Off,
    /// One after the other
    Both,
}

#[derive(Debug, Flags)]
struct TcpArgs {
    /// Receiver of the messages; the port is 3333, that of ESP-IDF's examples, where not given
    #[arg(value_name = "HOST[:PORT]")]
    host: String,
    /// Bytes of a message; several are measured one after the other
    #[arg(short, long, value_delimiter = ',', default_value = "64", value_name = "BYTES")]
    size: Vec<u32>,
    /// Runs that count
    #[arg(short = 'n', long, default_value_t = 10)]
    runs: u16,
    /// Runs made first and not counted
    #[arg(long, default_value_t = 2)]
    discard: u16,
    /// Length of a run
    #[arg(short, long, default_value = "1 s", value_parser = units::seconds)]
    time: Duration,
    /// Nagle's algorithm
    #[arg(long, value_enum, default_value = "both")]
    nagle: Nagle,
    #[command(flatten)]
    site: SiteArgs,
    #[command(flatten)]
    measure: MeasureArgs,
}

#[derive(Debug, Flags)]
struct MqttArgs {
    /// The broker: HOST[:PORT], or mqtt://, mqtts://, ws:// or wss://[USER[:PASSWORD]@]HOST[:PORT][/PATH];
    /// the ports are 1883, 8883, 80 and 443, and the path of a WebSocket is /mqtt, where not given
    #[arg(value_name = "HOST[:PORT]|URL")]
    host: String,
    /// Version of MQTT: 3.1.1 or 5
    #[arg(short = 'V', long, default_value = "3.1.1", value_parser = version)]
    mqtt_version: MqttVersion,
    /// Quality of service, 0 to 2; several are measured one after the other
    #[arg(short = 'Q', long, value_delimiter = ',', default_value = "0")]
    qos: Vec<u8>,
    /// Bytes of a message, 16 or more: sequence number and time are in them
    #[arg(short, long, default_value_t = 64, value_name = "BYTES")]
    size: u32,
    /// Offered rates, messages a second, one after the other [default: as fast as it goes]
    #[arg(short, long, value_parser = offered, value_delimiter = ',', value_name = "RATE")]
    rate: Vec<f64>,
    /// Offered rates from LOW to HIGH, in steps of 1, 2, 5, 10, 20, …
    #[arg(long, value_parser = range, conflicts_with = "rate", value_name = "LOW..HIGH")]
    sweep: Option<Range>,
    /// Look for the highest offered rate without loss between LOW and HIGH
    #[arg(long, value_parser = range, conflicts_with_all = ["rate", "sweep"], value_name = "LOW..HIGH")]
    search: Option<Range>,
    /// Publish nothing: listen to devices that number their own messages (the last digits of each,
    /// as in `Sample #10282`), one device to a topic, from the first message on
    #[arg(
        short,
        long,
        requires = "topic",
        conflicts_with_all = ["rate", "sweep", "search", "size", "in_flight", "count", "queue"]
    )]
    listen: bool,
    /// Most messages without an acknowledgement; QoS 1 and 2 have them [default: 20]
    #[arg(short = 'w', long, value_name = "NUMBER")]
    in_flight: Option<u16>,
    /// Length of a cell, or of a try of a search [default: 5 s; 2 s in a search; 30 s listening]
    #[arg(short, long, value_parser = units::seconds)]
    time: Option<Duration>,
    /// Stop a cell after so many messages
    #[arg(short = 'n', long)]
    count: Option<u32>,
    /// Messages that the client's own queue holds before it drops further ones
    #[arg(long, default_value_t = 1000, value_name = "MESSAGES")]
    queue: u32,
    /// Publishers, each with a connection and a topic of its own; they share the rate and the count, and
    /// one subscriber takes all messages
    #[arg(short, long, default_value_t = 1, value_name = "N", conflicts_with = "listen")]
    clients: u16,
    /// Have the broker keep the last message of each topic; it is told to drop it at the end
    #[arg(long, conflicts_with = "listen")]
    retain: bool,
    /// Start without what the broker has of an earlier session of this --client-id; `false` resumes that
    /// session, and has MQTT 3.1.1 keep this one
    #[arg(
        long,
        visible_alias = "clean-session",
        action = ArgAction::Set,
        default_value_t = true,
        value_name = "true|false"
    )]
    clean_start: bool,
    /// MQTT 5: seconds for which the broker keeps the session after the connection, up to a year, or
    /// `never` for one that does not expire [default: 0]
    #[arg(long, value_name = "SECONDS", value_parser = session_expiry)]
    session_expiry: Option<u32>,
    #[command(flatten)]
    broker: MqttAccessArgs,
    #[command(flatten)]
    site: SiteArgs,
    #[command(flatten)]
    measure: MeasureArgs,
}

/// Two rates, `LOW..HIGH`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Range {
    low: f64,
    high: f64,
}

/// Messages a second that may be offered: a range of them has few steps.
const RATES: RangeInclusive<f64> = 0.001..=1e9;

fn offered(text: &str) -> Result<f64, String> {
    let (least, most) = (RATES.start(), RATES.end());
    let rate = text.trim().parse().ok().filter(|it| RATES.contains(it));
    rate.ok_or_else(|| format!("write messages a second, from {least} to {most}"))
}

fn range(text: &str) -> Result<Range, String> {
    let wanted = "write LOW..HIGH in messages a second, such as 10..20000";
    let (low, high) = text.split_once("..").ok_or(wanted)?;
    let rate = |text: &str| text.trim().parse::<f64>().map_err(|_| wanted.to_string());
    let (low, high) = (rate(low)?, rate(high)?);
    if RATES.contains(&low) && low < high && RATES.contains(&high) {
        Ok(Range { low, high })
    } else {
        let (least, most) = (RATES.start(), RATES.end());
        Err(format!("LOW must be {least} or more, and below HIGH, which is {most} at most"))
    }
}

fn version(text: &str) -> Result<MqttVersion, String> {
    match text {
        "3.1.1" | "311" | "4" => Ok(MqttVersion::V311),
        "5" | "5.0" => Ok(MqttVersion::V5),
        _ => Err("use 3.1.1 or 5".into()),
    }
}

fn session_expiry(text: &str) -> Result<u32, String> {
    if text == "never" {
        return Ok(u32::MAX);
    }
    let seconds = text.parse().ok().filter(|seconds| *seconds <= 365 * 86_400);
    seconds.ok_or_else(|| "use seconds, 0 to 31536000 (a year), or `never`".into())
}

/// Runs the subcommand.
///
/// # Errors
/// Whatever kept it from measuring; exit status 2.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.over {
        Over::Tcp(args) => tcp(args),
        Over::Mqtt(args) => through_broker(args),
    }
}

fn tcp(args: &TcpArgs) -> anyhow::Result<ExitCode> {
    let peer = spec::address(&args.host, tcp::SINK_PORT)?;
    let delays: &[bool] = match args.nagle {
        Nagle::On => &[false],
        Nagle::Off => &[true],
        Nagle::Both => &[false, true],
    };
    let work = |size, no_delay| {
        let (runs, discard) = (args.runs, args.discard);
        Workload::TcpRate(TcpRate { size, runs, discard, run_time: args.time, no_delay })
    };
    let sizes = args.size.iter();
    let workloads: Vec<_> =
        sizes.flat_map(|&size| delays.iter().map(move |&off| work(size, off))).collect();
    let access = args.site.access();
    measure("rate tcp", format!("tcp:{peer}"), &access, &workloads, &args.measure)
}

fn through_broker(args: &MqttArgs) -> anyhow::Result<ExitCode> {
    if args.in_flight.is_some() && args.qos.iter().all(|&qos| qos == 0) {
        let place = "with QoS 0: nothing is acknowledged";
        return Err(idle("--in-flight", place, "leave it out, or add --qos 1").into());
    }
    let mut access = args.site.access();
    args.broker.add_to(&mut access)?;
    let target = spec::broker(&args.host, &access)?;
    args.broker.warn();
    let text = target.endpoint.to_string();
    carry_out("rate mqtt", text, Box::new(target), &messages(args)?, &args.measure)
}

fn messages(args: &MqttArgs) -> anyhow::Result<Vec<Workload>> {
    let Some(Workload::MqttRate(usual)) = defaults("mqtt-rate") else {
        bail!("the MQTT workload has no defaults");
    };
    let modes: Vec<MqttMode> = match (args.search, args.sweep) {
        _ if args.listen => vec![MqttMode::Listen],
        (Some(Range { low, high }), _) => vec![MqttMode::Search { low, high }],
        (_, Some(range)) => steps(range).into_iter().map(MqttMode::Offered).collect(),
        _ if args.rate.is_empty() => vec![MqttMode::Saturate],
        _ => args.rate.iter().map(|&rate| MqttMode::Offered(rate)).collect(),
    };
    count_cells("--qos and --rate", &[args.qos.len(), modes.len()])?;
    let usual_time = Duration::from_secs(match modes[..] {
        [MqttMode::Search { .. }] => 2,
        [MqttMode::Listen] => 30,
        _ => 5,
    });
    let work = MqttRate {
        version: args.mqtt_version,
        size: args.size,
        in_flight: args.in_flight.unwrap_or(usual.in_flight),
        time: args.time.unwrap_or(usual_time),
        count: args.count,
        queue: args.queue,
        clients: args.clients,
        retain: args.retain,
        clean_start: args.clean_start,
        session_expiry: args.session_expiry,
        ..usual
    };
    let cell = |qos, mode| Workload::MqttRate(MqttRate { qos, mode, ..work });
    Ok(args.qos.iter().flat_map(|&qos| modes.iter().map(move |&m| cell(qos, m))).collect())
}

/// Returns LOW, the numbers 1, 2 and 5 times a power of ten between, and HIGH.
fn steps(range: Range) -> Vec<f64> {
    let mut rates = vec![range.low];
    let mut decade = 10_f64.powi(range.low.log10().floor() as i32);
    while decade < range.high {
        let between = [1.0, 2.0, 5.0].map(|digit| digit * decade);
        rates.extend(between.into_iter().filter(|r| *r > range.low && *r < range.high));
        decade *= 10.0;
    }
    rates.push(range.high);
    rates
}

/// Carries out the flags as a plan.
fn measure(
    name: &str,
    target_text: String,
    access: &spec::Access,
    workloads: &[Workload],
    args: &MeasureArgs,
) -> anyhow::Result<ExitCode> {
    let target = spec::parse(&target_text, access)?;
    carry_out(name, target_text, target, workloads, args)
}

fn carry_out(
    name: &str,
    target_text: String,
    target: Box<dyn Target>,
    workloads: &[Workload],
    args: &MeasureArgs,
) -> anyhow::Result<ExitCode> {
    let text = print(name, args.seed.unwrap_or(DEFAULT_SEED), workloads);
    // The text is what is stored; reading it checks the flags' values as a plan's.
    let plan = Plan::parse(&text).map_err(|e| anyhow!("{}", e.message))?;
    let set = flow::set_of(vec![plan])?;
    flow::measure(Measurement {
        set,
        target_text,
        target,
        args,
        live: None,
        prints: flow::Prints::Nothing,
        beside: None,
        shard: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_as_typed() {
        assert_eq!(range("10..20000"), Ok(Range { low: 10.0, high: 20_000.0 }));
        for wrong in ["10", "20..10", "0..5", "a..b", "1..inf", "5e-324..10", "1..1e300", "nan..1"]
        {
            assert!(range(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_sweep_has_round_steps_between_its_ends() {
        let rates = steps(Range { low: 30.0, high: 2500.0 });
        assert_eq!(rates, [30.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 2500.0]);
    }

    #[test]
    fn lists_that_multiply_are_counted_first() {
        assert!(count_cells("--qos and --rate", &[100, 100]).is_ok());
        let many = count_cells("--qos and --rate", &[60_000, 60_000]).unwrap_err();
        assert_eq!(many.what, "--qos and --rate make more than 10000 cells");
        assert!(count_cells("all", &[usize::MAX, 2]).is_err());
        let widest = Range { low: *RATES.start(), high: *RATES.end() };
        assert!(steps(widest).len() < 50);
    }
}
