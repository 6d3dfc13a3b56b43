//! What stands above the MAC.

use super::frame::{Mpdu, OnAir};
use super::room::Room;
use espbench_proto::sample::Cause;

/// A station that has read a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heard {
    /// Who.
    pub station: u32,
    /// Signal strength, dBm.
    pub rssi: i8,
}

/// A station in reach that has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missed {
    /// Who.
    pub station: u32,
    /// Because of what: [`Cause::Collision`] where another frame was there, or where the station
    /// was sending, [`Cause::Noise`] where it was too weak even alone, [`Cause::ReceiveQueue`] where
    /// [`Host::accepts`] refused it.
    pub cause: Cause,
}

/// How a frame ended for its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// By what the host knows it.
    pub tag: u64,
    /// For unicast, whether it was acknowledged; true for a frame to all.
    pub delivered: bool,
    /// How often it was sent.
    pub attempts: u8,
}

/// What hands frames to the stations of a room and takes them out: nodes, or a source of load.
///
/// One host serves all stations. It may call anything of the room but [`Room::run`].
pub trait Host {
    /// The time it asked for with [`Room::wake_at`].
    fn wake(&mut self, room: &mut Room, token: u64) {
        let _ = (room, token);
    }

    /// The time that was set with [`Room::alarm`] for that station.
    fn alarm(&mut self, room: &mut Room, station: u32) {
        let _ = (room, station);
    }

    /// A station has read a data frame. Whether it has a buffer for it: what is refused is not
    /// acknowledged. Asked once for each hearer of a frame for it, and for repetitions of what it has
    /// got already, which fill a buffer, too. Of an A-MPDU `frame` is one MPDU, with its own sequence
    /// number, attempt, octets, tag and end, and it is asked when that MPDU has ended on the air; the
    /// acknowledgement comes after the last.
    fn accepts(&mut self, station: u32, frame: &OnAir) -> bool {
        let _ = (station, frame);
        true
    }

    /// A data frame has ended. `heard` are the stations above whose MAC it goes: for unicast its
    /// addressee, if it read it and it is no duplicate. `missed` are those for whom it was and who
    /// could not read it. Called once a frame.
    ///
    /// Of an A-MPDU, `frame` is one MPDU, as with [`Host::accepts`], and this is called when that MPDU
    /// has ended. What came before others that are still missing waits in the receiver's reorder
    /// buffer, and this is called when its turn has come, so that packets under a block-ack agreement
    /// come in order. What was got before comes once more with `repeated`, for nobody.
    fn heard(&mut self, room: &mut Room, frame: &OnAir, heard: &[Heard], missed: &[Missed]) {
        let _ = (room, frame, heard, missed);
    }

    /// An MPDU has been read and will be acknowledged, but waits in the receiver's reorder buffer: that
    /// it is heard comes later, maybe after its sender is done with it, or, if one of both is switched
    /// off meanwhile, never.
    fn waits(&mut self, frame: &OnAir) {
        let _ = frame;
    }

    /// A control frame has ended, before its addressee acts on it, which is in `heard` or, if it could
    /// not read it, in `missed`.
    fn answered(&mut self, frame: &OnAir, heard: &[Heard], missed: &[Missed]) {
        let _ = (frame, heard, missed);
    }

    /// A station is done with a frame of its queue, which left the queue already: with the oldest
    /// one, or, of those in an A-MPDU, with any. Called once for each [`Packet`](super::Packet).
    fn done(&mut self, room: &mut Room, station: u32, done: Done) {
        let _ = (room, station, done);
    }

    /// A frame of any kind begins, an A-MPDU as one ([`OnAir::mpdus`]): for captures and drawings.
    fn began(&mut self, frame: &OnAir) {
        let _ = frame;
    }

    /// A frame of any kind ends, before anybody learns of it.
    fn ended(&mut self, frame: &OnAir) {
        let _ = frame;
    }

    /// Called after [`Host::ended`] for an A-MPDU, with all that was in it and what became of that at
    /// its addressee.
    fn ended_with(&mut self, frame: &OnAir, mpdus: &[Mpdu]) {
        let _ = (frame, mpdus);
    }

    /// The same for an MPDU that is sent alone under a block-ack agreement.
    fn ended_alone(&mut self, frame: &OnAir, mpdu: &Mpdu) {
        let _ = (frame, mpdu);
    }
}
