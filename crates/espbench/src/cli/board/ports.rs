//! Ports of boards as they are typed.

use crate::serial::ports::{self, BoardPort};
use crate::user_error::UserError;

/// Flag of commands that reach boards.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct PortArgs {
    /// The boards: serial:PORT[,PORT…]; serial:auto is the one that is attached
    #[arg(long, value_name = "TARGET", default_value = "serial:auto")]
    on: String,
}

impl PortArgs {
    /// Returns the ports, of which there is at least one. `serial:auto` means a single board, so that no board is
    /// changed that was not meant; with `may_be_several` all of them.
    ///
    /// # Errors
    /// It is no such target, or there is not one board alone.
    pub(super) fn ports(&self, may_be_several: bool) -> Result<Vec<BoardPort>, UserError> {
        let Some(names) = self.on.strip_prefix("serial:") else {
            let what = format!("`{}` is no serial port", self.on);
            return Err(UserError::new(what).remedy(format!("write --on serial:{}", self.on)));
        };
        if names != "auto" {
            let names = names.split(',').filter(|it| !it.is_empty());
            let found = names.map(ports::find).collect::<Result<Vec<_>, _>>()?;
            if found.is_empty() {
                return Err(
                    UserError::new("no port is named").remedy("write --on serial:/dev/ttyUSB0")
                );
            }
            return Ok(found);
        }
        let found = ports::boards()?;
        match found.len() {
            0 => Err(UserError::new("no board is attached")
                .because("no serial port has the USB ids of one")
                .remedy("plug it in with a cable that carries data; name another port with --on serial:PORT")),
            2.. if !may_be_several => {
                let names: Vec<&str> = found.iter().map(|it| it.name.as_str()).collect();
                Err(UserError::new(format!("{} boards are attached", found.len()))
                    .remedy(format!("choose with --on serial:{}", names.join(","))))
            }
            _ => Ok(found),
        }
    }
}

/// Parses an address or a size: `0x10000`, `65536`.
///
/// # Errors
/// It is none of 32 bits.
#[cfg(feature = "flash")]
pub(super) fn number(text: &str) -> Result<u32, String> {
    let digits = text.strip_prefix("0x");
    let parsed = digits.map_or_else(|| text.parse(), |it| u32::from_str_radix(it, 16));
    parsed.map_err(|_| format!("`{text}` is no number of 32 bits: write 0x10000 or 65536"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(feature = "flash")]
    fn numbers_are_hexadecimal_or_decimal() {
        assert_eq!(number("0x10000"), Ok(0x10000));
        assert_eq!(number("4096"), Ok(4096));
        for wrong in ["", "0x", "10k", "-1", "0x100000000"] {
            assert!(number(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn targets_that_are_no_ports_are_refused() {
        let ports = |on: &str| PortArgs { on: on.into() }.ports(false);
        assert_eq!(ports("/dev/ttyUSB0").unwrap_err().remedy, "write --on serial:/dev/ttyUSB0");
        assert_eq!(ports("serial:").unwrap_err().what, "no port is named");
        let two = ports("serial:/dev/pts/900,/dev/pts/901").unwrap();
        assert_eq!(
            two.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(),
            ["/dev/pts/900", "/dev/pts/901"]
        );
    }
}
