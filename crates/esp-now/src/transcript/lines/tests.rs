use super::*;
use proptest::prelude::*;
use std::format;
use std::string::String;
use std::vec::Vec;

/// Returns the pieces of `bytes`, cut into chunks of these lengths (the last one again and again).
fn pieces<const N: usize>(bytes: &[u8], chunks: &[usize]) -> (Vec<String>, LineCounts) {
    let mut lines = LineSplitter::<N>::new();
    let mut found = Vec::new();
    let (mut rest, mut at) = (bytes, 0);
    while !rest.is_empty() {
        let len = chunks.get(at).or(chunks.last()).map_or(rest.len(), |n| (*n).max(1));
        let (mut chunk, next) = rest.split_at(len.min(rest.len()));
        while let Some(piece) = lines.next(&mut chunk) {
            found.push(format!("{piece:?}"));
        }
        (rest, at) = (next, at + 1);
    }
    lines.finish();
    while let Some(piece) = lines.next(&mut &[][..]) {
        found.push(format!("{piece:?}"));
    }
    (found, *lines.counts())
}

fn line(text: &str) -> String {
    format!("{:?}", TranscriptPiece::Line { text, cut: false })
}

fn cut(text: &str) -> String {
    format!("{:?}", TranscriptPiece::Line { text, cut: true })
}

fn all(bytes: &[u8]) -> Vec<String> {
    pieces::<LINE>(bytes, &[]).0
}

#[test]
fn the_editor_draws_its_line_again_and_again_but_one_command_comes_out() {
    let mut bytes = Vec::from(&b"\x1b[6n\0\x1b[999C\x1b[6nesp32c3> "[..]);
    let typed = "espnow_iperf -s";
    for end in 1..=typed.len() {
        let column = 9 + end;
        bytes.extend(
            format!("\r\x1b[0Kesp32c3> {}\x1b[0K\r\x1b[{column}C", &typed[..end]).as_bytes(),
        );
    }
    bytes.extend(b"\r\nI (5) iperf_cmd: x\r\n");
    let query = format!("{:?}", TranscriptPiece::Query(Query::Position));
    let echo = format!("{:?}", TranscriptPiece::Echo(typed));
    let wanted = [query.clone(), query, "Prompt".into(), echo, line("I (5) iperf_cmd: x")];
    assert_eq!(all(&bytes), wanted);
}

#[test]
fn keys_in_the_middle_overwrite_as_on_a_terminal() {
    // A typing error is deleted, and a letter is inserted in the middle.
    let echo = |text| format!("{:?}", TranscriptPiece::Echo(text));
    assert_eq!(all(b"esp> hepl\x08\x08lp\n"), ["Prompt".into(), echo("help")]);
    assert_eq!(all(b"esp> hlp\r\x1b[6Celp\x1b[0K\n")[1], echo("help"));
    assert_eq!(all(b"esp> long\r\x1b[2Kesp> a\n")[1], echo("a"));
}

#[test]
fn other_tasks_print_behind_the_prompt() {
    let echo = format!("{:?}", TranscriptPiece::Echo("espnow_i"));
    let found = all(b"esp32> espnow_i\x1b[0;33mW (12) t: x\x1b[0m\r\nesp32> \r\n");
    assert_eq!(found, ["Prompt".into(), echo, line("W (12) t: x"), "Prompt".into()]);
    let monitor = "[24:0a:c4:00:00:01][1][-40]: I (5) t: x";
    assert_eq!(all(format!("esp32> {monitor}\n").as_bytes())[1], line(monitor));
}

#[test]
fn a_carriage_return_alone_loses_nothing() {
    assert_eq!(all(b"one\rtwo\r\r\n\n\rthree\n"), [line("one"), line("two"), line("three")]);
}

#[test]
fn remote_lines_without_an_end_are_parted_and_halves_joined() {
    let (a, b) = ("[24:0a:c4:00:00:01][1][-40]: ", "[24:0a:c4:00:00:02][1][-50]: ");
    let parted = format!("{a}I (1) t: te{b}I (2) t: two\r\n");
    assert_eq!(
        all(parted.as_bytes()),
        [line(&format!("{a}I (1) t: te")), line(&format!("{b}I (2) t: two"))]
    );
    let own = format!("{a}I (1) t: teW (7) espnow: x\n");
    assert_eq!(all(own.as_bytes()), [line(&format!("{a}I (1) t: te")), line("W (7) espnow: x")]);
    // The second half of the same line has a prefix, but no header.
    let halves = format!("{a}I (1) t: te{a}xt and {a}more{b}I (2) t: y\n");
    let whole = format!("{a}I (1) t: text and more");
    assert_eq!(all(halves.as_bytes()), [line(&whole), line(&format!("{b}I (2) t: y"))]);
}

#[test]
fn what_is_left_out_is_counted() {
    let (found, counts) = pieces::<16>(b"0123456789abcdefXYZ\n\xff\x07ok\x1b[31m\n\r\n rest", &[]);
    assert_eq!(found, [cut("0123456789abcdef"), line("?ok"), cut(" rest")]);
    let wanted = LineCounts {
        bytes: 37,
        lines: 3,
        blank: 1,
        cut_lines: 1,
        cut_bytes: 3,
        not_utf8: 1,
        controls: 1,
        sequences: 1,
    };
    assert_eq!(counts, wanted);
}

#[test]
fn torn_sequences_end_at_the_line() {
    assert_eq!(all(b"a\x1b[1;3\nb\x1b\nc\x1b(Bd\x1b[?25hx\n"), [line("a"), line("b"), line("cdx")]);
    let endless = format!("\x1b[{}m\n", "1".repeat(100));
    assert_eq!(all(endless.as_bytes()).len(), 1);
    assert_eq!(all(b"\x1b[5n"), [format!("{:?}", TranscriptPiece::Query(Query::Status))]);
    // A longer number that happens to end in six is no question.
    assert_eq!(
        all(b"\x1b[1;6n\x1b[66n\x1b[6;1n"),
        [format!("{:?}", TranscriptPiece::Query(Query::Position))]
    );
}

/// Generates bytes that look like a console's more often than chance would have it.
fn console() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        Just(Vec::from(&b"esp32c3> "[..])),
        Just(Vec::from(&b"\x1b[6n"[..])),
        Just(Vec::from(&b"\x1b[0K"[..])),
        Just(Vec::from(&b"\x1b[3C"[..])),
        Just(Vec::from(&b"\r"[..])),
        Just(Vec::from(&b"\n"[..])),
        Just(Vec::from(&b"[24:0a:c4:00:00:01][1][-40]: "[..])),
        Just(Vec::from(&b"I (12) t: text"[..])),
        proptest::collection::vec(any::<u8>(), 0..12),
    ];
    proptest::collection::vec(word, 0..24).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn chunks_do_not_matter(bytes in console(), chunks in proptest::collection::vec(1_usize..9, 1..9)) {
        let whole = pieces::<64>(&bytes, &[]);
        prop_assert_eq!(&whole, &pieces::<64>(&bytes, &chunks));
        prop_assert_eq!(&whole, &pieces::<64>(&bytes, &[1]));
        prop_assert_eq!(whole.1.bytes, bytes.len() as u64);
    }

    #[test]
    fn plain_text_comes_through_whole(text in "[a-zA-Z0-9 ,.:%/()-]{1,60}") {
        let wanted = text.trim_end();
        let found = all(format!("{text}\r\n").as_bytes());
        // A prompt may occur in it; anything else is one line, or none if it is blank.
        prop_assume!(!text.starts_with("esp"));
        prop_assert_eq!(found, if wanted.is_empty() { Vec::new() } else { Vec::from([line(wanted)]) });
    }
}
