//! The HTML report: in words, and in a real browser.

use crate::synthetic;
use crate::util::{PATIENCE, peer};
use espbench::render;
use espbench_measure::report::Report;
use proptest::prelude::*;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

fn small() -> Report {
    synthetic::report(&[1, 100, 900], 200)
}

/// Returns the marks of whatever a browser would fetch, in the markup and the style.
fn references(html: &str) -> Vec<&str> {
    let markup = html.split("<script>").next().unwrap();
    ["http:", "https:", "//", "src=", "url(", "@import", "<script", "<iframe", "<object", "<embed"]
        .into_iter()
        .filter(|r| markup.contains(r))
        .collect()
}

#[test]
fn nothing_in_the_page_refers_to_elsewhere() {
    let html = render::html::render(&small());
    assert_eq!(references(&html), Vec::<&str>::new());
}

/// Asserts that every element is closed in order, and that every anchor and label leads somewhere.
pub fn assert_well_formed(html: &str) {
    let void = ["meta", "link", "!DOCTYPE"];
    let mut open: Vec<&str> = Vec::new();
    let body = html.split("</style>").nth(1).expect("a style");
    // A script is no markup.
    let body = body.split("<script>").next().unwrap_or(body);
    for tag in body.split('<').skip(1) {
        let end = tag.find('>').unwrap_or_else(|| panic!("unclosed tag: {tag}"));
        let name = tag[..end].split([' ', '\n']).next().unwrap();
        if let Some(closed) = name.strip_prefix('/') {
            if !["head", "html"].contains(&closed) {
                assert_eq!(open.pop(), Some(closed));
            }
        } else if !tag[..end].ends_with('/') && !void.contains(&name) {
            open.push(name);
        }
    }
    let left = if html.contains("<script>") { vec!["body"] } else { Vec::new() };
    assert_eq!(open, left);
    let ids: Vec<&str> = values(html, "id=\"");
    let mut unique = ids.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), ids.len(), "an id stands twice");
    for target in values(html, "href=\"#")
        .into_iter()
        .chain(values(html, "aria-labelledby=\"").into_iter().flat_map(|ids| ids.split(' ')))
    {
        assert!(ids.contains(&target), "nothing has the id {target}");
    }
}

fn values<'a>(html: &'a str, attribute: &str) -> Vec<&'a str> {
    html.split(attribute).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn every_element_is_closed_and_every_anchor_leads_somewhere() {
    assert_well_formed(&render::html::render(&small()));
    let nothing = espbench_measure::report::Builder::new(&Default::default()).finish(None, 0, &[]);
    assert_well_formed(&render::html::render(&nothing));
}

#[test]
fn figures_have_words_and_data() {
    let report = small();
    let html = render::html::render(&report);
    assert!(!report.figures.is_empty());
    assert_eq!(html.matches("<figcaption>").count(), report.figures.len());
    assert_eq!(html.matches("<summary>Data</summary>").count(), report.figures.len());
    for figure in &report.figures {
        assert!(html.contains(&format!("<title id=\"{}-t\">", figure.id)), "{}", figure.id);
        assert!(!figure.alt.is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Names from outside hold anything; none becomes markup.
    #[test]
    fn names_from_outside_stay_text(name in "[\\PC\n\u{1b}<>&\"'`]{0,24}") {
        let mut report = synthetic::report(&[100], 5);
        let hostile = format!("{name}\"'><script>alert(1)</script>&<");
        report.run.name.clone_from(&hostile);
        report.run.target.clone_from(&hostile);
        report.run.plan_text = format!("{hostile}\n{hostile}");
        report.run.host.insert(hostile.clone(), hostile.clone());
        report.failures[0].error.clone_from(&hostile);
        report.figures[0].series[0].name.clone_from(&hostile);
        report.figures[0].alt.clone_from(&hostile);
        report.tables[0].columns[0].name.clone_from(&hostile);
        report.tables[0].rows[0][0] = Some(hostile);
        let html = render::html::render(&report);
        prop_assert_eq!(html.matches("<script").count(), 1, "ours alone");
        let escapes = html.contains('\u{1b}');
        prop_assert!(!escapes);
        assert_well_formed(&html);
    }
}

/// Asks for every connection that the browser makes: it is its proxy, and answers nothing.
pub fn proxy() -> (u16, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (asked, log) = mpsc::channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.set_read_timeout(Some(Duration::from_secs(2)));
            let mut head = [0; 512];
            let n = stream.read(&mut head).unwrap_or(0);
            let line = String::from_utf8_lossy(&head[..n]).lines().next().unwrap_or("").to_string();
            let _ = stream.write_all(b"HTTP/1.1 502 No\r\nContent-Length: 0\r\n\r\n");
            if asked.send(line).is_err() {
                return;
            }
        }
    });
    (port, log)
}

/// Loads a page in headless Chromium; returns the document, and what the browser said on stderr.
pub fn browse(page: &Path, profile: &Path, proxy: u16) -> (String, String) {
    browse_with(page, profile, proxy, &[])
}

/// Loads a page as [`browse`] does, with further flags.
pub fn browse_with(page: &Path, profile: &Path, proxy: u16, flags: &[&str]) -> (String, String) {
    let mut child = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--enable-logging=stderr", "--virtual-time-budget=5000", "--dump-dom"])
        // Pages of frames look into them.
        .arg("--allow-file-access-from-files")
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("--proxy-server=127.0.0.1:{proxy}"))
        .arg("--proxy-bypass-list=<-loopback>")
        .args(flags)
        .arg(format!("file://{}", page.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = child.stdout.take().unwrap();
    let mut err = child.stderr.take().unwrap();
    let dom = std::thread::spawn(move || {
        let mut text = String::new();
        let _ = out.read_to_string(&mut text);
        text
    });
    let said = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = err.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let end = Instant::now() + PATIENCE;
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > end {
            let _ = child.kill();
            panic!("chromium did not end");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    (dom.join().unwrap(), said.join().unwrap())
}

/// Returns whether a request is the browser's own: it asks its maker for updates and the time
/// whatever the page holds. The proxy lets none of that out either.
pub fn is_browsers_own(line: &str) -> bool {
    let host = line.split(' ').nth(1).unwrap_or("").trim_start_matches("http://");
    let host = host.split(['/', ':']).next().unwrap_or("");
    [".google.com", ".googleapis.com", ".gvt1.com"].iter().any(|maker| host.ends_with(maker))
}

/// Complaints of the page itself; the browser has others, about the machine that it runs on.
pub fn complaints(said: &str) -> Vec<&str> {
    said.lines().filter(|l| l.contains(":CONSOLE")).collect()
}

#[test]
fn chromium_shows_it_without_a_request_or_a_complaint() {
    if !peer("chromium") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("report.html");
    let report = small();
    std::fs::write(&page, render::html::render(&report)).unwrap();
    let (port, asked) = proxy();
    let (dom, said) = browse(&page, &folder.path().join("profile"), port);
    assert_eq!(dom.matches("<figure").count(), report.figures.len(), "{said}");
    assert_eq!(complaints(&said), Vec::<&str>::new());
    let by_page = |line: &String| !is_browsers_own(line);
    assert_eq!(asked.try_iter().filter(by_page).collect::<Vec<_>>(), Vec::<String>::new());

    // The same page with a picture from elsewhere is noticed, so the checks above can fail.
    let html = render::html::render(&report);
    let with = html.replace("<main>", "<main><img src=\"http://192.0.2.1/x.png\">");
    std::fs::write(&page, with).unwrap();
    let (_, said) = browse(&page, &folder.path().join("profile2"), port);
    assert!(!complaints(&said).is_empty(), "the policy forbids it: {said}");
    let policy = "<meta http-equiv=\"Content-Security-Policy\"";
    let without = html
        .replace(policy, "<meta name=\"none\"")
        .replace("<main>", "<main><img src=\"http://192.0.2.1/x.png\">");
    std::fs::write(&page, without).unwrap();
    browse(&page, &folder.path().join("profile3"), port);
    assert!(asked.try_iter().any(|line| line.contains("192.0.2.1")), "it would be asked for");
}
