//! Prints the first causes of labelled logs that are wrong.
use espbench_doctor::finding::DiagnosisVerdict;
use espbench_doctor::log::LogReader;
use espbench_doctor::rules::diagnose;
fn main() {
    let mut sums = (0, 0, 0, 0);
    for folder in std::env::args().skip(1) {
        let rows = std::fs::read_to_string(format!("{folder}/labels.csv")).unwrap();
        for row in rows.lines() {
            let Some((name, label)) = row.split_once(',') else { continue };
            let label = label.trim().trim_matches('"');
            let Ok(bytes) = std::fs::read(format!("{folder}/{name}.log")) else { continue };
            let mut reader = LogReader::new();
            reader.push(&bytes);
            let found = diagnose(&reader.finish());
            let (first, sure) = match (found.verdict, found.findings.first()) {
                (DiagnosisVerdict::CannotTell, _) => ("cannot-tell".to_string(), ""),
                (_, Some(it)) => (it.cause.name(), it.certainty.word()),
                _ => ("nothing-wrong".to_string(), ""),
            };
            let healthy = label == "healthy";
            let right = if healthy {
                first == "cannot-tell" || first == "nothing-wrong"
            } else {
                label.split('|').any(|it| it == first)
            };
            if healthy {
                sums.2 += 1;
                sums.3 += u32::from(!right);
            } else {
                sums.0 += 1;
                sums.1 += u32::from(right);
            }
            if !right {
                let place = found
                    .findings
                    .first()
                    .and_then(|it| it.evidence.first())
                    .map(|it| format!("{}: {}", it.line, it.text))
                    .unwrap_or_default();
                println!("{name}: {label} -> {first} {sure} [{place}]");
            }
        }
    }
    println!("{} of {} right; {} of {} false alarms", sums.1, sums.0, sums.3, sums.2);
}
