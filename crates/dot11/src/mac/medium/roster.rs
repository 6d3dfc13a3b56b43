//! The stations on each channel.
//!
//! Where stations are on several channels that do not hear each other, a frame visits those of its
//! own channel only. Their list is made when a second frame asks for it after the last change of a
//! channel, so that stations that hop cost nothing.

use crate::air::adjacent::CHANNELS;
use alloc::vec::Vec;

/// The stations that a frame must visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Audience {
    /// All stations of the sender's links, and all of them are on the frame's channel.
    SameChannel,
    /// Those in the list of the frame's channel; no other station gets anything of the frame.
    Roster,
    /// All stations of the sender's links; each one's channel decides what it gets.
    AnyChannel,
}

/// A list of stations and what it was made for.
#[derive(Debug, Default)]
struct Roster {
    stations: Vec<u32>,
    /// The change for which the list holds.
    made: u32,
    /// The change after which a frame asked for the list.
    asked: u32,
}

/// The stations by the place of their channel.
#[derive(Debug)]
pub(super) struct ChannelRosters {
    rosters: [Roster; CHANNELS],
    /// The number of stations at each place.
    counts: [u32; CHANNELS],
    stations: u32,
    /// The number of changes of a channel, from 1 on.
    changes: u32,
}

impl ChannelRosters {
    pub(super) fn new(places: &[u8]) -> Self {
        let mut counts = [0; CHANNELS];
        for place in places {
            counts[usize::from(*place) % CHANNELS] += 1;
        }
        let rosters = core::array::from_fn(|_| Roster::default());
        Self { rosters, counts, stations: places.len() as u32, changes: 1 }
    }

    /// Takes note that a station has changed its channel.
    pub(super) fn tuned(&mut self, before: usize, after: usize) {
        self.counts[before % CHANNELS] -= 1;
        self.counts[after % CHANNELS] += 1;
        // A list of four thousand million changes ago would count as made.
        self.changes = self.changes.wrapping_add(1).max(1);
    }

    /// Returns whom a frame must visit that reaches the places of `reach`, one bit for each.
    #[inline]
    pub(super) fn audience(&mut self, place: usize, reach: u32, places: &[u8]) -> Audience {
        let place = place % CHANNELS;
        if self.counts[place] == self.stations {
            return Audience::SameChannel;
        }
        let elsewhere = |it: &usize| *it != place && reach >> it & 1 == 1;
        if (0..CHANNELS).filter(elsewhere).any(|it| self.counts[it] > 0) {
            return Audience::AnyChannel;
        }
        let roster = &mut self.rosters[place];
        if roster.made == self.changes {
            return Audience::Roster;
        }
        if roster.asked != self.changes {
            roster.asked = self.changes;
            return Audience::AnyChannel;
        }
        roster.made = self.changes;
        roster.stations.clear();
        let at =
            |(station, at): (usize, &u8)| (usize::from(*at) == place).then_some(station as u32);
        roster.stations.extend(places.iter().enumerate().filter_map(at));
        Audience::Roster
    }

    /// Returns the list of a channel's place, in the order of station numbers.
    #[inline]
    pub(super) fn at(&self, place: usize) -> &[u32] {
        &self.rosters[place % CHANNELS].stations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame at place 1 that reaches 1 and 2.
    const REACH: u32 = 0b110;

    #[test]
    fn a_list_is_made_when_it_is_asked_for_twice_after_a_change() {
        let mut places = [1_u8, 6, 1, 6, 1];
        let mut rosters = ChannelRosters::new(&places);
        let ask = |rosters: &mut ChannelRosters, places: &[u8]| rosters.audience(1, REACH, places);
        assert_eq!(ask(&mut rosters, &places), Audience::AnyChannel);
        assert_eq!(ask(&mut rosters, &places), Audience::Roster);
        assert_eq!(rosters.at(1), [0, 2, 4]);
        places[2] = 6;
        rosters.tuned(1, 6);
        assert_eq!(ask(&mut rosters, &places), Audience::AnyChannel, "the list is of before");
        assert_eq!(ask(&mut rosters, &places), Audience::Roster);
        assert_eq!(rosters.at(1), [0, 4]);
        assert_eq!(rosters.audience(6, 1 << 6, &places), Audience::AnyChannel);
        assert_eq!(rosters.audience(6, 1 << 6, &places), Audience::Roster);
        assert_eq!(rosters.at(6), [1, 2, 3]);
        assert_eq!(rosters.at(1), [0, 4], "each channel has its own");
    }

    #[test]
    fn who_is_on_a_channel_that_the_frame_reaches_is_visited() {
        let mut rosters = ChannelRosters::new(&[1, 2, 6]);
        for _ in 0..3 {
            assert_eq!(rosters.audience(1, REACH, &[1, 2, 6]), Audience::AnyChannel);
        }
        rosters.tuned(2, 6);
        assert_eq!(rosters.audience(1, REACH, &[1, 6, 6]), Audience::AnyChannel);
        assert_eq!(rosters.audience(1, REACH, &[1, 6, 6]), Audience::Roster);
    }

    #[test]
    fn where_all_are_on_one_channel_no_list_is_needed() {
        let mut rosters = ChannelRosters::new(&[1, 1]);
        assert_eq!(rosters.audience(1, REACH, &[1, 1]), Audience::SameChannel);
        rosters.tuned(1, 2);
        assert_eq!(rosters.audience(1, REACH, &[1, 2]), Audience::AnyChannel);
        rosters.tuned(2, 1);
        assert_eq!(rosters.audience(1, REACH, &[1, 1]), Audience::SameChannel);
    }
}
