//! A trace as a cell keeps it: its windows and courses as one fact, its totals as counters.

use super::occupancy::{COLLIDED, SHARES};
use super::windows::{QueuedFlight, Window};
use super::{AirtimeKind, Trace};
use crate::lab::record::Record;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt::Write as _;
use espbench_model::excerpt::{ExcerptFrame, ExcerptLine, FACT, Points, Written};
use espbench_model::time::Instant;

const fn share_name(share: usize) -> &'static str {
    if share < COLLIDED { AirtimeKind::ALL[share].name() } else { "collided" }
}

impl Trace {
    /// Hands it over: the counters `air-ns-chCHANNEL-KIND`, of which those of a channel add up to
    /// the time that was watched (kinds that only Wi-Fi has only where there were some), and the fact [`FACT`].
    pub fn record(&self, record: &mut dyn Record) {
        let time = self.time.as_nanos() as u64;
        for (channel, usage) in &self.channels {
            for share in 0..SHARES {
                let wifi = share > AirtimeKind::Background as usize && share < COLLIDED;
                if wifi && usage.totals[share] == 0 {
                    continue;
                }
                let name = format!("air-ns-ch{channel}-{}", share_name(share));
                record.count(&name, usage.totals[share]);
            }
            let idle = time.saturating_sub(usage.busy());
            record.count(&format!("air-ns-ch{channel}-idle"), idle);
        }
        record.fact(FACT, self.text());
    }

    /// Writes the trace as text, one line for each thing; see [`espbench_model::excerpt`].
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        self.stations(&mut out);
        for (channel, usage) in &self.channels {
            for share in 0..SHARES {
                let permille = |step: &[u64; SHARES]| {
                    let step = step[share] * 1000 + usage.step_ns / 2;
                    (step / usage.step_ns).to_string()
                };
                let list: alloc::vec::Vec<String> = usage.course.iter().map(permille).collect();
                if usage.totals[share] > 0 {
                    let (channel, kind, step) = (*channel, share_name(share), usage.step_ns);
                    let line =
                        ExcerptLine::Share { channel, kind, step, permille: &list.join(",") };
                    put(&mut out, line);
                }
            }
        }
        self.windows.iter().for_each(|window| window.text(&mut out));
        out
    }

    /// Writes the names of the stations that take part in a window.
    fn stations(&self, out: &mut String) {
        for (number, name) in self.stations.iter().enumerate() {
            let number = number as u32;
            if self.windows.iter().any(|window| window.has(number)) {
                put(out, ExcerptLine::Station { number, name });
            }
        }
    }
}

impl Window {
    fn has(&self, station: u32) -> bool {
        let of = |it: &QueuedFlight| it.flight.from == station || it.flight.to == Some(station);
        self.flights.iter().any(of)
            || self.probes.iter().any(|it| it.station == station)
            || self.losses.iter().any(|it| it.1 == station)
            || self.levels.of.keys().any(|it| it.0 == station)
    }

    fn text(&self, out: &mut String) {
        let ns = Instant::as_nanos;
        put(out, ExcerptLine::Window { begin: ns(self.begin), end: ns(self.end), why: &self.why });
        for shown in &self.flights {
            put(out, ExcerptLine::Frame(shown.frame(&shown.flight.mode.to_string())));
        }
        for it in &self.probes {
            put(
                out,
                ExcerptLine::Probe {
                    station: it.station,
                    sequence: it.sequence,
                    begin: ns(it.begin),
                    end: ns(it.end),
                    fate: it.fate,
                },
            );
        }
        for &(at, station, cause) in &self.losses {
            put(out, ExcerptLine::Lost { station, at: ns(at), cause });
        }
        for (&(station, level), points) in &self.levels.of {
            if points.iter().all(|it| it.value == 0) {
                continue;
            }
            let text = Written(points).to_string();
            if let Some(points) = Points::read(&text) {
                put(out, ExcerptLine::Series { station, level, points });
            }
        }
        if self.missing > 0 {
            put(out, ExcerptLine::Missing(self.missing));
        }
    }
}

impl QueuedFlight {
    fn frame<'a>(&self, mode: &'a str) -> ExcerptFrame<'a> {
        let (it, between) =
            (&self.flight, |from: Instant, to: Instant| to.since(from).as_nanos() as u64);
        ExcerptFrame {
            kind: it.what,
            from: it.from,
            to: it.to,
            begin: it.begin.as_nanos(),
            took: between(it.begin, it.end),
            waited: between(self.first, it.begin),
            queued: between(it.queued, self.first),
            channel: it.channel,
            mode,
            octets: it.octets,
            sequence: it.sequence,
            attempt: it.attempt,
            heard: it.heard,
            collided: it.collided,
            noise: it.noise,
            queue: it.queue,
            mpdus: it.mpdus,
            lost: it.lost,
        }
    }
}

fn put(out: &mut String, line: ExcerptLine<'_>) {
    // A string takes all.
    let _ = writeln!(out, "{line}");
}
