//! The interface between the MAC and its user.

use super::frame::{MpduInfo, Ppdu};
use super::medium::WirelessMedium;
use espbench_model::sample::Cause;

/// A station that has received a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reception {
    /// The station.
    pub station: u32,
    /// The signal strength in dBm.
    pub rssi: i8,
}

/// A station in range that has not received a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissedReception {
    /// The station.
    pub station: u32,
    /// The cause: [`Cause::Collision`] where another frame was there, or where the station was
    /// sending; [`Cause::Noise`] where the frame was too weak even alone; [`Cause::ReceiveQueue`]
    /// where [`MacUser::accepts`] refused it.
    pub cause: Cause,
}

/// The outcome of a transmission for its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TxStatus {
    /// The tag by which the user knows the frame.
    pub tag: u64,
    /// Whether a unicast frame was acknowledged; true for a group frame.
    pub delivered: bool,
    /// The number of attempts.
    pub attempts: u8,
}

/// A user of the MAC service: nodes, or a source of load. It hands frames to the stations of a
/// medium and takes the received ones.
///
/// One user serves all stations. It may call every method of the medium except
/// [`WirelessMedium::run`].
pub trait MacUser {
    /// Handles the time that the user asked for with [`WirelessMedium::wake_at`].
    fn on_wake(&mut self, medium: &mut WirelessMedium, token: u64) {
        let _ = (medium, token);
    }

    /// Handles the time that was set for a station with [`WirelessMedium::alarm`].
    fn on_alarm(&mut self, medium: &mut WirelessMedium, station: u32) {
        let _ = (medium, station);
    }

    /// Returns whether a station that has read a data frame has a buffer for it; a refused frame is
    /// not acknowledged. Called once for each station that the frame is for and that has read it,
    /// and for repetitions of a frame that it has already, which fill a buffer, too. Of an A-MPDU,
    /// `frame` is one MPDU with its own sequence number, attempt, octets, tag and end, and the call
    /// comes when that MPDU has ended on the air; the acknowledgement comes after the last one.
    fn accepts(&mut self, station: u32, frame: &Ppdu) -> bool {
        let _ = (station, frame);
        true
    }

    /// Handles the end of a data frame, once a frame. `heard` are the stations that hand it up: for
    /// unicast the addressee, if it read the frame and it is no duplicate. `missed` are the
    /// stations that the frame was for and that could not read it.
    ///
    /// Of an A-MPDU, `frame` is one MPDU, as with [`MacUser::accepts`], and the call comes when
    /// that MPDU has ended. An MPDU that came before missing ones waits in the receiver's reorder
    /// buffer, and the call comes when its turn has come, so that packets under a block-ack
    /// agreement arrive in order. A repeated MPDU comes once more with `repeated`, and with no
    /// receiver.
    fn on_data(
        &mut self,
        medium: &mut WirelessMedium,
        frame: &Ppdu,
        heard: &[Reception],
        missed: &[MissedReception],
    ) {
        let _ = (medium, frame, heard, missed);
    }

    /// Handles an MPDU that has been read and will be acknowledged, but waits in the receiver's
    /// reorder buffer. [`MacUser::on_data`] follows later, maybe after its sender is done with it,
    /// or, if one of the two stations is switched off meanwhile, never.
    fn on_buffered(&mut self, frame: &Ppdu) {
        let _ = frame;
    }

    /// Handles the end of a control frame, before its addressee acts on it. The addressee is in
    /// `heard` or, if it could not read the frame, in `missed`.
    fn on_control(&mut self, frame: &Ppdu, heard: &[Reception], missed: &[MissedReception]) {
        let _ = (frame, heard, missed);
    }

    /// Handles the outcome of a frame that has left the queue of a station: the oldest one, or, of
    /// an A-MPDU, any. Called once for each [`TxFrame`](super::TxFrame).
    fn on_tx_status(&mut self, medium: &mut WirelessMedium, station: u32, done: TxStatus) {
        let _ = (medium, station, done);
    }

    /// Handles the beginning of a frame of any kind, an A-MPDU as one ([`Ppdu::mpdus`]), for
    /// captures and drawings.
    fn on_tx_start(&mut self, frame: &Ppdu) {
        let _ = frame;
    }

    /// Handles the end of a frame of any kind, before its receivers do.
    fn on_tx_end(&mut self, frame: &Ppdu) {
        let _ = frame;
    }

    /// Handles the MPDUs of an A-MPDU and their fates at the addressee, after
    /// [`MacUser::on_tx_end`].
    fn on_ampdu_end(&mut self, frame: &Ppdu, mpdus: &[MpduInfo]) {
        let _ = (frame, mpdus);
    }

    /// Handles the fate of an MPDU that was sent alone under a block-ack agreement, after
    /// [`MacUser::on_tx_end`].
    fn on_mpdu_end(&mut self, frame: &Ppdu, mpdu: &MpduInfo) {
        let _ = (frame, mpdu);
    }
}
