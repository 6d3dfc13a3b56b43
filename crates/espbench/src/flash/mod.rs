//! Flashing of boards: images, the chip's loader, addresses as functions and lines.
//!
//! | module | contents |
//! |---|---|
//! | [`addresses`] | addresses in a console's output as functions and lines of an ELF |
//! | [`chip`] | chips by name |
//! | [`image`] | files that can be flashed: ELF, merged image, part of one |
//! | [`loader`] | the chip's loader on a port: information, writing, erasing |
//! | `memory` | chips by the memory that a program is for, and by the paths of its sources |
//! | `told` | failures of the loader in words |

pub mod addresses;
pub mod chip;
pub mod image;
pub mod loader;
mod memory;
mod told;
