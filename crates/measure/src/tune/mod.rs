//! Which settings a firmware should have: what holds an sdkconfig back, and which one does what is
//! wanted.
//!
//! | module | what |
//! |---|---|
//! | [`check`] | a file held against the rules of Espressif's documents, without a run |
//! | [`limit`] | what holds a link back, and the round trip that some limits depend on |
//! | [`want`] | what is wanted: `tcp-tx>=20Mbit/s` |
//! | [`outcome`] | what a candidate does |
//! | [`space`] | which candidates there are |
//! | [`pareto`] | those that no other is better than in everything |
//! | [`search`] | which candidate to try next |
//! | `words` | numbers in sentences |
//! | [`card`] | the answer on one card |
//! | [`answer`] | what was found, in sentences, tables, figures, and as lines for a file |

pub mod answer;
pub mod card;
pub mod check;
pub mod limit;
pub mod outcome;
pub mod pareto;
pub mod search;
pub mod space;
pub mod want;
pub(crate) mod words;

pub use answer::{Recommendation, TuneAnswer, report};
pub use card::TuneCard;
pub use limit::{DirectionLimits, LimitCause, RoundTrip, RoundTripSource, ThroughputLimit};
pub use outcome::Evaluation;
pub use search::{Search, Trial};
pub use space::{Candidate, Power, SearchSpace, TunedSetting};
pub use want::{Metric, Want};

/// The name of the chapter in a report.
pub const SECTION: &str = "tune";
