//! Options of iperf 2 that mark, time or print what is measured, and those that are refused.

use super::number;
use crate::sys::options::SocketOptions;
use crate::user_error::UserError;
use anyhow::{Context as _, bail};
use espbench_measure::kind::iperf;
use espbench_measure::kind::iperf::lines::unit::{ADAPTIVE, Unit};
use espbench_model::workload::{Bounceback, Name};
use espbench_proto::wire::iperf2::tos;
use std::time::Duration;

/// Flags, under iperf 2's names.
#[derive(Debug, clap::Args)]
pub(super) struct Iperf2Flags {
    /// The columns that iperf 2 shows with -e: writes, reads by size, congestion window, round trip,
    /// one-way times, datagrams a second
    #[arg(short, long)]
    pub(super) enhanced: bool,
    /// Unit of the lines: b, k, m, g for bits, B, K, M, G for Bytes a second, a and A for what fits
    #[arg(short = 'f', long = "unit", value_name = "LETTER", value_parser = unit)]
    pub(super) unit: Option<Unit>,
    /// Type of service of what is sent: a name such as ef, af41, cs5 or ac_vo, or a number up to 255
    #[arg(short = 'S', long, value_name = "TOS", value_parser = type_of_service)]
    pub(super) tos: Option<u8>,
    /// Largest TCP segment in bytes
    #[arg(short = 'M', long, value_name = "BYTES", value_parser = clap::value_parser!(u16).range(48..))]
    pub(super) mss: Option<u16>,
    /// TCP congestion control, by its name in the kernel
    #[arg(short = 'Z', long, visible_alias = "linux-congestion", value_name = "NAME", value_parser = congestion)]
    pub(super) tcp_congestion: Option<Name>,
    /// Rows as iperf 2 writes them, instead of lines and report: C is the only style
    #[arg(short = 'y', long, value_name = "C", value_parser = style, conflicts_with_all = ["format", "full"])]
    pub(super) reportstyle: Option<char>,
    /// One-way times: each datagram and write says when it was sent. Both clocks must agree
    #[arg(long)]
    pub(super) trip_times: bool,
    /// Requests and replies over TCP; N of them each period [default: 10, of -l 100 bytes]
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "10",
          value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(super) bounceback: Option<u16>,
    /// Milliseconds that the server is to wait before it replies
    #[arg(long, value_name = "MS", value_parser = number::millis, requires = "bounceback")]
    pub(super) bounceback_hold: Option<Duration>,
    /// Seconds from one burst of requests to the next; 0 sends back to back [default: 1]
    #[arg(long, value_name = "SECONDS", value_parser = number::period, requires = "bounceback")]
    pub(super) bounceback_period: Option<Duration>,
    /// The server is not to acknowledge at once (TCP_QUICKACK)
    #[arg(long, requires = "bounceback")]
    pub(super) bounceback_no_quickack: bool,
    #[command(flatten)]
    refused: Refused,
}

/// Options of iperf 2.1.8 and later that this tool knows by name only, so that it can say what there is
/// instead.
#[derive(Debug, clap::Args)]
struct Refused {
    #[arg(long, hide = true, num_args = 0..=1, value_name = "FPS:MEAN,STDEV")]
    isochronous: Option<Option<String>>,
    #[arg(long, hide = true, num_args = 0..=1, value_name = "SECONDS")]
    burst_period: Option<Option<String>>,
    #[arg(long, hide = true, num_args = 0..=1, value_name = "BYTES")]
    burst_size: Option<Option<String>>,
    #[arg(long, hide = true, num_args = 0..=1, value_name = "UP|DOWN|BIDIR")]
    bounceback_congest: Option<Option<String>>,
    #[arg(long, hide = true, value_name = "SECONDS")]
    bounceback_txdelay: Option<String>,
    #[arg(long, hide = true, value_name = "BYTES")]
    bounceback_request: Option<String>,
    #[arg(long, hide = true, value_name = "BYTES")]
    bounceback_reply: Option<String>,
    #[arg(long, hide = true, num_args = 0..=1, value_name = "KEY")]
    permit_key: Option<Option<String>>,
    #[arg(long, hide = true, value_name = "TIME")]
    txstart_time: Option<String>,
    #[arg(long, hide = true, value_name = "RATE")]
    fq_rate: Option<String>,
    #[arg(long, hide = true)]
    l2checks: bool,
}

impl Refused {
    /// Says what there is instead of an option that is not carried out.
    fn check(&self) -> anyhow::Result<()> {
        let all = [
            (
                self.isochronous.is_some(),
                "--isochronous",
                "frames at a steady rate are not sent here: -b with -l gives a steady rate of \
                 datagrams",
            ),
            (
                self.burst_period.is_some() || self.burst_size.is_some(),
                "--burst-period and --burst-size",
                "bursts are not sent here: -b with -l gives a steady rate",
            ),
            (
                self.bounceback_congest.is_some() || self.bounceback_txdelay.is_some(),
                "--bounceback-congest",
                "round trips under load are `espbench iperf --latency`",
            ),
            (
                self.bounceback_request.is_some() || self.bounceback_reply.is_some(),
                "--bounceback-request and --bounceback-reply",
                "iperf 2.1.8 does not know them: request and reply have the length of -l",
            ),
            (
                self.permit_key.is_some(),
                "--permit-key",
                "keys are not exchanged here: leave it out",
            ),
            (self.txstart_time.is_some(), "--txstart-time", "start the command at that time"),
            (self.fq_rate.is_some(), "--fq-rate", "use -b for a rate"),
            (self.l2checks, "--l2checks", "frames are not looked at here: leave it out"),
        ];
        match all.iter().find(|(given, ..)| *given) {
            Some((_, name, instead)) => {
                bail!(UserError::new(format!("{name} is not carried out here")).remedy(*instead))
            }
            None => Ok(()),
        }
    }
}

impl Iperf2Flags {
    /// Checks that everything that is asked for can be done, as client or as server.
    ///
    /// # Errors
    /// Names the option, and what there is instead.
    pub(super) fn check(&self, server: bool) -> anyhow::Result<()> {
        self.refused.check()?;
        if server && (self.trip_times || self.bounceback.is_some()) {
            bail!(
                UserError::new("--trip-times and --bounceback do nothing at a server")
                    .because("it does what its client asks for")
                    .remedy("leave them out, and give them to the client")
            );
        }
        Ok(())
    }

    /// Returns the options of the sockets.
    pub(super) fn socket(&self, window: Option<u64>) -> anyhow::Result<SocketOptions> {
        Ok(SocketOptions {
            window: window.map(u32::try_from).transpose().context("-w is too much")?,
            tos: self.tos.unwrap_or_default(),
            mss: self.mss,
            congestion: self.tcp_congestion,
        })
    }

    /// Returns how requests are sent; `None` where no bounceback is asked for.
    pub(super) fn bounceback(&self) -> Option<Bounceback> {
        let usual = Bounceback::DEFAULT;
        Some(Bounceback {
            burst: self.bounceback?,
            period: self.bounceback_period.unwrap_or(usual.period),
            hold: self.bounceback_hold.unwrap_or(usual.hold),
            quick_ack: !self.bounceback_no_quickack,
        })
    }

    /// Returns the unit of the lines.
    pub(super) fn unit(&self) -> Unit {
        self.unit.unwrap_or(ADAPTIVE)
    }
}

fn unit(text: &str) -> Result<Unit, String> {
    let mut letters = text.chars();
    match (letters.next().and_then(Unit::from_letter), letters.next()) {
        (Some(unit), None) => Ok(unit),
        _ => Err("use one letter: b, k, m, g or a for bits, B, K, M, G or A for Bytes".into()),
    }
}

fn type_of_service(text: &str) -> Result<u8, String> {
    tos::parse(text).ok_or_else(|| {
        let names: Vec<&str> = tos::NAMES.iter().map(|(name, _)| *name).collect();
        format!("use 0 to 255, or one of {}", names.join(", "))
    })
}

fn congestion(text: &str) -> Result<Name, String> {
    iperf::congestion(text)
}

fn style(text: &str) -> Result<char, String> {
    match text {
        "C" | "c" => Ok('C'),
        _ => Err("C is the only style (rows of comma-separated values)".into()),
    }
}
