//! The record (being written).
