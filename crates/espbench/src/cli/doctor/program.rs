//! Program that a device ran, by whose code addresses of crashes are told.

use super::Args;
use crate::user_error::UserError;
use espbench_doctor::crash::report::NamedProgram;

/// Reads the ELF that was named, if one was.
///
/// # Errors
/// It cannot be read, or is none.
#[cfg(feature = "flash")]
pub(super) fn read(args: &Args) -> Result<Option<NamedProgram>, UserError> {
    use crate::flash::addresses::ProgramAddresses;
    use crate::user_error::ForUser as _;
    use sha2::{Digest as _, Sha256};
    let Some(path) = &args.elf else { return Ok(None) };
    let what = || format!("cannot read {}", path.display());
    let remedy = "name the ELF of the firmware that the board ran: build/PROJECT.elf";
    let bytes = crate::named_file::program(path).for_user(what, remedy)?;
    let code = Box::new(ProgramAddresses::read(&bytes).for_user(what, remedy)?);
    let sha256 = Sha256::digest(&bytes).iter().map(|it| format!("{it:02x}")).collect();
    Ok(Some(NamedProgram { name: path.display().to_string(), sha256, code }))
}

/// Reads none: this build has no reader of ELF.
///
/// # Errors
/// None.
#[cfg(not(feature = "flash"))]
pub(super) fn read(_: &Args) -> Result<Option<NamedProgram>, UserError> {
    Ok(None)
}
