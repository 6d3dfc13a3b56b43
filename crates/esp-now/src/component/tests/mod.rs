//! Byte vectors of the component's frames, and frames that its own C has sent.
//!
//! | module | contents |
//! |---|---|
//! | `c_frames` | frames that the component's C has sent, read and written again |
//! | `vectors` | the vectors of the protocol reference as whole frames |

mod c_frames;
pub(crate) mod vectors;
