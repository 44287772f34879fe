//! Small drawing parts that the screens share. Each writes cells into an area and knows nothing of keys.

mod branch;
mod chrome;
mod columns;
mod meter;
mod step;
mod text;

pub use branch::{answer_word, branch_lines, names_of, run_badge};
pub use chrome::{dot, footer, header, horizontal, notice, plain, rule, title, vertical};
pub use columns::{fit, fitted, split_columns, width_of};
pub use meter::{bar, milestone_meter};
pub use step::{StepLook, step_line};
pub use text::{hanging, lines_in, text_pane};
