//! Event of a rule that matched, with the numbers and words of its pattern.

use super::pattern::Match;
use super::rule::{Rule, RuleReading};
use super::search::word;
use crate::log::{LogEvent, SignName, chip_named};
use crate::reason;
use espbench_model::sdkconfig::IdfRelease;

/// Returns the event of a match in a text, which stands in lower case, too, with as many bytes.
pub(super) fn of(rule: &'static Rule, found: &Match, text: &str, lower: &str) -> Option<LogEvent> {
    if let Some(sign) = &rule.sign {
        return Some(LogEvent::Sign(SignName(sign)));
    }
    let Some(reading) = rule.reads else { return rule.event };
    let first = || word(found, text);
    let mapped = if rule.map.is_empty() {
        found.number()
    } else {
        rule.map.get(word(found, lower)?).copied()
    };
    let octet = || u8::try_from(mapped?).ok();
    let known = |code: u8| reason::by_code(code).map(|it| LogEvent::Disconnected(it.code));
    match reading {
        RuleReading::Chip => return chip_named(first()?).map(LogEvent::Chip),
        RuleReading::NamedReason => return reason::by_name(first()?).and_then(|it| known(it.code)),
        RuleReading::Release => {
            let [major, minor, ..] = *found.numbers() else { return None };
            let [major, minor] = [major, minor].map(u8::try_from);
            return Some(LogEvent::Release(IdfRelease::new(major.ok()?, minor.ok()?)));
        }
        _ => {}
    }
    let number = mapped?;
    let value = u32::try_from(number).ok();
    match reading {
        RuleReading::ClientLeft => octet().map(LogEvent::ClientLeftAp),
        RuleReading::TlsCode => u32::try_from(number.unsigned_abs()).ok().map(LogEvent::TlsCode),
        RuleReading::OtherStrength => i8::try_from(number).ok().map(LogEvent::OtherRssi),
        RuleReading::Strength => i8::try_from(number).ok().map(LogEvent::Rssi),
        RuleReading::Setting(setting) => value.map(|it| LogEvent::Setting(setting, it)),
        RuleReading::FreeHeap => value.map(LogEvent::FreeHeap),
        RuleReading::Clock => u16::try_from(value? / 1_000_000).ok().map(LogEvent::Clock),
        RuleReading::Dtim => octet().map(LogEvent::Dtim),
        RuleReading::BlockAck => octet().map(LogEvent::BlockAck),
        RuleReading::PhyRate => value.map(LogEvent::PhyRate),
        RuleReading::Channel => octet().map(LogEvent::Channel),
        RuleReading::Reason => reason::alike(value?).map(|it| LogEvent::Disconnected(it.code)),
        RuleReading::SocketError => u16::try_from(number).ok().map(LogEvent::SocketError),
        RuleReading::Chip | RuleReading::NamedReason | RuleReading::Release => None,
    }
}
