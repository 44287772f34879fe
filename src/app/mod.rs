//! What the screen is about: state, messages, update, jobs, the command table. No drawing, no I/O.
