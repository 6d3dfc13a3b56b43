//! Every key of every kind of test: what a plan with it asks for, and what is said of values that make no sense.

mod refused;
mod taken;

/// Returns the text of a plan with one block of that kind.
fn plan(kind: &str, keys: &str) -> String {
    format!("name = \"x\"\n[[measure]]\nkind = \"{kind}\"\n{keys}\n")
}
