//! The matrix of a `[[measure]]` block. Its keys are those of its kind, which the kind's folder has.

use super::key::{PlanKey, PlanValue};
use super::lab::{self, CellDraft};
use super::read::{PlanError, PlanTable, Scalar, one_of};
use crate::kind;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::workload::Workload;

/// Largest UDP payload over IPv4: 65,535 less 20 (IP) and 8 (UDP) bytes (RFC 768, RFC 791).
pub(crate) const UDP_MAX: u64 = 65_507;

pub(crate) const MILLISECOND: Duration = Duration::from_millis(1);
pub(crate) const DAY: Duration = Duration::from_secs(86_400);

/// The key that every `[[measure]]` block has.
pub(super) const KIND: PlanKey = PlanKey::new(
    "kind",
    PlanValue::Form("name of a kind, below"),
    "\"udp-echo\"",
    "the kind of test",
)
.or("must be given");

/// Returns the default workload of the kind of that name.
#[must_use]
pub fn defaults(kind: &str) -> Option<Workload> {
    kind::default_of(kind)
}

/// Reads the name of a kind.
pub(super) fn kind_named(value: &Scalar) -> Result<Workload, String> {
    let kind = value.text()?;
    defaults(kind).ok_or_else(|| format!("`{kind}` is not known: {}", one_of(kind, &kind::names())))
}

/// Cells that the plans of one text may have: more is a slip of the hand.
pub const MOST_CELLS: usize = 10_000;

/// Cells that they may have with all repetitions.
pub const MOST_STEPS: usize = 100_000;

/// Counter of the cells of a text, before any of them is made.
pub(super) struct CellCounter {
    cells: usize,
    steps: usize,
}

impl CellCounter {
    /// Begins with no cell.
    pub(super) const fn new() -> Self {
        Self { cells: 0, steps: 0 }
    }

    /// Counts the cells of a block's matrix, each measured that many times.
    ///
    /// # Errors
    /// There are too many.
    fn add(&mut self, block: &PlanTable<'_>, repetitions: usize) -> Result<(), PlanError> {
        let cells = block.lengths().try_fold(1_usize, usize::checked_mul).unwrap_or(usize::MAX);
        self.cells = self.cells.saturating_add(cells);
        self.steps = self.steps.saturating_add(cells.saturating_mul(repetitions));
        let message = if self.cells > MOST_CELLS {
            format!("the plan has more than {MOST_CELLS} cells: shorten its lists")
        } else if self.steps > MOST_STEPS {
            let most = "the plan has more than";
            format!(
                "{most} {MOST_STEPS} cells with its repetitions: use fewer of them, or shorten its lists"
            )
        } else {
            return Ok(());
        };
        Err(block.error(block.place(), message))
    }
}

/// Expands one block to the workloads of its matrix, which are counted first.
pub(super) fn expand(
    mut block: PlanTable<'_>,
    repetitions: u32,
    counter: &mut CellCounter,
) -> Result<Vec<Workload>, PlanError> {
    let Some(first) = block.one(&KIND, kind_named)? else {
        let message =
            format!("a [[measure]] block needs a `kind`: one of {}", kind::names().join(", "));
        return Err(block.error(&block.place().clone(), message));
    };
    let (own, of_lab) = (kind::of(&first).keys(), lab::keys(&first));
    let known: Vec<&str> = own.iter().chain(&of_lab).map(|it| it.name).collect();
    block.check_names(&known, lab::is_option)?;
    counter.add(&block, repetitions as usize)?;
    let keys = block.lists()?;
    let mut drafts = Vec::from([CellDraft::new(first)]);
    for (key, values) in &keys {
        let mut next: Vec<CellDraft> = Vec::new();
        for draft in &drafts {
            let first_of_draft = next.len();
            for (value, span) in values {
                let mut draft = *draft;
                let is = |it: &&PlanKey| it.name == key.as_str();
                let set = match own.iter().find(is) {
                    Some(spec) => {
                        let test = kind::of_mut(&mut draft.work);
                        spec.check(value).and_then(|()| test.set(key, value))
                    }
                    None => {
                        let checked = of_lab.iter().find(is).map_or(Ok(()), |it| it.check(value));
                        checked.and_then(|()| draft.set(key, value))
                    }
                };
                set.map_err(|e| block.error(span, format!("`{key}`: {e}")))?;
                // Two cells that nothing tells apart would be one of twice the samples.
                if next[first_of_draft..].contains(&draft) {
                    let message = format!(
                        "`{key}`: this value is in the list twice: leave it out, or measure all cells again with `repetitions`"
                    );
                    return Err(block.error(span, message));
                }
                next.push(draft);
            }
        }
        drafts = next;
    }
    let named: Vec<&str> = keys.iter().map(|(key, _)| key.as_str()).collect();
    let wrong = |e| block.error(block.place(), e);
    let finished = |draft: CellDraft| {
        let mut work = draft.done()?;
        let test = kind::of_mut(&mut work);
        test.complete(&named);
        test.check().map(|()| work)
    };
    drafts.into_iter().map(|draft| finished(draft).map_err(wrong)).collect()
}

/// Returns the word for a value of a closed set.
pub(crate) fn word_of<T: PartialEq>(words: &[(&'static str, T)], value: T) -> &'static str {
    words.iter().find(|(_, v)| *v == value).map_or("", |(word, _)| word)
}
