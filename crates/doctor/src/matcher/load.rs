//! Rules that were read, made ready for the search.

use super::cause::{CauseFile, CauseRecord};
use super::mbedtls::TlsCodes;
use super::pattern::Pattern;
use super::rule::{Rule, RuleFile};
use super::{Groups, ReadyRule, RuleBook, Topic};
use crate::log::MACHINE_SIGNS;
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use alloc::borrow::ToOwned as _;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt;

/// Files of rules that the doctor has of its own.
const FILES: [(&str, &str); 7] = [
    ("access_point.toml", include_str!("../../rules/access_point.toml")),
    ("beside.toml", include_str!("../../rules/beside.toml")),
    ("harmless.toml", include_str!("../../rules/harmless.toml")),
    ("hosted.toml", include_str!("../../rules/hosted.toml")),
    ("scan.toml", include_str!("../../rules/scan.toml")),
    ("station.toml", include_str!("../../rules/station.toml")),
    ("tls.toml", include_str!("../../rules/tls.toml")),
];

/// Causes that the doctor has of its own.
const CAUSES: &str = include_str!("../../rules/causes.toml");

/// Errors of mbedTLS.
const TLS: &str = include_str!("../../rules/mbedtls.toml");

/// Mistake of a rule or a cause, in words.
pub(super) type Fault = String;

/// A fault of a file of rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFault {
    /// Name of the file.
    pub file: String,
    /// Mistake, in words.
    pub why: String,
}

impl fmt::Display for RuleFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.why)
    }
}

impl core::error::Error for RuleFault {}

/// A book in the making.
#[derive(Default)]
struct Making {
    patterns: Vec<Pattern>,
    pattern_at: BTreeMap<String, usize>,
    /// Groups as the sets of their patterns.
    groups: Vec<BTreeSet<usize>>,
    group_at: BTreeMap<BTreeSet<usize>, usize>,
    lists: BTreeMap<String, Vec<String>>,
}

impl Making {
    /// Adds the patterns that a text of a rule stands for to a group: one, or all of a list.
    fn add(&mut self, text: &str, group: &mut BTreeSet<usize>, depth: u8) -> Result<(), String> {
        if let Some(name) = text.strip_prefix('@') {
            let list = self.lists.get(name).cloned();
            let list = list.filter(|_| depth > 0).ok_or_else(|| format!("no list is {name}"))?;
            return list.iter().try_for_each(|it| self.add(it, group, depth - 1));
        }
        let at = match self.pattern_at.get(text) {
            Some(at) => *at,
            None => {
                let pattern =
                    Pattern::read(text).map_err(|why| format!("pattern {text:?}: {why}"))?;
                self.patterns.push(pattern);
                self.pattern_at.insert(text.to_owned(), self.patterns.len() - 1);
                self.patterns.len() - 1
            }
        };
        group.insert(at);
        Ok(())
    }

    /// Returns the group of the patterns that a rule names together.
    fn group(&mut self, texts: &[String]) -> Result<usize, String> {
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

/// Groups that a rule needs, excludes and is found by.
type RuleGroups = (Vec<usize>, Vec<usize>, Option<usize>);

fn groups_of(rule: &Rule, making: &mut Making) -> Result<RuleGroups, String> {
    let mut needs = Vec::new();
    let key = if rule.patterns.is_empty() { None } else { Some(making.group(&rule.patterns)?) };
    needs.extend(key);
    for texts in &rule.with {
        needs.push(making.group(texts)?);
    }
    let mut excludes = Vec::new();
    if !rule.without.is_empty() {
        excludes.push(making.group(&rule.without)?);
    }
    if rule.patterns.is_empty() && rule.component.is_empty() {
        return Err("it has neither patterns nor a component".into());
    }
    let events = [rule.event.is_some(), rule.reads.is_some(), rule.sign.is_some()];
    if events.iter().filter(|it| **it).count() > 1 {
        return Err("it has more than one of event, reads and sign".into());
    }
    Ok((needs, excludes, key))
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
    pub fn read(others: &[(&str, &str)]) -> Result<Self, RuleFault> {
        let mut making = Making::default();
        let mut files: Vec<(String, RuleFile)> = Vec::new();
        let mut others_causes: Vec<CauseRecord> = Vec::new();
        for (name, text) in FILES.iter().chain(others) {
            let fault = |why: String| RuleFault { file: (*name).to_owned(), why };
            let file: RuleFile = toml::from_str(text).map_err(|it| fault(it.to_string()))?;
            let mut file = file;
            others_causes.append(&mut file.causes);
            for (list, patterns) in &file.lists {
                if making.lists.insert(list.clone(), patterns.patterns.clone()).is_some() {
                    return Err(fault(format!("list {list} stands twice")));
                }
            }
            files.push(((*name).to_owned(), file));
        }
        let mut topics: Vec<Topic> = Vec::new();
        let mut rules: Vec<(Rule, usize, RuleGroups)> = Vec::new();
        let mut names = BTreeSet::new();
        for (name, file) in files {
            let RuleFile { topic, turn, rules: read, .. } = file;
            let at = topics.iter().position(|it| it.name == topic).unwrap_or_else(|| {
                topics.push(Topic { name: topic, turn });
                topics.len() - 1
            });
            for mut rule in read {
                rule.component.iter_mut().for_each(|it| *it = super::pattern::lower(it));
                let fault = |why: String| RuleFault {
                    file: name.clone(),
                    why: format!("rule {}: {why}", rule.name),
                };
                if !names.insert(rule.name.clone()) {
                    return Err(fault("it stands twice".into()));
                }
                let groups = groups_of(&rule, &mut making).map_err(fault)?;
                rules.push((rule, at, groups));
            }
        }
        let mut causes: CauseFile = toml::from_str(CAUSES)
            .map_err(|it| RuleFault { file: "causes.toml".into(), why: it.to_string() })?;
        causes.causes.extend(others_causes);
        let told = rules.iter().filter_map(|it| it.0.sign.as_deref());
        let signs: Vec<&str> = told.chain(MACHINE_SIGNS).collect();
        for cause in &causes.causes {
            cause.check(&signs).map_err(|why| RuleFault { file: "causes.toml".into(), why })?;
        }
        let tls = toml::from_str(TLS)
            .map_err(|it| RuleFault { file: "mbedtls.toml".into(), why: it.to_string() })?;
        making
            .book(topics, rules, causes.causes, tls)
            .map_err(|why| RuleFault { file: String::new(), why })
    }
}

impl Making {
    /// Makes the book ready.
    fn book(
        self,
        topics: Vec<Topic>,
        rules: Vec<(Rule, usize, RuleGroups)>,
        causes: Vec<CauseRecord>,
        tls: TlsCodes,
    ) -> Result<RuleBook, String> {
        let groups = self.groups.len();
        let mut rules_of = alloc::vec![Vec::new(); groups];
        let mut of_component = Vec::new();
        let mut ready = Vec::new();
        for (at, (rule, topic, (needs, excludes, key))) in rules.into_iter().enumerate() {
            match key {
                Some(key) => rules_of[key].push(at),
                None => of_component.push(at),
            }
            let (needs, excludes) = (set_of(&needs, groups), set_of(&excludes, groups));
            ready.push(ReadyRule { rule, topic, needs, excludes, key });
        }
        let mut keys: Vec<&str> = self.patterns.iter().filter_map(Pattern::key).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut patterns_of = alloc::vec![Vec::new(); keys.len()];
        let mut groups_of: Vec<Groups> = Vec::new();
        for (at, pattern) in self.patterns.iter().enumerate() {
            let key = pattern.key().and_then(|it| keys.binary_search(&it).ok());
            if let Some(key) = key {
                patterns_of[key].push(at);
            }
            let own: Vec<usize> = (0..groups).filter(|it| self.groups[*it].contains(&at)).collect();
            groups_of.push(set_of(&own, groups));
        }
        let automaton = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(&keys)
            .map_err(|it| it.to_string())?;
        Ok(RuleBook {
            automaton,
            patterns_of,
            patterns: self.patterns,
            groups_of,
            rules_of,
            of_component,
            rules: ready,
            topics,
            causes,
            tls,
            groups,
        })
    }
}
