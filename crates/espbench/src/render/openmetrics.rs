//! The figures of a run so far in the OpenMetrics text format, version 1.0, as Prometheus scrapes it.
//!
//! Only types that the older text format has as well are used, so that node_exporter's textfile collector
//! reads it too. Units are base units (seconds, bytes), names end with them, counters' samples with
//! `_total`. A cell is told by the labels `run`, `number` (unique in the run) and `cell` (in words).

use espbench_measure::live::{FateCounts, StreamCounts, Times};
use espbench_model::sample::Observer;
use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::sync::Arc;

/// Content type of the format in HTTP.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A run so far.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Name of the run.
    pub run: String,
    /// Target of the run.
    pub target: String,
    /// Plan of the run.
    pub plan: String,
    /// Measured or simulated.
    pub origin: &'static str,
    /// Whether it still goes.
    pub active: bool,
    /// Cells to do.
    pub planned: usize,
    /// Cells that are done, those that failed among them.
    pub done: u64,
    /// Cells that failed.
    pub failed: u64,
    /// The cells, oldest first.
    pub cells: Vec<Arc<Figures>>,
}

/// A cell so far.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Number of the cell in the run, from 1.
    pub number: usize,
    /// Which cell, in words.
    pub place: String,
    /// Fates of the cell's probes.
    pub tally: FateCounts,
    /// Their times.
    pub times: Option<Times>,
    /// Figures of the cell's streams.
    pub streams: BTreeMap<Observer, StreamCounts>,
}

/// Renders the state of a run in the OpenMetrics text format.
#[must_use]
pub fn render(run: &Snapshot) -> String {
    let mut out = Text { text: String::new(), run };
    out.run();
    out.probes();
    out.latency();
    out.streams();
    out.text.push_str("# EOF\n");
    out.text
}

struct Text<'a> {
    text: String,
    run: &'a Snapshot,
}

impl Text<'_> {
    fn family(&mut self, name: &str, kind: &str, unit: &str, help: &str) {
        let _ = writeln!(self.text, "# TYPE {name} {kind}");
        if !unit.is_empty() {
            let _ = writeln!(self.text, "# UNIT {name} {unit}");
        }
        let _ = writeln!(self.text, "# HELP {name} {help}");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let label = |(name, value): &(&str, &str)| format!("{name}=\"{}\"", escaped(value));
        let labels: Vec<String> = labels.iter().map(label).collect();
        let _ = writeln!(self.text, "{name}{{{}}} {value}", labels.join(","));
    }

    fn run(&mut self) {
        let run = self.run;
        let of = [("run", run.run.as_str())];
        self.family("espbench_run_active", "gauge", "", "1 while the run goes, 0 once it is over.");
        let told = [
            ("run", run.run.as_str()),
            ("target", &run.target),
            ("plan", &run.plan),
            ("origin", run.origin),
        ];
        self.sample("espbench_run_active", &told, u8::from(run.active));
        self.family("espbench_cells_planned", "gauge", "", "Cells that the run has to do.");
        self.sample("espbench_cells_planned", &of, run.planned);
        self.family(
            "espbench_cells_done",
            "counter",
            "",
            "Cells that ended, failed ones included.",
        );
        self.sample("espbench_cells_done_total", &of, run.done);
        self.family("espbench_cells_failed", "counter", "", "Cells that failed.");
        self.sample("espbench_cells_failed_total", &of, run.failed);
    }

    fn probes(&mut self) {
        self.family(
            "espbench_probes",
            "counter",
            "",
            "Probes or messages, by what became of them.",
        );
        for cell in &self.run.cells {
            let FateCounts { delivered, lost, late, corrupt, duplicate, .. } = cell.tally;
            for (fate, count) in [
                ("delivered", delivered),
                ("lost", lost),
                ("late", late),
                ("corrupt", corrupt),
                ("duplicate", duplicate),
            ] {
                self.of_cell("espbench_probes_total", cell, &[("fate", fate)], count);
            }
        }
    }

    fn latency(&mut self) {
        let help = "Round trip, or time from when a message was due to its arrival; quantiles are at \
                    most one part in 2048 off.";
        self.family("espbench_latency_seconds", "summary", "seconds", help);
        for cell in &self.run.cells {
            let (mut n, mut sum) = (0, 0.0);
            if let Some(times) = &cell.times {
                (n, sum) = (times.n, times.avg * times.n as f64 / 1e3);
                for (q, ms) in [
                    ("0.5", times.p50),
                    ("0.9", times.p90),
                    ("0.99", times.p99),
                    ("0.999", times.p999),
                    ("1.0", times.max),
                ] {
                    let of = [("quantile", q)];
                    self.of_cell("espbench_latency_seconds", cell, &of, Number(ms / 1e3));
                }
            }
            self.of_cell("espbench_latency_seconds_sum", cell, &[], Number(sum));
            self.of_cell("espbench_latency_seconds_count", cell, &[], n);
        }
    }

    fn streams(&mut self) {
        let rate = |bits: Option<f64>| bits.map(|bits| Number(bits / 8.0));
        self.each_stream(
            ("espbench_payload_bytes", "_total", "counter", "bytes"),
            "Payload of streams, by who counted it.",
            |stream| Some(stream.bytes),
        );
        self.each_stream(
            ("espbench_throughput_bytes_per_second", "", "gauge", "bytes_per_second"),
            "Payload over time in the last interval that is over, all streams together.",
            |stream| rate(stream.bits_per_s),
        );
        self.each_stream(
            ("espbench_datagrams", "_total", "counter", ""),
            "Datagrams or messages, by who counted them.",
            |stream| Some(stream.datagrams),
        );
        self.each_stream(
            ("espbench_datagrams_lost", "_total", "counter", ""),
            "Datagrams missing by number, by who counted them.",
            |stream| Some(stream.lost),
        );
        self.each_stream(
            ("espbench_datagrams_per_second", "", "gauge", ""),
            "Datagrams or messages over time in the last interval that is over.",
            |stream| stream.datagrams_per_s.map(Number),
        );
    }

    fn each_stream<V: Display>(
        &mut self,
        (name, ending, kind, unit): (&str, &str, &str, &str),
        help: &str,
        value: impl Fn(&StreamCounts) -> Option<V>,
    ) {
        self.family(name, kind, unit, help);
        for cell in &self.run.cells {
            for (observer, stream) in &cell.streams {
                if let Some(value) = value(stream) {
                    let of = [("observer", observer.name())];
                    self.of_cell(&format!("{name}{ending}"), cell, &of, value);
                }
            }
        }
    }

    fn of_cell(&mut self, name: &str, cell: &Figures, more: &[(&str, &str)], value: impl Display) {
        let number = cell.number.to_string();
        let own = [("run", self.run.run.as_str()), ("number", &number), ("cell", &cell.place)];
        self.sample(name, &[&own[..], more].concat(), value);
    }
}

/// A number as both formats read it.
struct Number(f64);

impl Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            n if n.is_nan() => f.write_str("NaN"),
            n if n.is_infinite() => f.write_str(if n > 0.0 { "+Inf" } else { "-Inf" }),
            n => write!(f, "{n}"),
        }
    }
}

/// Escapes backslash, quote and line feed in a label's value.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped_and_the_text_has_an_end() {
        let run = Snapshot { run: "a\"b\\c\nd".into(), origin: "measured", ..Snapshot::default() };
        let text = render(&run);
        assert!(text.contains("espbench_cells_done_total{run=\"a\\\"b\\\\c\\nd\"} 0\n"), "{text}");
        assert!(text.ends_with("\n# EOF\n"));
    }

    #[test]
    fn a_cell_has_its_counts_and_times() {
        let times =
            Times { n: 2, min: 1.0, avg: 2.0, p50: 1.0, p90: 3.0, p99: 3.0, p999: 3.0, max: 3.0 };
        let tally = FateCounts { delivered: 2, corrupt: 1, ..FateCounts::default() };
        let place = "udp-echo, 100 B".into();
        let cell = Figures { number: 1, place, tally, times: Some(times), ..Figures::default() };
        let text = render(&Snapshot {
            run: "r".into(),
            cells: vec![Arc::new(cell)],
            ..Snapshot::default()
        });
        for line in [
            "espbench_probes_total{run=\"r\",number=\"1\",cell=\"udp-echo, 100 B\",fate=\"corrupt\"} 1",
            "espbench_latency_seconds{run=\"r\",number=\"1\",cell=\"udp-echo, 100 B\",quantile=\"0.5\"} 0.001",
            "espbench_latency_seconds_sum{run=\"r\",number=\"1\",cell=\"udp-echo, 100 B\"} 0.004",
            "espbench_latency_seconds_count{run=\"r\",number=\"1\",cell=\"udp-echo, 100 B\"} 2",
        ] {
            assert!(text.lines().any(|it| it == line), "{line}\n{text}");
        }
    }
}
