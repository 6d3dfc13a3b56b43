//! Metrics that lead: those which a report shows first.

use crate::plan::Goal;
use alloc::string::String;

/// A metric that leads, with its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Headline {
    /// Name of the metric in a cell.
    pub(crate) metric: &'static str,
    /// Quantity, such as `round trip`; empty where the statistic says it all.
    pub(crate) quantity: &'static str,
    /// Statistic, such as `p99`; empty where the quantity says it all.
    pub(crate) statistic: &'static str,
    /// Goal that the metric serves.
    pub(crate) goal: Goal,
}

impl Headline {
    /// Creates a headline.
    pub(crate) const fn new(
        goal: Goal,
        metric: &'static str,
        quantity: &'static str,
        statistic: &'static str,
    ) -> Self {
        Self { metric, quantity, statistic, goal }
    }

    /// Returns the name that stands alone.
    pub(crate) fn name(&self) -> String {
        match (self.quantity, self.statistic) {
            (quantity, "") => quantity.into(),
            ("", statistic) => statistic.into(),
            (quantity, statistic) => alloc::format!("{quantity} {statistic}"),
        }
    }
}

/// Metrics of a battery, which every kind of test in the lab may have, and its price: how late messages are, and how
/// many are lost.
pub(crate) const BATTERY: [Headline; 4] = [
    Headline::new(Goal::Battery, "current_mean", "current", "mean"),
    Headline::new(Goal::Battery, "battery_life", "battery life", ""),
    Headline::new(Goal::Battery, "response_p99", "delay", "p99"),
    Headline::new(Goal::Battery, "loss", "lost", ""),
];
