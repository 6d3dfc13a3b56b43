//! The page in a browser at three widths, light, dark and on paper: nothing overflows or overlaps, no text is
//! too small or too faint, and the closed page is short.

use crate::page::{browse_with, proxy};
use crate::synthetic;
use crate::util::{TestDir, peer};
use espbench::render;
use std::path::Path;

/// The measuring page; `PAGE` stands for the address of the page to be measured.
const MEASURE: &str = include_str!("measure.html");

/// The page that moves keys and pointer over charts.
const READ: &str = include_str!("read.html");

/// Smallest text in CSS pixels, but for what is rounded off; on paper that is 8.25 points.
const SMALLEST: f64 = 10.95;

/// Times that a page may say that its figures are simulated: one badge, the run's own facts, and sentences.
const SIMULATED: usize = 12;

/// Tallest closed page at the width of a laptop.
const TALLEST: f64 = 15_000.0;

/// Appearances of a page.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Looks {
    Light,
    Dark,
    Paper,
}

/// Measures a page in frames of three widths.
fn measured(bench: &TestDir, page: &Path, looks: Looks) -> Vec<serde_json::Value> {
    let medium = if looks == Looks::Paper { "print" } else { "screen" };
    let dark = "--blink-settings=preferredColorScheme=0";
    let flags = if looks == Looks::Dark { &[dark][..] } else { &[] };
    found(bench, page, &MEASURE.replace("MEDIUM", medium), flags)
}

/// Opens a page that looks into another, and returns what it found.
fn found(bench: &TestDir, page: &Path, looking: &str, flags: &[&str]) -> Vec<serde_json::Value> {
    let address = format!("file://{}", page.display());
    let frames = bench.path("frames.html");
    std::fs::write(&frames, looking.replace("\"PAGE\"", &format!("\"{address}\""))).unwrap();
    let (port, _) = proxy();
    let (dom, said) = browse_with(&frames, &bench.path("profile"), port, flags);
    let json = dom.split("<pre id=\"measured\">").nth(1).and_then(|it| it.split("</pre>").next());
    let json = json.unwrap_or_else(|| panic!("nothing was measured: {said}"));
    let json = json.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    serde_json::from_str(&json).unwrap()
}

fn assert_layout(bench: &TestDir, page: &Path) {
    for looks in [Looks::Light, Looks::Dark, Looks::Paper] {
        let all = measured(bench, page, looks);
        assert_eq!(all.len(), 3);
        for it in &all {
            let number = |key: &str| it[key].as_f64().unwrap();
            let smallest = it["smallest"][0].as_f64().unwrap();
            let of = format!("{looks:?} at {}", it["width"]);
            assert!(smallest >= SMALLEST, "{of}: text of {smallest} px: {}", it["smallest"][1]);
            assert_eq!(it["faint"], serde_json::json!([]), "{of}");
            assert_eq!(number("ground") < 0.5, looks == Looks::Dark, "{of}");
            assert_eq!(it["overlaps"], serde_json::json!([]), "{of}");
            assert!(number("charts") > 0.0, "{of}: chapters are open: {it}");
            if looks == Looks::Paper {
                assert_eq!(number("controls"), 0.0, "{of}: {it}");
            } else {
                assert!(number("wide") <= number("width"), "{of}: it overflows: {it}");
                assert_eq!(it["broken"], serde_json::json!([]), "{of}: an interval breaks");
                assert!(number("controls") > 0.0, "{of}: {it}");
            }
        }
        if looks != Looks::Paper {
            assert!(all[1]["height"].as_f64().unwrap() <= TALLEST, "{}", all[1]);
            assert!(all[1]["opened"].as_f64() > all[1]["height"].as_f64(), "chapters are closed");
        }
    }
}

/// Returns the text that a reader sees or hears, without the words of attributes.
fn words(html: &str) -> String {
    let body = html.split("</style>").nth(1).unwrap();
    let body = body.split("<script>").next().unwrap();
    body.split('<').filter_map(|it| it.split_once('>')).map(|(_, text)| text).collect()
}

#[test]
fn a_page_of_sockets_fits_a_phone_a_laptop_and_a_large_screen() {
    if !peer("chromium") {
        return;
    }
    let bench = TestDir::new();
    let page = bench.path("report.html");
    std::fs::write(&page, render::html::render(&synthetic::report(&[1, 100, 900], 200))).unwrap();
    assert_layout(&bench, &page);
}

#[test]
fn a_page_with_a_lab_beside_the_run_fits_them_too() {
    if !peer("chromium") {
        return;
    }
    let bench = TestDir::new();
    let plan = "name = \"echoes\"\n[[measure]]\nkind = \"udp-echo\"\nsize = [20, 200, 1000]\n\
                count = 30\ninterval = \"2 ms\"\n";
    bench.write("echoes.toml", plan);
    let run = ["run", "echoes.toml", "--on", "loopback", "-q", "-o", "page.html"];
    bench.run(&[&run[..], &["--beside", "--variant", "arduino"]].concat()).ok();
    assert_layout(&bench, &bench.path("page.html"));
}

/// The answer of `tune` stands above the fold: a verdict that heads the page, and a card beside one chart.
#[test]
fn the_pages_of_tune_fit_them_too() {
    if !peer("chromium") {
        return;
    }
    let bench = TestDir::new();
    bench.write("sdkconfig", crate::tune::SDKCONFIG);
    let tune = ["tune", "-q", "--time", "500ms", "--check", "sdkconfig", "-o", "page.html"];
    let wants = ["--want", "tcp-tx>=30Mbit/s", "--budget", "16"];
    let verdicts =
        ["sdkconfig: 1 thing is wrong; two changes make TCP receiving ", "reached with "];
    for (args, verdict) in [tune.to_vec(), [&tune[..], &wants].concat()].iter().zip(verdicts) {
        bench.run(args).ok();
        let page = bench.path("page.html");
        assert_layout(&bench, &page);
        let html = std::fs::read_to_string(&page).unwrap();
        for tag in ["<title>", "<h1>"] {
            let text = html.split(tag).nth(1).unwrap().split('<').next().unwrap();
            assert!(text.contains(verdict), "{tag}{text}");
        }
        for it in measured(&bench, &page, Looks::Light).iter().filter(|it| it["width"] != 390) {
            let end = it["answer"].as_f64().unwrap();
            assert!((200.0..900.0).contains(&end), "the answer is not above the fold: {it}");
        }
        let phone = &measured(&bench, &page, Looks::Light)[0];
        assert_eq!(phone["cards"], serde_json::json!([]), "the card is wider than a phone");
        assert!(phone["intervals"].as_u64().unwrap() >= 2, "{phone}");
    }
    // An interval that breaks is noticed.
    let page = bench.path("page.html");
    let html = std::fs::read_to_string(&page).unwrap();
    let rule = ".glance small { white-space: normal; width: 3em } </style>";
    std::fs::write(&page, html.replace("</style>", rule)).unwrap();
    assert_ne!(measured(&bench, &page, Looks::Light)[0]["broken"], serde_json::json!([]));
}

#[test]
fn a_page_of_several_suites_fits_them_too() {
    if !peer("chromium") {
        return;
    }
    let bench = TestDir::new();
    let suites = ["run", "one-way-latency", "crypto-time", "esp32c3-rank", "-q", "-o", "all.html"];
    bench.run(&suites).ok();
    let page = bench.path("all.html");
    assert_layout(&bench, &page);

    // A page whose text is too small, and one that is too wide, are noticed.
    let html = std::fs::read_to_string(&page).unwrap();
    let said = words(&html).matches("imulated").count();
    assert!((1..=SIMULATED).contains(&said), "{said} times");
    // What is taken out of the page still tells where its values come from.
    let tag = |it: &str| it.split('>').next().unwrap().contains("data-origin=\"simulated\"");
    assert!(html.split("<figure id=").skip(1).filter(|it| it.contains("-f\"")).all(tag));
    let tables = html.split("<table").skip(1);
    let results: Vec<&str> =
        tables.filter(|it| it.split("</thead>").next().unwrap().contains(" sim\"")).collect();
    assert!(results.len() > 5 && results.iter().all(|it| tag(it)), "{}", results.len());
    let narrow = html.replace("</style>", ".suite span { font-size: 8px } </style>");
    std::fs::write(&page, narrow).unwrap();
    assert!(measured(&bench, &page, Looks::Light)[0]["smallest"][0].as_f64().unwrap() < 9.0);
    std::fs::write(&page, html.replace("</style>", "main { width: 3000px } </style>")).unwrap();
    assert!(measured(&bench, &page, Looks::Light)[1]["wide"].as_f64().unwrap() > 1280.0);
    std::fs::write(&page, html.replace("</style>", ".soft, .alt, .key { color: #999 } </style>"))
        .unwrap();
    assert_ne!(measured(&bench, &page, Looks::Light)[1]["faint"], serde_json::json!([]));
}

#[test]
fn charts_show_values_under_the_pointer_and_by_keys() {
    if !peer("chromium") {
        return;
    }
    let bench = TestDir::new();
    let page = bench.path("report.html");
    std::fs::write(&page, render::html::render(&synthetic::report(&[1, 100, 900], 200))).unwrap();
    let charts = found(&bench, &page, READ, &[]);
    assert!(charts.len() > 5, "{charts:?}");
    for chart in &charts {
        assert_eq!(
            (&chart["reached"], &chart["live"]),
            (&true.into(), &"polite".into()),
            "{chart}"
        );
        assert!(!chart["keys"].as_str().unwrap().is_empty(), "{chart}");
    }
    let by_size = charts.iter().find(|it| it["keys"].as_str().unwrap().contains("median "));
    let by_size = by_size.unwrap_or_else(|| panic!("{charts:?}"));
    for read in ["keys", "pointer"] {
        let text = by_size[read].as_str().unwrap();
        let (at, values) = text.split_once(" bytes: ").unwrap();
        assert!((1.0..=900.0).contains(&at.parse::<f64>().unwrap()), "{text}");
        let median = values.split(" · ").find_map(|it| it.strip_prefix("median ")).unwrap();
        let median: f64 = median.strip_suffix(" ms").unwrap().parse().unwrap();
        // Floors are 2.6 ms and more, with a tail of some milliseconds.
        assert!((2.6..12.0).contains(&median), "{text}");
    }
}
