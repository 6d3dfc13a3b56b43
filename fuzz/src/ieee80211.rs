//! Captured packets: radiotap, the 802.11 header, and the elements of ESP-NOW.

use esp_now::frame::{self, ActionFrame, DATA_MAX, EspNowVersion, MPDU_MAX, VendorElements};
use espbench_ieee80211::mac::Mac;
use espbench_ieee80211::mpdu::{AckFrame, MacHeader, check_fcs};
use espbench_ieee80211::radiotap::Radiotap;

const A: Mac = Mac([0x24, 0x0A, 0xC4, 0, 0, 1]);
const B: Mac = Mac([0x24, 0x0A, 0xC4, 0, 0, 2]);

/// Parses bytes: the first one says as what (a captured packet, a frame, its elements, or data).
pub fn ieee80211(data: &[u8]) {
    let [kind, rest @ ..] = data else { return };
    match kind & 3 {
        0 => {
            let Some((tap, frame)) = Radiotap::parse(rest) else { return };
            let mut buf = [0; Radiotap::EMIT_MAX];
            let len = tap.emit(&mut buf).expect("there is room");
            assert_eq!(Radiotap::parse(&buf[..len]), Some((tap, &[][..])));
            let _ = tap.channel.map(|channel| channel.number());
            if tap.fcs_at_end() && !tap.bad_fcs() {
                let _ = check_fcs(frame).map(mpdu);
            } else {
                mpdu(frame);
            }
        }
        1 => mpdu(rest),
        2 => elements(rest),
        _ => written(*kind, rest),
    }
}

/// Checks that parsed frames are written, and parsed again to the same value.
fn mpdu(frame: &[u8]) {
    if let Some(ack) = AckFrame::parse(frame) {
        assert_eq!(check_fcs(&ack.emit()).and_then(AckFrame::parse), Some(ack));
    }
    if let Some((header, body)) = MacHeader::parse(frame) {
        assert_eq!(header.emit()[..], frame[..frame.len() - body.len()]);
    }
    let Some((mpdu, body)) = frame::parse(frame) else { return };
    let (mut data, mut buf, mut again) = ([0; DATA_MAX], [0; MPDU_MAX], [0; DATA_MAX]);
    let Some(data) = body.gather(&mut data) else { return };
    // Not what v1.0 has room for, if its elements were several.
    let Some(len) = mpdu.emit(data, &mut buf) else { return };
    let (read, body) = frame::parse(&buf[..len]).expect("our own frame");
    assert_eq!((read, body.gather(&mut again), body.complete()), (mpdu, Some(data), true));
}

fn elements(bytes: &[u8]) {
    let Some(body) = VendorElements::new(bytes) else { return };
    assert_eq!(body.parts().map(<[u8]>::len).sum::<usize>(), body.len());
    assert!(body.len() + 7 <= bytes.len());
    if let Some(all) = body.as_slice() {
        assert_eq!(all.len(), body.len());
    }
    let mut out = [0; 256];
    assert_eq!(body.gather(&mut out).is_some(), body.len() <= out.len());
}

fn written(kind: u8, data: &[u8]) {
    let version = if kind & 4 == 0 { EspNowVersion::V1 } else { EspNowVersion::V2 };
    let mpdu = ActionFrame {
        receiver: if kind & 8 == 0 { Mac::BROADCAST } else { B },
        transmitter: A,
        sequence: u16::from(kind) << 4,
        retry: kind & 16 != 0,
        random: [kind; 4],
        version,
    };
    let mut buf = [0; MPDU_MAX];
    let len = mpdu.emit_with_fcs(data, &mut buf);
    assert_eq!(len, (data.len() <= version.data_max()).then(|| frame::mpdu_len(data.len())));
    let Some(len) = len else { return };
    let frame = check_fcs(&buf[..len]).expect("our own FCS");
    let (read, body) = frame::parse(frame).expect("our own frame");
    let mut out = [0; DATA_MAX];
    assert_eq!((read, body.gather(&mut out)), (mpdu, Some(data)));
    buf[usize::from(kind) % len] ^= 1;
    assert_eq!(check_fcs(&buf[..len]), None);
}
