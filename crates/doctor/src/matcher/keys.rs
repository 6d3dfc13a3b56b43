//! A search for many texts at once.

use aho_corasick::automaton::Automaton as _;
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Input, Match};
use alloc::string::{String, ToString as _};

/// Looks for all of some texts. Of the crate's automata it is the one that is small and made in little time.
#[derive(Clone, Debug)]
pub(crate) struct KeySearch(NFA);

impl KeySearch {
    /// Makes a search for texts, each known by its place.
    pub(crate) fn of(keys: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Result<Self, String> {
        NFA::new(keys).map(Self).map_err(|it| it.to_string())
    }

    /// Finds the first of the texts that ends.
    pub(crate) fn first(&self, text: &[u8]) -> Option<Match> {
        self.0.try_find(&Input::new(text)).ok().flatten()
    }

    /// Finds all places of all texts.
    pub(crate) fn all<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Match> + 'a {
        self.0.try_find_overlapping_iter(Input::new(text)).into_iter().flatten()
    }
}
