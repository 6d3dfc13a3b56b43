//! Which access point each of several stations is in.

use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;
use espbench_model::fact::TypedFact;

/// Fact: access points of the stations that were measured at once, in the order of their numbers.
pub const MEMBERSHIPS: TypedFact<Memberships> = TypedFact::new("stations");

/// The access point of a station.
#[derive(Clone, Debug, PartialEq)]
pub struct Membership {
    /// Name of the station.
    pub station: String,
    /// Name of the access point.
    pub access_point: String,
    /// Its channel.
    pub channel: u8,
    /// Mean power at which it arrives at the station (RSSI), in dBm.
    pub rssi_dbm: f64,
}

/// Access points of several stations. Each prints as a line, name by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memberships(pub Vec<Membership>);

impl Memberships {
    /// Returns the channels that they are on, each once.
    #[must_use]
    pub fn channels(&self) -> Vec<u8> {
        let mut channels: Vec<u8> = self.0.iter().map(|it| it.channel).collect();
        channels.sort_unstable();
        channels.dedup();
        channels
    }
}

impl fmt::Display for Memberships {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(number, it)| {
            let Membership { station, access_point, channel, rssi_dbm } = it;
            let line = if number == 0 { "" } else { "\n" };
            write!(f, "{line}{station}\t{access_point}\t{channel}\t{rssi_dbm:.1}")
        })
    }
}

/// Text that is no list of memberships.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoMemberships;

impl FromStr for Memberships {
    type Err = NoMemberships;

    fn from_str(text: &str) -> Result<Self, NoMemberships> {
        let one = |line: &str| {
            let mut words = line.split('\t');
            let it = Membership {
                station: words.next()?.to_string(),
                access_point: words.next()?.to_string(),
                channel: words.next()?.parse().ok()?,
                rssi_dbm: words.next()?.parse().ok().filter(|it: &f64| it.is_finite())?,
            };
            words.next().is_none().then_some(it)
        };
        text.lines().map(one).collect::<Option<_>>().map(Self).ok_or(NoMemberships)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_reads_what_it_wrote_and_nothing_else() {
        let member = |station: &str, channel| Membership {
            station: station.into(),
            access_point: "access point".into(),
            channel,
            rssi_dbm: -51.5,
        };
        let all = Memberships([member("a", 6), member("b 2", 1), member("c", 6)].into());
        assert_eq!(MEMBERSHIPS.read(&all.to_string()), Some(all.clone()));
        assert_eq!(all.channels(), [1, 6]);
        for text in ["a\tb\t1", "a\tb\t1\tnan", "a\tb\t1\t-5\t6", "a\tb\t300\t-5"] {
            assert_eq!(MEMBERSHIPS.read(text), None, "{text:?}");
        }
    }
}
