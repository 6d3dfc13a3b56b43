//! TOML to [`Plan`], with line and column in every error.

use super::key::{PlanKey, PlanValue, words};
use super::matrix::{self, CellCounter};
use super::{DEFAULT_SEED, GOALS, Plan, limits};
use crate::predict::battery::Battery;
use crate::units::{self, Dimension};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::{Range, RangeInclusive};
use core::time::Duration;
use espbench_model::text;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Thresholds of a plan, each of which may be held against each of its cells.
const MOST_THRESHOLDS: usize = 1000;

/// Mistake in a plan, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Description of the mistake, with what would do.
    pub message: String,
}

impl core::fmt::Display for PlanError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl core::error::Error for PlanError {}

impl PlanError {
    fn at(text: &str, offset: usize, message: impl Into<String>) -> Self {
        let (line, column) = text::place(text, offset);
        Self { line, column, message: message.into() }
    }

    /// Returns the error `lines` further down.
    pub(super) fn moved(mut self, lines: usize) -> Self {
        self.line += lines;
        self
    }
}

/// One value of a key: a number, a switch or a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Scalar {
    Int(i64),
    Float(f64),
    Bool(bool),
    Text(String),
}

impl Scalar {
    fn kind(&self) -> &'static str {
        match self {
            Self::Int(_) => "a whole number",
            Self::Float(_) => "a number",
            Self::Bool(_) => "true or false",
            Self::Text(_) => "a text",
        }
    }

    /// Returns a whole number within `range`.
    pub(crate) fn int_in(&self, range: RangeInclusive<u64>) -> Result<u64, String> {
        match self {
            Self::Int(n) if u64::try_from(*n).is_ok_and(|n| range.contains(&n)) => Ok(*n as u64),
            Self::Int(n) => {
                Err(format!("{n} is out of range: use {} to {}", range.start(), range.end()))
            }
            other => Err(format!("expected a whole number, found {}", other.kind())),
        }
    }

    /// Returns a number within `range`.
    pub(crate) fn number_in(&self, range: RangeInclusive<f64>) -> Result<f64, String> {
        let number = match self {
            Self::Int(n) => *n as f64,
            Self::Float(x) => *x,
            other => return Err(format!("expected a number, found {}", other.kind())),
        };
        if range.contains(&number) {
            return Ok(number);
        }
        Err(format!("{number} is out of range: use {} to {}", range.start(), range.end()))
    }

    /// Returns a size in bytes: a bare number, or a text with a unit.
    pub(crate) fn bytes_in(&self, range: RangeInclusive<u64>) -> Result<u64, String> {
        match self {
            Self::Text(text) => {
                let bytes = units::parse(text, Dimension::Size)?;
                if bytes <= *range.end() as f64 && bytes >= *range.start() as f64 {
                    Ok(bytes as u64)
                } else {
                    Err(format!(
                        "`{text}` is out of range: use {} B to {} B",
                        range.start(),
                        range.end()
                    ))
                }
            }
            other => other.int_in(range),
        }
    }

    /// Returns a time within `range`.
    pub(crate) fn duration_in(&self, range: RangeInclusive<Duration>) -> Result<Duration, String> {
        let text = self.text_with_unit("\"10 s\"")?;
        let time = units::duration(text)?;
        if range.contains(&time) {
            return Ok(time);
        }
        Err(format!(
            "`{text}` is out of range: use {} to {}",
            units::print_duration(*range.start()),
            units::print_duration(*range.end())
        ))
    }

    pub(crate) fn quantity(&self, dimension: Dimension, example: &str) -> Result<f64, String> {
        units::parse(self.text_with_unit(example)?, dimension)
    }

    pub(crate) fn bool(&self) -> Result<bool, String> {
        match self {
            Self::Bool(b) => Ok(*b),
            other => Err(format!("expected true or false, found {}", other.kind())),
        }
    }

    pub(crate) fn text(&self) -> Result<&str, String> {
        match self {
            Self::Text(text) => Ok(text),
            other => Err(format!("expected a text in quotes, found {}", other.kind())),
        }
    }

    /// Returns a whole number of a key whose range was checked.
    pub(crate) fn int(&self) -> Result<u64, String> {
        self.int_in(0..=u64::MAX)
    }

    /// Returns a number of a key whose range was checked.
    pub(crate) fn number(&self) -> Result<f64, String> {
        self.number_in(f64::MIN..=f64::MAX)
    }

    /// Returns a size of a key whose range was checked.
    pub(crate) fn bytes(&self) -> Result<u64, String> {
        self.bytes_in(0..=u64::MAX)
    }

    /// Returns a time of a key whose range was checked.
    pub(crate) fn duration(&self) -> Result<Duration, String> {
        self.duration_in(Duration::ZERO..=Duration::MAX)
    }

    /// Checks that it is one of a closed set of words.
    pub(crate) fn one_of(&self, words: &[&str]) -> Result<(), String> {
        let text = self.text()?;
        if words.contains(&text) {
            return Ok(());
        }
        Err(format!("`{text}` is not known here: {}", one_of(text, words)))
    }

    /// Returns the value that one of a closed set of words stands for.
    pub(crate) fn word<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, String> {
        let text = self.text()?;
        let found = words.iter().find(|(word, _)| *word == text);
        found.map(|(_, value)| *value).ok_or_else(|| format!("`{text}` is not known here"))
    }

    fn text_with_unit(&self, example: &str) -> Result<&str, String> {
        match self {
            Self::Text(text) => Ok(text),
            Self::Int(_) | Self::Float(_) => {
                Err(format!("a bare number has no unit: write it as {example}"))
            }
            Self::Bool(_) => Err(format!("expected a quantity such as {example}")),
        }
    }
}

/// The values of one key, each with its place in the text.
pub(super) type KeyValues = Vec<(Scalar, Range<usize>)>;

/// A table of the text, whose keys are taken one after another; what is left is unknown.
pub(super) struct PlanTable<'t> {
    text: &'t str,
    place: Range<usize>,
    keys: Vec<(String, Range<usize>, Spanned<DeValue<'t>>)>,
}

impl<'t> PlanTable<'t> {
    fn new(text: &'t str, table: &DeTable<'t>, place: Range<usize>) -> Self {
        let mut keys: Vec<_> = table
            .iter()
            .map(|(key, value)| (key.get_ref().to_string(), key.span(), value.clone()))
            .collect();
        keys.sort_by_key(|(_, span, _)| span.start);
        Self { text, place, keys }
    }

    pub(super) fn error(&self, at: &Range<usize>, message: impl Into<String>) -> PlanError {
        PlanError::at(self.text, at.start, message)
    }

    pub(super) fn place(&self) -> &Range<usize> {
        &self.place
    }

    fn take_value(&mut self, key: &str) -> Option<Spanned<DeValue<'t>>> {
        let at = self.keys.iter().position(|(name, ..)| name == key)?;
        Some(self.keys.remove(at).2)
    }

    /// Takes a key that has one value.
    pub(super) fn one<T>(
        &mut self,
        key: &PlanKey,
        read: impl FnOnce(&Scalar) -> Result<T, String>,
    ) -> Result<Option<T>, PlanError> {
        let name = key.name;
        let Some(value) = self.take_value(name) else { return Ok(None) };
        let (scalar, span) = self.scalar(&value, name)?;
        let read = key.check(&scalar).and_then(|()| read(&scalar));
        read.map(Some).map_err(|e| self.error(&span, format!("`{name}`: {e}")))
    }

    /// Checks the names of the remaining keys. `is_known`: whether a key may be there that is not listed.
    ///
    /// # Errors
    /// The first one that is unknown.
    pub(super) fn check_names(
        &self,
        known: &[&str],
        is_known: fn(&str) -> bool,
    ) -> Result<(), PlanError> {
        let is_wrong = |key: &str| !known.contains(&key) && !is_known(key);
        match self.keys.iter().find(|(key, ..)| is_wrong(key)) {
            Some((key, span, _)) => Err(self.error(span, unknown(key, known))),
            None => Ok(()),
        }
    }

    /// Returns the numbers of values of the remaining keys.
    pub(super) fn lengths(&self) -> impl Iterator<Item = usize> {
        self.keys.iter().map(|(_, _, value)| match value.get_ref() {
            DeValue::Array(items) => items.len(),
            _ => 1,
        })
    }

    /// Returns the remaining keys in the order of the text, each with its list of values.
    pub(super) fn lists(&mut self) -> Result<Vec<(String, KeyValues)>, PlanError> {
        let mut lists = Vec::new();
        for (key, _, value) in core::mem::take(&mut self.keys) {
            let values = match value.get_ref() {
                DeValue::Array(items) if items.is_empty() => {
                    return Err(self.error(&value.span(), format!("`{key}` is an empty list")));
                }
                DeValue::Array(items) => {
                    items.iter().map(|item| self.scalar(item, &key)).collect::<Result<_, _>>()?
                }
                _ => [self.scalar(&value, &key)?].into(),
            };
            lists.push((key, values));
        }
        Ok(lists)
    }

    /// Returns an error for the first key that nobody took.
    pub(super) fn finish(self, known: &[&str]) -> Result<(), PlanError> {
        match self.keys.first() {
            Some((key, span, _)) => Err(self.error(span, unknown(key, known))),
            None => Ok(()),
        }
    }

    /// Returns the tables of `[[key]]`.
    fn blocks(&mut self, key: &str) -> Result<Vec<Self>, PlanError> {
        let Some(value) = self.take_value(key) else { return Ok(Vec::new()) };
        let wrong = |span: &Range<usize>| {
            PlanError::at(self.text, span.start, format!("write `{key}` as blocks [[{key}]]"))
        };
        let DeValue::Array(items) = value.get_ref() else { return Err(wrong(&value.span())) };
        items
            .iter()
            .map(|item| match item.get_ref() {
                DeValue::Table(table) => Ok(Self::new(self.text, table, item.span())),
                _ => Err(wrong(&item.span())),
            })
            .collect()
    }

    fn scalar(
        &self,
        value: &Spanned<DeValue<'t>>,
        key: &str,
    ) -> Result<(Scalar, Range<usize>), PlanError> {
        let span = value.span();
        let scalar = match value.get_ref() {
            DeValue::String(text) => Scalar::Text(text.clone().into_owned()),
            DeValue::Boolean(b) => Scalar::Bool(*b),
            DeValue::Integer(n) => i64::from_str_radix(n.as_str(), n.radix())
                .map(Scalar::Int)
                .map_err(|_| self.error(&span, format!("`{key}`: the number is too large")))?,
            DeValue::Float(x) => x
                .as_str()
                .parse()
                .map(Scalar::Float)
                .map_err(|_| self.error(&span, format!("`{key}`: not a number")))?,
            other => {
                let found = other.type_str();
                return Err(
                    self.error(&span, format!("`{key}`: expected a value, found a TOML {found}"))
                );
            }
        };
        Ok((scalar, span))
    }
}

fn unknown(key: &str, known: &[&str]) -> String {
    format!("unknown key `{key}`{}", text::Hint { word: key, known })
}

/// Returns ` Did you mean ...?` where a known name is near to one that is not known.
#[must_use]
pub fn guess(name: &str, known: &[&str]) -> String {
    text::meant(name, known).map(|near| format!(" Did you mean `{near}`?")).unwrap_or_default()
}

const NAME: PlanKey = PlanKey::new(
    "name",
    PlanValue::Form("a text"),
    "\"my-plan\"",
    "name of the plan; its runs are `my-plan-1`, `my-plan-2`, …",
)
.or("must be given");
const TITLE: PlanKey = PlanKey::new(
    "title",
    PlanValue::Form("a text"),
    "\"Round trips at home\"",
    "one line for people",
)
.or("none");
const GOAL: PlanKey = PlanKey::new(
    "goal",
    PlanValue::Word(&words(&GOALS)),
    "\"latency\"",
    "the figures that a report shows first",
)
.or("the kind's");
const BATTERY: PlanKey = PlanKey::new(
    "battery",
    PlanValue::Form(
        "cells (AA, AAA, CR123A, 18650, LiPo, CR2032), several as 2xAA, LiPo-500 with its mAh, or a charge \
         such as 2500mAh",
    ),
    "\"2xAA\"",
    "the battery that `battery_life` is of; `--battery` gives it, too",
)
.or("18650: 3000 mAh with a linear regulator");
const SEED: PlanKey = PlanKey::new(
    "seed",
    PlanValue::Whole(0, i64::MAX as u64),
    "7",
    "seed of everything random in the run and its statistics; `--seed` counts before it",
)
.or("1");
const REPETITIONS: PlanKey = PlanKey::new(
    "repetitions",
    PlanValue::Whole(1, 1000),
    "5",
    "how often the whole matrix is measured, at most 100,000 cells in all: what differs from one time to the next is seen then",
)
.or("1");
const MEASURE: PlanKey = PlanKey::new(
    "measure",
    PlanValue::Form("blocks `[[measure]]`"),
    "",
    "what to measure; a plan has at most 10,000 cells",
)
.or("must be given");
const THRESHOLD: PlanKey = PlanKey::new(
    "threshold",
    PlanValue::Form("blocks `[[threshold]]`"),
    "",
    "limits on the results, at most 1,000; status 1 where one fails",
)
.or("none");
/// Keys of a plan.
pub(super) const KEYS: [&PlanKey; 8] =
    [&NAME, &TITLE, &GOAL, &BATTERY, &SEED, &REPETITIONS, &MEASURE, &THRESHOLD];

pub(super) fn plan(text: &str, counter: &mut CellCounter) -> Result<Plan, PlanError> {
    let table = DeTable::parse(text).map_err(|e| {
        let at = e.span().map_or(0, |span| span.start);
        PlanError::at(text, at, format!("not TOML: {}", e.message().replace('\n', ", ")))
    })?;
    let mut top = PlanTable::new(text, table.get_ref(), 0..0);
    let name = top.one(&NAME, |v| v.text().map(ToOwned::to_owned))?;
    let title = top.one(&TITLE, |v| v.text().map(ToOwned::to_owned))?;
    let goal = top.one(&GOAL, |v| v.word(&GOALS))?;
    let battery = top.one(&BATTERY, |v| v.text()?.parse::<Battery>())?;
    let seed = top.one(&SEED, Scalar::int)?.unwrap_or(DEFAULT_SEED);
    let repetitions = top.one(&REPETITIONS, Scalar::int)?.unwrap_or(1) as u32;
    let blocks = top.blocks(MEASURE.name)?;
    let thresholds = top.blocks(THRESHOLD.name)?;
    top.finish(&KEYS.map(|key| key.name))?;
    let Some(name) = name else {
        return Err(PlanError::at(text, 0, "a plan needs a `name`, such as name = \"my-plan\""));
    };
    let mut workloads = Vec::new();
    for block in blocks {
        workloads.extend(matrix::expand(block, repetitions, counter)?);
    }
    if workloads.is_empty() {
        return Err(PlanError::at(text, 0, "nothing to measure: add a [[measure]] block"));
    }
    if let Some(more) = thresholds.get(MOST_THRESHOLDS) {
        let message = format!("a plan has at most {MOST_THRESHOLDS} thresholds");
        return Err(more.error(more.place(), message));
    }
    let thresholds = (1..).zip(thresholds).map(|(number, block)| limits::threshold(block, number));
    let thresholds = thresholds.collect::<Result<_, _>>()?;
    Ok(Plan {
        name,
        title,
        goal,
        battery,
        seed,
        repetitions,
        workloads,
        thresholds,
        text: text.to_owned(),
    })
}

/// Says which word was probably meant, and which are known.
pub(super) fn one_of(word: &str, known: &[&str]) -> String {
    let all = known.join(", ");
    match text::meant(word, known) {
        Some(guess) => format!("did you mean `{guess}`? Use one of {all}"),
        None => format!("use one of {all}"),
    }
}
