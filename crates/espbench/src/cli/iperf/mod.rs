//! `espbench iperf`: the options that iperf 2 users know.
//!
//! | module | contents |
//! |---|---|
//! | `latency` | `--latency` and what belongs to it |
//! | `number` | numbers with iperf 2's suffixes (`stdio.c`, `byte_atoi`) |
//! | `options` | options of iperf 2 that mark, time or print what is measured, and those that are refused |
//! | `printer` | printed lines of a server about the tests that it sees |
//! | `rows` | `-y C`: rows on stdout as iperf 2.1.8 writes them |
//! | `server` | `espbench iperf -s`: the server, and its lines as they come |

mod latency;
pub(in crate::cli) mod number;
mod options;
mod printer;
mod rows;
mod server;

use super::common::{Format, MeasureArgs, SiteArgs, idle};
use super::flow::{self, Live, Measurement, Prints};
use super::output;
use crate::respond::ServiceLog;
use crate::respond::iperf::Observe;
use crate::target::iperf::{IperfTarget, StreamAddresses, StreamDirection};
use crate::target::spec;
use crate::user_error::UserError;
use anyhow::{Context as _, bail};
use espbench_measure::kind::iperf::lines::{IperfLines, Style};
use espbench_measure::plan::{DEFAULT_SEED, Plan, print};
use espbench_model::sample::{Interval, Observer, Sample};
use espbench_model::workload::{Direction, Iperf, Transport, Workload};
use espbench_proto::wire::iperf2::{BOUNCE_LENGTH, PORT, UDP_LENGTH, UDP_LENGTH_V6, UDP_RATE};
use number::Rate;
use printer::{IperfPrinter, PrintForm};
use std::net::{IpAddr, SocketAddr};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Flags, under iperf 2's names. Numbers take iperf 2's suffixes: k, m and g are powers of 1000; K,
/// M and G are powers of 1024, for -b too.
#[derive(Debug, clap::Args)]
#[command(after_help = "Numbers take iperf 2's suffixes: 1k = 1000, 1K = 1024, 1m = 1000000, \
                        1M = 1048576; so -b 40M is 41.9 Mbit/s and -b 40m is 40 Mbit/s.")]
#[command(group(clap::ArgGroup::new("role").required(true).args(["client", "server"])))]
pub struct Args {
    /// Run as the client of this iperf 2 server
    #[arg(short, long, value_name = "HOST")]
    client: Option<String>,
    /// Run as the server, for TCP and UDP (with -u for UDP only), until Ctrl-C or for -t seconds
    #[arg(short, long)]
    server: bool,
    /// UDP instead of TCP
    #[arg(short, long)]
    udp: bool,
    /// Port of the server
    #[arg(short, long, default_value_t = PORT)]
    port: u16,
    /// Seconds to send for [default: 10]
    #[arg(short, long, value_name = "SECONDS", value_parser = number::seconds)]
    time: Option<Duration>,
    /// Bytes to send on each stream, instead of -t
    #[arg(short, long, value_name = "BYTES", value_parser = number::bytes, conflicts_with_all = ["time", "server"])]
    num: Option<u64>,
    /// Seconds of a reported interval [default: 1; of the server: totals only]
    #[arg(short, long, value_name = "SECONDS", value_parser = number::seconds)]
    interval: Option<Duration>,
    /// Bytes of a datagram or a TCP write [default: 1470 for UDP, 1450 over IPv6, 128K for TCP]
    #[arg(short, long, value_name = "BYTES", value_parser = number::bytes, conflicts_with = "server")]
    len: Option<u64>,
    /// Offered bits a second of each stream, or datagrams a second as in 100pps; 0 is as fast as it
    /// goes [default: 1M for UDP, 0 for TCP]
    #[arg(short, long, value_name = "RATE", value_parser = number::rate, conflicts_with = "server")]
    bandwidth: Option<Rate>,
    /// Parallel streams
    #[arg(short = 'P', long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=128), conflicts_with = "server")]
    parallel: u16,
    /// Address to send from, or to serve on, with or without a port
    #[arg(short = 'B', long, value_name = "ADDRESS")]
    bind: Option<String>,
    /// Use IPv6
    #[arg(short = 'V', long)]
    ipv6_domain: bool,
    /// Send from client to server, then from server to client
    #[arg(short = 'r', long, group = "direction", conflicts_with = "server")]
    tradeoff: bool,
    /// Send in both directions at once, over two connections
    #[arg(short, long, group = "direction", conflicts_with = "server")]
    dualtest: bool,
    /// Send in both directions at once, over one connection
    #[arg(long, group = "direction", conflicts_with = "server")]
    full_duplex: bool,
    /// Send UDP tests also to clients that cannot show that they asked (docs/respond.md): only where nobody forges
    /// addresses
    #[arg(long, requires = "server")]
    trust_clients: bool,
    /// Send from server to client
    #[arg(short = 'R', long, group = "direction", conflicts_with = "server")]
    reverse: bool,
    /// Socket buffer in bytes [default: the system's; 32 MiB for receiving UDP]
    #[arg(short, long, value_name = "BYTES", value_parser = number::bytes)]
    window: Option<u64>,
    /// Turn Nagle's algorithm off
    #[arg(short = 'N', long, conflicts_with = "server")]
    nodelay: bool,
    #[command(flatten)]
    options: options::Iperf2Flags,
    #[command(flatten)]
    latency: latency::EchoArgs,
    #[command(flatten)]
    site: SiteArgs,
    #[command(flatten)]
    measure: MeasureArgs,
}

/// Runs the subcommand.
///
/// # Errors
/// Whatever kept it from measuring; exit status 2.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    args.options.check(args.server)?;
    match &args.client {
        Some(host) => client(args, host),
        None => server::run(args),
    }
}

fn client(args: &Args, host: &str) -> anyhow::Result<ExitCode> {
    if args.udp && args.nodelay {
        return Err(idle("--nodelay", "with -u: it is TCP's", "leave one of them out").into());
    }
    let peer = address(host, args.port, args.ipv6_domain)?;
    let work = workload(args, peer)?;
    let bind = args.bind.as_deref().map(|text| bind_address(text, 0)).transpose()?;
    let target = IperfTarget { bind, ..IperfTarget::new(peer, args.site.site()) };
    let ends = target.ends.clone();
    let text = print("iperf", args.measure.seed.unwrap_or(DEFAULT_SEED), &[Workload::Iperf(work)]);
    // The text is what is stored; reading it checks the flags' values as a plan's.
    let plan = Plan::parse(&text).map_err(|e| anyhow::anyhow!("{}", e.message))?;
    let prints = match args.options.reportstyle {
        Some(_) => Prints::Rows,
        None if args.measure.output.format == Format::Text && !args.measure.quiet => Prints::Lines,
        None => Prints::Nothing,
    };
    let style = style(args, work.bounceback.is_some());
    let mut lines = IperfLines::new(work.parallel, work.interval, style);
    let live = (prints != Prints::Nothing).then(|| -> Live<'_> {
        Box::new(move |sample| {
            let Sample::Interval(interval) = sample else { return };
            if prints == Prints::Rows {
                let _ = output::print(&row(&mut lines, style, work.direction, &ends, interval));
                return;
            }
            for line in lines.add(interval) {
                let _ = output::print(&format!("{line}\n"));
            }
        })
    });
    if prints == Prints::Lines {
        let transport = if args.udp { "UDP" } else { "TCP" };
        let _ = output::print(&format!("Client connecting to {peer}, {transport}\n"));
    }
    flow::measure(Measurement {
        set: flow::set_of(vec![plan])?,
        target_text: format!("iperf:{peer}"),
        target: Box::new(target),
        args: &args.measure,
        live,
        prints,
        beside: None,
        shard: None,
    })
}

/// Returns an observer of a server that tells a log of each test: between whom, and at its end the total.
pub(super) fn told(log: &ServiceLog) -> Observe {
    let text = PrintForm::Of(Format::Text);
    let printer = Mutex::new(IperfPrinter::new(text, Duration::ZERO, Style::default()));
    let log = Arc::clone(log);
    Arc::new(move |test, seen| {
        let lines = printer.lock().unwrap_or_else(PoisonError::into_inner).lines(test, seen);
        lines.lines().for_each(|line| log(line));
    })
}

fn style(args: &Args, bounceback: bool) -> Style {
    // iperf 2 shows all columns where it times one-way, too.
    let enhanced = args.options.enhanced || args.options.trip_times;
    let both = args.dualtest || args.full_duplex;
    Style { udp: args.udp, enhanced, bounceback, both, unit: args.options.unit() }
}

/// Returns the row of an interval: of the client's own connection, or of the one that the server
/// opened.
fn row(
    lines: &mut IperfLines,
    style: Style,
    direction: Direction,
    ends: &StreamAddresses,
    interval: &Interval,
) -> String {
    let opened = matches!(direction, Direction::Tradeoff | Direction::Dual)
        && interval.observer == Observer::Receiver;
    let direction = if opened { StreamDirection::Reverse } else { StreamDirection::Forward };
    let Some((local, peer)) = ends.of(interval.link, direction) else { return String::new() };
    let id = u32::from(interval.link.0) + 1;
    let stream = rows::RowStream { local, peer, id, udp: style.udp, enhanced: style.enhanced };
    stream.row(&lines.counted_from_start(id, interval))
}

fn workload(args: &Args, peer: SocketAddr) -> anyhow::Result<Iperf> {
    let bounceback = args.options.bounceback();
    let usual = match (args.udp, peer.is_ipv4()) {
        (false, _) if bounceback.is_some() => BOUNCE_LENGTH,
        (false, _) => Iperf::TCP_LENGTH,
        (true, true) => UDP_LENGTH,
        (true, false) => UDP_LENGTH_V6,
    };
    let size = |value: Option<u64>, flag: &str| {
        value
            .map(|v| u32::try_from(v).with_context(|| format!("{flag} {v} is too much")))
            .transpose()
    };
    let length = size(args.len, "-l")?.unwrap_or(usual);
    let bandwidth = match (args.bandwidth, args.udp) {
        (Some(rate), _) => Some(rate.bits(length)).filter(|&bits| bits > 0),
        (None, true) => Some(UDP_RATE),
        (None, false) => None,
    };
    let chosen = [
        (args.reverse, Direction::Reverse),
        (args.full_duplex, Direction::FullDuplex),
        (args.tradeoff, Direction::Tradeoff),
        (args.dualtest, Direction::Dual),
    ];
    Ok(Iperf {
        transport: if args.udp { Transport::Udp } else { Transport::Tcp },
        direction: chosen.into_iter().find(|c| c.0).map(|c| c.1).unwrap_or_default(),
        time: args.time.unwrap_or(Duration::from_secs(10)),
        bytes: args.num,
        interval: args.interval.unwrap_or(Duration::from_secs(1)),
        length,
        bandwidth,
        parallel: args.parallel,
        window: size(args.window, "-w")?,
        no_delay: args.nodelay,
        tos: args.options.tos.unwrap_or_default(),
        mss: args.options.mss,
        congestion: args.options.tcp_congestion,
        trip_times: args.options.trip_times,
        bounceback,
        latency: args.latency.wanted(),
    })
}

/// Returns the server's address; with `-V` the name's IPv6 one.
fn address(host: &str, port: u16, v6: bool) -> anyhow::Result<SocketAddr> {
    if !v6 {
        return Ok(spec::address(host, port)?);
    }
    use std::net::ToSocketAddrs as _;
    let name = host.trim_matches(['[', ']']);
    let found = (name, port).to_socket_addrs().with_context(|| {
        format!("`{host}` cannot be looked up: check the name or give an address")
    })?;
    let mut v6 = found.filter(SocketAddr::is_ipv6);
    v6.next().with_context(|| format!("`{host}` has no IPv6 address: leave out -V"))
}

/// Parses the address of `-B`, with or without a port.
fn bind_address(text: &str, port: u16) -> anyhow::Result<SocketAddr> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    match text.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(ip) => Ok(SocketAddr::new(ip, port)),
        Err(_) => bail!(
            UserError::new(format!("-B {text} is no address"))
                .remedy("give an IP address of this machine, with or without a port")
        ),
    }
}
