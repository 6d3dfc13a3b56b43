//! Accounts of bytes: what is held is charged before it is allocated, and given back when dropped.

use super::limits::BrokerLimits;
use std::cell::Cell;
use std::rc::Rc;

/// Number of bytes that may be held for a purpose, within a larger account.
#[derive(Debug)]
pub struct Account {
    limit: usize,
    used: Cell<usize>,
    most: Cell<usize>,
    within: Option<Rc<Account>>,
}

impl Account {
    /// Makes an account of `limit` bytes.
    #[must_use]
    pub fn new(limit: usize, within: Option<&Rc<Self>>) -> Rc<Self> {
        let within = within.map(Rc::clone);
        Rc::new(Self { limit, used: Cell::new(0), most: Cell::new(0), within })
    }

    /// Returns the bytes charged.
    #[must_use]
    pub fn used(&self) -> usize {
        self.used.get()
    }

    /// Returns the most bytes that were charged at once.
    #[must_use]
    pub fn most(&self) -> usize {
        self.most.get()
    }

    /// Returns whether `bytes` more fit, here and in what it is within.
    #[must_use]
    pub fn fits(&self, bytes: usize) -> bool {
        self.used.get().saturating_add(bytes) <= self.limit
            && self.within.as_ref().is_none_or(|within| within.fits(bytes))
    }

    /// Returns whether more than this share of it, in quarters, is used.
    #[must_use]
    pub const fn is_beyond(&self, quarters: usize) -> bool {
        self.used.get() > self.limit / 4 * quarters
    }

    fn add(&self, bytes: usize) {
        self.used.set(self.used.get() + bytes);
        self.most.set(self.most.get().max(self.used.get()));
        if let Some(within) = &self.within {
            within.add(bytes);
        }
    }

    fn give_back(&self, bytes: usize) {
        self.used.set(self.used.get() - bytes);
        if let Some(within) = &self.within {
            within.give_back(bytes);
        }
    }
}

/// Accounts of a broker.
#[derive(Debug)]
pub(super) struct Accounts {
    /// All that follows.
    pub(super) memory: Rc<Account>,
    /// Messages that wait.
    pub(super) queues: Rc<Account>,
    /// Bytes on their way to clients.
    pub(super) outboxes: Rc<Account>,
    /// Packets that are not complete.
    pub(super) input: Rc<Account>,
    /// Sessions, subscriptions, wills, topic aliases.
    pub(super) state: Rc<Account>,
}

impl Accounts {
    pub(super) fn new(limits: &BrokerLimits) -> Self {
        let memory = Account::new(limits.memory, None);
        let part = |limit| Account::new(limit, Some(&memory));
        Self {
            queues: part(limits.queues),
            outboxes: part(limits.memory / 6),
            input: part(limits.memory / 12),
            state: part(limits.memory / 4),
            memory,
        }
    }
}

/// Bytes of an account in use; dropping it gives them back.
#[derive(Debug)]
pub struct Charge {
    account: Rc<Account>,
    bytes: usize,
}

impl Charge {
    /// Charges `bytes`; `None` where they do not fit.
    #[must_use]
    pub fn new(account: &Rc<Account>, bytes: usize) -> Option<Self> {
        let mut charge = Self { account: Rc::clone(account), bytes: 0 };
        charge.resize(bytes).then_some(charge)
    }

    /// Makes a charge of nothing, to be resized.
    #[must_use]
    pub fn empty(account: &Rc<Account>) -> Self {
        Self { account: Rc::clone(account), bytes: 0 }
    }

    /// Returns the bytes charged.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Changes it to `bytes`; false, and unchanged, where they do not fit.
    pub fn resize(&mut self, bytes: usize) -> bool {
        if bytes > self.bytes {
            let more = bytes - self.bytes;
            if !self.account.fits(more) {
                return false;
            }
            self.account.add(more);
        } else {
            self.account.give_back(self.bytes - bytes);
        }
        self.bytes = bytes;
        true
    }

    /// Returns its account.
    #[must_use]
    pub const fn account(&self) -> &Rc<Account> {
        &self.account
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.account.give_back(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_charge_counts_here_and_in_the_larger_account_until_it_is_dropped() {
        let all = Account::new(100, None);
        let part = Account::new(80, Some(&all));
        let other = Charge::new(&all, 30).unwrap();
        assert!(Charge::new(&part, 80).is_none(), "the larger account is full");
        let mut charge = Charge::new(&part, 70).unwrap();
        assert!(!charge.resize(71));
        drop(other);
        assert!(charge.resize(80) && !charge.resize(81));
        assert_eq!((part.used(), all.used()), (80, 80));
        drop(charge);
        assert_eq!((part.used(), all.used(), all.most()), (0, 0, 100));
    }
}
