//! Subscriptions as a tree of topic levels.

use super::account::{Account, Charge};
use super::slab::Slab;
use espbench_proto::wire::mqtt::SubscriptionOptions;
use std::collections::HashMap;
use std::rc::Rc;

/// Levels of a topic or a filter at most, as in mosquitto.
pub(super) const LEVELS: usize = 200;

/// Bytes charged for a node of the tree beside its name.
const NODE: usize = 320;
/// Bytes charged for a subscription in it.
const ENTRY: usize = 64;

/// The options and the identifier of a session's subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    pub(super) options: SubscriptionOptions,
    /// Number that its messages carry.
    pub(super) subscription: Option<u32>,
}

/// Sessions that share a subscription (5: 4.8.2).
#[derive(Debug)]
pub(super) struct SharedSubscription {
    name: Box<str>,
    pub(super) members: Vec<(u32, Grant)>,
    /// Whose turn it is.
    pub(super) turn: usize,
}

/// Subscriptions to one filter.
#[derive(Debug, Default)]
struct Entries {
    plain: Vec<(u32, Grant)>,
    /// Numbers of groups.
    groups: Vec<u32>,
}

impl Entries {
    const fn is_empty(&self) -> bool {
        self.plain.is_empty() && self.groups.is_empty()
    }
}

#[derive(Debug, Default)]
struct TopicNode {
    children: HashMap<Box<str>, u32>,
    /// Node of `+`.
    plus: Option<u32>,
    /// Subscriptions that end here.
    here: Entries,
    /// Subscriptions that end here with `#`.
    hash: Entries,
}

impl TopicNode {
    fn is_unused(&self) -> bool {
        self.children.is_empty()
            && self.plus.is_none()
            && self.here.is_empty()
            && self.hash.is_empty()
    }
}

/// Subscriptions of all sessions.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Slab<TopicNode>,
    groups: Slab<SharedSubscription>,
    charge: Charge,
    count: usize,
    /// Changes with every subscription.
    version: u64,
}

/// The sessions that want a topic; found again at once where nothing has changed.
#[derive(Debug, Default)]
pub(super) struct TopicMatches {
    topic: String,
    version: u64,
    /// Sessions, those of one together.
    pub(super) plain: Vec<(u32, Grant)>,
    /// Numbers of groups.
    pub(super) groups: Vec<u32>,
}

const ROOT: u32 = 0;

impl Tree {
    pub(super) fn new(account: &Rc<Account>) -> Self {
        let mut nodes = Slab::new();
        nodes.insert(TopicNode::default());
        let charge = Charge::empty(account);
        Self { nodes, groups: Slab::new(), charge, count: 0, version: 1 }
    }

    /// Returns the number of subscriptions.
    pub(super) const fn len(&self) -> usize {
        self.count
    }

    pub(super) fn group(&mut self, number: u32) -> Option<&mut SharedSubscription> {
        self.groups.get_mut(number)
    }

    /// Adds a subscription, or changes it; false where there is no memory for it.
    pub(super) fn insert(
        &mut self,
        share: Option<&str>,
        filter: &str,
        session: u32,
        grant: Grant,
    ) -> bool {
        let most = filter.len() + filter.split('/').count() * NODE + ENTRY;
        let most = most + share.map_or(0, |name| name.len() + NODE);
        if !self.charge.account().fits(most) {
            return false;
        }
        self.version += 1;
        let mut bytes = self.charge.bytes();
        let (end, hash) = self.walk(filter, &mut bytes);
        let groups = &mut self.groups;
        let Some(node) = self.nodes.get_mut(end) else { return false };
        let entries = if hash { &mut node.hash } else { &mut node.here };
        let list = match share {
            None => &mut entries.plain,
            Some(name) => {
                let known =
                    entries.groups.iter().copied().find(|&number| {
                        groups.get(number).is_some_and(|group| *group.name == *name)
                    });
                let number = known.unwrap_or_else(|| {
                    bytes += NODE + name.len();
                    let group =
                        SharedSubscription { name: name.into(), members: Vec::new(), turn: 0 };
                    let number = groups.insert(group);
                    entries.groups.push(number);
                    number
                });
                let Some(group) = groups.get_mut(number) else { return false };
                &mut group.members
            }
        };
        if let Some((_, old)) = list.iter_mut().find(|(member, _)| *member == session) {
            *old = grant;
        } else {
            list.push((session, grant));
            bytes += ENTRY;
            self.count += 1;
        }
        self.charge.resize(bytes)
    }

    /// Returns the node of a filter, made where it is not there, and whether the filter ends with `#`.
    fn walk(&mut self, filter: &str, bytes: &mut usize) -> (u32, bool) {
        let mut at = ROOT;
        for level in filter.split('/') {
            if level == "#" {
                return (at, true);
            }
            let Some(node) = self.nodes.get(at) else { break };
            let next = if level == "+" { node.plus } else { node.children.get(level).copied() };
            let next = next.unwrap_or_else(|| {
                *bytes += NODE + level.len();
                let made = self.nodes.insert(TopicNode::default());
                if let Some(node) = self.nodes.get_mut(at) {
                    if level == "+" {
                        node.plus = Some(made);
                    } else {
                        node.children.insert(level.into(), made);
                    }
                }
                made
            });
            at = next;
        }
        (at, false)
    }

    /// Takes a subscription out.
    pub(super) fn remove(&mut self, share: Option<&str>, filter: &str, session: u32) {
        self.version += 1;
        let mut way = vec![ROOT];
        let mut hash = false;
        for level in filter.split('/') {
            let Some(node) = way.last().and_then(|&at| self.nodes.get(at)) else { return };
            if level == "#" {
                hash = true;
                break;
            }
            let next = if level == "+" { node.plus } else { node.children.get(level).copied() };
            let Some(next) = next else { return };
            way.push(next);
        }
        let freed = self.take_out(share, *way.last().unwrap_or(&ROOT), hash, session);
        let freed = freed + self.prune(filter, &way);
        self.charge.resize(self.charge.bytes().saturating_sub(freed));
    }

    fn take_out(&mut self, share: Option<&str>, at: u32, hash: bool, session: u32) -> usize {
        let Some(node) = self.nodes.get_mut(at) else { return 0 };
        let entries = if hash { &mut node.hash } else { &mut node.here };
        let mut freed = 0;
        let mut take = |list: &mut Vec<(u32, Grant)>| {
            let before = list.len();
            list.retain(|(member, _)| *member != session);
            freed += (before - list.len()) * ENTRY;
            self.count -= before - list.len();
            if list.is_empty() {
                *list = Vec::new();
            }
        };
        let Some(name) = share else {
            take(&mut entries.plain);
            return freed;
        };
        let groups = &mut self.groups;
        let mut gone = 0;
        entries.groups.retain(|&number| {
            let Some(group) = groups.get_mut(number) else { return false };
            if *group.name == *name {
                take(&mut group.members);
            }
            if group.members.is_empty() {
                gone += NODE + group.name.len();
                groups.remove(number);
                return false;
            }
            true
        });
        freed + gone
    }

    /// Removes the nodes of `way` that nothing uses any more, from the end.
    fn prune(&mut self, filter: &str, way: &[u32]) -> usize {
        let levels: Vec<&str> = filter.split('/').collect();
        let mut freed = 0;
        for depth in (1..way.len()).rev() {
            if !self.nodes.get(way[depth]).is_some_and(TopicNode::is_unused) {
                break;
            }
            self.nodes.remove(way[depth]);
            let level = levels[depth - 1];
            freed += NODE + level.len();
            if let Some(parent) = self.nodes.get_mut(way[depth - 1]) {
                if level == "+" {
                    parent.plus = None;
                } else {
                    parent.children.remove(level);
                }
                if parent.children.is_empty() {
                    parent.children = HashMap::new();
                }
            }
        }
        freed
    }

    /// Finds all who subscribed to a topic.
    pub(super) fn find(&self, topic: &str, found: &mut TopicMatches) {
        if found.version == self.version && found.topic == topic {
            return;
        }
        found.version = self.version;
        found.topic.clear();
        found.topic.push_str(topic);
        found.plain.clear();
        found.groups.clear();
        // 4.7.2: a wildcard in front does not mean the broker's own topics.
        self.collect(ROOT, Some(topic), !topic.starts_with('$'), found);
        found.plain.sort_by_key(|(session, _)| *session);
    }

    /// Goes down one level; at most [`LEVELS`] deep.
    fn collect(&self, at: u32, rest: Option<&str>, wildcards: bool, found: &mut TopicMatches) {
        let Some(node) = self.nodes.get(at) else { return };
        let mut add = |entries: &Entries| {
            found.plain.extend_from_slice(&entries.plain);
            found.groups.extend_from_slice(&entries.groups);
        };
        if wildcards {
            add(&node.hash);
        }
        let Some(rest) = rest else {
            add(&node.here);
            return;
        };
        let (level, rest) = match rest.split_once('/') {
            Some((level, rest)) => (level, Some(rest)),
            None => (rest, None),
        };
        if let Some(&child) = node.children.get(level) {
            self.collect(child, rest, true, found);
        }
        if let (true, Some(child)) = (wildcards, node.plus) {
            self.collect(child, rest, true, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use espbench_proto::wire::mqtt::topic;
    use proptest::prelude::*;

    const GRANT: Grant = Grant {
        options: SubscriptionOptions {
            qos: 0,
            no_local: false,
            retain_as_published: false,
            retain_handling: 0,
        },
        subscription: None,
    };

    proptest! {
        /// Compares the tree with the plain comparison of each filter with the topic; nothing is
        /// left at the end.
        #[test]
        fn the_tree_finds_what_a_plain_comparison_finds(
            filters in proptest::collection::vec("(\\$|[ab+]|#)?(/([ab]|\\+|#|)){0,4}", 1..40),
            topics in proptest::collection::vec("(\\$|[ab])?(/[ab]?){0,4}", 1..20),
            removed in proptest::collection::vec(any::<bool>(), 40),
        ) {
            let account = Account::new(1 << 20, None);
            let mut tree = Tree::new(&account);
            let mut valid: Vec<(u32, &String)> = filters.iter().enumerate()
                .filter(|(_, filter)| topic::is_filter(filter))
                .map(|(nth, filter)| (nth as u32, filter)).collect();
            for (session, filter) in &valid {
                prop_assert!(tree.insert(None, filter, *session, GRANT));
                prop_assert!(tree.insert(Some("g"), filter, *session, GRANT));
            }
            let mut found = TopicMatches::default();
            for round in 0..2 {
                for name in topics.iter().filter(|name| topic::is_name(name)) {
                    tree.find(name, &mut found);
                    let naive: Vec<u32> = valid.iter()
                        .filter(|(_, filter)| topic::matches(filter, name)).map(|(s, _)| *s).collect();
                    prop_assert_eq!(found.plain.iter().map(|(s, _)| *s).collect::<Vec<_>>(), naive.clone());
                    let mut shared: Vec<u32> = found.groups.iter()
                        .flat_map(|&g| tree.groups.get(g).unwrap().members.iter().map(|(s, _)| *s))
                        .collect();
                    shared.sort_unstable();
                    prop_assert_eq!(shared, naive);
                }
                for (session, filter) in &valid {
                    if round == 1 || removed[*session as usize] {
                        tree.remove(None, filter, *session);
                        tree.remove(Some("g"), filter, *session);
                    }
                }
                valid.retain(|(session, _)| !removed[*session as usize]);
            }
            prop_assert_eq!((tree.len(), account.used(), tree.nodes.len()), (0, 0, 1));
        }
    }
}
