//! Conversations on virtual time.
