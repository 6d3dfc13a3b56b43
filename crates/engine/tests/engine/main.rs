//! Promises of the engine to a command, a page in a browser, Python and the shards of a sweep.

mod consoles;
mod fleets;
mod repl;
mod runs;
mod sound;
