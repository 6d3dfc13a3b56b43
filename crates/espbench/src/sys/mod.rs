//! System calls that differ by platform, each with a fallback.
