//! How it looks: themes, wrapped text, diffs, pictures, widgets and screens. Reads application state only.
//!
//! [`draw`] lays out the topmost view, draws a window of every list and text, and measures on the way: [`RenderCache::extents`]
//! goes back to the application as `Msg::Drawn`. What a click hits is noted in [`RenderCache::spots`]. Any state draws at any size.

pub mod ansi;
pub mod colour;
pub mod diff;
pub mod glyph;
pub mod json;
pub mod passage;
pub mod role;
pub mod screens;
pub mod spots;
pub mod svg;
pub mod theme;
pub mod widgets;
pub mod wrap;
pub mod wrap_cache;

pub use screens::{RenderCache, draw};
