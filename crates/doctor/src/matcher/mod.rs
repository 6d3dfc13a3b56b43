//! Rules as data, and what finds them in a log.
//!
//! | module | contents |
//! |---|---|
//! | `cause` | causes as data, by the signs that rules name |
//! | `denial` | signs of failure that are denied by what stands around them |
//! | `event` | event of a rule that matched |
//! | `digits` | readings that do not depend on digits |
//! | `explain` | which rules a line meets, and why others do not |
//! | `keys` | a search for many texts at once |
//! | `load` | rules that were read, made ready for the search |
//! | `mbedtls` | errors of mbedTLS by number |
//! | `pattern` | the language of patterns |
//! | `rule` | files of rules as people write them |
//! | `search` | a record that is read: which rules it meets |
//! | `words` | a reading by words of what no other rule knows |
//!
//! One automaton looks for the longest literal text of each pattern; only patterns whose text is there are tried, and only
//! rules whose patterns match.

pub mod cause;
mod denial;
mod digits;
mod event;
pub mod explain;
pub(crate) mod keys;
mod load;
pub mod mbedtls;
pub mod pattern;
pub mod rule;
mod search;
mod words;

pub(crate) use digits::masked;
pub use load::RuleFault;
pub use search::RecordReading;
pub use words::Subject;

use crate::log::{LogEvent, LogRecord};
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use cause::CauseRecord;
use digits::DigitRules;
use keys::KeySearch;
use mbedtls::TlsCodes;
use once_cell::race::OnceBox;
use pattern::{LinePattern, Match};
use rule::Rule;
use words::WordTopics;

/// Topic of errors of the framework's own parts, which are asked after the words.
pub(crate) const COMPONENTS: &str = "components";

/// A set of groups of patterns, a bit each.
type Groups = Box<[u64]>;

/// A rule that was made ready.
#[derive(Debug)]
struct ReadyRule {
    rule: Rule,
    topic: usize,
    /// Groups of which each has a match.
    needs: Vec<usize>,
    /// Groups of which none has one.
    excludes: Vec<usize>,
    /// Groups beside which those do not count.
    excuses: Vec<usize>,
    /// Groups of the lists of `with`.
    with: Vec<usize>,
    /// Group of the rule's own patterns; none of a rule that is of a component alone.
    key: Option<usize>,
    /// Group of which one stands behind the rule's own patterns.
    behind: Option<usize>,
    /// Group of which one stands in front of them.
    in_front: Option<usize>,
}

impl ReadyRule {
    /// Returns all groups that decide on it.
    fn groups(&self) -> impl Iterator<Item = usize> + '_ {
        [&self.needs, &self.excludes, &self.excuses].into_iter().flatten().copied()
    }
}

/// A topic of rules.
#[derive(Debug)]
struct Topic {
    name: String,
    turn: u8,
    aside: bool,
}

/// Rules, ready for the search.
#[derive(Debug)]
pub struct RuleBook {
    /// Looks for the keys of all patterns.
    automaton: KeySearch,
    /// For each key its patterns.
    patterns_of: Vec<Vec<usize>>,
    patterns: Vec<SearchPattern>,
    /// For each pattern the groups that it is in where the message has it.
    groups_of: Vec<Groups>,
    /// For each pattern the groups that it is in where the tag has it.
    tag_groups_of: Vec<Groups>,
    /// For each fact of a text the groups that it is in.
    fact_groups_of: Vec<Groups>,
    /// For each group the rules whose own patterns it has: those of the reading by words apart.
    rules_of: [Vec<Vec<usize>>; 2],
    /// Groups of the reading by words that are some rule's own.
    word_keys: Groups,
    /// Groups without one of which the reading by words tells nothing, but for a subject.
    word_tells: Groups,
    /// Groups of the signs of failure, in the order of [`words::SIGNS`].
    signs: Vec<usize>,
    /// Topics of the reading by words.
    word_topics: WordTopics,
    /// Topics of all other rules by their turns.
    turns: Vec<usize>,
    /// Names of the parts that the framework brings.
    parts: BTreeSet<String>,
    /// Rules of a component alone.
    of_component: Vec<usize>,
    rules: Vec<ReadyRule>,
    topics: Vec<Topic>,
    causes: Vec<CauseRecord>,
    tls: TlsCodes,
    digits: DigitRules,
    /// Number of groups.
    groups: usize,
}

/// A pattern that is looked for.
#[derive(Debug)]
struct SearchPattern {
    pattern: LinePattern,
    /// Whether it counts only where nothing denies it.
    denied: bool,
    /// Whether it counts only where no number behind it is its length.
    length: bool,
}

/// A rule that tells what a record says.
#[derive(Clone, Copy, Debug)]
pub struct RuleHit {
    /// The rule.
    pub rule: &'static Rule,
    /// Where its pattern is in the message, and its captures.
    pub found: Match,
    /// Event; none where the line is in order.
    pub event: Option<LogEvent>,
    /// Topic of the rule.
    pub topic: &'static str,
    /// Whether the line is in order, whatever else it says.
    pub is_harmless: bool,
}

static BUILT_IN: OnceBox<RuleBook> = OnceBox::new();

impl Topic {
    /// Returns whether the topic is of the reading by words.
    const fn of_words(&self) -> bool {
        self.turn == words::TURN
    }
}

impl RuleBook {
    /// Returns the rules that the doctor has of its own.
    ///
    /// # Panics
    /// Where they are wrong, which a test excludes.
    #[must_use]
    pub fn built_in() -> &'static Self {
        BUILT_IN.get_or_init(|| Box::new(Self::from_files(&[]).expect("the rules are tested")))
    }

    /// Returns all rules.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().map(|it| &it.rule)
    }

    /// Returns the errors of mbedTLS.
    #[must_use]
    pub const fn tls(&self) -> &TlsCodes {
        &self.tls
    }

    /// Returns all causes that rules name.
    pub fn causes(&self) -> impl Iterator<Item = &CauseRecord> {
        self.causes.iter()
    }

    /// Returns whether a log tag is of a part that the framework brings.
    #[must_use]
    pub fn is_part(&self, tag: &str) -> bool {
        let tag = pattern::lower(tag);
        self.parts.iter().any(|it| search::is_tag(it, &tag))
    }

    /// Finds a cause by the name of its record.
    #[must_use]
    pub fn cause(&self, name: &str) -> Option<&CauseRecord> {
        self.causes().find(|it| it.name == name)
    }

    /// Begins to read a record.
    #[must_use]
    pub fn read<'r>(&'static self, record: &'r LogRecord<'r>) -> RecordReading<'r> {
        RecordReading::of(self, record)
    }

    /// Returns the rules that tell what a record says: of each topic the one that comes first.
    #[must_use]
    pub fn told(&'static self, record: &LogRecord<'_>) -> Vec<RuleHit> {
        self.read(record).told()
    }
}

/// Rules that a log was read with.
#[derive(Clone, Copy, Debug)]
pub struct RulesOfLog(pub &'static RuleBook);

impl Default for RulesOfLog {
    fn default() -> Self {
        Self(RuleBook::built_in())
    }
}

impl PartialEq for RulesOfLog {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.0, other.0)
    }
}

impl Eq for RulesOfLog {}
