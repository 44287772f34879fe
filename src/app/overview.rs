//! The whole session at a glance: a lane per branch, a cell per step or, folded, per several; and milestones by branch.
//!
//! What is shown is [`Lane`]s, read once and again when branches were made or grew; the text of the selected step comes by pages.

use super::extent::Pane;
use super::motion::Motion;
use super::msg::{Fault, Job};
use super::session::Open;
use super::steps::PAGE;
use super::{App, View, read};
use crate::model::{BranchId, Lane, StepHead};

/// From this many steps on a session begins folded.
const LONG: usize = 100;
/// Branches that are compared at once.
pub const MOST_COMPARED: usize = 4;

/// What the colour of a cell says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Colouring {
    /// Who speaks.
    #[default]
    Agent,
    /// What kind of step it is.
    Kind,
    /// How the step and the branch fared.
    Status,
    /// How many milestones were reached by then.
    Milestone,
}

impl Colouring {
    const ALL: [Self; 4] = [Self::Agent, Self::Kind, Self::Status, Self::Milestone];

    /// A word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Kind => "kind",
            Self::Status => "status",
            Self::Milestone => "milestone",
        }
    }

    fn turned(self, by: usize) -> Self {
        let place = Self::ALL.iter().position(|one| *one == self).unwrap_or(0);
        let next = (place + by) % Self::ALL.len();
        Self::ALL.get(next).copied().unwrap_or_default()
    }
}

/// How the lanes stand to the store: one reading goes at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fresh {
    Yes,
    /// Older than the store, and nobody reads.
    Stale,
    Reading,
    /// Being read, and the store went on meanwhile.
    ReadingStale,
}

/// State of the view.
#[derive(Debug)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each says something of its own"
)]
pub struct Overview {
    /// The lanes, once they were read.
    pub lanes: Option<Result<Vec<Lane>, Fault>>,
    /// The selected branch.
    pub branch: BranchId,
    /// The selected step; a branch that is shorter shows its last.
    pub step: usize,
    /// What colours say.
    pub colouring: Colouring,
    /// Whether the whole length is brought into the window.
    pub folded: bool,
    /// Whether milestones by branch are shown instead.
    pub grid: bool,
    /// The selected milestone of those.
    pub milestone: usize,
    /// Branches picked to be compared, in the order they were picked.
    pub picked: Vec<BranchId>,
    fresh: Fresh,
    page: Option<(BranchId, usize, Vec<StepHead>)>,
    asked: Option<(BranchId, usize)>,
}

impl Overview {
    /// The lanes; none until they are here.
    #[must_use]
    pub fn lanes(&self) -> &[Lane] {
        match &self.lanes {
            Some(Ok(lanes)) => lanes,
            _ => &[],
        }
    }

    /// The place of the selected branch.
    #[must_use]
    pub fn column(&self) -> usize {
        let mut lanes = self.lanes().iter();
        lanes
            .position(|lane| lane.branch == self.branch)
            .unwrap_or(0)
    }

    /// Steps of the longest branch.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.lanes().iter().map(Lane::len).max().unwrap_or(0)
    }

    /// How many steps a row stands for in a window of this height.
    #[must_use]
    pub fn stride(&self, height: usize) -> usize {
        if !self.folded {
            return 1;
        }
        let (long, height) = (self.longest(), height.max(1));
        let tens = std::iter::successors(Some(1_usize), |ten| ten.checked_mul(10));
        let mut round = tens.flat_map(|ten| [1, 2, 5].map(|n| ten.saturating_mul(n)));
        round
            .find(|stride| long.div_ceil(*stride) <= height)
            .unwrap_or(1)
    }

    /// The selected step of the selected branch, which has it.
    #[must_use]
    pub fn at(&self) -> usize {
        let lane = self.lanes().get(self.column());
        self.step
            .min(lane.map_or(0, |lane| lane.len().saturating_sub(1)))
    }

    /// The head of the selected step, if its page is here.
    #[must_use]
    pub fn head(&self) -> Option<&StepHead> {
        let (branch, page, heads) = self.page.as_ref()?;
        let at = self.at();
        (*branch == self.branch && *page == at / PAGE).then_some(())?;
        heads.get(at % PAGE)
    }

    /// Takes a page in, if it is the one asked for.
    pub(super) fn fill(&mut self, branch: &BranchId, page: usize, heads: &[StepHead]) {
        if self.asked.as_ref() == Some(&(branch.clone(), page)) {
            self.asked = None;
            self.page = Some((branch.clone(), page, heads.to_vec()));
        }
    }

    /// The lanes where they are out of date, one reading at a time; and the page of the selected step, asked for once.
    pub(super) fn wanted(&mut self) -> impl Iterator<Item = Job> {
        let again = self.fresh == Fresh::Stale;
        if again {
            self.fresh = Fresh::Reading;
        }
        let lanes = again.then(|| Job::Lanes(self.branch.session().to_owned()));
        lanes.into_iter().chain(self.wanted_page())
    }

    fn wanted_page(&mut self) -> Option<Job> {
        let lane = self.lanes().get(self.column())?;
        if lane.is_empty() || self.head().is_some() {
            return None;
        }
        let asked = (self.branch.clone(), self.at() / PAGE);
        if self.asked.as_ref() == Some(&asked) {
            return None;
        }
        self.asked = Some(asked.clone());
        Some(Job::Heads(asked.0, asked.1))
    }

    fn select(&mut self, column: usize) {
        let lane = self.lanes().get(column);
        if let Some(branch) = lane.map(|lane| lane.branch.clone()) {
            self.branch = branch;
        }
    }
}

/// Shows the overview, the branch and step of the message list selected.
pub(super) fn open(app: &mut App) -> Vec<Job> {
    let Some(open) = &app.open else {
        return Vec::new();
    };
    let row = match open.focus {
        super::session::Focus::Branches => open.branches.get(open.branch_row),
        _ => None,
    };
    let branch = row.map_or(&open.branch.id, |branch| &branch.id);
    let longest = open.branches.iter().map(|branch| branch.steps).max();
    let view = Overview {
        lanes: None,
        branch: branch.clone(),
        step: open.selected,
        colouring: Colouring::default(),
        folded: longest.unwrap_or(0) >= LONG,
        grid: false,
        milestone: 0,
        picked: Vec::new(),
        fresh: Fresh::Stale,
        page: None,
        asked: None,
    };
    app.extents.rewind(Pane::Overview);
    app.extents.rewind(Pane::Lanes);
    app.views.push(View::Overview(Box::new(view)));
    Vec::new()
}

/// The overview, wherever it lies.
fn panel(app: &mut App) -> Option<&mut Overview> {
    app.views.iter_mut().find_map(|view| match view {
        View::Overview(overview) => Some(overview.as_mut()),
        _ => None,
    })
}

/// The lanes came.
pub(super) fn came(app: &mut App, session: &str, lanes: Result<Vec<Lane>, Fault>) {
    if let Some(view) = panel(app).filter(|view| view.branch.session() == session) {
        view.lanes = Some(lanes);
        view.fresh = match view.fresh {
            Fresh::ReadingStale | Fresh::Stale => Fresh::Stale,
            Fresh::Reading | Fresh::Yes => Fresh::Yes,
        };
    }
}

/// A session's branches were made, grew or ended: the lanes are read again, if somebody sees them.
pub(super) fn again(app: &mut App, session: &str) {
    if let Some(view) = panel(app).filter(|view| view.branch.session() == session) {
        view.fresh = match view.fresh {
            Fresh::Reading | Fresh::ReadingStale => Fresh::ReadingStale,
            Fresh::Yes | Fresh::Stale => Fresh::Stale,
        };
    }
}

fn shown(app: &mut App) -> Option<&mut Overview> {
    match app.views.last_mut() {
        Some(View::Overview(view)) => Some(view),
        _ => None,
    }
}

/// Colours the cells by something else.
pub(super) fn colour(app: &mut App) {
    if let Some(view) = shown(app) {
        view.colouring = view.colouring.turned(1);
    }
}

/// Folds the steps, or shows a row for each.
pub(super) fn fold(app: &mut App) {
    if let Some(view) = shown(app) {
        view.folded = !view.folded;
    }
}

/// Shows milestones by branch, or the steps again.
pub(super) fn grid(app: &mut App) {
    if let Some(view) = shown(app) {
        view.grid = !view.grid;
    }
}

/// Moves among the columns, in the grid among the milestones.
pub(super) fn sideways(app: &mut App, motion: Motion) {
    let open = app.open.as_ref();
    let milestones = open.map_or(0, |open| open.session.milestones.len());
    let Some(view) = shown(app) else { return };
    if view.grid {
        view.milestone = motion.from(view.milestone, milestones.saturating_sub(1), 1);
    } else {
        let last = view.lanes().len().saturating_sub(1);
        view.select(motion.from(view.column(), last, 1));
    }
}

/// Selects a column.
pub(super) fn choose(app: &mut App, column: usize) {
    sideways(app, Motion::To(column));
}

/// Moves down or up: by rows of steps, in the grid by branches; where the columns are named, sideways.
pub(super) fn go(app: &mut App, pane: Pane, motion: Motion) {
    if pane == Pane::Lanes {
        return sideways(app, motion);
    }
    let (steps, grid) = (
        app.extents.get(Pane::Overview),
        app.extents.get(Pane::Grid).page(),
    );
    let Some(view) = panel(app) else { return };
    if view.grid {
        let last = view.lanes().len().saturating_sub(1);
        view.select(motion.from(view.column(), last, grid));
        return;
    }
    let stride = view.stride(steps.height);
    let last = view.longest().saturating_sub(1) / stride;
    let row = motion.from(view.at() / stride, last, steps.page());
    view.step = row * stride;
}

/// Picks the selected branch to be compared, or lets it go.
pub(super) fn pick(app: &mut App) {
    let Some(view) = shown(app) else { return };
    if let Some(at) = view.picked.iter().position(|id| *id == view.branch) {
        view.picked.remove(at);
    } else if view.picked.len() < MOST_COMPARED {
        view.picked.push(view.branch.clone());
    } else {
        app.tell(format!(
            "{MOST_COMPARED} branches are picked already: ‹pick› on one of them lets it go, ‹compare› compares them"
        ));
    }
}

/// Goes to the selected step of the selected branch in the message list; in the grid to where the milestone was reached.
pub(super) fn show(app: &mut App) -> Vec<Job> {
    let Some(View::Overview(view)) = app.views.last() else {
        return Vec::new();
    };
    let (branch, mut step) = (view.branch.clone(), view.at());
    if view.grid {
        let lane = view.lanes().get(view.column());
        let reached = lane.and_then(|lane| lane.reached.get(view.milestone).copied().flatten());
        let Some(at) = reached else {
            app.tell("This branch does not reach the milestone: pick one that does");
            return Vec::new();
        };
        step = at;
    }
    go_to(app, &branch, step)
}

/// Closes all views and shows a step of a branch in the message list.
pub(super) fn go_to(app: &mut App, branch: &BranchId, step: usize) -> Vec<Job> {
    app.views.clear();
    let Some(open) = &mut app.open else {
        return Vec::new();
    };
    open.focus = super::session::Focus::Steps;
    if open.branch.id == *branch {
        read::select_step(app, step);
        return Vec::new();
    }
    open.land = Some((branch.clone(), step));
    vec![Job::Branch(branch.clone())]
}

/// Compares the picked branches, or the selected one with its parent.
pub(super) fn compare(app: &mut App) -> Vec<Job> {
    let Some(View::Overview(view)) = app.views.last() else {
        return Vec::new();
    };
    let parent = |open: &Open| {
        let branch = open.branches.iter().find(|one| one.id == view.branch)?;
        Some((branch.parent.clone()?, branch.id.clone()))
    };
    match view.picked.as_slice() {
        [] | [_] => {
            if let Some((parent, branch)) = app.open.as_ref().and_then(parent) {
                return vec![Job::Compare(parent, branch)];
            }
            app.tell("main has no parent: ‹pick› picks two to four branches, then ‹compare› compares them");
            Vec::new()
        }
        [a, b] => vec![Job::Compare(a.clone(), b.clone())],
        several => vec![Job::CompareAll(several.to_vec())],
    }
}
