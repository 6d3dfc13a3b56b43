//! `--type DEVICE@TIME=COMMAND`: programs that devices start.

use super::super::event;
use crate::cli::iperf::number;
use crate::user_error::UserError;
use clap::Parser as _;
use espbench_measure::units;
use espbench_model::workload::{Direction, Iperf, MqttMode, MqttRate, MqttVersion, Transport};
use espbench_proto::node::app::Endpoint;
use espbench_proto::node::mqtt::payload;
use espbench_proto::wire::iperf2;
use espbench_sim::lab::live::{IperfCommand, LiveHost, MqttCommand};
use std::net::Ipv4Addr;
use std::time::Duration;

/// Port that is assigned to MQTT.
const MQTT: u16 = 1883;

/// Messages without an acknowledgement at most, of those that a device keeps.
const IN_FLIGHT: u16 = 16;

/// Messages that wait in a device at most.
const QUEUE: u32 = 64;

/// A command that is typed at a device at a time: `device@1s=iperf -c pc`.
#[derive(Clone, Debug)]
pub(in crate::cli::live_lab) struct TypedAt {
    device: String,
    at: Duration,
    command: TypedCommand,
}

/// A command line of a device.
#[derive(Clone, Debug, clap::Parser)]
#[command(no_binary_name = true, disable_help_flag = true, disable_help_subcommand = true)]
enum TypedCommand {
    Iperf(IperfWords),
    Mqtt(MqttWords),
}

/// Words behind `iperf`, those of ESP-IDF's example.
#[derive(Clone, Debug, clap::Args)]
struct IperfWords {
    #[arg(short)]
    client: String,
    #[arg(short)]
    udp: bool,
    #[arg(short, default_value_t = iperf2::PORT)]
    port: u16,
    #[arg(short, default_value = "10", value_parser = number::seconds)]
    time: Duration,
    #[arg(short, value_parser = clap::value_parser!(u32).range(1..=16384))]
    length: Option<u32>,
    #[arg(short, value_parser = number::rate)]
    bandwidth: Option<number::Rate>,
}

/// Words behind `mqtt`, as far as they are there those of `mosquitto_pub`.
#[derive(Clone, Debug, clap::Args)]
struct MqttWords {
    #[arg(short)]
    host: String,
    #[arg(short, default_value_t = MQTT)]
    port: u16,
    #[arg(short, default_value = "espbench")]
    topic: String,
    #[arg(short, default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=2))]
    qos: u8,
    #[arg(short, default_value_t = 64,
        value_parser = clap::value_parser!(u32).range(payload::HEADER_LEN as i64..=i64::from(MqttCommand::SIZE_MAX)))]
    size: u32,
    /// Messages a second.
    #[arg(short, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rate: u32,
    /// Messages in all.
    #[arg(short, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    number: u32,
}

/// Parses `DEVICE@TIME=COMMAND`.
pub(in crate::cli::live_lab) fn typed(text: &str) -> Result<TypedAt, String> {
    const EXAMPLE: &str = "device@1s=iperf -c pc -u -t 5, or device@1s=mqtt -h pc";
    let (place, words) = text.split_once('=').ok_or_else(|| format!("write {EXAMPLE}"))?;
    let (device, at) = event::split(place, EXAMPLE)?;
    let command = TypedCommand::try_parse_from(words.split_whitespace()).map_err(|wrong| {
        let said = wrong.render().to_string();
        let first = said.lines().next().unwrap_or_default().trim_start_matches("error: ");
        format!("{first}; write {EXAMPLE}")
    })?;
    Ok(TypedAt { device, at: units::seconds(at)?, command })
}

/// A program that a device starts at a time.
#[derive(Debug)]
pub(super) struct PlannedProgram {
    pub(super) device: u16,
    pub(super) at: Duration,
    pub(super) program: TypedProgram,
}

/// Program that a device starts.
#[derive(Debug)]
pub(super) enum TypedProgram {
    Iperf(IperfCommand),
    Mqtt(MqttCommand),
}

/// Returns the programs, with names of hosts as addresses.
pub(super) fn plan(typed: &[TypedAt], hosts: &[LiveHost]) -> anyhow::Result<Vec<PlannedProgram>> {
    let planned = |it: &TypedAt| {
        let number = hosts.iter().position(|host| host.serves() && host.name == it.device);
        let number =
            number.ok_or_else(|| unknown("--type: there is no device", &it.device, hosts))?;
        let program = match &it.command {
            TypedCommand::Iperf(words) => TypedProgram::Iperf(iperf(words, hosts)?),
            TypedCommand::Mqtt(words) => TypedProgram::Mqtt(mqtt(words, &it.device, hosts)?),
        };
        Ok(PlannedProgram { device: number as u16, at: it.at, program })
    };
    typed.iter().map(planned).collect()
}

fn iperf(words: &IperfWords, hosts: &[LiveHost]) -> anyhow::Result<IperfCommand> {
    let transport = if words.udp { Transport::Udp } else { Transport::Tcp };
    let length = words.length.unwrap_or(0);
    let work = Iperf {
        transport,
        direction: Direction::Forward,
        time: words.time,
        length,
        bandwidth: words.bandwidth.map(|it| it.bits(length.max(1))),
        ..Iperf::DEFAULT
    };
    Ok(IperfCommand { to: endpoint(&words.client, words.port, hosts)?, work })
}

fn mqtt(words: &MqttWords, device: &str, hosts: &[LiveHost]) -> anyhow::Result<MqttCommand> {
    let broker = endpoint(&words.host, words.port, hosts)?;
    let rate = f64::from(words.rate);
    let work = MqttRate {
        version: MqttVersion::V311,
        qos: words.qos,
        size: words.size,
        mode: MqttMode::Offered(rate),
        in_flight: IN_FLIGHT,
        time: Duration::from_secs_f64(f64::from(words.number) / rate),
        count: Some(words.number),
        queue: QUEUE,
        clients: 1,
        retain: false,
        clean_start: true,
        session_expiry: None,
    };
    Ok(MqttCommand::new(broker, words.topic.clone(), device.into(), work))
}

/// Returns the address of a host by its name in the lab, or as numbers.
fn endpoint(host: &str, port: u16, hosts: &[LiveHost]) -> anyhow::Result<Endpoint> {
    let known = hosts.iter().find(|it| it.name == host).map(|it| it.address);
    let address = known.or_else(|| host.parse().ok().map(|it: Ipv4Addr| it.octets()));
    let address = address.ok_or_else(|| unknown("--type: there is no host", host, hosts))?;
    Ok(Endpoint::new(address, port))
}

fn unknown(what: &str, name: &str, hosts: &[LiveHost]) -> UserError {
    let names: Vec<&str> = hosts.iter().map(|it| it.name.as_str()).collect();
    UserError::new(format!("{what} `{name}`")).remedy(format!("use one of {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use espbench_sim::lab::live::LiveRole;

    fn hosts() -> Vec<LiveHost> {
        let host = |name: &str, last, role| LiveHost {
            name: name.into(),
            address: [10, 0, 0, last],
            role,
            hardware: None,
        };
        vec![host("device", 1, LiveRole::Device), host("pc", 2, LiveRole::Pc)]
    }

    #[test]
    fn commands_are_planned_with_addresses() {
        let all =
            ["device@1s=iperf -c pc -u -t 5 -b 10m", "device@2 s=mqtt -h 10.0.0.7 -q 1 -n 20 -r 5"];
        let typed: Vec<TypedAt> = all.iter().map(|it| typed(it).unwrap()).collect();
        let planned = plan(&typed, &hosts()).unwrap();
        assert_eq!(planned[0].at, Duration::from_secs(1));
        let TypedProgram::Iperf(it) = &planned[0].program else { panic!("iperf") };
        assert_eq!(it.to, Endpoint::new([10, 0, 0, 2], 5001));
        assert_eq!((it.work.transport, it.work.bandwidth), (Transport::Udp, Some(10_000_000)));
        let TypedProgram::Mqtt(it) = &planned[1].program else { panic!("mqtt") };
        assert_eq!(it.broker, Endpoint::new([10, 0, 0, 7], 1883));
        assert_eq!((it.work.count, it.work.time), (Some(20), Duration::from_secs(4)));
    }

    #[test]
    fn rubbish_is_refused_with_an_example() {
        for text in [
            "",
            "device",
            "device@1s",
            "device@1s=",
            "device@1s=ls",
            "device@1s=iperf",
            "device@x=iperf -c pc",
            "device@1s=mqtt -h pc -q 3",
            "device@1s=mqtt -h pc -s 5000",
        ] {
            assert!(
                typed(text).unwrap_err().contains("device@1s=") || text.contains("@x"),
                "{text}"
            );
        }
        for text in ["other@1s=iperf -c pc", "pc@1s=iperf -c device", "device@1s=iperf -c nobody"] {
            assert!(plan(&[typed(text).unwrap()], &hosts()).is_err(), "{text}");
        }
    }
}
