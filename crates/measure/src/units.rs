//! Units (being written).
