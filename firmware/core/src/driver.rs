//! The driver of a node: radio and terminal on one side, the node of `esp-now` on the other.

use crate::commands::{AFTER_COMMAND, Command, LineWatch, Typed, WrongCommand};
use crate::queue::{ByteQueue, FRAME_MAX, FrameInfo};
use esp_now::node::board::Board;
use esp_now::node::device::SmallNode;
use esp_now::node::task::EspNowEvent;
use esp_now::node::{Input, NodeOutput, ReceivedFrame};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::{Duration, Instant};
use heapless::Deque;

/// Peers of the driver beside broadcast: ESP-NOW has 20 in all.
pub const PEERS: usize = 19;
/// Bytes of text that may wait for the terminal.
pub const TEXT: usize = 4096;
/// Requests of the node in one turn, so that the terminal is served in between.
const REQUESTS: usize = 16;
/// Typed bytes in one turn.
const BYTES: usize = 64;
/// Frames and outcomes in one turn.
const FRAMES: usize = 8;
/// Time in which the last text is printed before a restart.
const FLUSH: Duration = Duration::from_millis(300);
/// Time between the bytes that follow a command: the node's line editor takes faster ones for pasted
/// text, as ESP-IDF's does.
const TYPING: Duration = Duration::from_millis(50);

/// The radio under a node.
pub trait Radio {
    /// Hands over a frame; returns false where the radio has no room for it.
    fn send(&mut self, to: Mac, data: &[u8]) -> bool;
    /// Takes the outcome of the oldest frame that was handed over: whether it was acknowledged.
    fn sent(&mut self) -> Option<bool>;
    /// Takes the oldest frame that was received.
    fn receive(&mut self, out: &mut [u8; FRAME_MAX]) -> Option<(FrameInfo, usize)>;
    /// Tunes to a channel.
    fn tune(&mut self, channel: u8);
    /// Sets the transmit power, in quarters of a dBm.
    fn set_power(&mut self, power: i8);
    /// Adds a peer; returns false where it fails.
    fn add_peer(&mut self, peer: Mac) -> bool;
    /// Removes a peer.
    fn remove_peer(&mut self, peer: Mac);
}

/// The terminal of a console.
pub trait Terminal {
    /// Takes what was typed and returns the number of bytes.
    fn read(&mut self, out: &mut [u8]) -> usize;
    /// Prints what it has room for, without waiting, and returns the number of bytes.
    fn write(&mut self, bytes: &[u8]) -> usize;
}

/// Counts of what a driver could not do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DriverCounters {
    /// Frames that the radio refused.
    pub refused: u32,
    /// Frames that could not be sent since their receiver could not be made a peer.
    pub no_peer: u32,
    /// Peers that were removed to make room for another.
    pub replaced: u32,
}

/// Something for the program above the driver.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// An event of the node.
    Event(EspNowEvent),
    /// A command that was typed.
    Command(Result<Command, WrongCommand>),
    /// The device shall restart now: the last text is out, or had its time.
    Restart,
}

/// The driver of a node.
#[derive(Debug)]
pub struct NodeDriver {
    /// Peers of the radio, the one used longest ago first.
    peers: Deque<Mac, PEERS>,
    text: ByteQueue<TEXT>,
    watch: LineWatch,
    power: Option<i8>,
    restart: Option<Instant>,
    /// Bytes that the node gets after a command of the firmware, and when the next is due. Until
    /// then nothing is read from the terminal.
    after: Option<(Instant, &'static [u8])>,
    /// Counts of what could not be done.
    pub counters: DriverCounters,
}

impl Default for NodeDriver {
    fn default() -> Self {
        Self::new()
    }
}

impl NodeDriver {
    /// Creates a driver without peers.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            peers: Deque::new(),
            text: ByteQueue::new(),
            watch: LineWatch::new(),
            power: None,
            restart: None,
            after: None,
            counters: DriverCounters { refused: 0, no_peer: 0, replaced: 0 },
        }
    }

    /// Appends text for the terminal.
    pub fn print(&mut self, text: &[u8]) {
        self.text.push(text);
    }

    /// Returns the number of bytes for the terminal that found no room.
    #[must_use]
    pub const fn text_dropped(&self) -> u32 {
        self.text.dropped()
    }

    /// Does what there is to do, within bounds, and returns when the next turn is due at the latest:
    /// at once, at an instant, or [`Instant::NEVER`] where only the radio or the terminal can bring
    /// something. `buf` is the node's, at least 1,500 bytes.
    pub fn turn(
        &mut self,
        now: Instant,
        node: &mut SmallNode,
        io: &mut Io<'_>,
        buf: &mut [u8],
        told: &mut dyn FnMut(&mut Self, Told),
    ) -> Instant {
        self.take(now, node, io, told);
        let power = node.shared().air.tx_power;
        if self.power != Some(power) {
            self.power = Some(power);
            io.radio.set_power(power);
        }
        let due = self.ask(now, node, io, buf, told);
        let printed = io.terminal.write(self.text.front());
        self.text.remove(printed);
        match self.restart {
            Some(at) if self.text.is_empty() || now >= at => {
                self.restart = None;
                told(self, Told::Restart);
                now
            }
            Some(at) => due.min(at),
            None => self.after.map_or(due, |(at, _)| due.min(at)),
        }
    }

    /// Hands over what the radio and the terminal have brought.
    fn take(
        &mut self,
        now: Instant,
        node: &mut SmallNode,
        io: &mut Io<'_>,
        told: &mut dyn FnMut(&mut Self, Told),
    ) {
        for _ in 0..FRAMES {
            let Some(delivered) = io.radio.sent() else { break };
            node.handle(now, io.board, Input::Sent { delivered });
        }
        let mut data = [0; FRAME_MAX];
        for _ in 0..FRAMES {
            let Some((info, len)) = io.radio.receive(&mut data) else { break };
            let FrameInfo { transmitter, receiver, rssi, channel } = info;
            let data = &data[..len];
            let frame = ReceivedFrame { data, transmitter, receiver, rssi, channel };
            node.handle(now, io.board, Input::Frame(frame));
        }
        match self.after {
            None => self.read(now, node, io, told),
            Some((at, [byte, rest @ ..])) if now >= at => {
                node.handle(now, io.board, Input::Console(&[*byte]));
                self.after = (!rest.is_empty()).then_some((now + TYPING, rest));
            }
            Some(_) => {}
        }
    }

    /// Reads the terminal up to the end of a command of the firmware.
    fn read(
        &mut self,
        now: Instant,
        node: &mut SmallNode,
        io: &mut Io<'_>,
        told: &mut dyn FnMut(&mut Self, Told),
    ) {
        for _ in 0..BYTES {
            let mut byte = [0];
            if io.terminal.read(&mut byte) == 0 {
                return;
            }
            match self.watch.typed(byte[0]) {
                Typed::Node => node.handle(now, io.board, Input::Console(&byte)),
                Typed::Command => {
                    let command = self.watch.take();
                    self.after = Some((now + TYPING, AFTER_COMMAND));
                    told(self, Told::Command(command));
                    return;
                }
            }
        }
    }

    /// Asks the node until it waits.
    fn ask(
        &mut self,
        now: Instant,
        node: &mut SmallNode,
        io: &mut Io<'_>,
        buf: &mut [u8],
        told: &mut dyn FnMut(&mut Self, Told),
    ) -> Instant {
        for _ in 0..REQUESTS {
            match node.poll(now, io.board, buf) {
                NodeOutput::Transmit { len, to } => {
                    if !self.send(io.radio, to, &buf[..len]) {
                        node.handle(now, io.board, Input::Refused);
                    }
                }
                NodeOutput::Tune(channel) => io.radio.tune(channel),
                NodeOutput::Print { len } => self.text.push(&buf[..len]),
                NodeOutput::Event(EspNowEvent::Restart) => {
                    self.restart = Some(now + FLUSH);
                }
                NodeOutput::Event(event) => told(self, Told::Event(event)),
                // The console has printed them; the host reads them there.
                NodeOutput::Sample(_) | NodeOutput::Data { .. } => {}
                NodeOutput::WaitUntil(at) => return at,
                NodeOutput::Idle => return Instant::NEVER,
            }
        }
        now
    }

    fn send(&mut self, radio: &mut dyn Radio, to: Mac, data: &[u8]) -> bool {
        if !to.is_broadcast() && !self.make_peer(radio, to) {
            self.counters.no_peer = self.counters.no_peer.saturating_add(1);
            return false;
        }
        let taken = radio.send(to, data);
        self.counters.refused = self.counters.refused.saturating_add(u32::from(!taken));
        taken
    }

    /// Makes a receiver a peer, in the place of the one that was used longest ago if need be.
    fn make_peer(&mut self, radio: &mut dyn Radio, to: Mac) -> bool {
        if self.peers.back() == Some(&to) {
            return true;
        }
        let known = self.peers.len();
        let mut found = false;
        for _ in 0..known {
            let Some(peer) = self.peers.pop_front() else { break };
            if peer == to {
                found = true;
            } else {
                // A place was just made free.
                let _ = self.peers.push_back(peer);
            }
        }
        if !found {
            if self.peers.is_full()
                && let Some(oldest) = self.peers.pop_front()
            {
                radio.remove_peer(oldest);
                self.counters.replaced = self.counters.replaced.saturating_add(1);
            }
            if !radio.add_peer(to) {
                return false;
            }
        }
        self.peers.push_back(to).is_ok()
    }
}

/// Ports of a driver for a turn.
pub struct Io<'a> {
    /// Board of the node.
    pub board: &'a mut dyn Board,
    /// Radio.
    pub radio: &'a mut dyn Radio,
    /// Terminal.
    pub terminal: &'a mut dyn Terminal,
}

impl core::fmt::Debug for Io<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Io")
    }
}

#[cfg(test)]
mod tests;
