//! `espbench respond`.

use super::broker::BrokerArgs;
use super::flow::on_interrupt;
use super::output;
use crate::respond::echo::{ECHO_PORT, ReplyTo, SKETCH_PORT, SKETCH_REPLY_PORT};
use crate::respond::{Service, ServiceLog, echo, iperf, mqtt, tcp};
use crate::say::say;
use crate::transport::fault::is_out_of_descriptors;
use crate::user_error::UserError;
use anyhow::bail;
use espbench_proto::wire::iperf2;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Flags.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Address to listen on; 0.0.0.0 is every network of this machine
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,
    /// UDP port of an echo like the sketch of the published benchmark, which replies to --echo-reply-port
    #[arg(long, default_value_t = SKETCH_PORT, value_name = "PORT")]
    echo_port: u16,
    /// Port to which that echo replies, at the sender's address; 0: the sender's own port
    #[arg(long, default_value_t = SKETCH_REPLY_PORT, value_name = "PORT")]
    echo_reply_port: u16,
    /// UDP port of the echo that answers to the sender's port (RFC 862)
    #[arg(long, default_value_t = ECHO_PORT, value_name = "PORT")]
    plain_echo_port: u16,
    /// Port of the iperf 2 server, TCP and UDP
    #[arg(long, default_value_t = iperf2::PORT, value_name = "PORT")]
    iperf_port: u16,
    /// TCP port that reads all data and discards it
    #[arg(long, default_value_t = tcp::SINK_PORT, value_name = "PORT")]
    sink_port: u16,
    /// TCP port that sends without end
    #[arg(long, default_value_t = tcp::SOURCE_PORT, value_name = "PORT")]
    source_port: u16,
    /// Send UDP tests also to clients that cannot show that they asked (docs/respond.md): only where nobody forges
    /// addresses
    #[arg(long)]
    trust_clients: bool,
    /// Port of the MQTT broker: 3.1, 3.1.1 and 5
    #[arg(long, default_value_t = mqtt::PORT, value_name = "PORT")]
    mqtt_port: u16,
    /// Stop after this time: 60, 60s, 5min [default: on Ctrl-C]
    #[arg(long = "for", value_name = "TIME", value_parser = espbench_measure::units::seconds)]
    lifetime: Option<Duration>,
    /// Say nothing about what comes
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    broker: BrokerArgs,
}

/// Runs the subcommand.
///
/// # Errors
/// No service could be started, or one ended before the others.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let cancel = on_interrupt()?;
    let (log, came) = log(args.quiet);
    let (services, lacking) = start(args, &log);
    if services.is_empty() {
        bail!(
            UserError::new("no service could be started")
                .because("none of the ports above is free")
                .remedy("choose others with the flags named above, or another address with --bind")
        );
    }
    for service in &services {
        let _ = output::print(&format!("{:12} {}\n", service.name, service.address));
    }
    let end = args.lifetime.map(|time| Instant::now() + time);
    let mut ended: Vec<&str> = Vec::new();
    while !cancel.load(Ordering::Relaxed) && end.is_none_or(|end| Instant::now() < end) {
        std::thread::sleep(Duration::from_millis(50));
        for service in services.iter().filter(|it| !it.is_alive()) {
            if !ended.contains(&service.name) {
                ended.push(service.name);
                say!("espbench: {} ended; the others go on", service.name);
            }
        }
    }
    // Services tell what is left as they end.
    drop(services);
    say_if_nothing(&came, args.quiet);
    if !lacking.is_empty() {
        bail!(
            UserError::new(format!("{} did not start", lacking.join(", ")))
                .because("the system had no thread or no descriptor for it, as a line above says")
                .remedy(EXHAUSTED)
        );
    }
    if ended.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    bail!(
        UserError::new(format!("{} ended before the others", ended.join(", ")))
            .because("a line above says why")
            .remedy("start it again; if it ends again, please report it as a bug")
    )
}

/// Makes the log of services, which people read, with whether a client was told of.
pub(super) fn log(quiet: bool) -> (ServiceLog, Arc<AtomicBool>) {
    let came = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&came);
    let log: ServiceLog = Arc::new(move |line| {
        flag.store(true, Ordering::Relaxed);
        if !quiet {
            say!("{line}");
        }
    });
    (log, came)
}

/// Says at the end that no client came.
pub(super) fn say_if_nothing(came: &AtomicBool, quiet: bool) {
    if !quiet && !came.load(Ordering::Relaxed) {
        say!("no client came");
    }
}

/// Remedy where the system has no thread or no descriptor.
const EXHAUSTED: &str = "free threads or descriptors (ulimit -u, ulimit -n)";

/// Returns whether the system has no thread, no descriptor or no memory left.
fn is_exhausted(error: &io::Error) -> bool {
    let is_of_thread =
        matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::OutOfMemory);
    is_of_thread || is_out_of_descriptors(error)
}

/// Starts what can be started; what cannot is said, with the remedy. Returns the flags of those for which the system has no
/// thread or no descriptor, too.
fn start(args: &Args, log: &ServiceLog) -> (Vec<Service>, Vec<&'static str>) {
    let at = |port| SocketAddr::new(args.bind, port);
    let sketch = match args.echo_reply_port {
        0 => ReplyTo::Sender,
        port => ReplyTo::Port(port),
    };
    // Services here that answer datagrams, too.
    let others = [args.echo_port, args.plain_echo_port, args.iperf_port];
    let echo = |port, reply| echo::start_beside(at(port), reply, &others, log);
    let broker = mqtt::start_with(at(args.mqtt_port), args.broker.limits(), log);
    let tries: [(&str, u16, io::Result<Service>); 6] = [
        ("--echo-port", args.echo_port, echo(args.echo_port, sketch)),
        ("--plain-echo-port", args.plain_echo_port, echo(args.plain_echo_port, ReplyTo::Sender)),
        (
            "--iperf-port",
            args.iperf_port,
            iperf::start_told(
                at(args.iperf_port),
                iperf::ServerOptions {
                    trusts_clients: args.trust_clients,
                    ..iperf::ServerOptions::default()
                },
                log,
                super::iperf::told,
            ),
        ),
        ("--sink-port", args.sink_port, tcp::sink(at(args.sink_port), log)),
        ("--source-port", args.source_port, tcp::source(at(args.source_port), log)),
        ("--mqtt-port", args.mqtt_port, broker.map(|(service, _)| service)),
    ];
    let (mut services, mut lacking) = (Vec::new(), Vec::new());
    for (flag, port, result) in tries {
        match result {
            Ok(service) => services.push(service),
            Err(e) => {
                let is_lacking = is_exhausted(&e);
                lacking.extend(is_lacking.then_some(flag));
                let remedy = if is_lacking { EXHAUSTED } else { "choose another" };
                say!("espbench: port {port} ({flag}) is left out: {e}; {remedy}");
            }
        }
    }
    (services, lacking)
}
