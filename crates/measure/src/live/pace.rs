//! How far work has come, and how long the rest will take: from what the plan says, and from what was
//! done so far. Where neither tells, there is no estimate.

use core::time::Duration;

/// Length of a piece of work, as far as it is known before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkTime {
    /// The plan says how long, whatever the peer does.
    Told(Duration),
    /// Roughly known length beside other pieces, without a time.
    Guessed(Duration),
}

impl WorkTime {
    const fn weight(self) -> Duration {
        match self {
            Self::Told(time) | Self::Guessed(time) => time,
        }
    }
}

/// The piece of work that is being done.
#[derive(Clone, Copy, Debug)]
pub struct Present {
    /// Length of the work.
    pub span: WorkTime,
    /// Time for which it has been done.
    pub elapsed: Duration,
    /// Which part of it is done, from 0 to 1, where that can be counted.
    pub part: Option<f64>,
}

/// Less than this part says nothing about the rest.
const LEAST_PART: f64 = 0.05;

/// The pace of work in pieces.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    told_left: Duration,
    guessed_left: Duration,
    done: Duration,
    guessed_done: Duration,
    guessed_took: Duration,
}

impl Pace {
    /// Returns the pace of work of which all is still to be done.
    #[must_use]
    pub fn new(all: &[WorkTime]) -> Self {
        let mut pace = Self::default();
        for span in all {
            match span {
                WorkTime::Told(time) => pace.told_left += *time,
                WorkTime::Guessed(time) => pace.guessed_left += *time,
            }
        }
        pace
    }

    /// Takes note of a piece that is done, and took so long.
    pub fn advance(&mut self, span: WorkTime, took: Duration) {
        self.done += span.weight();
        match span {
            WorkTime::Told(time) => self.told_left = self.told_left.saturating_sub(time),
            WorkTime::Guessed(time) => {
                self.guessed_left = self.guessed_left.saturating_sub(time);
                self.guessed_done += time;
                self.guessed_took += took;
            }
        }
    }

    /// Says anew how much is still to come, as a guess.
    pub fn expect(&mut self, left: Duration) {
        (self.told_left, self.guessed_left) = (Duration::ZERO, left);
    }

    /// Returns the part that is done, from 0 to 1.
    #[must_use]
    pub fn share(&self, present: Option<Present>) -> f64 {
        let left = self.told_left + self.guessed_left;
        let all = (self.done + left).as_secs_f64();
        if all <= 0.0 {
            return 0.0;
        }
        let begun = present.map_or(0.0, |it| {
            let part = match (it.span, it.part) {
                (_, Some(part)) => part,
                (WorkTime::Told(time), None) => ratio(it.elapsed, time).unwrap_or(0.0),
                (WorkTime::Guessed(_), None) => 0.0,
            };
            it.span.weight().min(left).as_secs_f64() * part.clamp(0.0, 1.0)
        });
        ((self.done.as_secs_f64() + begun) / all).min(1.0)
    }

    /// Returns how long the rest takes; `None` where nothing tells.
    #[must_use]
    pub fn left(&self, present: Option<Present>) -> Option<Duration> {
        let measured = ratio(self.guessed_took, self.guessed_done);
        let Some(now) = present else { return self.rest(measured) };
        let part = now.part.filter(|part| (LEAST_PART..=1.0).contains(part));
        // What is done of the present piece says how long all of it takes.
        let whole = match (now.span, part) {
            (WorkTime::Told(time), _) => Some(time),
            (WorkTime::Guessed(_), Some(part)) => Some(now.elapsed.div_f64(part)),
            (WorkTime::Guessed(time), None) => measured.map(|slow| time.mul_f64(slow)),
        };
        let of_present = whole?.checked_sub(now.elapsed)?;
        let slow = match now.span {
            WorkTime::Guessed(time) => measured.or_else(|| ratio(whole?, time)),
            WorkTime::Told(_) => measured,
        };
        Some(of_present + self.rest_but(now.span, slow)?)
    }

    fn rest_but(&self, present: WorkTime, slow: Option<f64>) -> Option<Duration> {
        let mut rest = *self;
        match present {
            WorkTime::Told(time) => rest.told_left = rest.told_left.saturating_sub(time),
            WorkTime::Guessed(time) => rest.guessed_left = rest.guessed_left.saturating_sub(time),
        }
        rest.rest(slow)
    }

    fn rest(&self, slow: Option<f64>) -> Option<Duration> {
        let guessed = match self.guessed_left {
            Duration::ZERO => Duration::ZERO,
            left => left.mul_f64(slow?),
        };
        Some(self.told_left + guessed)
    }
}

/// Returns how many times `b` is in `a`; `None` of nothing. A thousand million times is enough.
fn ratio(a: Duration, b: Duration) -> Option<f64> {
    (!b.is_zero()).then(|| (a.as_secs_f64() / b.as_secs_f64()).min(1e9))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn present(span: WorkTime, elapsed: u64, part: Option<f64>) -> Option<Present> {
        Some(Present { span, elapsed: s(elapsed), part })
    }

    #[test]
    fn times_of_the_plan_are_added_up() {
        let ten = WorkTime::Told(s(10));
        let mut pace = Pace::new(&[ten; 3]);
        assert_eq!(pace.left(present(ten, 4, None)), Some(s(26)));
        assert!((pace.share(present(ten, 6, None)) - 0.2).abs() < 1e-9);
        pace.advance(ten, s(11));
        assert_eq!(pace.left(present(ten, 0, None)), Some(s(20)));
        assert_eq!(pace.left(present(ten, 12, None)), None, "longer than it should");
    }

    #[test]
    fn nothing_is_said_of_guesses_before_any_is_done() {
        let guess = WorkTime::Guessed(s(7));
        let mut pace = Pace::new(&[guess; 4]);
        assert_eq!(pace.left(present(guess, 0, None)), None);
        assert_eq!(pace.left(present(guess, 1, Some(0.01))), None);
        assert_eq!(pace.share(present(guess, 0, None)), 0.0);
        // A quarter in a second: four seconds each.
        assert_eq!(pace.left(present(guess, 1, Some(0.25))), Some(s(15)));
        pace.advance(guess, s(2));
        assert_eq!(pace.left(present(guess, 1, None)), Some(s(5)));
    }

    #[test]
    fn what_is_told_and_what_is_guessed_stand_side_by_side() {
        let (told, guess) = (WorkTime::Told(s(10)), WorkTime::Guessed(s(1)));
        let mut pace = Pace::new(&[told, guess, guess]);
        assert_eq!(pace.left(present(told, 1, None)), None);
        pace.advance(told, s(10));
        pace.advance(guess, s(3));
        assert_eq!(pace.left(present(guess, 0, None)), Some(s(3)));
        pace.expect(s(2));
        assert_eq!(pace.left(None), Some(s(6)));
    }

    proptest! {
        #[test]
        fn no_numbers_panic(
            all in proptest::collection::vec(0..u64::MAX / 8, 0..4),
            took in 0..u64::MAX / 8,
            part in proptest::option::of(any::<f64>()),
        ) {
            let spans: alloc::vec::Vec<WorkTime> = all
                .iter()
                .map(|&it| if it % 2 == 0 { WorkTime::Told(s(it >> 32)) } else { WorkTime::Guessed(s(it >> 32)) })
                .collect();
            let mut pace = Pace::new(&spans);
            for &span in &spans {
                let now = Some(Present { span, elapsed: s(took >> 32), part });
                let _ = pace.left(now);
                prop_assert!((0.0..=1.0).contains(&pace.share(now)));
                pace.advance(span, s(took >> 32));
            }
        }
    }
}
