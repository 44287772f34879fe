//! The embedded scenario runtime.

mod lexicon;
mod read;
mod words;
