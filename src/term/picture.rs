//! A screen without a terminal: a session is opened, keys are pressed, and what would be seen is handed back as a buffer.
//!
//! Every job is waited for, so that the picture is the one that a patient person sees. Nothing is forked, run or decided.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use tokio::sync::mpsc;

use super::jobs::Worker;
use super::{First, Options, TermError};
use crate::app::key::Key;
use crate::app::msg::{Job, Msg};

use crate::app::{App, Context, update};
use crate::ui::screens::{RenderCache, draw};

/// Frames after which what still asks for more is taken as it is.
const FRAMES: usize = 40;

/// What is done before the picture is taken.
pub struct Pose {
    /// Keys, in order.
    pub keys: Vec<Key>,
    /// Then one thing that no key does.
    pub job: Option<Job>,
    /// Columns and rows.
    pub size: (u16, u16),
}

/// Takes the picture.
///
/// # Errors
/// The session cannot be opened, or the keys lead nowhere: the sentence is the one that the screen says.
pub fn picture(options: Options, pose: Pose) -> Result<Buffer, TermError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let taken = runtime.block_on(Sitting::new(options, pose.size).sit(pose));
    runtime.shutdown_timeout(std::time::Duration::from_millis(200));
    taken
}

struct Sitting {
    options: Options,
    app: App,
    jobs: Vec<Job>,
    cache: RenderCache,
    terminal: Terminal<TestBackend>,
}

impl Sitting {
    fn new(options: Options, (columns, rows): (u16, u16)) -> Self {
        let what = match &options.open {
            First::One(what) => Some(what.clone()),
            _ => None,
        };
        let (app, mut jobs) = App::start(options.operator.clone(), what, None);
        jobs.retain(|job| !matches!(job, Job::Samples));
        let Ok(terminal) = Terminal::new(TestBackend::new(columns, rows));
        Self {
            cache: RenderCache::new(options.charset),
            options,
            app,
            jobs,
            terminal,
        }
    }

    async fn sit(mut self, pose: Pose) -> Result<Buffer, TermError> {
        self.settle().await;
        if self.app.open.is_none() {
            return Err(self.nowhere());
        }
        let asked = !pose.keys.is_empty() || pose.job.is_some();
        for key in pose.keys {
            let jobs = update(&mut self.app, Msg::Key(key));
            self.jobs.extend(jobs);
            self.settle().await;
        }
        self.jobs.extend(pose.job);
        self.settle().await;
        let still = matches!(
            self.app.context(),
            Context::Steps | Context::Detail | Context::Branches
        );
        if asked && still && self.app.notice.is_some() {
            return Err(self.nowhere());
        }
        Ok(self.terminal.backend().buffer().clone())
    }

    fn nowhere(&self) -> TermError {
        let said = self.app.last_notice.as_ref();
        TermError::Nowhere(
            said.map_or("The session cannot be opened".to_owned(), |notice| {
                notice.text.clone()
            }),
        )
    }

    /// Does the jobs and draws, until nothing is left to do.
    async fn settle(&mut self) {
        for _ in 0..FRAMES {
            while !self.jobs.is_empty() {
                self.work().await;
            }
            let (app, theme, cache) = (&self.app, &self.options.theme, &mut self.cache);
            let Ok(_) = self.terminal.draw(|frame| draw(app, theme, cache, frame));
            self.jobs = update(&mut self.app, Msg::Drawn(Box::new(self.cache.extents)));
            if self.jobs.is_empty() {
                return;
            }
        }
    }

    /// Does the jobs that are there. When all have answered nobody holds the other end, which ends the wait.
    async fn work(&mut self) {
        let (answers, mut inbox) = mpsc::unbounded_channel();
        let Options { store, model, .. } = &self.options;
        let mut worker = Worker::new(store.clone(), model.clone(), answers);
        for job in std::mem::take(&mut self.jobs) {
            match job {
                // These wait for a person, or for the terminal.
                Job::LookAgain(..) | Job::External(_) | Job::Copy(_) | Job::Samples => {}
                job => worker.start(job),
            }
        }
        drop(worker);
        while let Some(msg) = inbox.recv().await {
            let jobs = update(&mut self.app, msg);
            self.jobs.extend(jobs);
        }
    }
}
