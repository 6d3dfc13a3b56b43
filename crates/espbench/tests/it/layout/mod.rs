//! The page in a browser at three widths: nothing overflows or overlaps, no text is too small, and the
//! closed page is short.

use crate::page::{browse, proxy};
use crate::synthetic;
use crate::util::{TestDir, peer};
use espbench::render;
use std::path::Path;

/// The measuring page; `PAGE` stands for the address of the page to be measured.
const MEASURE: &str = include_str!("measure.html");

/// Smallest text in CSS pixels, but for what is rounded off.
const SMALLEST: f64 = 10.95;

/// Tallest closed page at the width of a laptop.
const TALLEST: f64 = 15_000.0;

/// Measures a page in frames of three widths.
fn measured(bench: &TestDir, page: &Path) -> Vec<serde_json::Value> {
    let address = format!("file://{}", page.display());
    let frames = bench.path("frames.html");
    std::fs::write(&frames, MEASURE.replace("\"PAGE\"", &format!("\"{address}\""))).unwrap();
    let (port, _) = proxy();
    let (dom, said) = browse(&frames, &bench.path("profile"), port);
    let json = dom.split("<pre id=\"measured\">").nth(1).and_then(|it| it.split("</pre>").next());
    let json = json.unwrap_or_else(|| panic!("nothing was measured: {said}"));
    let json = json.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    serde_json::from_str(&json).unwrap()
}

fn assert_layout(all: &[serde_json::Value]) {
    assert_eq!(all.len(), 3);
    for it in all {
        let number = |key: &str| it[key].as_f64().unwrap();
        let smallest = it["smallest"][0].as_f64().unwrap();
        assert!(smallest >= SMALLEST, "text of {smallest} px: {}", it["smallest"][1]);
        assert!(number("wide") <= number("width"), "it overflows: {it}");
        assert_eq!(it["overlaps"], serde_json::json!([]), "at {}", it["width"]);
    }
    assert!(all[1]["height"].as_f64().unwrap() <= TALLEST, "{}", all[1]);
    assert!(all[1]["opened"].as_f64() > all[1]["height"].as_f64(), "chapters are closed");
}

#[test]
fn a_page_of_sockets_fits_a_phone_a_laptop_and_a_large_screen() {
    if !peer("chromium") {
        return;
    }
    let bench = TestDir::new();
    let page = bench.path("report.html");
    std::fs::write(&page, render::html::render(&synthetic::report(&[1, 100, 900], 200))).unwrap();
    assert_layout(&measured(&bench, &page));
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
    let all = measured(&bench, &page);
    assert_layout(&all);

    // A page whose text is too small, and one that is too wide, are noticed.
    let html = std::fs::read_to_string(&page).unwrap();
    let narrow = html.replace("</style>", ".suite span { font-size: 8px } </style>");
    std::fs::write(&page, narrow).unwrap();
    assert!(measured(&bench, &page)[0]["smallest"][0].as_f64().unwrap() < 9.0);
    std::fs::write(&page, html.replace("</style>", "main { width: 3000px } </style>")).unwrap();
    assert!(measured(&bench, &page)[1]["wide"].as_f64().unwrap() > 1280.0);
}
