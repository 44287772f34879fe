//! How it looks: themes, wrapped text, diffs, pictures, widgets and screens. Reads application state only.

pub mod colour;
pub mod diff;
pub mod passage;
pub mod role;
pub mod theme;
pub mod wrap;
pub mod wrap_cache;
