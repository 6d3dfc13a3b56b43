//! The answer that the command prints: few lines, whatever was measured.

use crate::util::TestDir;

/// Asserts that an answer has at most that many lines, of at most 110 characters each.
fn assert_short(text: &str, most: usize) {
    assert!(text.lines().count() <= most, "{} lines:\n{text}", text.lines().count());
    for line in text.lines() {
        assert!(line.chars().count() <= 110, "{line}");
    }
}

#[test]
fn one_suite_has_fifteen_lines_and_all_tables_when_asked() {
    let bench = TestDir::new();
    let answer = bench.run(&["run", "esp32c3-rank", "-q"]).ok();
    assert_short(&answer, 15);
    assert!(
        answer.contains("SIMULATED") && answer.contains("times the theoretical limit"),
        "{answer}"
    );
    let words = answer.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("How true (Wi-Fi, 10 seeds): median error "), "{answer}");
    assert!(words.contains("worst: standard deviations"), "{answer}");
    assert!(!answer.contains('\u{1b}'), "no colour in a pipe");
    let full = bench.run(&["report", "--full"]).ok();
    assert!(full.lines().count() > 60, "{full}");
    assert!(full.starts_with("espbench report: esp32c3-rank-1"), "{full}");
}

#[test]
fn several_suites_have_a_line_each() {
    let bench = TestDir::new();
    let answer = bench.run(&["run", "one-way-latency", "crypto-time", "esp32c3-rank", "-q"]).ok();
    assert_short(&answer, 30);
    for suite in ["one-way-latency", "crypto-time", "esp32c3-rank"] {
        let rows = answer.lines().filter(|line| line.trim_start().starts_with(suite)).count();
        assert_eq!(rows, 1, "{suite}: {answer}");
    }
    assert!(answer.contains("½   1   2"), "{answer}");
}

#[test]
fn a_plan_for_a_battery_leads_with_current_and_life() {
    let bench = TestDir::new();
    bench.write(
        "sleep.toml",
        "name = \"sleep\"\ngoal = \"battery\"\n[[measure]]\nkind = \"udp-echo\"\n\
         variant = [\"ps-none\", \"ps-min-modem\"]\nsize = 100\ncount = 20\ninterval = \"1 s\"\n",
    );
    let answer = bench.run(&["run", "sleep.toml", "--on", "sim:power-save", "-q"]).ok();
    assert_short(&answer, 15);
    let head = answer.lines().nth(1).unwrap();
    let (current, life) = (head.find("current mean"), head.find("battery life"));
    assert!(current.is_some() && current < life && life < head.find("round trip"), "{answer}");
    assert!(answer.contains("  ps-none") && answer.contains("  ps-min-modem"), "{answer}");
}

#[test]
fn a_goal_that_is_not_known_is_refused_with_those_that_are() {
    let bench = TestDir::new();
    bench.write("odd.toml", "name = \"odd\"\ngoal = \"fast\"\n[[measure]]\nkind = \"udp-echo\"\n");
    let ran = bench.run(&["run", "odd.toml"]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.err.contains("latency, loss, throughput, battery"), "{}", ran.err);
}

#[test]
fn a_refused_port_takes_few_lines() {
    let bench = TestDir::new();
    let port = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let ran = bench.run(&["echo", &format!("127.0.0.1:{port}"), "-q"]);
    assert_eq!(ran.status, Some(2));
    assert_short(&ran.out, 15);
    assert!(ran.err.lines().count() <= 5, "{}", ran.err);
    assert!(ran.err.contains("nothing listens on that port"), "{}", ran.err);
}

#[test]
fn sizes_that_no_document_has_are_rows_too() {
    let bench = TestDir::new();
    bench.write(
        "own.toml",
        "name = \"own\"\n[[measure]]\nkind = \"udp-echo\"\nsize = [20, 300]\ncount = 20\n\
         interval = \"1 ms\"\n",
    );
    let answer = bench.run(&["run", "own.toml", "-q"]).ok();
    for row in ["20 B", "300 B"] {
        assert!(answer.contains(row), "{row}: {answer}");
    }
    assert!(!answer.contains("more cells"), "{answer}");
}
