//! How it looks: themes, wrapped text, diffs, pictures, widgets and screens. Reads application state only.

pub mod colour;
pub mod role;
pub mod theme;
