//! Limits of `espbench predict`: the exit status, and searches that come to an early end.

use crate::util::TestDir;

const SMALL: [&str; 5] = ["-q", "--rooms", "3", "--messages", "600"];

/// Runs a question with little effort; returns its exit status and what it prints.
fn asked(args: &[&str]) -> (Option<i32>, String) {
    let ran = TestDir::new().run(&[&["predict"], args, &SMALL].concat());
    (ran.status, ran.out.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// 1 where a limit that the user gave is broken, 0 where it holds or nobody gave one.
#[test]
fn the_exit_status_says_whether_the_limits_are_kept() {
    const FEW: [&str; 6] = ["--devices", "4", "--every", "1s", "--room", "bench"];
    let status = |question: &str, limits: &[&str]| asked(&[&[question], &FEW[..], limits].concat());
    let (broken, text) = status("fleet", &["--p99", "1ms"]);
    assert!(broken == Some(1) && text.contains("is broken"), "{text}");
    assert_eq!(status("fleet", &["--p99", "1s", "--loss", "50%"]).0, Some(0));
    assert_eq!(status("fleet", &[]).0, Some(0));
    // Of rates and chips one that keeps them is enough.
    let two = ["--phy-rates", "1M,11M"];
    assert_eq!(status("rate", &[&two[..], &["--p99", "1us"]].concat()).0, Some(1));
    assert_eq!(status("rate", &[&two[..], &["--p99", "1s"]].concat()).0, Some(0));
    assert_eq!(status("rate", &["--phy-rate", "11M", "--p99", "1us"]).0, Some(1));
    let chips = ["--profile", "esp32,esp32c3"];
    assert_eq!(status("compare", &[&chips[..], &["--p99", "1us"]].concat()).0, Some(1));
    assert_eq!(status("compare", &[&chips[..], &["--p99", "1s"]].concat()).0, Some(0));
    // Each fleet whose size was given is to keep them; what breaks them is named.
    let several = ["fleet", "--devices", "2,300", "--every", "100ms", "--room", "bench"];
    let (broken, text) = asked(&[&several[..], &["--loss", "5%", "--p99", "50ms"]].concat());
    assert_eq!(broken, Some(1), "{text}");
    assert!(text.contains("are broken with 300 devices."), "{text}");
    let (kept, text) = asked(&[&several[..], &["--loss", "100%"]].concat());
    assert!(kept == Some(0) && text.contains("holds with each number."), "{text}");
}

/// A rate that breaks a limit that nobody gave is an answer.
#[test]
fn a_limit_that_nobody_gave_fails_nothing() {
    let far =
        ["rate", "--devices", "3", "--phy-rates", "54M", "--room", "open", "--distance", "900"];
    let (status, text) = asked(&far);
    assert!(status == Some(0) && text.contains("does not keep loss at most 1 %"), "{text}");
    assert_eq!(asked(&[&far[..], &["--loss", "1%"]].concat()).0, Some(1));
}

/// A search says for what its time did not suffice, and how long it takes before that.
#[test]
fn a_search_whose_time_is_over_says_what_is_open() {
    let args = ["predict", "fleet", "--loss", "1%", "--every", "20s", "--payload", "50"];
    let limits = ["--most", "9000", "--time-limit", "1s"];
    let ran = TestDir::new().run(&[&args[..], &limits].concat());
    assert!(
        ran.err.contains("The largest fleet is looked for up to 9000 devices (--most)"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("1 s") && ran.err.contains("(--time-limit)"), "{}", ran.err);
    let text = ran.ok();
    assert!(text.contains("Of the numbers tried by then"), "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("do is not known. --time-limit gives it more."), "{text}");
    assert!(text.lines().count() <= 25, "{text}");
    // Few devices come first, and the title says of how many the figures are.
    let title = text.lines().next().unwrap_or_default();
    assert!(!title.contains("no device") && title.contains(" devices,"), "{text}");
}
