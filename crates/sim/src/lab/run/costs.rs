//! A profile as what a board asks: how long work takes.

use crate::lab::nodes::MemoryBoard;
use crate::lab::nodes::board::{Costs, UartLine};
use crate::lab::nodes::chip::WorkRates;
use crate::lab::profile::Profile;
use alloc::sync::Arc;

/// Returns the costs of work with a profile.
pub(super) fn rates(it: &Profile) -> Arc<WorkRates> {
    Arc::new(WorkRates {
        receive: it.receive,
        dispatch: it.dispatch,
        transmit: it.sending(),
        seal: it.seal,
        open: it.open,
        key_pair: it.key_pair,
        shared_secret: it.shared_secret,
        hash: it.hash,
        erase: it.erase,
        write: it.write,
        read: it.read,
        cold_ns: it.cold_ns,
    })
}

/// Gives a board the costs of a profile, whose `rates` these are. Without a line printing is free.
pub(super) fn install(board: &mut MemoryBoard, profile: &Profile, rates: &Arc<WorkRates>) {
    board.costs = Costs::of(rates.clone());
    board.line = (profile.uart_baud > 0)
        .then(|| UartLine::new(profile.uart_baud, u32::from(profile.uart_fifo)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::nodes::NodeId;
    use crate::lab::profile::Cost;
    use alloc::vec::Vec;
    use esp_now::node::board::{Board, CpuWork};
    use espbench_dot11::radio::RadioChip;
    use espbench_model::time::Instant;

    const MS: u64 = 1_000_000;
    const COLD: u64 = 110_000;
    const SEAL: CpuWork = CpuWork::Seal { bytes: 10 };
    const OPEN: CpuWork = CpuWork::Open { bytes: 10 };
    const RECEIVE: CpuWork = CpuWork::Receive { bytes: 10 };
    const DISPATCH: CpuWork = CpuWork::Dispatch { bytes: 10 };
    const TRANSMIT: CpuWork = CpuWork::Transmit { bytes: 10 };

    /// Makes a board whose work takes a microsecond, and `cold_ns` more where its code is fetched.
    fn board(cold_ns: u64) -> MemoryBoard {
        let cost = Cost { fixed_ns: 1000, ..Cost::default() };
        let profile = Profile {
            receive: cost,
            dispatch: cost,
            transmit: cost,
            seal: cost,
            open: cost,
            hash: cost,
            key_pair: cost,
            cold_ns,
            uart_baud: 0,
            ..Profile::free("test", RadioChip::Esp32)
        };
        let mut board = MemoryBoard::new(1, NodeId(0));
        install(&mut board, &profile, &rates(&profile));
        board
    }

    /// Does this work one piece after the other from `at_ms` on; returns which pieces find their
    /// code gone.
    fn cold(board: &mut MemoryBoard, at_ms: u64, work: &[CpuWork]) -> Vec<bool> {
        board.now = Instant::from_nanos(at_ms * MS);
        let cold = work.iter().map(|work| match board.cost_ns(*work) {
            1000 => false,
            it => {
                assert_eq!(it, 1000 + COLD, "{work:?}");
                true
            }
        });
        cold.collect()
    }

    #[test]
    fn a_cipher_alone_in_a_loop_is_cold_once() {
        let mut board = board(COLD);
        assert_eq!(cold(&mut board, 1000, &[SEAL, SEAL, OPEN, SEAL]), [true, false, false, false]);
        assert_eq!(cold(&mut board, 9000, &[SEAL]), [false], "nothing else ran meanwhile");
    }

    #[test]
    fn a_cipher_is_cold_after_each_part_of_a_frame_s_way() {
        for other in [RECEIVE, DISPATCH, TRANSMIT] {
            for cipher in [SEAL, OPEN] {
                let mut board = board(COLD);
                let _ = cold(&mut board, 1000, &[other, cipher]);
                let again = cold(&mut board, 1001, &[other, cipher, cipher, other, cipher]);
                assert_eq!(again, [false, true, false, false, true], "{other:?} {cipher:?}");
            }
        }
    }

    #[test]
    fn a_frame_s_way_is_cold_at_first_and_after_more_than_100_ms() {
        for part in [RECEIVE, DISPATCH, TRANSMIT] {
            let mut board = board(COLD);
            for (at, is_cold) in [
                (1000, true),
                (1000, false),
                (1099, false),
                (1199, false),
                (1300, true),
                (9000, true),
            ] {
                assert_eq!(cold(&mut board, at, &[part]), [is_cold], "{part:?} at {at} ms");
            }
        }
    }

    #[test]
    fn each_part_of_the_way_is_fetched_for_itself() {
        let mut board = board(COLD);
        let way = [RECEIVE, DISPATCH, TRANSMIT];
        assert_eq!(cold(&mut board, 1000, &way), [true; 3]);
        assert_eq!(cold(&mut board, 1090, &[TRANSMIT]), [false]);
        assert_eq!(cold(&mut board, 1180, &way), [true, true, false]);
    }

    #[test]
    fn other_work_neither_is_cold_nor_drives_the_cipher_out() {
        let mut board = board(COLD);
        let work = [SEAL, CpuWork::Hash { bytes: 64 }, CpuWork::KeyPair, SEAL];
        assert_eq!(cold(&mut board, 1000, &work), [true, false, false, false]);
    }

    #[test]
    fn boards_have_a_cache_each() {
        let mut boards = [board(COLD), board(COLD)];
        for board in &mut boards {
            assert_eq!(cold(board, 1000, &[TRANSMIT, SEAL]), [true, true]);
        }
    }

    #[test]
    fn without_a_cache_all_work_takes_the_same_time() {
        let mut board = board(0);
        let work = [SEAL, TRANSMIT, SEAL, RECEIVE, DISPATCH];
        assert_eq!(cold(&mut board, 5000, &work), [false; 5]);
    }
}
