//! The round trip that a check and a search assume.

use super::units;
use crate::cli::common::StoreArgs;
use crate::cli::output;
use crate::user_error::UserError;
use anyhow::Context as _;
use espbench_measure::tune::{RoundTrip, RoundTripSource};
use espbench_model::speech::FlagValue;
use std::time::Duration;

/// A round trip as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AskedRoundTrip {
    /// A time.
    Time(Duration),
    /// The median of a stored run.
    Run(String),
}

/// Parses a time, or the name of a run; a word that begins with a digit is meant as a time.
pub(super) fn parse(text: &str) -> Result<AskedRoundTrip, String> {
    match text.starts_with(|it: char| it.is_ascii_digit() || it == '-' || it == '.') {
        true => units::round_trip(text).map(AskedRoundTrip::Time),
        false => Ok(AskedRoundTrip::Run(text.into())),
    }
}

/// Returns the round trip: of a run, the least of its medians.
///
/// # Errors
/// There is no such run, or it has no round trips.
pub(super) fn round_trip(asked: &AskedRoundTrip, store: &StoreArgs) -> anyhow::Result<RoundTrip> {
    let name = match asked {
        AskedRoundTrip::Time(time) => return Ok(RoundTrip::from(*time)),
        AskedRoundTrip::Run(name) => name,
    };
    let report = output::report(&store.existing()?, name)
        .with_context(|| FlagValue("--rtt", name).to_string())?;
    let medians = report.cells.iter().filter(|it| it.id.metric == "rtt_p50" && it.unit == "ms");
    let least = medians.filter_map(|it| it.value).reduce(f64::min);
    let ms = least.filter(|it| *it > 0.0).ok_or_else(|| {
        UserError::new(format!("{} is no round trip", FlagValue("--rtt", name)))
            .because(format!("the run {} has none", report.run.name))
            .remedy("name a run of ping or echo, or a time such as 8ms")
    })?;
    let source = RoundTripSource::Run(report.run.name);
    Ok(RoundTrip { time: Duration::from_secs_f64(ms / 1e3), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_or_a_run() {
        assert_eq!(parse("5ms"), Ok(AskedRoundTrip::Time(Duration::from_millis(5))));
        assert_eq!(parse("ping-1"), Ok(AskedRoundTrip::Run("ping-1".into())));
        assert_eq!(parse("5"), Ok(AskedRoundTrip::Time(Duration::from_secs(5))));
        assert!(parse("0s").is_err() && parse("-1ms").is_err());
    }
}
