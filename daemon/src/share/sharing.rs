//! The task that shares: it calls the server, says who it is, and then sends and takes page by page, whenever something changes here or the
//! server has news. That is told to it; in case it is not, it looks at the store every two seconds, and at the server every thirty. Whatever
//! fails is tried again, later each time; a prompt waits for none of it.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use remembrancer_hooks::clock::monotonic_ns;
use remembrancer_schema::{Applied, SharePlace, ShareSetup, UnixMillis, Writer};
use tokio::sync::{mpsc, watch};
use tokio::time::sleep;
use tokio_postgres::Client;
use tokio_util::sync::CancellationToken;

use super::backoff::{Backoff, random_chance};
use super::connection::{News, answered, connect_and_hear};
use super::error::{ANOTHERS_MACHINE, ShareError};
use super::hello::Hello;
use super::seal::TeamKey;
use super::settings::Unusable;
use super::wire_rows::{Sealing, get};
use super::{Sharing, server};
use crate::causes::with_causes;
use crate::clock;
use crate::counts::Count;
use crate::embedder::ModelState;
use crate::progress::Part;
use crate::system;
use crate::threads::Panicked;

/// Between two looks at the outbox, and two at the server, where nobody says that there is something.
const LOOKS: Looks = Looks {
    here: Duration::from_secs(2),
    there: Duration::from_secs(30),
};
/// Until it is tried again where somebody has to change something first.
const REFUSED: Duration = Duration::from_mins(5);
/// Between two looks at the server, however many news it has.
const NEWS: Duration = Duration::from_millis(250);
/// Between two looks at which models the server knows, and at whether it was put back, where it tells nothing.
const RENEWAL: Duration = Duration::from_mins(5);
/// What searches brought and is not followed yet, so many times at most.
const FOUND: usize = 16;

/// How long nothing is looked at by itself.
#[derive(Debug, Clone, Copy)]
struct Looks {
    /// At the store.
    here: Duration,
    /// At the server.
    there: Duration,
}

/// What is known of the team once the server has said hello.
#[derive(Debug)]
pub(super) struct Team {
    /// Its number there.
    pub(super) id: i32,
    /// What this memory is called there.
    pub(super) machine: [u8; 16],
    /// Its key, where it has one.
    pub(super) sealing: Option<Sealing>,
    /// The models of which the server takes vectors.
    pub(super) models: BTreeSet<String>,
    /// The epoch that it is of.
    pub(super) epoch: String,
}

impl Sharing {
    /// Shares until `shutdown`. (Without the feature `share` no settings name a server.)
    pub(crate) async fn run(self, shutdown: CancellationToken) {
        tokio::select! {
            biased;
            () = shutdown.cancelled() => {}
            () = self.work() => {}
        }
    }

    async fn work(&self) {
        // Before that it is not known which vectors to ask for.
        self.embedder.loaded().await;
        let (adopted, to_follow) = mpsc::channel(FOUND);
        tokio::join!(self.sessions(&adopted), self.follow_found(to_follow), self.follow_removals());
    }

    /// Calls the server again and again. What prompts have searched goes to `adopted` once it is stored.
    async fn sessions(&self, adopted: &mpsc::Sender<Applied>) {
        let mut backoff = Backoff::default();
        loop {
            let Err(error) = self.session(adopted).await;
            // What came may have forgotten something, and its last page not.
            self.progress.forgetting_unfinished.notify_one();
            if self.shared.is_proven() {
                backoff.succeeded();
            }
            if matches!(error, ShareError::NoMember(_))
                && let Err(error) = self.note_put_out().await
            {
                tracing::warn!(error = %with_causes(&error), "that this is no member of the team is not known after a start");
            }
            let is_refused = error.is_refusal();
            let rest = if is_refused { REFUSED } else { backoff.next(random_chance()) };
            let why = self.tell(&error);
            let now = clock::now();
            let until = UnixMillis(now.0.saturating_add(rest.as_millis() as i64));
            self.shared.failed(now, why, until, is_refused);
            // Unless somebody wants it to go on.
            tokio::select! {
                () = sleep(rest) => {}
                () = self.shared.poked() => {}
            }
        }
    }

    /// Tells of what ended a session, in the log once; gives it in words.
    fn tell(&self, error: &ShareError) -> String {
        let why = with_causes(error);
        if error.is_refusal() {
            self.progress.fails(Part::Sharing, why.clone());
            return why;
        }
        self.progress.count(Count::ShareInterrupted, 1);
        let is_stopping = matches!(error, ShareError::Gone(_));
        if !is_stopping && self.shared.is_news(false) {
            tracing::warn!(error = %why, "sharing is interrupted; it is tried again and again, and the log says when it goes on");
        } else {
            tracing::debug!(error = %why, "sharing rests, and tries again");
        }
        why
    }

    /// All has gone well once, both ways.
    fn went_well(&self) {
        if !self.shared.proven(clock::now()) {
            return;
        }
        let is_news = self.shared.is_news(true);
        if self.progress.is_failing(Part::Sharing) {
            self.progress.works(Part::Sharing);
        } else if is_news {
            tracing::info!("the shared store is there, and sharing goes on");
        }
    }

    /// Notes that the server takes this for no member of the team, for as long as it does.
    async fn note_put_out(&self) -> Result<(), ShareError> {
        self.shared.set_put_out(true);
        self.writer.call(|writer| writer.note_put_out(true)).await??;
        Ok(())
    }

    /// From the settings to the end of the connection.
    async fn session(&self, adopted: &mpsc::Sender<Applied>) -> Result<Infallible, ShareError> {
        let (key, machine) = self.prepare().await?;
        let news = Arc::<News>::default();
        let mut client = connect_and_hear(&self.settings, Arc::clone(&news)).await?;
        let hello = self.hello(&client, machine).await?;
        let team = Team {
            id: hello.team,
            machine,
            sealing: hello.sealing(&self.settings.team, key)?,
            models: models(&client).await?,
            epoch: epoch(&client, hello.team).await?,
        };
        self.catch_up(&hello, team.epoch.clone()).await?;
        news.listen_for(hello.team);
        answered(client.batch_execute(server::LISTEN)).await?;
        self.shared.connected(clock::now(), hello.server_version, hello.login);
        tracing::debug!("connected to the shared store");
        let (team, told) = watch::channel(Arc::new(team));
        tokio::select! {
            ended = self.exchange(&mut client, &team, &news) => ended,
            never = self.answer_prompts(told, adopted) => match never {},
        }
    }

    /// Sends and takes until the connection ends, and looks now and then which models the server knows, and whether it was put back.
    async fn exchange(
        &self,
        client: &mut Client,
        team: &watch::Sender<Arc<Team>>,
        news: &News,
    ) -> Result<Infallible, ShareError> {
        let now = Arc::clone(&team.borrow());
        self.take_marks(client, &now).await?;
        loop {
            let before = Arc::clone(&team.borrow());
            self.tell_of_model(&before).await?;
            self.share(client, &before, news).await?;
            let epoch = epoch(client, before.id).await?;
            if self.is_another(epoch.clone()).await? {
                self.begin_again().await?;
            }
            let models = models(client).await?;
            team.send_replace(Arc::new(Team {
                id: before.id,
                machine: before.machine,
                sealing: before.sealing.clone(),
                models,
                epoch,
            }));
        }
    }

    /// Takes what was taken back and forgotten while this machine was away, before it tells anything: what waits here may be part of that.
    /// What can't be taken keeps nothing from leaving.
    async fn take_marks(&self, client: &Client, team: &Arc<Team>) -> Result<(), ShareError> {
        loop {
            let at = self.place().await?;
            match self.pull_page(client, team, &at, false).await {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(error) if error.is_of_way() => return Err(error),
                Err(error) => {
                    tracing::debug!(%error, "what was taken back meanwhile is taken later");
                    return Ok(());
                }
            }
        }
    }

    /// Notes who this is there, and has all be told again that the server may not have any more: everything where it was put back from a
    /// backup, and what was shared where it took that back when it put this member out. What its own member took back stays so.
    async fn catch_up(&self, hello: &Hello, epoch: String) -> Result<(), ShareError> {
        let (member, login) = (hello.member, hello.login.clone());
        self.writer.call(move |writer| writer.note_member(member, &login)).await??;
        let at = self.background.call(|reader| reader.share_place()).await??;
        let went_back = at.is_some_and(|at| hello.head < at.cursor);
        if self.is_another(epoch).await? || went_back {
            self.begin_again().await?;
        } else if self.shared.is_put_out() {
            self.writer.call(Writer::enqueue_shared).await??;
        }
        self.writer.call(|writer| writer.note_put_out(false)).await??;
        self.shared.set_put_out(false);
        Ok(())
    }

    /// Whether the server or its team is of another epoch than before: it was put back from a backup, or made anew, and may have come further
    /// since than this memory knew of. It is, until all was begun again.
    async fn is_another(&self, epoch: String) -> Result<bool, ShareError> {
        Ok(self.writer.call(move |writer| writer.note_epoch(&epoch)).await??)
    }

    /// Sends and takes, for as long as what is known of the server's models and of its epoch is new enough.
    async fn share(&self, client: &mut Client, team: &Arc<Team>, news: &News) -> Result<(), ShareError> {
        let began = monotonic_ns();
        // Contents may have been passed over before.
        let mut passed_over = true;
        let mut failed = None;
        while since(began) < RENEWAL {
            let round = monotonic_ns();
            let at = self.place().await?;
            let mut more = false;
            if at.has_changes && failed.is_none() {
                match self.push_page(client, team, at.paused).await {
                    Ok(pushed) => more = pushed,
                    Err(error) if error.is_of_way() => return Err(error),
                    // What can't be sent keeps nothing from coming, least of all what others take back.
                    Err(error) => failed = Some(error),
                }
            }
            // What is taken back comes in any pause; a pause of the memory, and one of sharing, pass over the rest until they end.
            let contents = self.wants_contents(&at);
            if contents && passed_over {
                self.writer.call(Writer::pull_contents).await??;
            }
            passed_over = !contents;
            // What was sent has moved it.
            let at = self.place().await?;
            more |= self.pull_page(client, team, &at, contents).await?;
            if failed.is_none() {
                self.went_well();
            }
            if client.is_closed() {
                return Err(ShareError::Unreachable("the connection was closed".to_owned()));
            }
            if more {
                continue;
            }
            if let Some(error) = failed.take() {
                return Err(error);
            }
            tokio::select! {
                // Whoever is logged in may send as many as it likes.
                () = news.heard() => {
                    sleep(NEWS.saturating_sub(since(round))).await;
                    // That it was put back is such news, too.
                    if epoch(client, team.id).await? != team.epoch {
                        return Ok(());
                    }
                }
                needed = self.needed(contents, LOOKS) => needed?,
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// Waits until there is something to send or somebody wants to be heeded, until contents are wanted that were not (`contents`) or the
    /// other way round, or until it is time to look at the server. Not all that writes to the store says so.
    async fn needed(&self, contents: bool, looks: Looks) -> Result<(), ShareError> {
        let began = monotonic_ns();
        loop {
            tokio::select! {
                () = self.progress.memory_changed.notified() => return Ok(()),
                () = self.shared.poked() => return Ok(()),
                () = sleep(looks.here) => {}
            }
            let at = self.place().await?;
            // In a pause most of what waits goes on waiting; what has to leave is told by who takes it out, or goes with the next look there.
            let is_needed = (at.has_changes && !at.paused) || self.wants_contents(&at) != contents;
            if is_needed || since(began) >= looks.there {
                return Ok(());
            }
        }
    }

    /// Whether what others share is to be taken now, and not what they take back alone.
    fn wants_contents(&self, at: &SharePlace) -> bool {
        self.settings.pull && !at.paused && !self.progress.is_paused(clock::now())
    }

    /// How far sharing has come.
    async fn place(&self) -> Result<SharePlace, ShareError> {
        let at = self.background.call(|reader| reader.share_place()).await??;
        at.ok_or_else(|| ShareError::Refused("nothing is shared any more; start the daemon again to share".to_owned()))
    }

    /// Sets sharing up in the store; gives the team's key, and what this memory is called.
    async fn prepare(&self) -> Result<(Option<TeamKey>, [u8; 16]), ShareError> {
        let settings = self.settings.clone();
        // Files are read.
        let read = move || -> Result<_, ShareError> {
            let key = settings.key_file.as_deref().map(TeamKey::read).transpose()?;
            Ok((settings.address()?, key))
        };
        let (address, key) = tokio::task::spawn_blocking(read).await.map_err(|_| Panicked)??;
        self.shared.set_server(address.to_string());
        let setup = ShareSetup {
            team_key: address.team_key(&self.settings.team),
            allowed: self.settings.projects.clone(),
        };
        let new_machine = new_machine()?;
        let state = self
            .writer
            .call(move |writer| writer.set_sharing(Some(&setup), new_machine))
            .await??;
        self.shared.remember(state.is_put_out, state.unknown_model);
        if !state.removed.is_empty() {
            self.left(state.removed).await?;
        }
        Ok((key, state.machine))
    }

    async fn hello(&self, client: &Client, machine: [u8; 16]) -> Result<Hello, ShareError> {
        let (name, id, team) = (self.shared.machine_name(), &machine[..], &self.settings.team);
        let told = answered(client.query_one(server::HELLO, &[&id, &name, team, &server::CLIENT_VERSION])).await;
        let row = match told {
            // A copy of the database is at work elsewhere, under somebody else's login.
            Err(ShareError::Server { state, message }) if state == ANOTHERS_MACHINE => {
                let other = new_machine()?;
                self.writer.call(move |writer| writer.renew_machine(other)).await??;
                return Err(ShareError::Server { state, message });
            }
            row => row.map_err(ShareError::of_hello)?,
        };
        Hello::of(&row)
    }

    /// The model whose vectors are current, and their dimension.
    pub(super) fn model(&self) -> Option<(String, usize)> {
        match self.embedder.state() {
            ModelState::Ready(model) => Some((model.model_id().to_owned(), model.dimension())),
            ModelState::Loading | ModelState::Failed(_) => None,
        }
    }

    /// Notes whether the model's vectors are taken there. Where they are for the first time, what was sent without its vector is sent
    /// with it. Without a model what was noted stays.
    async fn tell_of_model(&self, team: &Team) -> Result<(), ShareError> {
        let Some((model, _)) = self.model() else { return Ok(()) };
        let is_known = team.models.contains(&model);
        let is_news = is_known && self.shared.unknown_model().as_ref() == Some(&model);
        let unknown = (!is_known).then_some(model);
        let noted = unknown.clone();
        let done = self.writer.call(move |writer| {
            if is_news {
                writer.enqueue_shared()?;
            }
            writer.note_unknown_model(noted.as_deref())
        });
        done.await??;
        self.shared.set_unknown_model(unknown);
        Ok(())
    }
}

/// The epoch of the server and the team of that number: another one after the server was put back from a backup, or the team was made again
/// under its name.
async fn epoch(client: &Client, team: i32) -> Result<String, ShareError> {
    let row = answered(client.query_one(server::SHARED_EPOCH, &[])).await?;
    let value: String = get(&row, "value")?;
    Ok(epoch_of(&value, team))
}

/// What is noted of an epoch of the server's and of the team in it: numbers of teams are given once.
fn epoch_of(server: &str, team: i32) -> String {
    format!("{server} {team}")
}

/// Which models the server takes vectors of.
async fn models(client: &Client) -> Result<BTreeSet<String>, ShareError> {
    let rows = answered(client.query(server::MODELS, &[])).await?;
    rows.iter().map(|row| get(row, "name")).collect()
}

/// How long ago an instant of the monotonic clock was.
fn since(began_ns: u64) -> Duration {
    Duration::from_nanos(monotonic_ns().saturating_sub(began_ns))
}

/// What a memory may be called that has no name yet.
fn new_machine() -> Result<[u8; 16], ShareError> {
    let mut machine = [0; 16];
    system::fill_randomly(&mut machine)
        .map_err(|error| ShareError::Settings(Unusable(format!("the system gives no random bytes: {error}"))))?;
    Ok(machine)
}

#[cfg(test)]
pub(super) mod tests;
