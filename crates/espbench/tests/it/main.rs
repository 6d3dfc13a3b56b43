//! Whole commands and whole conversations: one module per behaviour.
mod report;
mod synthetic;
