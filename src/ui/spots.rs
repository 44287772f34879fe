//! Where on the screen what stands, for the mouse: noted while a frame is drawn, what lies on top last.

use ratatui::layout::{Position, Rect};

use crate::app::pointer::Target;

/// The places of one frame.
#[derive(Debug, Default)]
pub struct Spots(Vec<(Rect, Target)>);

impl Spots {
    /// Begins another frame.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Notes what an area is.
    pub fn note(&mut self, area: Rect, target: Target) {
        if !area.is_empty() {
            self.0.push((area, target));
        }
    }

    /// Lays something over all that was noted but commands.
    pub fn cover(&mut self, area: Rect, target: Target) {
        self.0.retain(|(_, one)| matches!(one, Target::Command(_)));
        self.0.insert(0, (area, target));
    }

    /// What is seen in a cell.
    #[must_use]
    pub fn at(&self, x: u16, y: u16) -> Option<Target> {
        let mut down = self.0.iter().rev();
        let found = down.find(|(area, _)| area.contains(Position { x, y }));
        found.map(|(_, target)| *target)
    }
}
