//! One file per screen. A screen draws the topmost view into the areas that [`Areas`] cuts and reports its extents.

mod aside;
mod asked;
mod compare;
mod detail;
mod editor;
mod effects;
mod gates;
mod grid;
mod help;
mod hypotheses;
mod jumps;
mod learn;
mod live;
mod overview;
mod palette;
mod panels;
mod picker;
mod replay;
mod session;
mod several;
mod state;
mod verdict;

use std::ops::Range;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::Widget;

use super::glyph::{self, Charset, Glyph};
use super::passage::Passage;
use super::role::Role;
use super::spots::Spots;
use super::theme::Theme;
use super::widgets::{self, fit};
use super::wrap_cache::WrapCache;
use crate::app::command::Id;
use crate::app::extent::{Extent, Extents, Pane};
use crate::app::pointer::Target;
use crate::app::{App, View};
use crate::model::BranchId;

/// The smallest terminal that is drawn for.
const LEAST: (u16, u16) = (24, 6);
/// From this width on list, text and branches stand side by side.
const WIDE: u16 = 120;
/// Wrapped texts kept.
const TEXTS: usize = 48;

/// What a wrapped text is of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum TextId {
    Detail(BranchId, usize),
    Original,
    Difference,
    PairLeft,
    PairRight,
    Delta(usize),
    Notice,
    Live,
}

/// What is kept from frame to frame so that a frame costs what changed, and what a frame measured.
pub struct RenderCache {
    /// Where the panes stand after the last frame.
    pub extents: Extents,
    /// What stands where in the last frame, if the mouse is taken.
    pub spots: Spots,
    texts: WrapCache<TextId>,
    charset: Charset,
}

impl RenderCache {
    /// An empty cache, and the signs that the terminal can show.
    #[must_use]
    pub fn new(charset: Charset) -> Self {
        Self {
            extents: Extents::default(),
            spots: Spots::default(),
            texts: WrapCache::new(TEXTS),
            charset,
        }
    }
}

/// Draws the topmost view.
pub fn draw(app: &App, theme: &Theme, cache: &mut RenderCache, frame: &mut Frame<'_>) {
    let area = frame.area();
    cache.extents = app.extents;
    cache.spots.clear();
    let buf = frame.buffer_mut();
    buf.set_style(area, theme.style(Role::Text));
    let mut painter = Painter {
        app,
        theme,
        charset: cache.charset,
        cache,
        buf,
        said: Rect::ZERO,
        cursor: None,
    };
    if area.width < LEAST.0 || area.height < LEAST.1 {
        painter.too_small(area);
    } else {
        let work = painter.lesson_bar(area);
        painter.view(work);
        painter.cursor = widgets::notice(app, painter.said, theme, painter.buf);
        if app.notice.is_some() {
            painter.spot(row_of(painter.said, 0), Target::Command(Id::Notice));
        }
        if let Some(palette) = &app.palette {
            painter.palette(palette, area);
        }
    }
    if let Some(cursor) = painter.cursor {
        frame.set_cursor_position(cursor);
    }
    if cache.charset == Charset::Ascii {
        spell(frame.buffer_mut());
    }
}

/// Puts ASCII in the place of every sign that is still there; what is text stays.
fn spell(buf: &mut Buffer) {
    for cell in &mut buf.content {
        let mut signs = cell.symbol().chars();
        if let (Some(sign), None) = (signs.next(), signs.next())
            && let Some(ascii) = glyph::stand_in(sign)
        {
            cell.set_char(ascii);
        }
    }
}

/// Where the parts of every screen are.
#[derive(Clone, Copy)]
struct Areas {
    header: Rect,
    body: Rect,
    /// The line above the information: a rule, unless there is something to say.
    notice: Rect,
    info: Rect,
    footer: Rect,
}

/// What a screen draws with.
struct Painter<'a> {
    app: &'a App,
    theme: &'a Theme,
    charset: Charset,
    cache: &'a mut RenderCache,
    buf: &'a mut Buffer,
    /// Where a notice or a prompt goes, over what is there.
    said: Rect,
    cursor: Option<(u16, u16)>,
}

impl Painter<'_> {
    fn too_small(&mut self, area: Rect) {
        let text = format!(
            "too small: at least {}×{} for dover, not {}×{}",
            LEAST.0, LEAST.1, area.width, area.height
        );
        let passage = Passage::plain(&text, Role::Warn);
        for (line, row) in widgets::hanging(Vec::new(), passage, area.width, self.theme)
            .iter()
            .zip(area.rows())
        {
            line.render(row, self.buf);
        }
    }

    fn view(&mut self, area: Rect) {
        match self.app.views.last() {
            Some(View::Editor(editor)) => self.editor(editor, area),
            Some(View::Gates(gates)) => self.gates(gates, area),
            Some(View::Replay) => self.replay(area),
            Some(View::Compare(compare)) => self.compare(compare, area),
            Some(View::Milestones(selected)) => self.milestones(*selected, area),
            Some(View::Interventions(selected)) => self.interventions(*selected, area),
            Some(View::Hypotheses(selected)) => self.hypotheses(*selected, area),
            Some(View::Effects(effects)) => self.effects(effects, area),
            Some(View::State(state)) => self.state(state, area),
            Some(View::Live) => self.live(area),
            Some(View::Overview(overview)) => self.overview(overview, area),
            Some(View::Jumps(jumps)) => self.jumps(jumps, area),
            Some(View::Several(several)) => self.several(several, area),
            Some(View::Help(help)) => self.help(help, area),
            Some(View::Notice) => self.whole_notice(area),
            Some(View::Lesson) => self.lesson_page(area),
            Some(View::Seat(_, name)) => self.seat(name, area),
            None if self.app.open.is_some() => self.session(area),
            None if self.app.learn.is_some() => self.lessons(area),
            None => self.picker(area),
        }
    }

    /// Cuts the screen and draws what all screens share: header, rules, notice or prompt, footer.
    fn frame(&mut self, area: Rect, left: &str, right: Line<'_>, info: bool) -> Areas {
        let row = |y: u16| Rect {
            y: area.y + y,
            height: 1,
            ..area
        };
        let roomy = area.height >= 10;
        let below = 2 + u16::from(info && roomy);
        let above = 1 + u16::from(roomy);
        let last = area.height - 1;
        let areas = Areas {
            header: row(0),
            body: Rect {
                y: area.y + above,
                height: area.height.saturating_sub(above + below),
                ..area
            },
            notice: row(area.height - below),
            info: Rect {
                height: below - 2,
                ..row(last - 1)
            },
            footer: row(last),
        };
        let left = self.app.with_company(left);
        widgets::header(&left, right, areas.header, self.theme, self.buf);
        if roomy {
            widgets::rule(row(1), self.theme, self.charset, self.buf);
        }
        widgets::rule(areas.notice, self.theme, self.charset, self.buf);
        for (place, id) in widgets::footer(self.app, areas.footer, self.theme, self.buf) {
            self.spot(place, Target::Command(id));
        }
        self.said = areas.notice.union(areas.info).intersection(area);
        areas
    }

    fn extent(&self, pane: Pane) -> Extent {
        self.cache.extents.get(pane)
    }

    /// The window of a list of `rows` items that shows `selected`, remembered.
    fn window(&mut self, pane: Pane, rows: usize, height: usize, selected: usize) -> Extent {
        let mut extent = self.extent(pane);
        (extent.rows, extent.height) = (rows, height);
        let extent = extent.clamped().showing(selected);
        self.cache.extents.set(pane, extent);
        extent
    }

    /// The same of a list in an area, each of its items some rows high, and the places of what is in sight.
    fn list(&mut self, pane: Pane, rows: usize, selected: usize, area: Rect, each: u16) -> Extent {
        let height = usize::from(area.height / each).max(usize::from(each > 1));
        let extent = self.window(pane, rows, height, selected);
        self.spot(area, Target::Pane(pane));
        for (place, item) in (extent.top..rows).take(height).enumerate() {
            let first = row_of(area, place * usize::from(each));
            let item_area = Rect {
                height: each * first.height,
                ..first
            };
            self.spot(item_area.intersection(area), Target::Row(pane, item));
        }
        extent
    }

    /// The places of items in ready lines, by the lines of each, after these were drawn.
    fn items(&mut self, pane: Pane, items: &[Range<usize>], area: Rect) {
        let extent = self.extent(pane);
        let shown = extent.top..extent.top + usize::from(area.height);
        for (item, lines) in items.iter().enumerate() {
            for line in lines.start.max(shown.start)..lines.end.min(shown.end) {
                self.spot(row_of(area, line - extent.top), Target::Row(pane, item));
            }
        }
    }

    /// Notes what an area is, for the mouse.
    fn spot(&mut self, area: Rect, target: Target) {
        if self.app.mouse {
            self.cache.spots.note(area, target);
        }
    }

    /// Draws a text at its window, remembered.
    fn text(
        &mut self,
        pane: Pane,
        id: TextId,
        revision: u64,
        area: Rect,
        passage: impl FnOnce() -> Passage,
    ) {
        let extent = self.extent(pane);
        let wrapped = self.cache.texts.get(id, revision, area.width, passage);
        let extent = widgets::text_pane(wrapped, extent, area, self.theme, self.buf);
        self.cache.extents.set(pane, extent);
        self.spot(area, Target::Pane(pane));
        self.more(extent, area);
    }

    /// Draws ready lines at their window, remembered.
    fn lines(&mut self, pane: Pane, lines: &[Line<'_>], area: Rect) {
        let extent = widgets::lines_in(lines, self.extent(pane), area, self.buf);
        self.cache.extents.set(pane, extent);
        self.spot(area, Target::Pane(pane));
        self.more(extent, area);
    }

    /// Says how much lies below a window, in its lower right corner.
    fn more(&mut self, extent: Extent, area: Rect) {
        let below = extent.rows.saturating_sub(extent.top + extent.height);
        if below > 0 && area.height > 0 && extent.height > 1 {
            let text = format!(" {} {below} more ", Glyph::BELOW.show(self.charset));
            self.corner(&text, Role::Accent, area);
        }
    }

    /// Says below a list of `rows` how many steps came in out of sight; what is left of the area is the list's.
    fn unseen(&mut self, pane: Pane, count: usize, rows: usize, area: Rect) -> Rect {
        let all_in_sight = self.extent(pane).top + usize::from(area.height) >= rows;
        if count == 0 || area.height < 2 || all_in_sight {
            return area;
        }
        let text = format!(" {} {count} new ", Glyph::BELOW.show(self.charset));
        self.corner(&text, Role::Accent, area);
        Rect {
            height: area.height - 1,
            ..area
        }
    }

    /// Writes into the lower right corner of an area.
    fn corner(&mut self, text: &str, role: Role, area: Rect) {
        let text = fit(text, usize::from(area.width));
        let cells = u16::try_from(widgets::width_of(&text)).unwrap_or(area.width);
        if area.height > 0 && cells <= area.width {
            let style = self.theme.style(role);
            let (x, y) = (area.right() - cells, area.bottom() - 1);
            let style = widgets::plain(self.theme).patch(style);
            self.buf.set_stringn(x, y, text, usize::from(cells), style);
        }
    }

    /// Lays the selection over a row.
    fn select(&mut self, area: Rect, focused: bool) {
        let style = if focused {
            let selection = self.theme.style(Role::Selection);
            // Reversed, a row of many colours would be a patchwork.
            if selection.add_modifier.contains(Modifier::REVERSED) {
                self.buf.set_style(area, widgets::plain(self.theme));
            }
            selection
        } else {
            Style::new().add_modifier(Modifier::BOLD)
        };
        self.buf.set_style(area, style);
    }
}

/// A value for a text's revision: equal texts have equal ones.
fn revision(parts: &[&str]) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
}

/// `1 step`, `2 steps`.
fn plural(count: usize, one: &str) -> String {
    match (count, one.strip_suffix("ch")) {
        (1, _) => format!("1 {one}"),
        (_, Some(_)) => format!("{count} {one}es"),
        _ => format!("{count} {one}s"),
    }
}

/// The row of an area, or an empty one below it.
fn row_of(area: Rect, row: usize) -> Rect {
    let row = u16::try_from(row).unwrap_or(u16::MAX);
    Rect {
        y: area.y.saturating_add(row),
        height: 1,
        ..area
    }
    .intersection(area)
}

#[cfg(test)]
mod alignment_tests;
#[cfg(test)]
mod keys_tests;
#[cfg(test)]
mod pointer_tests;
#[cfg(test)]
mod tests;
