//! What a command, a page in a browser, Python and the shards of a sweep rely on.

mod fleets;
mod runs;
