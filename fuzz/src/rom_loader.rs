//! The loader that flashing is tested against: any bytes on its line.

#[path = "../../crates/espbench/tests/it/rom_loader/machine.rs"]
#[expect(dead_code, unreachable_pub, reason = "a part of another crate")]
mod machine;
#[path = "../../crates/espbench/tests/it/rom_loader/packet.rs"]
#[expect(unreachable_pub, reason = "a part of another crate")]
mod packet;
#[path = "../../crates/espbench/tests/it/rom_loader/slip.rs"]
#[expect(unreachable_pub, reason = "a part of another crate")]
mod slip;

use machine::{ChipModel, Loader, Wrong};
use slip::{LONGEST, SlipReader, framed};

/// Size of the flash: two sectors, so that many addresses are beyond it.
const FLASH: usize = 0x2000;

/// Lets a chip in its loader read a line. Frames are bounded, each answer survives the way back over a line,
/// and the flash keeps its size.
pub fn rom_loader(data: &[u8]) {
    let mut loader = Loader::new(ChipModel::C3, FLASH, Wrong::default());
    let (mut reader, mut taken) = (SlipReader::default(), 0);
    for byte in data {
        let Some(frame) = reader.push(*byte) else { continue };
        assert!(!frame.is_empty() && frame.len() <= LONGEST);
        taken += frame.len() as u64;
        for answer in loader.handle(&frame) {
            let mut back = SlipReader::default();
            let found: Vec<_> =
                framed(&answer).into_iter().filter_map(|it| back.push(it)).collect();
            assert_eq!((found, back.dropped), (vec![answer], 0));
        }
        assert_eq!(loader.flash.len(), FLASH);
    }
    assert!(taken + reader.dropped <= data.len() as u64);
}
