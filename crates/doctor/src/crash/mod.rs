//! Crashes by their addresses: backtraces and registers that a console prints, and ESP-IDF's core dumps.
//!
//! | module | contents |
//! |---|---|
//! | [`core_dump`] | core dumps: tasks, registers, stacks, the reason |
//! | [`report`] | crashes with the functions of a program, for programs and pages |
//! | [`trace`] | a console log as it streams by: backtraces, stacks, core dumps in base64 |

pub mod core_dump;
pub mod report;
#[cfg(test)]
mod tests;
pub mod trace;

/// An address of code that a crash tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeAddress {
    /// The address.
    pub address: u32,
    /// Whether it is where a call returns to: the call stands right before it.
    pub is_return: bool,
}

impl CodeAddress {
    /// Returns an address whose instruction was running.
    pub(crate) const fn running(address: u32) -> Self {
        Self { address, is_return: false }
    }

    /// Returns an address that a call returns to.
    pub(crate) const fn returning(address: u32) -> Self {
        Self { address, is_return: true }
    }

    /// Returns an address within the instruction that is meant: of a call that is in progress, of the call.
    #[must_use]
    pub const fn within(self) -> u32 {
        if self.is_return { self.address.wrapping_sub(1) } else { self.address }
    }
}
