//! Retained messages (3.3.1.3).

use super::account::Account;
use super::message::{Draft, StoredMessage};
use espbench_model::time::Instant;
use espbench_proto::wire::mqtt::topic;
use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::Bound::{Excluded, Included, Unbounded};
use std::rc::Rc;

/// The last retained message of each topic.
#[derive(Debug)]
pub(super) struct Retained {
    by_topic: BTreeSet<ByTopic>,
    account: Rc<Account>,
    /// When expired messages were last looked for.
    swept: Instant,
}

/// Message in the order of topics.
#[derive(Debug)]
struct ByTopic(Rc<StoredMessage>);

impl Borrow<str> for ByTopic {
    fn borrow(&self) -> &str {
        self.0.topic()
    }
}

impl Ord for ByTopic {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.topic().cmp(other.0.topic())
    }
}

impl PartialOrd for ByTopic {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ByTopic {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for ByTopic {}

/// Place in the retained messages of a filter, from which they are sent on as there is room.
#[derive(Debug)]
pub(super) struct Cursor {
    pub(super) filter: Rc<str>,
    /// Topic of the last one looked at.
    after: Option<Box<str>>,
}

impl Cursor {
    pub(super) const fn new(filter: Rc<str>) -> Self {
        Self { filter, after: None }
    }
}

/// The result of a look at a cursor's next messages.
pub(super) enum CursorStep {
    /// A message that the filter matches.
    Message(Rc<StoredMessage>),
    /// Nothing yet, after as many as may be looked at in one turn.
    Later,
    /// There are no more.
    End,
}

/// Messages looked at in one turn.
const LOOK: usize = 1000;

impl Retained {
    pub(super) fn new(account: &Rc<Account>) -> Self {
        Self { by_topic: BTreeSet::new(), account: Rc::clone(account), swept: Instant::ZERO }
    }

    /// Keeps a message in place of the one of its topic, or with an empty payload forgets that one.
    /// False where there is no memory for it: then the topic has none.
    pub(super) fn put(&mut self, now: Instant, draft: &Draft<'_>) -> bool {
        self.by_topic.remove(draft.topic);
        if draft.payload.is_empty() {
            return true;
        }
        let mut message = StoredMessage::new(draft, &self.account);
        if message.is_none() && now.since(self.swept).as_secs() > 0 {
            self.swept = now;
            self.by_topic.retain(|kept| kept.0.expires.is_none_or(|at| at > now));
            message = StoredMessage::new(draft, &self.account);
        }
        let Some(message) = message else { return false };
        self.by_topic.insert(ByTopic(message));
        true
    }

    /// Returns the next message that a cursor's filter means and moves the cursor behind it.
    pub(super) fn next(&self, now: Instant, cursor: &mut Cursor) -> CursorStep {
        let filter = &*cursor.filter;
        let alive = |message: &StoredMessage| message.expires.is_none_or(|at| at > now);
        let Some(wild) = filter.find(['+', '#']) else {
            if cursor.after.replace(filter.into()).is_some() {
                return CursorStep::End;
            }
            let found = self.by_topic.get(filter).filter(|kept| alive(&kept.0));
            return found.map_or(CursorStep::End, |kept| CursorStep::Message(Rc::clone(&kept.0)));
        };
        // What stands before the first wildcard; `a/#` means `a`, too.
        let prefix = filter[..wild].trim_end_matches('/');
        let prefix = if filter.starts_with(['+', '#', '/']) { "" } else { prefix };
        let from = match &cursor.after {
            Some(after) => Excluded(&**after),
            None => Included(prefix),
        };
        let mut last = None;
        for (nth, kept) in self.by_topic.range::<str, _>((from, Unbounded)).enumerate() {
            let name = kept.0.topic();
            if !name.starts_with(prefix) {
                break;
            }
            if topic::matches(filter, name) && alive(&kept.0) {
                cursor.after = Some(name.into());
                return CursorStep::Message(Rc::clone(&kept.0));
            }
            if nth == LOOK {
                cursor.after = Some(name.into());
                return CursorStep::Later;
            }
            last = Some(name);
        }
        if let Some(name) = last {
            cursor.after = Some(name.into());
        }
        CursorStep::End
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compares a cursor with the plain comparison of the filter with each topic.
        #[test]
        fn a_cursor_finds_what_a_plain_comparison_finds(
            topics in proptest::collection::btree_set("(\\$|[ab])?(/[ab]?){0,4}", 1..40),
            filter in "(\\$|[ab+]|#)?(/([ab]|\\+|#|)){0,4}",
        ) {
            let account = Account::new(1 << 20, None);
            let mut retained = Retained::new(&account);
            let topics: Vec<&String> = topics.iter().filter(|name| topic::is_name(name)).collect();
            for name in &topics {
                let draft = Draft {
                    topic: name, properties: b"", payload: b"x", qos: 0, retain: true, expires: None,
                };
                prop_assert!(retained.put(Instant::ZERO, &draft));
            }
            if topic::is_filter(&filter) {
                let naive: Vec<String> = topics.iter()
                    .filter(|name| topic::matches(&filter, name)).map(ToString::to_string).collect();
                let mut cursor = Cursor::new(filter.as_str().into());
                let mut found = Vec::new();
                while let CursorStep::Message(message) = retained.next(Instant::ZERO, &mut cursor) {
                    found.push(message.topic().to_string());
                }
                prop_assert_eq!(found, naive);
            }
        }
    }
}
