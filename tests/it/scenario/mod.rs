//! The scenario runtime through its public face: samples are played, forked with edits, restored and compared.

mod domains;
mod edits;
mod honey_stall;
mod night_picture;
mod night_picture_further;
mod night_picture_more;
mod release_notes;
mod samples;
mod support;
mod worlds;
