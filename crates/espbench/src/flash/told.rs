//! Failures of the loader in words.

use super::chip;
use crate::user_error::UserError;
use espflash::Error;
use std::error::Error as _;
use std::io;

/// Advice where a chip does not answer.
const BY_HAND: &str =
    "hold BOOT, press RESET, release BOOT, and try again; if that fails, another cable or port";

/// Returns a failure at a port as a user is told of it.
pub(super) fn told(port: &str, error: &Error) -> UserError {
    let at = |what: &str| UserError::new(format!("{port}: {what}"));
    match error {
        Error::ChipMismatch(wanted, found) => {
            let title = |name: &str| chip::parse(name).map_or_else(|_| name.into(), chip::title);
            wrong_chip(port, &title(wanted), &title(found))
        }
        Error::VerifyFailed => at("the flash does not hold what was written")
            .because("the MD5 that the chip computes over its flash differs")
            .remedy("try again with --baud 115200; if it stays, the flash is worn, or locked"),
        Error::FlashConnect => at("the chip's flash does not answer")
            .because("its size could not be read")
            .remedy("check the board's flash and its supply; a chip without flash inside needs one outside"),
        _ => match gone(error) {
            Some(cause) => went_away(port, &cause),
            None => at("the chip's loader did not do as told")
                .because(sources(error))
                .remedy(format!("try again with --baud 115200; {BY_HAND}")),
        },
    }
}

/// Returns the failure of a chip that does not answer.
pub(super) fn no_answer(port: &str) -> UserError {
    UserError::new(format!("{port}: no answer from the chip's loader"))
        .because("no attempt to synchronise was answered as a loader does")
        .remedy(BY_HAND)
}

/// Returns the failure of a port that went away.
pub(super) fn went_away(port: &str, cause: &str) -> UserError {
    UserError::new(format!("{port}: the port went away"))
        .because(cause)
        .remedy("check cable and hub, then begin again: what was written so far is incomplete")
}

/// Returns the failure of a chip that something is not for.
pub(super) fn wrong_chip(port: &str, wanted: &str, found: &str) -> UserError {
    UserError::new(format!("{port}: the chip is {found}, not {wanted}"))
        .because("nothing was written")
        .remedy(format!(
            "choose another port, or an image for {found}: --chip says which chip is meant"
        ))
}

/// Returns the failure of answers that make no sense, at which the library gave up.
pub(super) fn nonsense(port: &str, place: &str) -> UserError {
    UserError::new(format!("{port}: the chip's answers make no sense"))
        .because(place)
        .remedy(format!("try again with --baud 115200; {BY_HAND}"))
}

/// Returns the cause where the port itself failed.
pub(super) fn gone(error: &Error) -> Option<String> {
    let mut next = error.source();
    while let Some(source) = next {
        if let Some(it) = source.downcast_ref::<serialport::Error>() {
            return Some(it.to_string());
        }
        if let Some(it) = source.downcast_ref::<io::Error>() {
            return (it.kind() != io::ErrorKind::TimedOut).then(|| it.to_string());
        }
        next = source.source();
    }
    None
}

/// Returns an error with its causes.
pub(super) fn sources(error: &Error) -> String {
    let mut words = vec![error.to_string()];
    let mut next = error.source();
    while let Some(source) = next {
        words.push(source.to_string());
        next = source.source();
    }
    words.join(": ")
}
