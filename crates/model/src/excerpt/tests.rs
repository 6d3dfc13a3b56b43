use super::*;
use proptest::prelude::*;
use std::string::{String, ToString};

#[test]
fn lines_as_the_store_has_them() {
    let frame = ExcerptFrame {
        kind: AirtimeKind::Data,
        from: 3,
        to: None,
        begin: 1_000_400,
        took: 848_000,
        waited: 400,
        queued: 0,
        channel: 11,
        mode: "1M",
        octets: 82,
        sequence: 7,
        attempt: 2,
        heard: 98,
        collided: 1,
        noise: 0,
        queue: 4,
        mpdus: 1,
        lost: 0,
    };
    let aggregate = ExcerptFrame {
        kind: AirtimeKind::Data,
        to: Some(1),
        mode: "HT20-MCS7",
        mpdus: 32,
        lost: 2,
        ..frame
    };
    let fate = Fate::Lost(Cause::Collision);
    let lines = [
        (ExcerptLine::Station { number: 3, name: "node 3" }, "station 3 node 3"),
        (ExcerptLine::Window { begin: 0, end: 9, why: "the start" }, "window 0 9 the start"),
        (ExcerptLine::Frame(frame), "frame data 3 * 1000400 848000 400 0 11 1M 82 7 2 98 1 0 4"),
        (
            ExcerptLine::Frame(aggregate),
            "frame data 3 1 1000400 848000 400 0 11 HT20-MCS7 82 7 2 98 1 0 4 32 2",
        ),
        (
            ExcerptLine::Probe { station: 3, sequence: 0, begin: 1, end: 2, fate },
            "probe 3 0 1 2 collision",
        ),
        (
            ExcerptLine::Lost { station: 1, at: 5, cause: Cause::ReceiveQueue },
            "lost 1 5 receive-queue",
        ),
        (
            ExcerptLine::Series {
                station: 1,
                level: StationLevel::CongestionWindow,
                points: Points::read("1000:1440,20:2880").unwrap(),
            },
            "series 1 cwnd 1000:1440,20:2880",
        ),
        (ExcerptLine::Missing(12), "missing 12"),
        (
            ExcerptLine::Share {
                channel: 1,
                kind: "collided",
                step: 1_000_000,
                permille: "0,13,1000",
            },
            "share 1 collided 1000000 0,13,1000",
        ),
    ];
    for (line, text) in lines {
        assert_eq!(line.to_string(), text);
        assert_eq!(ExcerptLine::read(text), Some(line));
    }
    for wrong in [
        "",
        "frame",
        "frame data 3",
        "frame data 3 * 1 2 3 4 11 1M 82 7 2 98 1 0 4 1 0",
        "missing -1",
        "missing 1 2",
        "window 0",
        "lost 1 5 x",
    ] {
        assert_eq!(ExcerptLine::read(wrong), None, "{wrong}");
    }
}

#[test]
fn points_are_since_the_one_before_and_bounded() {
    let written =
        [(1000, 1440), (1020, 2880), (1020, 0)].map(|(at, value)| LevelPoint { at, value });
    let text = Written(&written).to_string();
    assert_eq!(text, "1000:1440,20:2880,0:0");
    assert!(Points::read(&text).unwrap().iter().eq(written));
    let far = u64::MAX;
    for wrong in ["", "1", "1:", "1:2,", "-1:2", &std::format!("{far}:1,1:1"), "1:2 3"] {
        assert_eq!(Points::read(wrong), None, "{wrong}");
    }
    let many = std::vec![LevelPoint { at: 1, value: 1 }; Points::MOST + 1];
    let text = Written(&many).to_string();
    assert_eq!(Points::read(&text).unwrap().iter().count(), Points::MOST);
    assert_eq!(Points::read(&std::format!("{text},1:1")), None);
    for level in StationLevel::ALL {
        assert_eq!(StationLevel::from_name(level.name()), Some(level));
    }
}

#[test]
fn fates_have_words_of_their_own() {
    let plain = [Fate::Delivered, Fate::Late, Fate::Duplicate, Fate::Corrupt];
    for fate in plain.into_iter().chain(Cause::ALL.map(Fate::Lost)) {
        assert_eq!(fate_of(fate_name(fate)), Some(fate));
    }
    assert_eq!(fate_of("lost"), None, "a cause stands in its place");
}

proptest! {
    #[test]
    fn frames_read_back(
        (kind, from, to, begin) in (0..AirtimeKind::ALL.len(), any::<u32>(), any::<Option<u32>>(), any::<u64>()),
        (took, waited, queued, channel) in any::<(u64, u64, u64, u8)>(),
        (mode, octets, sequence, attempt) in ("[!-~]{1,12}", any::<u32>(), any::<u16>(), any::<u8>()),
        (heard, collided, noise, queue) in any::<(u32, u32, u32, u16)>(),
        (mpdus, lost) in (1..=u8::MAX, any::<u8>()),
    ) {
        let (kind, mode) = (AirtimeKind::ALL[kind], mode.as_str());
        let frame = ExcerptFrame {
            kind, from, to, begin, took, waited, queued, channel, mode, octets, sequence, attempt,
            heard, collided, noise, queue, mpdus, lost: if mpdus > 1 { lost } else { 0 },
        };
        let text = ExcerptLine::Frame(frame).to_string();
        prop_assert_eq!(ExcerptLine::read(&text), Some(ExcerptLine::Frame(frame)));
    }

    #[test]
    fn names_stay_on_their_line(name in any::<String>()) {
        let text = ExcerptLine::Station { number: 1, name: &name }.to_string();
        prop_assert!(!text.contains('\n'));
        let Some(ExcerptLine::Station { name, .. }) = ExcerptLine::read(&text) else { panic!("{text:?}") };
        prop_assert_eq!(ExcerptLine::Station { number: 1, name }.to_string(), text);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "(station|window|frame|probe|lost|missing|share|series)[ -~]{0,60}") {
        if let Some(line) = ExcerptLine::read(&text) {
            let printed = line.to_string();
            prop_assert_eq!(ExcerptLine::read(&printed), Some(line));
        }
    }
}

/// Replaces each word of each kind of line in turn by words that may or may not stand there: what is
/// read must be what is printed, and both answers must come often.
#[test]
fn a_changed_word_is_read_or_refused() {
    let lines = [
        "station 3 node 3",
        "window 0 9 the start",
        "frame data 3 * 1000400 848000 400 0 11 1M 82 7 2 98 1 0 4",
        "frame data 3 1 1000400 848000 400 0 11 HT20-MCS7 82 7 2 98 1 0 4 32 2",
        "probe 3 0 1 2 collision",
        "lost 1 5 receive-queue",
        "missing 12",
        "share 1 collided 1000000 0,13,1000",
        "series 1 cwnd 1000:1440,20:2880",
    ];
    let words =
        ["0", "255", "4294967296", "18446744073709551616", "-1", "x", "*", "", "0,1", "1:2"];
    let (mut read, mut refused) = (0, 0);
    for line in lines {
        for place in 0..line.split(' ').count() {
            for word in words {
                let mut changed: std::vec::Vec<&str> = line.split(' ').collect();
                changed[place] = word;
                let text = changed.join(" ");
                match ExcerptLine::read(&text) {
                    None => refused += 1,
                    Some(it) => {
                        assert_eq!(ExcerptLine::read(&it.to_string()), Some(it), "{text}");
                        read += 1;
                    }
                }
            }
        }
    }
    assert!(read > 100 && refused > 200, "{read} read, {refused} refused");
}
