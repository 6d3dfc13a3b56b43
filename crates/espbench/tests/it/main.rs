//! Whole commands and whole conversations: one module per behaviour.
