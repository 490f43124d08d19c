//! The daemon as a whole: what is started in which order, what happens when a part of it ends, and in which order it stops.
//!
//! Stop order: refuse prompts → stop the watch and the ingest → finish the batch in hand → drain the writer, checkpoint,
//! close → join the threads → remove the socket → end the model. All of it within [`STOP`]; what is being embedded is given up.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use remembrancer_hooks::places::Places;
use remembrancer_processor::ingest::RULES;
use remembrancer_schema::{Pause, Reader, Writer, open_or_rebuild};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::backlog_task::Backlog;
use crate::backups::Backups;
use crate::changes::{Changes, Lookout};
use crate::clock;
use crate::codes::SharedCodes;
use crate::config::Config;
use crate::control;
use crate::conversations::Conversations;
use crate::counts::Count;
use crate::embedder::{self, EmbedderHandle};
use crate::exclusions::Exclusions;
use crate::feedback::Feedback;
use crate::files::private_folder;
use crate::guarded::{self, Heard};
use crate::ingest_task::{Ingest, IngestSetup};
use crate::instructions::{Due, Refresher};
use crate::mailbox::Mailbox;
use crate::operations::Operations;
use crate::page_task::DaemonPage;
use crate::politeness::Politeness;
use crate::presence::Presence;
use crate::progress::Progress;
use crate::project::Folders;
use crate::recall_task::Recaller;
use crate::recollection_files;
use crate::redaction_task::Redaction;
use crate::reranker::Reranker;
use crate::retention::{Bounds, Retention};
use crate::roots::Roots;
use crate::scan::KnownFile;
use crate::server;
use crate::share::{self, Sharing};
use crate::socket::SocketFile;
use crate::status::DaemonStatus;
use crate::store::Store;
use crate::system::{self, Listener, service_manager};
use crate::threads::{Panicked, Threads};
use crate::upkeep::Upkeep;
use crate::watchdog::Watchdog;

/// How long an orderly stop may take; after that the process ends anyway, and the database is checked at the next start.
pub const STOP: Duration = Duration::from_secs(5);
/// How long the model's threads are waited for once the store is closed.
const MODEL_ENDS: Duration = Duration::from_millis(500);

/// The dimension of the built-in model, for the empty codes before a model is loaded.
const DIMENSION_BEFORE_LOADING: usize = 384;

/// What the daemon needs from its surroundings.
pub struct Setup {
    /// The settings.
    pub config: Config,
    /// Where everything lies.
    pub places: Places,
    /// Folders with transcripts.
    pub(crate) roots: Roots,
    /// The user's home folder, which is no project.
    pub home: Option<PathBuf>,
    /// Where the listener is bound.
    pub(crate) socket: SocketFile,
}

/// Runs until `shutdown`, or until a part of it fails.
///
/// # Errors
/// Where the store can't be opened, or a part ended before it was told to: its name, and why.
pub async fn run(setup: Setup, listener: Listener, shutdown: CancellationToken) -> anyhow::Result<()> {
    let (socket, backoff_file) = (setup.socket.clone(), setup.places.backoff_file());
    let database = setup.places.database_file();
    let recollections = setup.places.recollections_dir();
    let (candidates, places, wanted_page) = (setup.places.socket_candidates(), setup.places.clone(), setup.config.page);
    let Some(opened) = Opened::unless_stopped(&setup.places, &shutdown).await? else {
        socket.remove();
        tracing::info!("stopped before the store was open");
        return Ok(());
    };
    let Parts {
        store,
        embedder,
        model_threads,
        backlog,
        retention,
        redaction,
        lookout,
        sharing,
        ingest,
        mailbox,
        progress,
        operations,
    } = Parts::build(setup, opened)?;
    let mut tasks = Tasks {
        set: JoinSet::new(),
        shutdown: shutdown.clone(),
    };
    tasks.spawn("ingest", ingest_ends(ingest_thread(ingest)?, mailbox, shutdown.clone()));
    tasks.spawn("embedding backlog", finish(backlog.run(shutdown.clone())));
    let upkeep = Upkeep {
        writer: store.writer.clone(),
        progress: Arc::clone(&progress),
        database: database.clone(),
        recollections,
    };
    tasks.spawn("upkeep", finish(upkeep.run(shutdown.clone())));
    tasks.spawn("retention", finish(retention.run(shutdown.clone())));
    tasks.spawn("redaction", finish(redaction.run(shutdown.clone())));
    tasks.spawn("changes of files", finish(lookout.run(shutdown.clone())));
    let handles = (store.writer.clone(), store.background.clone());
    tasks.spawn("sharing", finish(share::run(sharing, handles, shutdown.clone())));
    let refresher = operations.refresher.clone();
    tasks.spawn("instruction files", finish(refresher.run(shutdown.clone())));
    tasks.spawn("backups", finish(operations.backups.clone().run(shutdown.clone())));
    let (sender, orders) = mpsc::channel(2);
    let watchdog = Watchdog::of(&store, sender.clone());
    tasks.spawn(
        "watchdog",
        finish(watchdog.run(service_manager::watchdog(), shutdown.clone())),
    );
    let presence = Presence::new(socket.clone(), candidates, database, sender)?;
    tasks.spawn("presence", presence.run(shutdown.clone()));
    // Prompts first: the page writes a file.
    tasks.spawn(
        "server",
        server::serve(listener, orders, Arc::clone(&operations), shutdown.clone()),
    );
    if let Some(page) = DaemonPage::wanted(wanted_page, places, Arc::clone(&operations)) {
        tasks.spawn("page", finish(page.run(shutdown)));
    }
    drop(operations);
    tracing::info!(socket = %socket.path().display(), "ready");
    // A hook that met a silent daemon keeps still for a while: this one answers.
    progress.hooks_noted(remembrancer_hooks::backoff::end(&backoff_file));
    service_manager::ready(&socket);

    let outcome = tasks.run().await;
    drop((store.writer, store.prompts, store.background, embedder));
    let joined = tokio::task::spawn_blocking(move || store.threads.join()).await;
    socket.remove();
    let model_ends = tokio::task::spawn_blocking(move || model_threads.join());
    // A text that is being embedded is waited for shortly: nothing of it is kept, and on a busy machine it may take seconds.
    let model_ended = tokio::time::timeout(MODEL_ENDS, model_ends).await;
    outcome?;
    let is_well = matches!(joined, Ok(true)) && matches!(model_ended, Err(_) | Ok(Ok(true)));
    anyhow::ensure!(is_well, "a thread panicked; see the log above");
    tracing::info!("stopped");
    Ok(())
}

/// The store, open, and what the parts begin from.
struct Opened {
    writer: Writer,
    log_key: [u8; 32],
    known: Vec<KnownFile>,
    paused: Option<Pause>,
    rereads: u64,
    /// How much could not be kept out that was guarded.
    guard_failed: u64,
    /// How much of what the user decided could not be read.
    damaged_decisions: u64,
}

impl Opened {
    /// Opens the store; `None` where `shutdown` came before. What was begun then ends with the process, and is undone at the
    /// next opening, as after a crash.
    async fn unless_stopped(places: &Places, shutdown: &CancellationToken) -> anyhow::Result<Option<Self>> {
        let places = places.clone();
        let opening = tokio::task::spawn_blocking(move || Self::open(&places));
        let patience = tokio::spawn(service_manager::ask_for_patience());
        let opened = tokio::select! {
            biased;
            () = shutdown.cancelled() => Ok(None),
            opened = opening => opened.map_err(|_| Panicked)?.map(Some),
        };
        patience.abort();
        opened
    }

    /// Blocks for as long as a check of the store takes, a migration, a new index, or a new database in place of a damaged one.
    fn open(places: &Places) -> anyhow::Result<Self> {
        let (database, recollections) = (places.database_file(), places.recollections_dir());
        let mut writer = open_or_rebuild(&database, clock::now())?;
        private_folder(&recollections)?;
        recollection_files::prune(&recollections);
        // Before anything is read: folders and projects are compared with what they are called now.
        let is_redacted_anew = writer.begin_redaction(&RULES)?;
        // Likewise: what was guarded while no daemon ran is never stored.
        let guarded = guarded::keep_out(&mut writer, &places.guarded_file());
        if is_redacted_anew || guarded != Heard::default() {
            recollection_files::remove_all(&recollections)?;
        }
        let reader = Reader::open(&database)?;
        Ok(Self {
            log_key: writer.log_key()?,
            known: reader.sources()?.into_iter().map(KnownFile::from).collect(),
            paused: reader.paused()?,
            rereads: control::open_rereads(&reader)?,
            guard_failed: guarded.failed,
            damaged_decisions: writer.damaged_decisions(),
            writer,
        })
    }
}

/// All parts, connected and not yet running.
struct Parts {
    store: Store,
    embedder: EmbedderHandle,
    model_threads: Threads,
    backlog: Backlog,
    retention: Retention,
    redaction: Redaction,
    lookout: Lookout,
    sharing: Option<Sharing>,
    ingest: Ingest,
    mailbox: Arc<Mailbox>,
    progress: Arc<Progress>,
    operations: Arc<Operations>,
}

/// What several parts share.
struct Shared {
    progress: Arc<Progress>,
    conversations: Arc<Conversations>,
    mailbox: Arc<Mailbox>,
    codes: SharedCodes,
    politeness: Politeness,
    due: Arc<Due>,
    changes: Arc<Changes>,
}

impl Parts {
    fn build(setup: Setup, opened: Opened) -> anyhow::Result<Self> {
        let shared = Shared::new(setup.config.backfill_share);
        let store = Store::start(opened.writer, &setup.places.database_file(), &shared.progress)?;
        let (embedder, mut model_threads) = embedder::start(
            setup.config.model_dir.clone(),
            setup.config.device,
            shared.politeness.threads(),
        )?;
        let reranker = Reranker::start(setup.config.reranker_dir.clone(), setup.config.device, &mut model_threads)?;
        shared.progress.set_paused(opened.paused);
        shared.progress.count(Count::GuardFailed, opened.guard_failed);
        shared.progress.set_damaged_decisions(opened.damaged_decisions);
        shared.mailbox.reread(opened.rereads);
        let backlog = shared.backlog(&store, &embedder);
        let retention = shared.retention(setup.config.retention, &store);
        let redaction = shared.redaction(&store);
        let lookout = shared.lookout(&store, setup.home.clone());
        let refresher = shared.refresher(&setup, &store, &embedder);
        let sharing = shared.sharing(&setup, &store, &refresher);
        let ingest = shared.ingest(&setup, &store, opened.known);
        let (mailbox, progress) = (Arc::clone(&shared.mailbox), Arc::clone(&shared.progress));
        let way = sharing.as_ref().map(|sharing| Arc::clone(&sharing.shared));
        let operations = Arc::new(shared.operations(setup, &store, (refresher, reranker), opened.log_key, way));
        Ok(Self {
            store,
            embedder,
            model_threads,
            backlog,
            retention,
            redaction,
            lookout,
            sharing,
            ingest,
            mailbox,
            progress,
            operations,
        })
    }
}

impl Shared {
    fn new(backfill_share: f64) -> Self {
        Self {
            progress: Arc::default(),
            conversations: Arc::default(),
            mailbox: Arc::default(),
            codes: SharedCodes::new(DIMENSION_BEFORE_LOADING),
            politeness: Politeness::new(backfill_share),
            due: Arc::default(),
            changes: Arc::default(),
        }
    }

    fn backlog(&self, store: &Store, embedder: &EmbedderHandle) -> Backlog {
        Backlog {
            writer: store.writer.clone(),
            background: store.background.clone(),
            embedder: embedder.clone(),
            codes: self.codes.clone(),
            progress: Arc::clone(&self.progress),
            politeness: self.politeness.clone(),
        }
    }

    fn retention(&self, bounds: Bounds, store: &Store) -> Retention {
        Retention {
            bounds,
            writer: store.writer.clone(),
            background: store.background.clone(),
            codes: self.codes.clone(),
            due: Arc::clone(&self.due),
            progress: Arc::clone(&self.progress),
            politeness: self.politeness.clone(),
        }
    }

    fn redaction(&self, store: &Store) -> Redaction {
        Redaction {
            writer: store.writer.clone(),
            background: store.background.clone(),
            codes: self.codes.clone(),
            due: Arc::clone(&self.due),
            progress: Arc::clone(&self.progress),
            politeness: self.politeness.clone(),
        }
    }

    fn lookout(&self, store: &Store, home: Option<PathBuf>) -> Lookout {
        Lookout {
            changes: Arc::clone(&self.changes),
            background: store.background.clone(),
            folders: Arc::new(Folders::new(home)),
            progress: Arc::clone(&self.progress),
        }
    }

    fn refresher(&self, setup: &Setup, store: &Store, embedder: &EmbedderHandle) -> Refresher {
        let mut settings = setup.config.recall.clone();
        if setup.config.share.as_ref().is_some_and(|share| share.remote) {
            settings.profile = settings.profile.with_remote();
        }
        Refresher {
            background: store.background.clone(),
            embedder: embedder.clone(),
            codes: self.codes.clone(),
            settings: Arc::new(settings),
            exclusions: Exclusions::of_settings(&setup.config.transcripts.exclude),
            folders: Arc::new(Folders::new(setup.home.clone())),
            progress: Arc::clone(&self.progress),
            due: Arc::clone(&self.due),
            uid: setup.places.uid(),
            one_at_a_time: Arc::default(),
        }
    }

    /// Sharing with others, where the settings name a server.
    fn sharing(&self, setup: &Setup, store: &Store, refresher: &Refresher) -> Option<Sharing> {
        let settings = setup.config.share.clone()?;
        let way = share::Shared::new(settings.team.clone(), share::machine_name(&settings), settings.remote);
        Some(Sharing {
            settings,
            shared: Arc::new(way),
            writer: store.writer.clone(),
            background: store.background.clone(),
            embedder: refresher.embedder.clone(),
            codes: self.codes.clone(),
            conversations: Arc::clone(&self.conversations),
            refresher: refresher.clone(),
            went: Notify::new(),
            mailbox: Arc::clone(&self.mailbox),
            progress: Arc::clone(&self.progress),
            politeness: self.politeness.clone(),
            recollections: setup.places.recollections_dir(),
        })
    }

    fn ingest(&self, setup: &Setup, store: &Store, known: Vec<KnownFile>) -> Ingest {
        Ingest::new(IngestSetup {
            roots: setup.roots.clone(),
            exclusions: Exclusions::of_settings(&setup.config.transcripts.exclude),
            newest: setup.config.transcripts.newest,
            rescan: setup.config.transcripts.rescan,
            politeness: self.politeness.clone(),
            folders: Folders::new(setup.home.clone()),
            known,
            writer: store.writer.clone(),
            background: store.background.clone(),
            feedback: Feedback {
                background: store.background.clone(),
                writer: store.writer.clone(),
                progress: Arc::clone(&self.progress),
            },
            progress: Arc::clone(&self.progress),
            conversations: Arc::clone(&self.conversations),
            codes: self.codes.clone(),
            mailbox: Arc::clone(&self.mailbox),
            due: Arc::clone(&self.due),
        })
    }

    fn operations(
        self,
        setup: Setup,
        store: &Store,
        (refresher, reranker): (Refresher, Reranker),
        log_key: [u8; 32],
        shared: Option<Arc<share::Shared>>,
    ) -> Operations {
        #[cfg(not(feature = "share"))]
        drop(shared);
        #[cfg(feature = "share")]
        let remote = shared.as_ref().and_then(|shared| shared.desk().cloned());
        let profile = setup.config.recall.profile.name;
        let backups = Backups::new(setup.places.database_file(), setup.config.backup, Arc::clone(&self.progress));
        Operations {
            recaller: Recaller {
                prompts: store.prompts.clone(),
                writer: store.writer.clone(),
                embedder: refresher.embedder.clone(),
                reranker,
                codes: self.codes,
                conversations: self.conversations,
                progress: self.progress,
                settings: Arc::clone(&refresher.settings),
                budget: setup.config.budget,
                exclusions: refresher.exclusions.clone(),
                places: Arc::new(setup.places),
                folders: Arc::new(Folders::new(setup.home)),
                changes: self.changes,
                #[cfg(feature = "share")]
                remote,
                log_key,
            },
            refresher,
            background: store.background.clone(),
            mailbox: self.mailbox,
            backups,
            pausing: tokio::sync::Mutex::default(),
            #[cfg(feature = "share")]
            shared,
            status: DaemonStatus {
                started: clock::now(),
                socket: setup.socket.path().to_owned(),
                roots: setup
                    .roots
                    .folders()
                    .filter(|root| root.exists())
                    .map(Path::to_owned)
                    .collect(),
                profile,
            },
        }
    }
}

/// Tasks of which each must run until it is told to stop. One that ends before, well, badly or by a panic, stops the others.
struct Tasks {
    set: JoinSet<(&'static str, std::io::Result<()>)>,
    shutdown: CancellationToken,
}

impl Tasks {
    fn spawn(&mut self, name: &'static str, task: impl Future<Output = std::io::Result<()>> + Send + 'static) {
        self.set.spawn(async move { (name, task.await) });
    }

    async fn run(mut self) -> anyhow::Result<()> {
        let (mut failure, mut is_told) = (Ok(()), false);
        while let Some(ended) = self.set.join_next().await {
            let early = !self.shutdown.is_cancelled();
            let result = match ended {
                Ok((name, Ok(()))) if early => Err(anyhow::anyhow!("{name} ended by itself")),
                Ok((name, Err(error))) => Err(error).with_context(|| format!("{name} failed")),
                Ok((_, Ok(()))) => Ok(()),
                // Its own error would quote the message, which may quote text.
                Err(_) => Err(anyhow::anyhow!("a task panicked; see the log above")),
            };
            if let Err(error) = &result {
                tracing::error!("{error:#}; stopping");
            }
            if failure.is_ok() {
                failure = result;
            }
            self.shutdown.cancel();
            // Once: the manager's queue may be short, and a full one is waited for.
            if !std::mem::replace(&mut is_told, true) {
                service_manager::stopping();
            }
        }
        failure
    }
}

async fn finish(task: impl Future<Output = ()>) -> std::io::Result<()> {
    task.await;
    Ok(())
}

/// Starts the ingest thread.
fn ingest_thread(ingest: Ingest) -> std::io::Result<Threads> {
    let mut thread = Threads::default();
    thread.spawn("ingest", move || {
        system::lower_this_thread();
        ingest.run();
    })?;
    Ok(thread)
}

/// Waits for the ingest thread, and tells it to stop when the time has come.
async fn ingest_ends(thread: Threads, mailbox: Arc<Mailbox>, shutdown: CancellationToken) -> std::io::Result<()> {
    let mut ended = tokio::task::spawn_blocking(move || thread.join());
    let joined = tokio::select! {
        biased;
        joined = &mut ended => joined,
        () = shutdown.cancelled() => {
            mailbox.stop();
            ended.await
        }
    };
    match joined {
        Ok(true) => Ok(()),
        _ => Err(std::io::Error::other("its thread panicked")),
    }
}
