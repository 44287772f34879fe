//! Several people at one session: one drives, others follow. Everybody's screen says what it shows ([`App::said`]) and hears what the
//! others' show; what follows from that is decided here, by each for themselves.
//!
//! Of two who would drive, the one who came first does; the other is told and stands beside. The seat goes from one to another only when it
//! is asked for and the driver agrees: the driver's screen names the seat that it gives its own to, and that one takes it.
//! Who follows writes nothing but approvals.

use super::command::Id;
use super::extent::Pane;
use super::msg::{Fault, Grown, Job};
use super::session::Focus;
use super::{App, View, read};
use crate::model::{BranchId, clean_line};
use crate::store::{Around, Request, Role, Seat};

/// Who else is at the session, and what goes on between them and whoever sits here.
#[derive(Debug, Default)]
pub struct Company {
    /// What whoever sits here does.
    pub role: Role,
    /// A follower looks round instead of mirroring the driver.
    pub roams: bool,
    /// All seats.
    pub around: Around,
    /// Somebody looked round already.
    looked: bool,
    /// A follower's request for the driver's seat, until it is answered.
    pub asks: Option<u32>,
    /// Requests made so far.
    requests: u32,
    /// The request that was granted, until the seat is taken.
    gives: Option<Request>,
    /// The last request that was refused.
    keeps: Option<Request>,
    /// The last request that was told.
    heard: Option<Request>,
}

impl App {
    /// The state of one who follows, and the first jobs.
    #[must_use]
    pub fn follow(operator: String, branch: BranchId) -> (Self, Vec<Job>) {
        let (mut app, _) = Self::start(operator, None, None);
        app.company.role = Role::Follower;
        (app, vec![Job::Open(branch), Job::Sessions])
    }

    /// What the others may know of this screen; none while it shows no session, or a lesson, which is one's own.
    #[must_use]
    pub fn said(&self) -> Option<Seat> {
        if self.learn.is_some() {
            return None;
        }
        let (branch, step) = self.looked_at()?;
        let company = &self.company;
        Some(Seat {
            session: branch.session().to_owned(),
            who: self.operator.clone(),
            role: company.role,
            since: String::new(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            branch: branch.as_str().to_owned(),
            step,
            place: self.place().name(),
            asks: company.asks,
            gives: company.gives.clone(),
            keeps: company.keeps.clone(),
        })
    }

    /// The branch and step before the eye.
    fn looked_at(&self) -> Option<(&BranchId, usize)> {
        let run = match self.views.last() {
            Some(View::Replay) => self.replay_here().and_then(super::Replay::run),
            Some(View::Live) => self.live.as_ref().and_then(|live| live.run.as_ref()),
            _ => None,
        };
        if let Some(run) = run {
            let head = run.heads.get(run.selected);
            let start = run.branch.fork_step.unwrap_or(0);
            return Some((&run.branch.id, head.map_or(start, |head| head.index)));
        }
        let open = self.open.as_ref()?;
        Some((&open.steps.branch, open.selected))
    }

    /// A heading with who else is here.
    #[must_use]
    pub fn with_company(&self, heading: &str) -> String {
        match self.company_words() {
            Some(words) => format!("{heading} ({words})"),
            None => heading.to_owned(),
        }
    }

    fn company_words(&self) -> Option<String> {
        let driver = driver(self);
        let name = driver.map(|(_, seat)| name_of(seat));
        let first = match (self.company.role, &name) {
            (Role::Driver, _) => None,
            (_, None) if !self.company.looked => None,
            (_, None) => Some("nobody drives".to_owned()),
            (Role::Follower, Some(name)) if self.company.roams => {
                Some(format!("roaming, {name} drives"))
            }
            // What is looked at in a view of one's own mirrors nobody.
            (Role::Follower, Some(name)) if !self.views.is_empty() => {
                Some(format!("{name} drives"))
            }
            (Role::Follower, Some(name)) => Some(format!("mirroring {name}")),
            (Role::Beside, Some(name)) => Some(format!("beside {name}")),
        };
        // What is not a list of steps is not mirrored, so it is named.
        let place = driver.map(|(_, seat)| seat.place.as_str());
        let place = place.filter(|place| focus_of(place).is_none());
        let first = first.map(|words| match place {
            Some(place) => format!("{words}: {}", short(place)),
            None => words,
        });
        let mut names: Vec<String> = here(self)
            .filter(|(other, _)| driver.is_none_or(|(driver, _)| driver != *other))
            .map(|(_, seat)| {
                format!(
                    "{}{}",
                    name_of(seat),
                    if seat.asks.is_some() { " asks" } else { "" }
                )
            })
            .collect();
        names.sort();
        let with = (!names.is_empty()).then(|| format!("with {}", names.join(", ")));
        let words: Vec<String> = first.into_iter().chain(with).collect();
        (!words.is_empty() && self.looked_at().is_some()).then(|| words.join(", "))
    }
}

fn name_of(seat: &Seat) -> String {
    if seat.who.trim().is_empty() {
        return "somebody".to_owned();
    }
    short(&seat.who)
}

/// What others wrote, as much of it as a line bears.
fn short(text: &str) -> String {
    clean_line(text).chars().take(24).collect()
}

/// The others at the session shown, by the names of their seats.
fn here(app: &App) -> impl Iterator<Item = (&str, &Seat)> {
    let session = app.looked_at().map(|(branch, _)| branch.session());
    let others = app.company.around.others.iter();
    others
        .filter(move |(_, seat)| Some(seat.session.as_str()) == session)
        .map(|(name, seat)| (name.as_str(), seat))
}

/// Who else drives: of several the first.
fn driver(app: &App) -> Option<(&str, &Seat)> {
    here(app)
        .filter(|(_, seat)| seat.role == Role::Driver)
        .min_by_key(|(name, seat)| (&seat.since, *name))
}

/// A request for the driver's seat that was not refused, and whose it is.
fn request(app: &App) -> Option<(Request, String)> {
    let keeps = app.company.keeps.as_ref();
    let mut all = here(app).filter_map(|(name, seat)| {
        let request = (name.to_owned(), seat.asks?);
        Some((request, name_of(seat)))
    });
    all.find(|(request, _)| Some(request) != keeps)
}

/// Why a command is not a follower's.
pub(super) fn forbids(app: &App, id: Id) -> Option<&'static str> {
    let writes = matches!(
        id,
        Id::Edit
            | Id::Fork
            | Id::Baseline
            | Id::Gates
            | Id::Resume
            | Id::Diagnostic
            | Id::RequestApproval
            | Id::Reconcile
            | Id::Keep
            | Id::Undone
            | Id::Mark
            | Id::Suspect
            | Id::Test
            | Id::Analyse
            | Id::AskModel
            | Id::MarkStep
            | Id::Note
    );
    (writes && app.company.role == Role::Follower).then_some(
        "You follow, so that you only read and approve: ‹seat› asks for the driver's seat",
    )
}

pub(super) fn needs_driver(app: &App) -> Option<&'static str> {
    driver(app)
        .is_none()
        .then_some("Nobody else drives this session")
}

pub(super) fn needs_seat(app: &App) -> Option<&'static str> {
    (app.company.role == Role::Driver && request(app).is_none())
        .then_some("You drive, and nobody asks for the driver's seat")
}

/// Why nobody is answered: only a driver who is asked can.
pub(super) fn needs_request(app: &App) -> Option<&'static str> {
    let asked = app.company.role == Role::Driver && request(app).is_some();
    (!asked).then_some("Nobody asks you for the driver's seat")
}

/// Follows, or goes from mirroring to roaming and back.
pub(super) fn follow(app: &mut App) -> Vec<Job> {
    let Some(name) = driver(app).map(|(_, seat)| name_of(seat)) else {
        return Vec::new();
    };
    app.company.roams = app.company.role == Role::Follower && !app.company.roams;
    app.company.role = Role::Follower;
    if app.company.roams {
        app.tell(format!("You roam: ‹follow› mirrors {name} again"));
    } else {
        app.tell(format!(
            "You mirror {name}: ‹follow›, or moving about, roams on your own"
        ));
    }
    mirror(app)
}

/// Asks for the driver's seat or takes a free one; a driver is shown who asks.
pub(super) fn seat(app: &mut App) {
    if app.company.role == Role::Driver {
        return ask(app);
    }
    match driver(app).map(|(_, seat)| name_of(seat)) {
        _ if !app.company.looked => app.tell("Who else is here is being looked at: ‹seat› again"),
        _ if app.company.around.reads_only => app.fail(
            "You may only read this store, so you cannot drive: get write permission for its file and its directory, and come again",
        ),
        None => {
            app.company.role = Role::Driver;
            app.company.asks = None;
            app.tell("You drive");
        }
        Some(_) if app.company.around.own.is_none() => app.fail(
            "The driver cannot be asked, because no file can be written beside the store: get write permission for its directory, and come again",
        ),
        Some(name) if app.company.asks.is_some() => {
            app.company.asks = None;
            app.tell(format!("{name} is no longer asked for the driver's seat"));
        }
        Some(name) => {
            app.company.requests += 1;
            app.company.asks = Some(app.company.requests);
            app.tell(format!("{name} is asked for the driver's seat: you will be told. ‹seat› takes the question back"));
        }
    }
}

/// Tells the driver who asks for the seat. It is no question yet: whatever is being typed just now answers nothing.
fn hear(app: &mut App) {
    if let Some((request, name)) = request(app) {
        app.company.heard = Some(request);
        let when = if app.context().types() {
            " once you have written"
        } else {
            ""
        };
        app.tell(format!(
            "{name} asks for the driver's seat: ‹seat› answers{when}"
        ));
    }
}

/// Shows the question. Only its own two keys answer it, and only this request.
fn ask(app: &mut App) {
    if let Some((request, name)) = request(app) {
        app.company.heard = Some(request.clone());
        app.views.push(View::Seat(request, name));
    }
}

/// Answers the request on the screen.
pub(super) fn answer(app: &mut App, give: bool) {
    let Some(View::Seat(request, name)) = app.views.pop_if(|top| matches!(top, View::Seat(..)))
    else {
        return;
    };
    let company = &mut app.company;
    if give {
        company.gives = Some(request);
        company.role = Role::Follower;
        company.roams = false;
        app.tell(format!(
            "{name} gets the driver's seat, and you follow. Runs that you started go on"
        ));
    } else {
        company.keeps = Some(request);
        app.tell(format!("You keep the driver's seat; {name} is told"));
    }
}

/// A question that was taken back leaves the screen.
fn withdrawn(app: &mut App) {
    let now = request(app).map(|(request, _)| request);
    let driving = app.company.role == Role::Driver;
    let stands = |view: &View| match view {
        View::Seat(of, _) => driving && now.as_ref() == Some(of),
        _ => true,
    };
    let before = app.views.len();
    app.views.retain(stands);
    if app.views.len() < before {
        app.tell("The driver's seat is no longer asked for");
    }
}

/// The seats changed.
pub(super) fn came(app: &mut App, around: Around) -> Vec<Job> {
    let before = driver(app).map(|(seat, one)| (seat.to_owned(), name_of(one)));
    app.company.around = around;
    withdrawn(app);
    app.company.looked = true;
    match app.company.role {
        Role::Driver => driving(app),
        Role::Follower | Role::Beside => not_driving(app, before),
    }
    mirror(app)
}

fn driving(app: &mut App) {
    let around = &app.company.around;
    let own = around.own.as_ref();
    let own = own.filter(|(_, seat)| seat.role == Role::Driver);
    // Whoever cannot drive stands beside whoever does.
    let reads = around.reads_only.then(|| driver(app)).flatten();
    let first = own
        .zip(driver(app))
        .and_then(|((own, mine), (name, seat))| {
            let earlier = (&seat.since, name) < (&mine.since, own.as_str());
            (earlier && mine.session == seat.session).then(|| name_of(seat))
        })
        .or_else(|| reads.map(|(_, seat)| name_of(seat)));
    if let Some(name) = first {
        app.company.role = Role::Beside;
        app.tell(format!(
            "{name} drives this session already: ‹follow› follows. What you fork here stands beside theirs; nothing is lost"
        ));
    } else if request(app).is_some_and(|(request, _)| Some(request) != app.company.heard) {
        hear(app);
    }
}

fn not_driving(app: &mut App, before: Option<(String, String)>) {
    let own = app.company.around.own.as_ref();
    let asked = own.map(|(name, _)| name.clone()).zip(app.company.asks);
    let answer = |of: fn(&Seat) -> &Option<Request>| {
        let mut all = here(app);
        let found = all.find(|(_, seat)| asked.is_some() && *of(seat) == asked);
        found.map(|(_, seat)| name_of(seat))
    };
    if let Some(name) = answer(|seat| &seat.gives) {
        app.company.role = Role::Driver;
        app.company.asks = None;
        return app.tell(format!("{name} gave you the driver's seat: you drive"));
    }
    if let Some(name) = answer(|seat| &seat.keeps) {
        app.company.asks = None;
        return app.tell(format!("{name} keeps the driver's seat"));
    }
    if let Some((to, number)) = app.company.gives.clone() {
        let taker = here(app).find(|(name, _)| *name == to);
        match taker.map(|(_, seat)| seat.asks == Some(number) && seat.role != Role::Driver) {
            Some(true) => return,
            Some(false) => app.company.gives = None,
            None => {
                app.company.gives = None;
                app.company.role = Role::Driver;
                return app.tell("Whoever asked for the driver's seat left: you drive again");
            }
        }
    }
    let now = driver(app).map(|(seat, one)| (seat.to_owned(), name_of(one), one.version.clone()));
    let handed = here(app).any(|(_, seat)| seat.gives.is_some());
    match now {
        None if handed => {}
        None if app.company.role == Role::Beside => {
            app.company.role = Role::Driver;
            app.tell("Nobody else drives this session any more: you do");
        }
        None => {
            app.company.asks = None;
            if let Some((_, name)) = before {
                let open = app.open.as_ref();
                let went = open
                    .is_some_and(|open| open.branches.iter().any(|branch| !branch.run.is_over()));
                let runs = if went {
                    format!(". Runs that went with {name} are interrupted; their steps stay")
                } else {
                    String::new()
                };
                app.tell(format!(
                    "{name} left, and nobody drives: ‹seat› takes the driver's seat{runs}"
                ));
            }
        }
        Some((_, name, version)) if version != env!("CARGO_PKG_VERSION") && before.is_none() => {
            app.tell(format!(
                "{name} drives with dover {}, yours is {}: some of what {name} does may not be seen here",
                short(&version),
                env!("CARGO_PKG_VERSION")
            ));
        }
        Some((seat, name, _)) if before.is_none_or(|(old, _)| old != seat) => {
            app.tell(format!(
                "{name} drives: ‹follow› mirrors or roams, ‹seat› asks for the driver's seat"
            ));
        }
        Some(_) => {}
    }
}

/// Takes a key in. Whoever moves about by themselves roams.
pub(super) fn pressed(app: &mut App, press: impl FnOnce(&mut App) -> Vec<Job>) -> Vec<Job> {
    let stands = |app: &App| {
        let open = app.open.as_ref();
        open.map(|open| (open.steps.branch.clone(), open.selected, open.focus))
    };
    let mirrors = app.company.role == Role::Follower && !app.company.roams;
    let before = stands(app);
    let jobs = press(app);
    let still = app.company.role == Role::Follower && !app.company.roams;
    let goes = jobs.iter().any(|job| matches!(job, Job::Branch(_)));
    let moved = goes || before.is_some() && stands(app) != before;
    if let Some(name) = driver(app).map(|(_, seat)| name_of(seat))
        && mirrors
        && still
        && moved
    {
        app.company.roams = true;
        app.tell(format!("You roam: ‹follow› mirrors {name} again"));
    }
    jobs
}

/// Goes where the driver is.
fn mirror(app: &mut App) -> Vec<Job> {
    if app.company.role != Role::Follower || app.company.roams {
        return Vec::new();
    }
    let Some(seat) = driver(app).map(|(_, seat)| seat.clone()) else {
        return Vec::new();
    };
    let Some(open) = &mut app.open else {
        return Vec::new();
    };
    let branch = BranchId::parse(&seat.branch);
    if branch.session() != open.session.id {
        return Vec::new();
    }
    if let Some(focus) = focus_of(&seat.place) {
        open.focus = focus;
    }
    if open.steps.branch == branch {
        open.land = None;
        read::select_step(app, seat.step);
        return Vec::new();
    }
    let under_way = open.land.as_ref().is_some_and(|(to, _)| *to == branch);
    open.land = Some((branch.clone(), seat.step));
    app.extents.rewind(Pane::Detail);
    if under_way {
        Vec::new()
    } else {
        vec![Job::Branch(branch)]
    }
}

fn focus_of(place: &str) -> Option<Focus> {
    match place {
        "steps" => Some(Focus::Steps),
        "detail" => Some(Focus::Detail),
        "branches" => Some(Focus::Branches),
        _ => None,
    }
}

/// Others wrote to the store: what is shown is read again.
pub(super) fn changed(app: &mut App) -> Vec<Job> {
    let Some(open) = &mut app.open else {
        return vec![Job::Sessions];
    };
    open.notes_of = None;
    let mut jobs = vec![
        Job::Refresh(open.session.id.clone()),
        Job::Grow(open.steps.branch.clone(), open.steps.len),
    ];
    jobs.extend(open.again());
    jobs
}

/// The branch shown grew, or ended.
pub(super) fn grown(app: &mut App, result: Result<Grown, Fault>) -> Vec<Job> {
    let (view, heads) = match result {
        Ok(grown) => grown,
        Err(fault) => {
            app.fail(fault);
            return Vec::new();
        }
    };
    let held = app.prompt.is_some();
    let Some(open) = &mut app.open else {
        return Vec::new();
    };
    if open.steps.branch != view.branch.id {
        return Vec::new();
    }
    let before = open.steps.len;
    // Those that came in another way meanwhile are passed over.
    for head in heads {
        open.steps.push(head);
    }
    open.grew(before, held);
    open.milestones = view.milestones;
    open.branch = view.branch;
    mirror(app)
}
