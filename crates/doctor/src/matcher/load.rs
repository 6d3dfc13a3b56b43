//! Rules that were read, made ready for the search.

use super::cause::{CauseFile, CauseRecord};
use super::digits::DigitRules;
use super::keys::KeySearch;
use super::mbedtls::TlsCodes;
use super::pattern::LinePattern;
use super::rule::{PatternList, Rule, RuleFile};
use super::search::has_one;
use super::words::{self, FACTS, WordTopics};
use super::{COMPONENTS, Groups, ReadyRule, RuleBook, SearchPattern, Topic};
use crate::log::MACHINE_SIGNS;
use alloc::borrow::ToOwned as _;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use espbench_model::text::place;

/// Names a file of rules, with its text as `build.rs` leaves it: without comments, examples and sources.
macro_rules! files {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!(env!("OUT_DIR"), "/", $name)))),*]
    };
}

/// Files of rules that the doctor has of its own.
const FILES: &[(&str, &str)] = &files!(
    "access_point.toml" "address.toml" "air.toml" "allocator.toml" "beside.toml" "boot.toml" "check.toml" "codes.toml"
    "components.toml" "crash.toml" "disconnection.toml" "driver.toml" "esp_now.toml" "files.toml" "harmless.toml" "heap.toml" "hosted.toml"
    "link.toml" "lists.toml" "memory.toml" "named.toml" "network.toml" "parts.toml" "reset.toml" "scan.toml" "services.toml" "settings.toml"
    "start.toml" "station.toml" "strength.toml" "subjects.toml" "supplicant.toml" "tls.toml" "words.toml"
);

/// Files of causes that the doctor has of its own.
const CAUSES: &[(&str, &str)] = &files!(
    "causes_of_device.toml" "causes_of_link.toml" "causes_of_network.toml" "causes_of_captures.toml" "causes.toml" "causes_in_words.toml"
);

/// Errors of mbedTLS.
const TLS: &str = include_str!(concat!(env!("OUT_DIR"), "/mbedtls.toml"));

/// Mistake of a rule or a cause, in words.
pub(super) type RuleMistake = String;

/// A fault of a file of rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFault {
    /// Name of the file.
    pub file: String,
    /// Line, from 1; none of a rule or a cause that is named.
    pub line: Option<usize>,
    /// Mistake, in words.
    pub why: String,
}

impl RuleFault {
    /// Creates a fault of a file, or of a rule in it.
    pub(super) fn of(file: &str, why: String) -> Self {
        Self { file: file.to_owned(), line: None, why }
    }

    /// Creates a fault of what is no TOML of rules.
    fn of_toml(file: &str, text: &str, error: &toml::de::Error) -> Self {
        let line = error.span().map(|it| place(text, it.start).0);
        Self { line, ..Self::of(file, error.message().to_owned()) }
    }
}

impl fmt::Display for RuleFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        write!(f, ": {}", self.why)
    }
}

impl core::error::Error for RuleFault {}

/// A member of a group.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Member {
    /// A pattern that the message has.
    Text(usize),
    /// A pattern that the tag has.
    Tag(usize),
    /// A fact that the reader knows of a text, by its place in [`FACTS`].
    Fact(usize),
}

/// A book in the making.
#[derive(Default)]
struct Making {
    patterns: Vec<SearchPattern>,
    pattern_at: BTreeMap<(String, (bool, bool)), usize>,
    /// Groups as the sets of their patterns.
    groups: Vec<BTreeSet<Member>>,
    group_at: BTreeMap<BTreeSet<Member>, usize>,
    lists: BTreeMap<String, PatternList>,
    /// Patterns that rules have named so far, those of lists each time.
    named: usize,
}

impl Making {
    /// Adds the patterns that a text of a rule stands for to a group: one, or all of a list.
    fn add(
        &mut self,
        text: &str,
        group: &mut BTreeSet<Member>,
        depth: u8,
    ) -> Result<(), RuleMistake> {
        if let Some(at) = FACTS.iter().position(|it| *it == text) {
            group.insert(Member::Fact(at));
            return Ok(());
        }
        let (text, in_tag) = match text.strip_prefix("tag:") {
            Some(text) => (text, true),
            None => (text, false),
        };
        let Some(name) = text.strip_prefix('@') else {
            return self.add_pattern(text, (false, false), in_tag, group);
        };
        let (name, all) = match name.strip_suffix('?') {
            Some(name) => (name, true),
            None => (name, false),
        };
        let list = self.lists.get(name).cloned();
        let list = list.filter(|_| depth > 0).ok_or_else(|| format!("no list is {name}"))?;
        for it in &list.patterns {
            let text = if in_tag { format!("tag:{it}") } else { it.clone() };
            self.add(&text, group, depth - 1)?;
        }
        for word in &list.words {
            let conditions = (list.denied && !all, list.length && !all);
            self.add_pattern(&format!("|{word}"), conditions, in_tag, group)?;
        }
        Ok(())
    }

    fn add_pattern(
        &mut self,
        text: &str,
        conditions: (bool, bool),
        in_tag: bool,
        group: &mut BTreeSet<Member>,
    ) -> Result<(), RuleMistake> {
        self.named += 1;
        if self.named > MOST_NAMED {
            return Err(format!("lists within lists have more than {MOST_NAMED} patterns"));
        }
        let key = (text.to_owned(), conditions);
        let at = match self.pattern_at.get(&key) {
            Some(at) => *at,
            None => {
                let pattern =
                    LinePattern::read(text).map_err(|why| format!("pattern {text:?}: {why}"))?;
                let (denied, length) = conditions;
                self.patterns.push(SearchPattern { pattern, denied, length });
                self.pattern_at.insert(key, self.patterns.len() - 1);
                self.patterns.len() - 1
            }
        };
        group.insert(if in_tag { Member::Tag(at) } else { Member::Text(at) });
        Ok(())
    }

    /// Returns the group of the patterns that a rule names together.
    fn group(&mut self, texts: &[String]) -> Result<usize, RuleMistake> {
        let mut group = BTreeSet::new();
        texts.iter().try_for_each(|it| self.add(it, &mut group, MOST_DEPTH))?;
        if let Some(at) = self.group_at.get(&group) {
            return Ok(*at);
        }
        self.groups.push(group.clone());
        self.group_at.insert(group, self.groups.len() - 1);
        Ok(self.groups.len() - 1)
    }
}

/// Lists within lists, at most.
const MOST_DEPTH: u8 = 4;

/// Patterns that rules name, those of lists each time, at most: some 20 times those of the doctor's own rules.
const MOST_NAMED: usize = 500_000;

/// Makes a rule of a topic ready.
fn ready(rule: Rule, topic: usize, making: &mut Making) -> Result<ReadyRule, String> {
    let mut needs = Vec::new();
    let key = if rule.patterns.is_empty() { None } else { Some(making.group(&rule.patterns)?) };
    needs.extend(key);
    let mut with = Vec::new();
    for texts in &rule.with {
        with.push(making.group(texts)?);
    }
    needs.extend(&with);
    let mut excludes = Vec::new();
    if !rule.without.is_empty() {
        excludes.push(making.group(&rule.without)?);
    }
    let mut excuses = Vec::new();
    if !rule.excused_by.is_empty() {
        excuses.push(making.group(&rule.excused_by)?);
    }
    if rule.patterns.is_empty() && rule.component.is_empty() {
        return Err("it has neither patterns nor a component".into());
    }
    let events =
        [rule.event.is_some(), rule.reads.is_some(), rule.sign.is_some(), rule.family.is_some()];
    if events.iter().filter(|it| **it).count() > 1 {
        return Err("it has more than one of event, reads, sign and family".into());
    }
    let mut beside = |texts: &[String]| match texts {
        [] => Ok(None),
        texts => making.group(texts).map(Some),
    };
    let (behind, in_front) = (beside(&rule.behind)?, beside(&rule.in_front)?);
    needs.extend(behind.iter().chain(&in_front));
    Ok(ReadyRule { rule, topic, needs, with, excludes, excuses, key, behind, in_front })
}

fn set_of(bits: &[usize], groups: usize) -> Groups {
    let mut set = alloc::vec![0; groups.div_ceil(64)].into_boxed_slice();
    bits.iter().for_each(|it| set[it / 64] |= 1 << (it % 64));
    set
}

impl RuleBook {
    /// Reads the doctor's own rules, and others with the names of their files.
    ///
    /// # Errors
    /// Where a file is no TOML of rules, a pattern is none, or two rules have one name.
    pub fn from_files(others: &[(&str, &str)]) -> Result<Self, RuleFault> {
        Self::of_files(&[FILES, others].concat())
    }

    /// Reads the doctor's own rules from texts that have their examples and sources, in the order of their names.
    ///
    /// # Errors
    /// As [`Self::from_files`].
    pub fn from_whole_files(text_of: impl Fn(&str) -> String) -> Result<Self, RuleFault> {
        let texts: Vec<(&str, String)> =
            FILES.iter().map(|(name, _)| (*name, text_of(name))).collect();
        Self::of_files(&texts.iter().map(|(name, text)| (*name, &**text)).collect::<Vec<_>>())
    }

    fn of_files(all: &[(&str, &str)]) -> Result<Self, RuleFault> {
        let mut making = Making::default();
        let mut files: Vec<(String, RuleFile)> = Vec::new();
        let mut others_causes: Vec<(String, CauseRecord)> = Vec::new();
        for (name, text) in all.iter().copied() {
            let fault = |why: String| RuleFault::of(name, why);
            let mut file: RuleFile =
                toml::from_str(text).map_err(|it| RuleFault::of_toml(name, text, &it))?;
            others_causes.extend(file.causes.drain(..).map(|it| (name.to_owned(), it)));
            for (list, patterns) in &file.lists {
                if making.lists.insert(list.clone(), patterns.clone()).is_some() {
                    return Err(fault(format!(
                        "there is another list {list}: give it another name"
                    )));
                }
            }
            files.push((name.to_owned(), file));
        }
        let mut topics: Vec<Topic> = Vec::new();
        let mut rules: Vec<ReadyRule> = Vec::new();
        let mut names = BTreeSet::new();
        for (name, file) in files {
            let RuleFile { topic, turn, aside, rules: read, .. } = file;
            for mut rule in read {
                let is_of_file = rule.topic.is_none();
                let topic = rule.topic.get_or_insert_with(|| topic.clone()).clone();
                let at = topics.iter().position(|it| it.name == topic).unwrap_or_else(|| {
                    topics.push(Topic { name: topic.clone(), turn, aside });
                    topics.len() - 1
                });
                let known = &topics[at];
                // A rule that names a topic of another file has that topic's turn.
                if is_of_file && (known.turn, known.aside) != (turn, aside) {
                    return Err(RuleFault::of(
                        &name,
                        format!(
                            "topic {topic} has turn {} and aside {}: give the file the same, or another topic",
                            known.turn, known.aside
                        ),
                    ));
                }
                rule.file.clone_from(&name);
                let tags = rule.component.iter_mut().chain(&mut rule.not_component);
                tags.for_each(|it| *it = super::pattern::lower(it));
                let of_rule = rule.name.clone();
                let fault = |why: String| RuleFault::of(&name, format!("rule {of_rule}: {why}"));
                if !names.insert(of_rule.clone()) {
                    return Err(fault("there is another rule of that name".into()));
                }
                rules.push(ready(rule, at, &mut making).map_err(fault)?);
            }
        }
        let mut causes: Vec<(String, CauseRecord)> = Vec::new();
        for (name, text) in CAUSES {
            let file: CauseFile =
                toml::from_str(text).map_err(|it| RuleFault::of_toml(name, text, &it))?;
            causes.extend(file.causes.into_iter().map(|it| ((*name).to_owned(), it)));
        }
        causes.extend(others_causes);
        let told = rules.iter().filter_map(|it| it.rule.sign.as_deref());
        let signs: Vec<&str> = told.chain(MACHINE_SIGNS).collect();
        let names: Vec<&str> = causes.iter().map(|it| it.1.stable_name()).collect();
        for (file, cause) in &causes {
            cause.check(&signs, &names).map_err(|why| RuleFault::of(file, why))?;
        }
        let tls = toml::from_str(TLS).map_err(|it| RuleFault::of_toml("mbedtls.toml", TLS, &it))?;
        let causes = causes.into_iter().map(|it| it.1).collect();
        let name = all.last().map_or("", |it| it.0);
        making.book(topics, rules, causes, tls).map_err(|why| RuleFault::of(name, why))
    }
}

/// Makes a search for the keys of patterns, and returns it with the patterns of each key.
pub(super) fn by_key<'k, P>(
    patterns: impl Iterator<Item = (Option<&'k str>, P)>,
) -> Result<(KeySearch, Vec<Vec<P>>), String> {
    let mut by_key: BTreeMap<&str, Vec<P>> = BTreeMap::new();
    for (key, pattern) in patterns {
        if let Some(key) = key {
            by_key.entry(key).or_default().push(pattern);
        }
    }
    Ok((KeySearch::of(by_key.keys())?, by_key.into_values().collect()))
}

/// Returns the names of the parts that the framework brings.
fn parts(rules: &[ReadyRule], topics: &[Topic]) -> BTreeSet<String> {
    let of_parts = rules.iter().filter(|it| topics[it.topic].name == COMPONENTS);
    of_parts.flat_map(|it| it.rule.component.iter().cloned()).collect()
}

impl Making {
    /// Returns whether a text is in a group only where it has a sign of failure.
    fn is_of_sign(&self, group: usize) -> bool {
        self.groups[group].iter().all(|it| match it {
            Member::Fact(at) => words::is_fact_of_sign(*at),
            _ => false,
        })
    }

    /// Makes the book ready.
    fn book(
        mut self,
        topics: Vec<Topic>,
        rules: Vec<ReadyRule>,
        causes: Vec<CauseRecord>,
        tls: TlsCodes,
    ) -> Result<RuleBook, String> {
        let signs: Vec<usize> =
            words::sign_lists("").map(|it| self.group(&it)).collect::<Result<_, _>>()?;
        let all_signs: Vec<usize> =
            words::sign_lists("?").map(|it| self.group(&it)).collect::<Result<_, _>>()?;
        let word_topics = WordTopics::of(&topics)?;
        let groups = self.groups.len();
        let mut rules_of = [(); 2].map(|()| alloc::vec![Vec::<usize>::new(); groups]);
        let mut of_component = Vec::new();
        let mut tells = all_signs;
        let is_of_sign = |it: &usize| signs.contains(it) || self.is_of_sign(*it);
        for (at, it) in rules.iter().enumerate() {
            if word_topics.tells(it.topic) && !it.with.iter().any(is_of_sign) {
                tells.extend(it.key);
            }
            match it.key {
                Some(key) => rules_of[usize::from(topics[it.topic].of_words())][key].push(at),
                None => of_component.push(at),
            }
        }
        let keys = self.patterns.iter().map(|it| it.pattern.key());
        let (automaton, patterns_of) = by_key(keys.zip(0..))?;
        let mut groups_of = alloc::vec![set_of(&[], groups); self.patterns.len()];
        let mut tag_groups_of = groups_of.clone();
        let mut fact_groups_of = alloc::vec![set_of(&[], groups); FACTS.len()];
        for (group, members) in self.groups.iter().enumerate() {
            for member in members {
                let set = match *member {
                    Member::Text(at) => &mut groups_of[at],
                    Member::Tag(at) => &mut tag_groups_of[at],
                    Member::Fact(at) => &mut fact_groups_of[at],
                };
                set[group / 64] |= 1 << (group % 64);
            }
        }
        let word_rules = rules.iter().filter(|it| topics[it.topic].of_words());
        let of_words: Vec<usize> = word_rules.flat_map(ReadyRule::groups).collect();
        let is_of_words = |at: usize| has_one(&groups_of[at], &of_words);
        let digits = DigitRules::of(&self.patterns, &rules, is_of_words)?;
        let of_words = (0..groups).filter(|it| !rules_of[1][*it].is_empty());
        let word_keys = set_of(&of_words.collect::<Vec<_>>(), groups);
        let mut turns: Vec<usize> =
            (0..topics.len()).filter(|it| !topics[*it].of_words()).collect();
        turns.sort_by_key(|it| topics[*it].turn);
        Ok(RuleBook {
            automaton,
            patterns_of,
            patterns: self.patterns,
            groups_of,
            tag_groups_of,
            fact_groups_of,
            word_keys,
            signs,
            word_tells: set_of(&tells, groups),
            word_topics,
            turns,
            parts: parts(&rules, &topics),
            rules_of,
            of_component,
            rules,
            topics,
            causes,
            tls,
            digits,
            groups,
        })
    }
}
