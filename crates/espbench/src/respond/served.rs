//! Rates of what a service takes: lines for people, at most one in ten seconds while it comes.

use espbench_measure::digits;
use espbench_measure::units::megabits;
use espbench_model::text::counted;
use espbench_model::time::{Duration, Instant};

/// Silence after which what came is over.
const SILENCE: Duration = Duration::from_secs(1);

/// Time after which a rate is told of what goes on.
const MEANWHILE: Duration = Duration::from_secs(10);

/// Counter of what comes, from the first to the last.
#[derive(Debug, Default)]
pub(super) struct ServedRate {
    span: Option<(Instant, Instant)>,
    /// Amount since the start of the span, without the one that began it: n datagrams have n - 1 periods between them.
    after: u64,
    /// Amount at the start of the span that no line has told.
    first: u64,
}

impl ServedRate {
    /// Adds what has just come.
    pub(super) fn add(&mut self, now: Instant, amount: u64) {
        match &mut self.span {
            None => (self.span, self.first) = (Some((now, now)), amount),
            Some((_, last)) => {
                *last = now;
                self.after += amount;
            }
        }
    }

    /// Takes the part that is to be told now: what is over, or goes on for long.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<ServedPart> {
        let (from, last) = self.span?;
        let is_over = now.since(last) >= SILENCE;
        (is_over || now.since(from) >= MEANWHILE).then(|| self.take(is_over)).flatten()
    }

    /// Takes the part that goes on for long: a connection says itself when it is over.
    pub(super) fn take_long(&mut self, now: Instant) -> Option<ServedPart> {
        let (from, _) = self.span?;
        (now.since(from) >= MEANWHILE).then(|| self.take(false)).flatten()
    }

    /// Takes the rest, once the service ends, which has a rate: its counts tell the number.
    pub(super) fn take_rest(&mut self) -> Option<ServedPart> {
        self.take(true).filter(|part| part.after > 0)
    }

    fn take(&mut self, is_over: bool) -> Option<ServedPart> {
        let (from, last) = self.span?;
        let part = ServedPart {
            amount: self.first + self.after,
            after: self.after,
            time: last.since(from),
        };
        self.span = (!is_over).then_some((last, last));
        (self.first, self.after) = (0, 0);
        (part.amount > 0).then_some(part)
    }
}

/// Part of what came, to be told in a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ServedPart {
    /// All of it.
    amount: u64,
    /// All but what came at the start of the time.
    after: u64,
    time: Duration,
}

impl ServedPart {
    /// Tells a number of things, such as `200 datagrams in 1.99 s: 100/s`.
    pub(super) fn things(&self, one: &str, many: &str) -> String {
        let all = counted(self.amount, one, many).to_string();
        let seconds = self.time.as_secs_f64();
        if self.after == 0 || seconds <= 0.0 {
            return all;
        }
        let rate = digits::three(self.after as f64 / seconds);
        format!("{all} in {} s: {rate}/s", digits::three(seconds))
    }

    /// Tells bytes, such as `1250000 bytes in 1 s: 10 Mbit/s`. Those that began the time are in no rate.
    pub(super) fn bytes(&self) -> String {
        let all = counted(self.amount, "byte", "bytes").to_string();
        match megabits(self.after, self.time) {
            Some(rate) => format!(
                "{all} in {} s: {} Mbit/s",
                digits::three(self.time.as_secs_f64()),
                digits::three(rate)
            ),
            None => all,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn a_line_is_told_when_a_client_falls_silent() {
        let mut rate = ServedRate::default();
        assert_eq!(rate.take_due(at(0)), None);
        for n in 0..200 {
            rate.add(at(10 * n), 1);
            assert_eq!(rate.take_due(at(10 * n)), None);
        }
        assert_eq!(rate.take_due(at(2900)), None);
        let part = rate.take_due(at(2990)).unwrap();
        assert_eq!(part.things("datagram", "datagrams"), "200 datagrams in 1.99 s: 100/s");
        assert_eq!(rate.take_due(at(9000)), None, "it is told once");
        rate.add(at(10_000), 1);
        rate.add(at(10_500), 1);
        assert_eq!(
            rate.take_rest().unwrap().things("datagram", "datagrams"),
            "2 datagrams in 0.5 s: 2/s"
        );
        rate.add(at(20_000), 1);
        assert_eq!(rate.take_rest(), None, "one has no rate");
    }

    #[test]
    fn what_goes_on_is_told_once_in_ten_seconds() {
        let mut rate = ServedRate::default();
        let told: Vec<String> = (0..6000)
            .filter_map(|n| {
                rate.add(at(10 * n), 1);
                rate.take_due(at(10 * n))
            })
            .map(|part| part.things("message", "messages"))
            .collect();
        assert_eq!(told.len(), 5, "{told:?}");
        assert_eq!(told[0], "1001 messages in 10 s: 100/s");
        assert_eq!(told[1], "1000 messages in 10 s: 100/s");
    }

    #[test]
    fn a_connection_has_the_rate_of_the_time_in_which_bytes_came() {
        let mut rate = ServedRate::default();
        for ms in [0, 500, 1000] {
            rate.add(at(8000 + ms), 1_250_000);
        }
        assert_eq!(rate.take_long(at(9000)), None);
        assert_eq!(rate.take_rest().unwrap().bytes(), "3750000 bytes in 1 s: 20 Mbit/s");
        assert_eq!(ServedRate::default().take_rest(), None);
    }
}
