//! A lab whose consoles lead outside: bytes that somebody types go in, bytes that devices print come out,
//! all with their times on the UARTs' lines.
//!
//! The caller has the clock: it lets virtual time go on to an instant of its choice ([`LiveLab::advance`],
//! in step with a wall clock by [`WallPace`]). The same bytes typed at the same virtual times give the
//! same bytes printed at the same times, however time was cut into steps.
//!
//! | module | content |
//! |---|---|
//! | `application` | firmware of the devices: the examples of the esp-now component |
//! | `typed` | programs that such a device starts when it is told to |
//! | `devices` | the devices of a live network at their consoles: what they are told, how they start anew |
//! | `lines` | lines that are typed at them, carried out |
//! | `console` | the console of such a device |
//! | `what_if` | what is changed while a live network runs |
//! | `uart` | a direction of a UART: bytes with the times at which they have arrived |
//! | `lateness` | by how much events were too late |
//! | `network` | devices that speak IP, whose PC is a real machine |
//! | `router` | addresses and names for such devices |
//! | `services` | the programs of such devices |
//! | `pace` | virtual time that follows a wall clock |

mod application;
mod console;
mod devices;
mod lateness;
mod lines;
mod network;
mod pace;
mod router;
mod services;
#[cfg(test)]
mod tests;
mod typed;
mod uart;
mod what_if;

pub use application::{ExampleApp, IMAGE_LEN};
pub use devices::LivePort;
pub use lateness::LatenessHistogram;
pub use network::{LiveHost, LiveNetwork, LiveRole, PC_NAME, ServiceReport};
pub use pace::{BEHIND, GIVEN_UP, Lag, STEP_MAX, WallPace, late_line, late_of};
pub use router::{DOMAIN, LiveLease, ROUTER_NAME};
pub use services::{DeviceProgram, DeviceService};
pub use typed::{IperfCommand, MqttCommand};
pub use what_if::{WHAT_IF_LOAD, WhatIf, add_load};

use super::nodes::conversation::ConversationParts as _;
use super::nodes::note::{Note, Watch};
use super::nodes::{Conversation as _, Livelock, NodeId};
use super::profile::Profile;
use super::run::{Lab, Tap};
use super::scene::Scene;
use super::trace::Flight;
use alloc::sync::Arc;
use alloc::vec::Vec;
use espbench_model::time::Instant;
use uart::UartQueue;

/// Rate of a console whose profile has none, in bits a second: what the examples of ESP-IDF set.
pub const BAUD: u32 = 115_200;

/// Bytes that wait to be typed at a console, at most; more are refused and stay with the caller.
pub const TYPED_MAX: usize = 1024;

/// Printed bytes of a console that wait for the caller, at most; more are lost and counted.
pub const PRINTED_MAX: usize = 16 * 1024;

/// Settings of a live lab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveSetup {
    /// Seed of all chance.
    pub seed: u64,
    /// Rate of all consoles in bits a second; `None`: that of each device's profile.
    pub baud: Option<u32>,
}

/// Counts of a console's bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConsoleBytes {
    /// Bytes that the device was handed.
    pub typed: u64,
    /// Bytes that arrived while the device was off.
    pub typed_off: u64,
    /// Bytes that the device's own buffer had no room for, since its start.
    pub typed_lost: u64,
    /// Bytes that were printed and taken.
    pub printed: u64,
    /// Bytes that were printed and that nobody took in time.
    pub printed_lost: u64,
}

/// A lab whose consoles lead outside. `W` is told what happens, as in any lab.
#[derive(Debug)]
pub struct LiveLab<W = ()> {
    lab: Lab<'static, (ConsoleOutput, W)>,
    typing: Vec<TypedBytes>,
    scene: Scene,
    seed: u64,
}

/// Bytes that are typed at a console.
#[derive(Debug)]
struct TypedBytes {
    line: UartQueue,
    /// Bytes that arrived while the device was off.
    off: u64,
}

/// Bytes that consoles print, as a witness of the lab.
#[derive(Debug)]
pub struct ConsoleOutput(Vec<UartQueue>);

impl Watch for ConsoleOutput {
    fn note(&mut self, at: Instant, note: &Note<'_>) {
        if let Note::Console { node, bytes } = note
            && let Some(line) = self.0.get_mut(node.index())
        {
            bytes.iter().for_each(|byte| line.push(at, *byte));
        }
    }
}

impl Tap for ConsoleOutput {
    fn wants_frames(&self) -> bool {
        false
    }

    fn wants_notes(&self) -> bool {
        false
    }

    fn flight(&mut self, _: &Flight, _: Option<super::run::Content<'_>>) {}
}

impl<W: Tap> LiveLab<W> {
    /// Returns the room of a scene, in which nothing has happened yet.
    #[must_use]
    pub fn new(scene: &Scene, setup: LiveSetup, watch: W) -> Self {
        let mut scene = scene.clone();
        if let Some(baud) = setup.baud {
            set_baud(&mut scene, baud);
        }
        let bauds = scene.nodes.iter().map(|device| baud(&device.profile));
        let (printed, typing) = bauds
            .map(|baud| {
                let line = UartQueue::new(baud, TYPED_MAX);
                (UartQueue::new(baud, PRINTED_MAX), TypedBytes { line, off: 0 })
            })
            .unzip();
        let mut lab = Lab::new(&scene, setup.seed, (ConsoleOutput(printed), watch));
        lab.keep_nothing();
        Self { lab, typing, scene, seed: setup.seed }
    }

    /// Returns the virtual time.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.lab.now()
    }

    /// Returns the lab, whose counters may be read.
    #[must_use]
    pub const fn lab(&self) -> &Lab<'static, (ConsoleOutput, W)> {
        &self.lab
    }

    /// Ends the lab and returns the witness.
    #[must_use]
    pub fn into_watch(self) -> W {
        self.lab.watch.1
    }

    /// Returns when something happens next, or the next byte has come to an end of its line; `None` if
    /// nothing is left to do.
    pub fn next_due(&mut self) -> Option<Instant> {
        let typed = self.typing.iter().filter_map(|it| it.line.due()).min();
        let printed = self.lab.watch.0.0.iter().filter_map(UartQueue::due).min();
        [self.lab.next_event(), typed, printed].into_iter().flatten().min()
    }

    /// Lets time go on to that instant.
    ///
    /// # Errors
    /// [`Livelock`]: a device does not come to rest.
    pub fn advance(&mut self, until: Instant) -> Result<(), Livelock> {
        loop {
            let due = self.typing.iter().enumerate();
            let due = due.filter_map(|(at, it)| it.line.due().map(|due| (due, at))).min();
            let Some((at, index)) = due.filter(|(at, _)| *at <= until) else {
                return self.lab.run_until(until);
            };
            self.lab.run_until(at)?;
            let node = NodeId(index as u16);
            let Some((_, byte)) = self.typing[index].line.pop(at) else { continue };
            let (device_set, mut host) = self.lab.parts();
            let is_on = device_set.type_byte(&mut host, node, byte)?;
            self.typing[index].off += u64::from(!is_on);
        }
    }

    /// Returns how many bytes [`type_bytes`](Self::type_bytes) would take at a console now.
    #[must_use]
    pub fn room(&self, node: NodeId) -> usize {
        self.typing.get(node.index()).map_or(0, |it| it.line.room())
    }

    /// Types bytes at a console from now on. Returns how many were taken: there is
    /// [`room`](Self::room) for so many, and the others are the caller's.
    pub fn type_bytes(&mut self, node: NodeId, bytes: &[u8]) -> usize {
        self.type_bytes_at(node, self.now(), bytes)
    }

    /// Types bytes as [`type_bytes`](Self::type_bytes) does, from then on, or from now on if that is past.
    pub fn type_bytes_at(&mut self, node: NodeId, at: Instant, bytes: &[u8]) -> usize {
        let at = at.max(self.now());
        let Some(typing) = self.typing.get_mut(node.index()) else { return 0 };
        let taken = bytes.len().min(typing.line.room());
        bytes.iter().take(taken).for_each(|byte| typing.line.push(at, *byte));
        taken
    }

    /// Takes the next byte that a console has printed, with the time at which it has left the line.
    pub fn take_printed(&mut self, node: NodeId) -> Option<(Instant, u8)> {
        let now = self.now();
        self.lab.watch.0.0.get_mut(node.index())?.pop(now)
    }

    /// Sets whether a console's cursor queries are answered inside, as a terminal does; they are, if nothing
    /// else is said. ESP-IDF's line editor takes what is typed for the answer until it has one.
    pub fn answer_cursor(&mut self, node: NodeId, answer: bool) {
        if node.index() < self.lab.count() {
            let (device_set, mut host) = self.lab.parts();
            device_set.answer_cursor(&mut host, node, answer);
        }
    }

    /// Switches a device off and on, as its reset button does.
    pub fn reset(&mut self, node: NodeId) {
        if node.index() < self.lab.count() {
            self.lab.reset(node);
        }
    }

    /// Returns the counts of a console's bytes.
    #[must_use]
    pub fn bytes(&self, node: NodeId) -> ConsoleBytes {
        let (Some(typing), Some(printed)) =
            (self.typing.get(node.index()), self.lab.watch.0.0.get(node.index()))
        else {
            return ConsoleBytes::default();
        };
        ConsoleBytes {
            typed: typing.line.carried() - typing.off,
            typed_off: typing.off,
            typed_lost: self.lab.dropped(node).console_in.into(),
            printed: printed.carried(),
            printed_lost: printed.lost(),
        }
    }
}

/// Returns the rate of a device's console in bits a second.
#[must_use]
pub const fn baud(profile: &Profile) -> u32 {
    if profile.uart_baud > 0 { profile.uart_baud } else { BAUD }
}

/// Sets the rate of all consoles; devices of one profile have one afterwards, too.
fn set_baud(scene: &mut Scene, baud: u32) {
    let mut changed: Vec<(Arc<Profile>, Arc<Profile>)> = Vec::new();
    for device in &mut scene.nodes {
        let known = changed.iter().find(|(old, _)| Arc::ptr_eq(old, &device.profile));
        let new = known.map(|(_, new)| new.clone()).unwrap_or_else(|| {
            let new = Arc::new(Profile { uart_baud: baud, ..Profile::clone(&device.profile) });
            changed.push((device.profile.clone(), new.clone()));
            new
        });
        device.profile = new;
    }
}
