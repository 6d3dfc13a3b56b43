//! Causes in the device itself, by a program's words: updates of the firmware, storage, memory.

use super::subjects;
use super::wordlist as list;
use super::words::WordCause;

/// Returns whether a text speaks of an update of the firmware, and not of the way to who has it.
pub(super) fn updates(text: &str) -> bool {
    let has = |words: &[&str]| list::has(text, words);
    let changes = has(&["updat", "upgrad", "flashing", "install", "writ", "download"]);
    let firmware = has(&["firmware", "fw ", "ota "]) || list::has_whole(text, &["ota"]);
    let whole =
        ["flash updater", "firmware updater", "ota updater", "upgrade over", "upgrade fail"];
    ((firmware && changes) || has(&whole))
        && !subjects::CONNECTS.is_in(text)
        && !has(&["check", "server", "version", "http", "fetch", "get "])
}

/// Returns whether a text names a call that opens or changes the storage of keys and values. One that reads finds nothing at
/// a program's first start.
pub(super) fn stores(text: &str) -> bool {
    let calls = ["open", "init", "write", "save", "commit", "erase"];
    list::find(text, &["nvs"]).is_some_and(|at| {
        let behind = |it: char| !(it.is_ascii_alphanumeric() || it == '_');
        let name = text[at..].split(behind).next().unwrap_or("");
        list::has(text, &calls) || name.contains("set") || calls.iter().any(|it| name.contains(it))
    })
}

/// Returns a cause in the device itself.
pub(super) fn device(text: &str) -> Option<WordCause> {
    let has = |words: &[&str]| list::has(text, words);
    let allocates = subjects::ALLOCATES.is_in(text) && !subjects::OTHER_ALLOCATIONS.is_in(text);
    let starts = has(&["create", "creating", "creation", "start"]) && has(&["task", "thread"]);
    (allocates || starts).then_some(WordCause::Heap)
}
