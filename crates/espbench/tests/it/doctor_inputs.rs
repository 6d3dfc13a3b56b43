//! Inputs of `espbench doctor`: gzip, folders of logs of many devices, reports of `idf.py diag`, and pipes.

use crate::util::{Ran, TestDir};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write as _;
use std::process::Stdio;

const LOST: &str = include_str!("../../../../fuzz/corpus/doctor_log/lost-beacons");

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_file_in_gzip_tells_what_it_does_unpacked() {
    let bench = TestDir::new();
    let capture = include_bytes!("../../../doctor/tests/cases/capture-weak-signal.pcap");
    let config = "CONFIG_IDF_TARGET=\"esp32c3\"\nCONFIG_LWIP_TCP_WND_DEFAULT=2880\n";
    for (name, bytes) in [
        ("boot.log", LOST.as_bytes()),
        ("air.pcap", &capture[..]),
        ("sdkconfig", config.as_bytes()),
    ] {
        let packed = format!("{name}.gz");
        std::fs::write(bench.path(name), bytes).unwrap();
        std::fs::write(bench.path(&packed), gzip(bytes)).unwrap();
        let of = |name: &str| bench.run(&["doctor", "--no-proof", "--full", name]).ok();
        let plain = of(name).replacen(name, &packed, 1);
        assert_eq!(of(&packed), plain, "{name}");
    }
    let checked = bench.run(&["tune", "--check", "sdkconfig.gz", "-q", "--time", "500ms"]).ok();
    assert!(checked.starts_with("sdkconfig.gz: "), "{checked}");
    std::fs::write(bench.path("cut.gz"), &gzip(LOST.as_bytes())[..100]).unwrap();
    let cut = bench.run(&["doctor", "cut.gz"]);
    let lines: Vec<&str> = cut.err.lines().collect();
    assert_eq!((cut.status, lines.len()), (Some(2), 3), "{}", cut.err);
    assert!(
        lines[1].contains("what is packed is broken") && lines[2].contains("copy the file again")
    );
}

#[test]
fn a_row_of_several_devices_has_no_words_of_one_log() {
    let bench = TestDir::new();
    for (name, reason) in [("a", 15), ("b", 202), ("c", 15)] {
        let line = format!("W (5) sta: reason={reason}\nW (9000) sta: reason={reason}\n");
        bench.write(&format!("{name}.log"), &line);
    }
    let out = bench.run(&["doctor", "--no-proof", "a.log", "b.log", "c.log"]).ok();
    let row = out.lines().find(|it| it.contains("a.log")).unwrap_or_default();
    assert!(row.contains("password") && !row.contains("reason"), "{out}");
}

#[test]
fn a_folder_is_of_many_devices_and_leads_with_who_suffers_from_what() {
    let bench = TestDir::new();
    let fine = LOST.split("I (95683)").next().unwrap();
    let password = include_str!("../../../doctor/tests/cases/idf-password.log");
    for folder in ["logs/hall", "logs/.hidden", "outside"] {
        std::fs::create_dir_all(bench.path(folder)).unwrap();
    }
    bench.write("logs/a.log", LOST);
    bench.write("logs/b.log", fine);
    std::fs::write(bench.path("logs/c.log.gz"), gzip(LOST.as_bytes())).unwrap();
    bench.write("logs/hall/d.log", password);
    bench.write(
        "logs/hall/sdkconfig",
        "CONFIG_IDF_TARGET=\"esp32c3\"\nCONFIG_LWIP_TCP_WND_DEFAULT=2880\n",
    );
    bench.write("logs/hall/sdkconfig.old", "CONFIG_IDF_TARGET=\"esp32c3\"\n");
    bench.write("logs/.hidden/e.log", LOST);
    bench.write("logs/README", "Today it rained.\n");
    std::fs::write(bench.path("logs/image.bin"), [0xe9, 0, 0, 0]).unwrap();
    bench.write("outside/f.log", LOST);
    #[cfg(unix)]
    std::os::unix::fs::symlink(bench.path("outside"), bench.path("logs/out")).unwrap();
    let ran = bench.run(&["doctor", "--no-proof", "logs"]);
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines[0], "3 of 4 devices suffer from 2 causes", "{}", ran.out);
    assert!(lines.len() <= 25, "{}", ran.out);
    let row = lines.iter().find(|it| it.trim_start().starts_with("2 ")).unwrap();
    assert!(
        row.contains("the beacons of the access point") && row.contains("medium"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("logs/a.log, logs/c.log.gz"), "{}", ran.out);
    assert!(ran.out.contains("logs/a.log: the beacons of the access point"), "{}", ran.out);
    assert!(!ran.out.contains("hidden") && !ran.out.contains("f.log"), "{}", ran.out);
    assert!(ran.err.contains("left out of logs") && ran.err.contains("(2 in all)"), "{}", ran.err);
    let full = bench.run(&["doctor", "--no-proof", "--full", "logs"]).ok();
    assert!(full.contains("logs/hall/d.log and logs/hall/sdkconfig: "), "{full}");
    assert!(full.contains("logs/b.log: nothing wrong is seen"), "{full}");
    let json = bench.run(&["doctor", "--no-proof", "--format", "json", "logs"]).ok();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["diagnoses"].as_array().unwrap().len(), 4, "{json}");
    bench.run(&["doctor", "--no-proof", "logs", "-o", "page.html"]).ok();
    let page = std::fs::read_to_string(bench.path("page.html")).unwrap();
    assert!(page.contains("Who suffers from what"), "{page}");
    std::fs::create_dir(bench.path("empty")).unwrap();
    let none = bench.run(&["doctor", "empty"]);
    assert_eq!((none.status, none.err.lines().count()), (Some(2), 3), "{}", none.err);
}

#[test]
fn a_folder_with_too_many_files_is_refused() {
    let bench = TestDir::new();
    std::fs::create_dir(bench.path("many")).unwrap();
    for number in 0..1000 {
        bench.write(&format!("many/{number}.log"), if number == 0 { LOST } else { "" });
    }
    // A folder and a hidden file are not read.
    std::fs::create_dir(bench.path("many/hall")).unwrap();
    bench.write("many/.hidden", "");
    bench.run(&["doctor", "--no-proof", "many"]).ok();
    bench.write("many/1000.log", "");
    let ran = bench.run(&["doctor", "many"]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.err.contains("more than 1000 files"), "{}", ran.err);
}

#[test]
fn a_report_of_idf_py_diag_is_one_device() {
    let bench = TestDir::new();
    let (first, second) = LOST.split_at(LOST.find("I (95683)").unwrap());
    let config = "CONFIG_IDF_TARGET=\"esp32c3\"\nCONFIG_LWIP_TCP_WND_DEFAULT=2880\n";
    let parts = [
        ("diag.log", "Command: idf.py diag\n"),
        ("project/sdkconfig", config),
        ("project/logs/monitor/idf_py_stdout_output_1", first),
        ("project/logs/monitor/idf_py_stdout_output_2", second),
        ("project/logs/build/idf_py_stdout_output_3", "[1/9] error: x\n"),
        ("target/esptool/flash_id", "A fatal error occurred\n"),
    ];
    let mut archive = zip::ZipWriter::new(std::fs::File::create(bench.path("report.zip")).unwrap());
    for (name, text) in parts {
        let path = bench.path("report").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(format!("report/{name}"), options).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap();
    for name in ["report", "report.zip"] {
        let out = bench.run(&["doctor", "--no-proof", name]).ok();
        let prefix = if name == "report" { "" } else { "report/" };
        let head =
            format!("{name} and {name}/{prefix}project/sdkconfig: the beacons of the access point");
        let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.starts_with(&head), "{out}");
        assert!(out.contains("state: run -> init (0xc800)"), "{out}");
    }
    let mut other = zip::ZipWriter::new(std::fs::File::create(bench.path("other.zip")).unwrap());
    other.start_file("a.txt", zip::write::SimpleFileOptions::default()).unwrap();
    other.write_all(b"x").unwrap();
    other.finish().unwrap();
    let ran = bench.run(&["doctor", "other.zip"]);
    assert_eq!((ran.status, ran.err.lines().count()), (Some(2), 3), "{}", ran.err);
    assert!(ran.err.contains("a zip without the report"), "{}", ran.err);
}

#[test]
fn a_pipe_is_read_to_its_end() {
    let bench = TestDir::new();
    let mut command = bench.command(&["doctor", "--no-proof", "-"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for piece in gzip(LOST.as_bytes()).chunks(7) {
        stdin.write_all(piece).unwrap();
        stdin.flush().unwrap();
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let (out, err) = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap()).into();
    assert_eq!(output.status.code(), Some(0), "{err}");
    assert!(out.starts_with("stdin: the beacons of the access point were not heard"), "{out}");
    // Nobody watches it.
    assert_eq!(err, "");
    let empty = Ran::of(&mut bench.command(&["doctor", "-"]));
    assert_eq!(empty.status, Some(2), "{}", empty.out);
}

/// Sends a log through a pipe to `doctor --no-proof - …` on a terminal, and Ctrl-C when its cause was told. Returns the line that the
/// terminal has shown, and the answer.
#[cfg(target_os = "linux")]
fn interrupted(bench: &TestDir, others: &[&str]) -> (String, String) {
    use crate::pseudo_terminals::pseudo_terminal;
    use std::io::{BufRead as _, BufReader, Read as _};
    let (line, host, _) = pseudo_terminal();
    let mut command = bench.command(&[&["doctor", "--no-proof", "--full", "-"], others].concat());
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(host).spawn().unwrap();
    drop(command);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(LOST.as_bytes()).unwrap();
    // A terminal without a size has 80 columns.
    let mut line = BufReader::new(line);
    let mut told = String::new();
    for _ in 0..2 {
        line.read_line(&mut told).unwrap();
    }
    // SAFETY: a signal to a child that was not waited for.
    assert_eq!(unsafe { libc::kill(child.id().cast_signed(), libc::SIGINT) }, 0);
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    let out = String::from_utf8(output.stdout).unwrap();
    let mut rest = Vec::new();
    // A terminal that nobody has open ends with an error.
    let _ = line.read_to_end(&mut rest);
    let rest = String::from_utf8_lossy(&rest).into_owned();
    assert_eq!(output.status.code(), Some(130), "{out}{rest}");
    (told.split_whitespace().collect::<Vec<_>>().join(" ") + &rest, out)
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_sees_each_first_cause_as_it_comes_and_an_interrupt_gives_the_answer() {
    let (told, out) = interrupted(&TestDir::new(), &[]);
    assert_eq!(
        told,
        "line 7: the beacons of the access point were not heard (reason 200, BEACON_TIMEOUT): state: run -> init (0xc800)"
    );
    assert!(out.starts_with("stdin: the beacons of the access point were not heard"), "{out}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_ends_a_pipe_and_what_stands_behind_it_is_read() {
    let bench = TestDir::new();
    let config = "CONFIG_IDF_TARGET=\"esp32c3\"\nCONFIG_LWIP_TCP_WND_DEFAULT=2880\n";
    bench.write("sdkconfig", config);
    let (_, out) = interrupted(&bench, &["sdkconfig"]);
    assert!(out.starts_with("stdin and sdkconfig: the beacons"), "{out}");
    for folder in ["logs", "report/project/logs/monitor"] {
        std::fs::create_dir_all(bench.path(folder)).unwrap();
    }
    bench.write("logs/a.log", LOST);
    bench.write("logs/sdkconfig", config);
    // Longer than what tells its kind.
    bench.write("logs/long.log", &LOST.repeat(200));
    let (told, out) = interrupted(&bench, &["logs"]);
    assert!(out.contains("logs/a.log and logs/sdkconfig: the beacons"), "{out}");
    assert!(!out.contains("long.log"), "{out}");
    assert!(told.contains("left out logs/long.log: stopped before it was read"), "{told}");
    bench.write("report/project/sdkconfig", config);
    bench.write("report/project/logs/monitor/idf_py_stdout_output_1", LOST);
    let (_, out) = interrupted(&bench, &["report"]);
    let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("report and report/project/sdkconfig: the beacons"), "{out}");
}

#[test]
fn an_sdkconfig_beside_a_folder_is_of_its_logs_or_is_refused() {
    let bench = TestDir::new();
    let config = "CONFIG_IDF_TARGET=\"esp32c3\"\nCONFIG_LWIP_TCP_WND_DEFAULT=2880\n";
    std::fs::create_dir_all(bench.path("logs/hall")).unwrap();
    bench.write("logs/a.log", LOST);
    bench.write("logs/hall/b.log", LOST);
    bench.write("logs/sdkconfig", config);
    bench.write("sdkconfig", config);
    let out = bench.run(&["doctor", "--no-proof", "--full", "logs", "sdkconfig"]).ok();
    assert!(out.contains("logs/a.log and logs/sdkconfig: "), "{out}");
    assert!(out.contains("logs/hall/b.log and sdkconfig: "), "{out}");
    bench.write("logs/hall/sdkconfig", config);
    let ran = bench.run(&["doctor", "--no-proof", "logs", "sdkconfig"]);
    assert_eq!((ran.status, ran.err.lines().count()), (Some(2), 3), "{}", ran.err);
    assert!(ran.err.contains("sdkconfig is the sdkconfig of no log"), "{}", ran.err);
}

#[test]
fn files_of_a_folder_that_cannot_be_read_are_told_with_the_reason() {
    let bench = TestDir::new();
    std::fs::create_dir(bench.path("logs")).unwrap();
    bench.write("logs/README", "Today it rained.\n");
    let none = bench.run(&["doctor", "logs"]);
    assert_eq!(none.status, Some(2));
    assert!(none.err.contains("it has 1 file, and none that the doctor reads"), "{}", none.err);
    std::fs::write(bench.path("logs/cut.log.gz"), &gzip(LOST.as_bytes())[..100]).unwrap();
    bench.write("logs/a.log", LOST);
    let ran = bench.run(&["doctor", "--no-proof", "logs"]);
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    let broken = "left out of logs: cannot read logs/cut.log.gz: what is packed is broken";
    assert!(ran.err.contains(broken), "{}", ran.err);
    assert!(ran.err.contains("for they are no logs: logs/README (1 in all)"), "{}", ran.err);
}

#[test]
fn devices_without_a_cause_are_told_in_a_sentence() {
    let bench = TestDir::new();
    let fine = LOST.split("I (95683)").next().unwrap();
    for name in ["a.log", "b.log", "c.log"] {
        bench.write(name, fine);
    }
    let of = |files: &[&str]| bench.run(&[&["doctor", "--no-proof"], files].concat()).ok();
    let out = of(&["a.log", "b.log", "c.log"]);
    assert!(out.starts_with("none of 3 devices shows a cause\n"), "{out}");
    bench.write("d.log", LOST);
    let out = of(&["a.log", "b.log", "c.log", "d.log"]);
    assert!(out.starts_with("1 of 4 devices suffers from 1 cause\n"), "{out}");
}
