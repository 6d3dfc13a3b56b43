//! Events of a lab beside those of a fleet: every frame on the air, and each loss with its place.

use crate::lab::nodes::note::Watch;
use crate::lab::trace::Flight;
use crate::talk::Transcript;
use espbench_ieee80211::mac::Mac;
use espbench_model::sample::Cause;
use espbench_model::time::Instant;

/// Content of a device's frame.
#[derive(Clone, Copy, Debug)]
pub struct Content<'a> {
    /// Address of the sender (address 2).
    pub from: Mac,
    /// To whom (address 1).
    pub to: Mac,
    /// ESP-NOW data, as it stands in the vendor elements.
    pub data: &'a [u8],
}

/// Observer of frames. All of it is optional; an observer that wants none costs nothing.
pub trait Tap: Watch {
    /// Returns whether [`Tap::flight`] and [`Note::Air`](crate::lab::nodes::note::Note::Air) are wanted.
    /// Asked for every frame.
    fn wants_frames(&self) -> bool {
        true
    }

    /// Returns whether [`Note::Air`](crate::lab::nodes::note::Note::Air) is wanted, where frames are: it
    /// has a list of all hearers.
    fn wants_notes(&self) -> bool {
        true
    }

    /// Takes a frame of any kind that has ended; frames come in the order of their ends. Frames of
    /// devices have `content`; beacons, acknowledgements and other people's frames have none.
    fn flight(&mut self, flight: &Flight, content: Option<Content<'_>>) {
        let _ = (flight, content);
    }

    /// Takes the loss of a frame at that device, with its cause. Only losses of the addressee
    /// (everybody, for a broadcast) are told, whether frames are wanted or not.
    fn lost(&mut self, at: Instant, node: u32, cause: Cause) {
        let _ = (at, node, cause);
    }
}

/// Nobody watches.
impl Tap for () {
    fn wants_frames(&self) -> bool {
        false
    }

    fn wants_notes(&self) -> bool {
        false
    }
}

impl Tap for Transcript {}

impl<T: Tap + ?Sized> Tap for &mut T {
    fn wants_frames(&self) -> bool {
        (**self).wants_frames()
    }

    fn wants_notes(&self) -> bool {
        (**self).wants_notes()
    }

    fn flight(&mut self, flight: &Flight, content: Option<Content<'_>>) {
        (**self).flight(flight, content);
    }

    fn lost(&mut self, at: Instant, node: u32, cause: Cause) {
        (**self).lost(at, node, cause);
    }
}

impl<T: Tap> Tap for Option<T> {
    fn wants_frames(&self) -> bool {
        self.as_ref().is_some_and(T::wants_frames)
    }

    fn wants_notes(&self) -> bool {
        self.as_ref().is_some_and(T::wants_notes)
    }

    fn flight(&mut self, flight: &Flight, content: Option<Content<'_>>) {
        if let Some(tap) = self {
            tap.flight(flight, content);
        }
    }

    fn lost(&mut self, at: Instant, node: u32, cause: Cause) {
        if let Some(tap) = self {
            tap.lost(at, node, cause);
        }
    }
}

impl<A: Tap, B: Tap> Tap for (A, B) {
    fn wants_frames(&self) -> bool {
        self.0.wants_frames() || self.1.wants_frames()
    }

    fn wants_notes(&self) -> bool {
        self.0.wants_notes() || self.1.wants_notes()
    }

    fn flight(&mut self, flight: &Flight, content: Option<Content<'_>>) {
        self.0.flight(flight, content);
        self.1.flight(flight, content);
    }

    fn lost(&mut self, at: Instant, node: u32, cause: Cause) {
        self.0.lost(at, node, cause);
        self.1.lost(at, node, cause);
    }
}
