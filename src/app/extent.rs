//! Where each scrolling pane stands. Drawing measures, clamps and hands the extents back; `update` moves by them.
//! So `update` never guesses a height, and no offset can run past the end.

/// A pane that scrolls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pane {
    /// Sessions in the picker.
    Picker,
    /// Steps of the branch shown.
    Steps,
    /// Text of the selected step.
    Detail,
    /// Branches of the session.
    Branches,
    /// The step as it was, above the editor.
    Original,
    /// The text being edited.
    Edit,
    /// The gate panel.
    Gates,
    /// Steps of the watched run.
    Run,
    /// The runs of a fork.
    Runs,
    /// Rows of the comparison.
    Compare,
    /// A pair in full.
    Pair,
    /// The milestone panel.
    Milestones,
    /// The interventions with their verdicts.
    Interventions,
    /// The text of the selected hypothesis.
    Hypothesis,
    /// The list of hypotheses.
    Hypotheses,
    /// What was left in the world.
    Effects,
    /// The state before a step.
    State,
    /// What waits in a live run.
    Queue,
    /// The text of what is selected in a live run.
    LiveText,
    /// A live run's log.
    Log,
    /// Rows of the overview.
    Overview,
    /// Its columns.
    Lanes,
    /// Milestones by branch.
    Grid,
    /// Several branches side by side.
    Several,
    /// The jump list.
    Jumps,
    /// The command palette.
    Palette,
    /// The key help.
    Help,
    /// The whole text of a notice.
    Notice,
    /// The page of a lesson.
    Lesson,
    /// The list of lessons.
    Lessons,
}

/// Rows kept in sight above and below the selected one.
const MARGIN: usize = 2;
const PANES: usize = Pane::Lessons as usize + 1;

/// A pane's window over its rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// First row shown.
    pub top: usize,
    /// Rows that fit.
    pub height: usize,
    /// Rows there are.
    pub rows: usize,
}

impl Extent {
    /// Rows moved by a page key: all but one, so that the eye keeps its place.
    #[must_use]
    pub fn page(self) -> usize {
        self.height.saturating_sub(1).max(1)
    }

    /// The farthest a window may go down.
    #[must_use]
    pub const fn last_top(self) -> usize {
        self.rows.saturating_sub(self.height)
    }

    /// The window as near to this one as shows `row` and, where there is room, a few rows on either side of it.
    #[must_use]
    pub fn showing(mut self, row: usize) -> Self {
        let height = self.height.max(1);
        let margin = MARGIN.min((height - 1) / 2);
        let lowest = (row + 1 + margin).saturating_sub(height);
        self.top = self
            .top
            .clamp(lowest, row.saturating_sub(margin).max(lowest));
        // At the end the margin gives way, never the row itself.
        let bare = (row + 1).saturating_sub(height);
        self.top = self.top.min(self.last_top().max(bare));
        self
    }

    /// The window clamped to the rows there are.
    #[must_use]
    pub fn clamped(mut self) -> Self {
        self.top = self.top.min(self.last_top());
        self
    }
}

/// All panes' windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extents([Extent; PANES]);

impl Extents {
    /// One pane's window.
    #[must_use]
    pub fn get(&self, pane: Pane) -> Extent {
        self.0.get(pane as usize).copied().unwrap_or_default()
    }

    /// Replaces one pane's window.
    pub fn set(&mut self, pane: Pane, extent: Extent) {
        if let Some(slot) = self.0.get_mut(pane as usize) {
            *slot = extent;
        }
    }

    /// Moves one pane's window; drawing clamps it.
    pub fn scroll(&mut self, pane: Pane, to: impl FnOnce(Extent) -> usize) {
        let mut extent = self.get(pane);
        extent.top = to(extent);
        self.set(pane, extent.clamped());
    }

    /// Back to the first row, for new content.
    pub fn rewind(&mut self, pane: Pane) {
        let height = self.get(pane).height;
        self.set(
            pane,
            Extent {
                top: 0,
                height,
                rows: 0,
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_follows_its_row_and_stays_inside() {
        // (top, height, rows, row) -> top
        let table = [
            ((0, 10, 100, 5), 0),
            ((0, 10, 100, 10), 3),
            ((50, 10, 100, 20), 18),
            ((0, 1, 100, 7), 7),
            ((0, 3, 100, 7), 6),
            ((0, 10, 100, 99), 90),
            ((95, 10, 100, 99), 90),
            ((0, 0, 100, 7), 7),
            ((0, 10, 0, 0), 0),
        ];
        for ((top, height, rows, row), expected) in table {
            let extent = Extent { top, height, rows }.showing(row);
            assert_eq!(extent.top, expected, "{top} {height} {rows} {row}");
        }
    }
}
