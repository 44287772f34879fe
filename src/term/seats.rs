//! Keeps this screen's seat and looks at the others', on a thread of its own: what the screen shows is written when it changed, at most
//! a few times a second, and what others do is told the state when that changed. An idle screen writes nothing.

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;

use crate::app::Msg;
use crate::store::{Around, Role, Seat, Seats as Taken, Store, Watch};

/// Between two looks.
const LOOK: Duration = Duration::from_millis(200);
/// Looks until those who went away are looked for, whose runs are interrupted.
const LOST: u32 = 10;

/// The way to the thread; it ends with this.
pub(super) struct Seats {
    said: Option<Sender<Option<Seat>>>,
    thread: Option<JoinHandle<()>>,
    last: Option<Seat>,
}

impl Seats {
    pub(super) fn new(store: &Store, answers: UnboundedSender<Msg>) -> Self {
        let (sender, said) = channel();
        let mut looking = Looking {
            taken: store.seats(),
            store: store.clone(),
            answers,
            now: None,
            told: None,
            watch: None,
            looks: 0,
            lost: 0,
            complaints: BTreeSet::new(),
        };
        Self {
            said: Some(sender),
            thread: Some(std::thread::spawn(move || looking.run(&said))),
            last: None,
        }
    }

    /// Tells what the screen shows; none where it shows no session.
    pub(super) fn say(&mut self, seat: Option<Seat>) {
        if seat != self.last {
            self.last.clone_from(&seat);
            if let Some(said) = &self.said {
                let _ = said.send(seat);
            }
        }
    }
}

impl Drop for Seats {
    fn drop(&mut self) {
        drop(self.said.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Looking {
    store: Store,
    taken: Taken,
    answers: UnboundedSender<Msg>,
    now: Option<Seat>,
    told: Option<Around>,
    /// Whoever does not drive alone sees what others write.
    watch: Option<Watch>,
    looks: u32,
    /// Those who went away, as far as they cannot be marked.
    lost: usize,
    /// What was told that cannot be done; it would be told with each look.
    complaints: BTreeSet<String>,
}

impl Looking {
    fn run(&mut self, said: &Receiver<Option<Seat>>) {
        let mut due = Instant::now();
        loop {
            let mut news = None;
            loop {
                match said.recv_timeout(due.saturating_duration_since(Instant::now())) {
                    Ok(seat) => {
                        // Whoever sits down looks round at once.
                        if self.now.is_none() && seat.is_some() {
                            due = Instant::now();
                        }
                        news = Some(seat);
                    }
                    Err(RecvTimeoutError::Timeout) => break,
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
            due = Instant::now() + LOOK;
            let unseen = news.and_then(|seat| self.say(seat));
            if self.now.is_some() {
                self.look();
            }
            // After the news of the look, which would take its place on the screen.
            if let Some(why) = unseen {
                self.complain(why);
            }
        }
    }

    /// Takes or gives back the seat; why a follower cannot have one, if so.
    fn say(&mut self, seat: Option<Seat>) -> Option<String> {
        let follows = seat.as_ref().is_some_and(|seat| seat.role != Role::Driver);
        self.now.clone_from(&seat);
        let error = self.taken.say(seat).err().filter(|_| follows)?;
        Some(format!(
            "Nobody sees you here, and you cannot ask for the driver's seat: nothing can be written beside {} ({error}). You see all the same what goes on",
            self.store.path().display()
        ))
    }

    fn look(&mut self) {
        self.looks = self.looks.wrapping_add(1);
        if self.looks.is_multiple_of(LOST)
            && let Err(error) = self.store.still_there()
        {
            self.complain(error.to_string());
        }
        let around = self.taken.around();
        if self.told.as_ref() != Some(&around) {
            self.told = Some(around.clone());
            let _ = self.answers.send(Msg::Company(Box::new(around)));
        }
        if self.others_write() {
            self.look_at_store();
        } else {
            self.watch = None;
        }
    }

    /// Whether somebody else may write to the session: what a driver writes alone is on the screen already.
    fn others_write(&self) -> bool {
        self.now.as_ref().is_some_and(|own| {
            let mut others = self.told.iter().flat_map(|told| told.others.values());
            own.role != Role::Driver
                || others.any(|seat| seat.session == own.session && seat.role != Role::Follower)
        })
    }

    fn look_at_store(&mut self) {
        if self.looks.is_multiple_of(LOST) {
            // One that is locked is looked at again.
            let lost = self.store.refresh_interrupted().unwrap_or(self.lost);
            if self.store.is_read_only() && std::mem::replace(&mut self.lost, lost) != lost {
                let _ = self.answers.send(Msg::StoreChanged);
            }
        }
        let changed = match &mut self.watch {
            Some(watch) => watch.changed(),
            // What came before the watch began is read too.
            slot => self.store.watch().map(|watch| {
                *slot = Some(watch);
                true
            }),
        };
        match changed {
            Ok(true) => {
                let _ = self.answers.send(Msg::StoreChanged);
            }
            Ok(false) => {}
            Err(error) => self.complain(error.to_string()),
        }
    }

    fn complain(&mut self, what: String) {
        if self.complaints.insert(what.clone()) {
            let _ = self.answers.send(Msg::Failed(what));
        }
    }
}
