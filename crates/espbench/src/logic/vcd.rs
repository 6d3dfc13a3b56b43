//! Value Change Dumps (IEEE 1364-2005, clause 18): what most programs for logic analysers and
//! simulators write.

use super::{CHANNELS_MAX, Levels, LogicChange, LogicError};
use std::collections::HashMap;
use std::fmt;
use std::io::BufRead;
use vcd::{Command, IdCode, Parser, ScopeItem, TimescaleUnit, Value};

/// A dump whose head is read.
pub struct VcdCapture {
    parser: Parser<Box<dyn BufRead>>,
    channels: Vec<String>,
    index: HashMap<IdCode, usize>,
    /// Femtoseconds of a unit of time.
    unit_fs: u128,
}

impl fmt::Debug for VcdCapture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VcdCapture").field("channels", &self.channels).finish_non_exhaustive()
    }
}

impl VcdCapture {
    /// Reads the head of a dump.
    ///
    /// # Errors
    /// No VCD, without a time scale, or without a variable of one bit.
    pub fn new(source: Box<dyn BufRead>) -> Result<Self, LogicError> {
        let mut parser = Parser::new(source);
        let header = parser
            .parse_header()
            .map_err(|error| LogicError::malformed(format!("not a VCD file: {error}")))?;
        let Some((number, unit)) = header.timescale else {
            return Err(LogicError::malformed("the VCD file has no $timescale"));
        };
        let unit_fs: u128 = match unit {
            TimescaleUnit::S => 1_000_000_000_000_000,
            TimescaleUnit::MS => 1_000_000_000_000,
            TimescaleUnit::US => 1_000_000_000,
            TimescaleUnit::NS => 1_000_000,
            TimescaleUnit::PS => 1_000,
            TimescaleUnit::FS => 1,
        };
        let mut it = Self {
            parser,
            channels: Vec::new(),
            index: HashMap::new(),
            unit_fs: u128::from(number) * unit_fs,
        };
        it.collect(&header.items)?;
        if it.channels.is_empty() {
            return Err(LogicError::malformed("the VCD file has no variable of one bit"));
        }
        Ok(it)
    }

    fn collect(&mut self, items: &[ScopeItem]) -> Result<(), LogicError> {
        for item in items {
            match item {
                ScopeItem::Scope(scope) => self.collect(&scope.items)?,
                ScopeItem::Var(var) if var.size == 1 => {
                    if self.channels.len() == CHANNELS_MAX {
                        let text = format!("the VCD file has more than {CHANNELS_MAX} channels");
                        return Err(LogicError::malformed(text));
                    }
                    // Two names of one variable have one code: the first name stays.
                    let next = self.channels.len();
                    if *self.index.entry(var.code).or_insert(next) == next {
                        self.channels.push(var.reference.clone());
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn channels(&self) -> &[String] {
        &self.channels
    }

    pub(super) fn read(mut self, each: &mut dyn FnMut(LogicChange)) -> Result<(), LogicError> {
        let mut levels = Levels::new(self.channels.len());
        let mut at = 0;
        for command in &mut self.parser {
            let command = command.map_err(|error| {
                LogicError::malformed(format!("the VCD file is damaged: {error}"))
            })?;
            match command {
                Command::Timestamp(time) => {
                    let now = i64::try_from(u128::from(time) * self.unit_fs / 1000)
                        .map_err(|_| LogicError::malformed("a time beyond 106 days"))?;
                    if now < at {
                        return Err(LogicError::malformed(format!(
                            "time runs backwards at #{time}"
                        )));
                    }
                    at = now;
                }
                Command::ChangeScalar(code, value) => {
                    if let Some(&channel) = self.index.get(&code) {
                        let level = match value {
                            Value::V0 => Some(false),
                            Value::V1 => Some(true),
                            Value::X | Value::Z => None,
                        };
                        levels.set(at, channel, level, each);
                    }
                }
                _ => {}
            }
        }
        each(LogicChange::End { at });
        Ok(())
    }
}
