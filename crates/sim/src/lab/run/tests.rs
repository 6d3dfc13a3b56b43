//! Conversations in rooms.
