//! Expiry of a connection's timers.

use super::{Io, TcpConnection};
use espbench_model::time::Instant;

impl TcpConnection {
    /// Returns the time at which the connection must be woken.
    pub(in super::super) fn due_at(&self) -> Instant {
        if self.is_closed() {
            return Instant::NEVER;
        }
        let times = [
            self.ack_state.due,
            self.retransmit_at,
            self.probe_at,
            self.offer_at,
            self.unblock_at,
            self.end_at,
        ];
        times.into_iter().flatten().min().unwrap_or(Instant::NEVER)
    }

    /// Handles the timers that are due; returns whether something has changed for a program.
    pub(in super::super) fn wake(&mut self, now: Instant, io: &mut Io<'_>) -> bool {
        let due = |at: &mut Option<Instant>| at.take_if(|at| *at <= now).is_some();
        let mut changed = false;
        if due(&mut self.end_at) {
            self.forget();
            return true;
        }
        if due(&mut self.ack_state.due) {
            self.ack_state.at_once = true;
            self.acknowledge(now, io);
        }
        if due(&mut self.offer_at) {
            changed = self.mailbox.retry();
            if !changed {
                self.offer_at = Some(io.clock.fast(now));
            }
        }
        if due(&mut self.unblock_at) {
            self.output(now, io);
            changed |= core::mem::take(&mut self.starved);
        }
        if due(&mut self.probe_at) {
            self.probe(now, io);
        }
        if due(&mut self.retransmit_at) {
            self.expire(now, io);
        }
        changed || self.is_closed()
    }

    /// Goes on when the driver has room again.
    pub(in super::super) fn resume(&mut self, now: Instant, io: &mut Io<'_>) {
        self.output(now, io);
        self.acknowledge(now, io);
    }

    /// Handles the retransmission timeout: the bytes in flight count as lost.
    fn expire(&mut self, now: Instant, io: &mut Io<'_>) {
        if self.snd.in_flight() == 0 {
            self.output(now, io);
            return;
        }
        if io.lower.room() == 0 {
            io.counters.blocked += 1;
            self.retransmit_at = Some(self.timeout.due(io.clock, now));
            return;
        }
        let synchronizing = self.state.is_handshake();
        let most = if synchronizing { io.stack.syn_retries } else { io.stack.retries };
        if self.timeout.tries >= most {
            self.broken = true;
            self.end(io);
            return;
        }
        io.counters.timeouts += 1;
        self.control.timed_out(self.snd.wnd, self.timeout.tries > 0);
        self.timeout.back_off(synchronizing);
        self.duplicates = 0;
        self.snd.rewind();
        self.send_next(now, io);
        self.output(now, io);
        self.retransmit_at.get_or_insert_with(|| self.timeout.due(io.clock, now));
    }

    /// Sends a window probe, of one byte or of as much as fits, to learn whether the window has
    /// opened.
    fn probe(&mut self, now: Instant, io: &mut Io<'_>) {
        if self.send_buffer.is_empty() {
            self.probes = 0;
            if self.snd.in_flight() > 0 {
                // A FIN went out while the window was probed: it needs no window, and has no timer yet.
                self.retransmit_at.get_or_insert_with(|| self.timeout.due(io.clock, now));
            }
            return;
        }
        if self.snd.wnd > 0 {
            self.probes = 0;
            if io.lower.room() > 0 {
                self.send_next(now, io);
            } else {
                self.probe_at = Some(self.timeout.probe(io.clock, now, 0));
            }
            return;
        }
        if self.probes >= io.stack.retries {
            self.broken = true;
            self.end(io);
            return;
        }
        self.probes += 1;
        if io.lower.room() > 0 {
            self.snd.rewind();
            self.send_next(now, io);
        }
        self.probe_at = Some(self.timeout.probe(io.clock, now, self.probes));
    }
}
