//! Cells in the columns of `published.csv`.
//!
//! The host reads the file; this names its columns.

/// The columns, in the file's order.
pub const COLUMNS: [&str; 14] = [
    "source",
    "table",
    "chip",
    "transport",
    "mode",
    "metric",
    "payload_bytes",
    "devices",
    "distance_m",
    "security",
    "environment",
    "value",
    "unit",
    "note",
];
