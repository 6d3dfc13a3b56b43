//! Each kind of frame, read back.

use super::super::pcapng::tests::{PcapngBlock, read};
use super::*;
use esp_now::frame;
use espbench_ieee80211::mpdu;
use espbench_sim::lab::file::{Library, Overrides};

fn scene() -> Scene {
    Library::built_in().scene("provisioning", &Overrides::default(), 1).expect("a built-in lab")
}

fn flight(what: AirtimeKind, from: u32, to: Option<u32>, octets: u32) -> Flight {
    let begin = Instant::from_nanos(5_000_000_000);
    Flight {
        what,
        from,
        to,
        queued: begin,
        begin,
        end: begin + Duration::from_micros(400),
        channel: 6,
        mode: WifiMode::ESP_NOW,
        octets,
        sequence: 9,
        attempt: 1,
        mpdus: 1,
        lost: 0,
        heard: 1,
        collided: 0,
        noise: 0,
        queue: 1,
    }
}

/// Reads the packets of a capture: radiotap, the frame, and the block's options.
fn packets(frames: &[(Flight, Option<&[u8]>)]) -> Vec<(Radiotap, Vec<u8>, PcapngBlock)> {
    let scene = scene();
    let mut bytes = Vec::new();
    let origin = CaptureOrigin { scene: &scene, seed: 1, observer: 0, what: "a test" };
    let mut air = AirCapture::new(&mut bytes, &origin).unwrap();
    for (flight, data) in frames {
        let content = data.map(|data| Content {
            from: NodeId(flight.from as u16).mac(),
            to: flight.to.map_or(Mac::BROADCAST, |to| NodeId(to as u16).mac()),
            data,
        });
        air.flight(flight, content);
    }
    assert_eq!(air.finish().unwrap(), frames.len() as u64);
    let packet = |block: PcapngBlock| {
        let word = |at: usize| u32::from_le_bytes(block.body[at..at + 4].try_into().unwrap());
        let (tap, frame) = Radiotap::parse(&block.body[20..20 + word(12) as usize]).unwrap();
        (tap, frame.to_vec(), block)
    };
    read(&bytes).into_iter().skip(3).map(packet).collect()
}

#[test]
fn frames_are_as_long_as_they_were_on_the_air() {
    let scene = scene();
    let router = scene.nodes.len() as u32;
    let data = [7; 60];
    let octets = frame::mpdu_len(data.len()) as u32;
    let frames = [
        (flight(AirtimeKind::Data, 1, Some(0), octets), Some(&data[..])),
        (flight(AirtimeKind::Ack, 0, Some(1), 14), None),
        (flight(AirtimeKind::Beacon, router, None, 300), None),
        (flight(AirtimeKind::Background, router, None, 1500), None),
        (flight(AirtimeKind::Background, router, None, 28), None),
    ];
    for ((flight, _), (tap, frame, _)) in frames.iter().zip(packets(&frames)) {
        assert_eq!(frame.len(), flight.octets as usize, "{:?}", flight.what);
        assert!(mpdu::check_fcs(&frame).is_some() && !tap.bad_fcs());
        assert_eq!(tap.channel.and_then(ChannelField::number), Some(6));
        assert_eq!(tap.signal.is_some(), flight.from != 0, "the observer's own has none");
        assert_eq!((tap.tsft, tap.noise), (Some(5_000_192), Some(-98)));
    }
}

#[test]
fn what_nobody_could_read_has_a_wrong_checksum_and_says_why() {
    let data = [7; 60];
    let octets = frame::mpdu_len(data.len()) as u32;
    let good = flight(AirtimeKind::Data, 1, None, octets);
    let frames = [
        Flight { heard: 3, collided: 1, ..good },
        Flight { heard: 0, collided: 1, noise: 1, attempt: 3, ..good },
    ];
    let [some, none] = &packets(&frames.map(|it| (it, Some(&data[..]))))[..] else { panic!() };
    let comment = |block: &PcapngBlock| {
        let text = block.options.iter().find(|it| it.0 == 1).map(|it| it.1.clone());
        String::from_utf8(text.expect("a comment")).unwrap()
    };
    assert!(mpdu::check_fcs(&some.1).is_some() && !some.0.bad_fcs());
    assert_eq!(comment(&some.2), "collision: 1 of 4 that it was for could not read it");
    assert!(mpdu::check_fcs(&none.1).is_none() && none.0.bad_fcs());
    assert_eq!(
        comment(&none.2),
        "collision: 1 of 2 that it was for could not read it, and 1 found it too weak; attempt 3"
    );
}

#[test]
fn every_mode_has_its_rate() {
    let frames =
        WifiMode::ALL.map(|mode| (Flight { mode, ..flight(AirtimeKind::Data, 1, None, 40) }, None));
    for ((flight, _), (tap, _, _)) in frames.iter().zip(packets(&frames)) {
        let kbit_s = match (tap.rate, tap.mcs) {
            (Some(rate), None) => u32::from(rate) * 500,
            (None, Some(mcs)) => {
                let WifiMode::Ht(ht) = flight.mode else { panic!("{}", flight.mode) };
                assert_eq!(usize::from(mcs.index), ht.mcs as usize);
                assert_eq!(mcs.flags & 1 == 1, ht.width == ChannelWidth::Mhz40);
                assert_eq!(mcs.flags & 4 == 4, ht.guard == GuardInterval::Short);
                let noise = if ht.width == ChannelWidth::Mhz40 { -95 } else { -98 };
                assert_eq!(tap.noise, Some(noise), "twice the width has 3 dB more");
                continue;
            }
            (None, None) => {
                let mcs = tap.he.and_then(HeField::mcs);
                let is_told = match flight.mode {
                    WifiMode::He(he) => mcs == Some(he.mcs()),
                    // Radiotap has no field for it.
                    WifiMode::Lr(_) => mcs.is_none(),
                    _ => false,
                };
                assert!(is_told, "{}: {:?}", flight.mode, tap.he);
                continue;
            }
            other => panic!("{}: {other:?}", flight.mode),
        };
        assert_eq!(kbit_s, flight.mode.kbit_s());
    }
}
