//! Drawings of a report: one file per format.

pub mod csv;
pub mod html;
pub mod json;
pub mod markdown;
pub mod text;
