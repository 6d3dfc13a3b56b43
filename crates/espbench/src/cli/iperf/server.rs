//! `espbench iperf -s`: the server, and its lines as they come.

use super::Args;
use super::printer::{CSV_HEAD, IperfPrinter, PrintForm};
use crate::cli::common::{Format, idle};
use crate::cli::flow::on_interrupt;
use crate::cli::{output, respond};
use crate::respond::iperf::{Observe, ServerOptions, start};
use crate::say::say;
use crate::user_error::UserError;
use anyhow::{Context as _, bail};
use espbench_measure::kind::iperf::lines::Style;
use socket2::Domain;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Refuses flags of a measurement: a server stores nothing and has no report.
fn check(args: &Args) -> anyhow::Result<()> {
    let measure = &args.measure;
    let flags = [
        ("--output", !measure.output.output.is_empty()),
        ("--full", measure.output.full),
        ("--seed", measure.seed.is_some()),
        ("--openmetrics", measure.openmetrics.is_some()),
    ];
    let given = flags.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag);
    match given.or_else(|| args.site.given()) {
        Some(flag) => {
            let place = "with -s: a server prints what it sees and stores nothing";
            Err(idle(flag, place, "leave it out, or measure as the client with -c HOST").into())
        }
        None => Ok(()),
    }
}

/// Serves until Ctrl-C, or for `-t`.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    check(args)?;
    let format = args.measure.output.format;
    if !matches!(format, Format::Text | Format::Json | Format::Jsonl | Format::Csv) {
        bail!(
            UserError::new("the server has no report in that format")
                .because("it prints lines while it serves")
                .remedy("use --format text, json or csv")
        );
    }
    let any = if args.ipv6_domain {
        SocketAddr::from((Ipv6Addr::UNSPECIFIED, args.port))
    } else {
        SocketAddr::from((Ipv4Addr::UNSPECIFIED, args.port))
    };
    let address = match &args.bind {
        Some(text) => super::bind_address(text, args.port)?,
        None => any,
    };
    let interval = args.interval.unwrap_or_default();
    let options = ServerOptions {
        interval,
        socket: args.options.socket(args.window)?,
        enhanced: args.options.enhanced,
        trusts_clients: args.trust_clients,
        tcp: !args.udp,
        udp: true,
    };
    let cancel = on_interrupt()?;
    let quiet = args.measure.quiet;
    let (log, came) = respond::log(quiet);
    let kind = match args.options.reportstyle {
        Some(_) => PrintForm::Rows,
        None => PrintForm::Of(format),
    };
    let style = Style {
        udp: args.udp,
        enhanced: args.options.enhanced,
        unit: args.options.unit(),
        ..Style::default()
    };
    let printer = Arc::new(Mutex::new(IperfPrinter::new(kind, interval, style)));
    let observe: Observe = Arc::new(move |test, seen| {
        let mut printer = printer.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = output::print(&printer.lines(test, seen));
    });
    let refused = options.socket.explain(Domain::for_address(address));
    refused.map_err(anyhow::Error::msg)?;
    let service = start(address, options, &log, Some(observe)).with_context(|| {
        format!("cannot serve on {address}: is another server there? choose a port with -p")
    })?;
    let transports = if args.udp { "UDP" } else { "TCP and UDP" };
    say!("Server listening on {} port {}", transports, service.address.port());
    if kind == PrintForm::Of(Format::Csv) {
        let _ = output::print(CSV_HEAD);
    }
    let end = args.time.map(|time| Instant::now() + time);
    while !cancel.load(Ordering::Relaxed) && end.is_none_or(|end| Instant::now() < end) {
        std::thread::sleep(Duration::from_millis(50));
    }
    drop(service);
    respond::say_if_nothing(&came, quiet);
    Ok(ExitCode::SUCCESS)
}
