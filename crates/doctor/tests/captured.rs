//! Captures whose air looks like a fault and is none.

use espbench_capture::analysis::CaptureAnalysis;
use espbench_doctor::captured;
use espbench_doctor::finding::{Diagnosis, TroubleCause};

const A: [u8; 6] = [0x24, 0x0A, 0xC4, 0, 0, 1];
const B: [u8; 6] = [0x24, 0x0A, 0xC4, 0, 0, 2];

/// Frames without a header of the radio, a millisecond apart.
#[derive(Default)]
struct Frames(Vec<Vec<u8>>);

impl Frames {
    fn management(&mut self, control: u16, [to, from]: [[u8; 6]; 2], number: u16, body: &[u8]) {
        let (control, number) = (control.to_le_bytes(), (number << 4).to_le_bytes());
        let third = [0xFF; 6];
        self.0.push([&control[..], &[0; 2], &to, &from, &third, &number, body].concat());
    }

    fn esp_now(&mut self, ends: [[u8; 6]; 2], number: u16, is_retry: bool) {
        let body = b"\x7F\x18\xFE\x34\x01\x02\x03\x04\xDD\x07\x18\xFE\x34\x04\x01hi";
        self.management(if is_retry { 0x08D0 } else { 0x00D0 }, ends, number, body);
    }

    fn ack(&mut self, to: [u8; 6]) {
        self.0.push([&[0xD4, 0, 0, 0][..], &to].concat());
    }

    fn diagnosis(&self) -> Diagnosis {
        let mut file = vec![0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0];
        file.extend([105, 0, 0, 0]);
        for (at, frame) in self.0.iter().enumerate() {
            let length = frame.len() as u32;
            for word in [0, 1000 * at as u32, length, length] {
                file.extend(word.to_le_bytes());
            }
            file.extend(frame);
        }
        let mut analysis = CaptureAnalysis::default();
        analysis.push(&file).unwrap();
        captured::diagnose(&analysis.finish(None).unwrap())
    }
}

/// Who repeats nothing is acknowledged: the radio does not hear by whom. Who repeats is not.
#[test]
fn a_receiver_that_the_radio_does_not_hear_is_no_fault() {
    for repeats in [false, true] {
        let mut air = Frames::default();
        for number in 0..20 {
            air.esp_now([B, A], number, false);
            if repeats {
                air.esp_now([B, A], number, true);
            }
            air.esp_now([A, B], number, false);
            air.ack(B);
        }
        let found = air.diagnosis();
        let causes: Vec<_> = found.findings.iter().map(|it| it.cause).collect();
        let expected = if repeats { vec![TroubleCause::of("esp-now-unheard")] } else { vec![] };
        assert_eq!(causes, expected);
        let is_said = found.notes.iter().any(|it| it.contains("are not heard"));
        assert_eq!(is_said, !repeats, "{:?}", found.notes);
    }
}

/// A device that leaves once says so in several attempts, where nobody acknowledges.
#[test]
fn one_leaving_in_several_attempts_is_one() {
    let mut air = Frames::default();
    for attempt in 0..8 {
        let retry = if attempt > 0 { 0x0800 } else { 0 };
        air.management(0x00C0 | retry, [B, A], 7, &[8, 0]);
    }
    assert_eq!(air.diagnosis().findings.len(), 0);
    for number in 8..12 {
        air.management(0x00C0, [B, A], number, &[8, 0]);
    }
    assert_eq!(air.diagnosis().findings[0].incidents, 5);
}

/// Too few to be a finding, they are not passed over in silence.
#[test]
fn messages_without_acknowledgement_are_noted() {
    let mut air = Frames::default();
    for number in 0..5 {
        air.esp_now([B, A], number, false);
        if number < 3 {
            air.ack(A);
        }
    }
    let found = air.diagnosis();
    assert_eq!(found.findings.len(), 0);
    let note = "2 of 5 messages 24:0A:C4:00:00:01 -> 24:0A:C4:00:00:02 were not acknowledged.";
    let notes: Vec<String> = found.notes.iter().map(|it| it.to_uppercase()).collect();
    assert_eq!(notes, [note.to_uppercase()]);
}
