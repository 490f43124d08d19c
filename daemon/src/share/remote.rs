//! The server's side of the remote leg: a connection of its own, on which one prompt's search is asked after the other. What is found and
//! not here is stored as a pulled copy, so that the prompt finds it by its row, as any other; the next one does, where this one had to
//! go without.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use remembrancer_schema::{
    Adopted, Applied, EpisodeId, EpisodeUid, FoundEpisode, FoundPage, PulledChange, QueryError, SharePlace,
};
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};
use tokio_postgres::{Row, Statement};

use super::backoff::{Backoff, random_chance};
use super::connection::{News, Session, answered, connect_and_hear};
use super::desk::{Desk, Question};
use super::error::ShareError;
use super::sharing::Team;
use super::wire_rows::{Incoming, Reading, get};
use super::{Sharing, server};
use crate::causes::with_causes;
use crate::clock;
use crate::store::NoAnswer;
use crate::threads::Panicked;

/// Episodes that are asked for by words, and as many by meaning.
const MOST: i32 = 20;
/// How long the server may take: what comes too late for its prompt is there for the next.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long the thread that reads for what may wait is given to say what is here already; else the writer says it.
const LOOK: Duration = Duration::from_millis(20);
/// The constant of the rank fusion of words and meaning.
const K: f64 = 60.0;

/// A connection that searches.
struct Searcher {
    client: Session,
    search: Statement,
    /// Woken when the connection has ended.
    news: Arc<News>,
}

/// A row of a search that is an episode.
struct Hit {
    uid: EpisodeUid,
    seq: i64,
    /// The row's place in the answer.
    row: usize,
    score: f64,
}

impl Sharing {
    /// Takes prompts' questions to the server, as long as it is polled, where the settings want that.
    pub(super) async fn answer_prompts(&self, team: watch::Receiver<Arc<Team>>, adopted: &mpsc::Sender<Applied>) -> Infallible {
        let Some(desk) = self.shared.desk() else {
            return std::future::pending().await;
        };
        let mut backoff = Backoff::default();
        loop {
            let error = match self.searcher(&team).await {
                Ok(searcher) => self.serve_prompts(desk, &searcher, &team, adopted, &mut backoff).await,
                Err(error) => error,
            };
            tracing::debug!(error = %with_causes(&error), "prompts do without the shared store, until it is called again");
            sleep(backoff.next(random_chance())).await;
        }
    }

    /// Connects, and has the server ready to search.
    async fn searcher(&self, team: &watch::Receiver<Arc<Team>>) -> Result<Searcher, ShareError> {
        let news = Arc::<News>::default();
        let client = connect_and_hear(&self.settings, Arc::clone(&news)).await?;
        answered(client.batch_execute(server::BE_READY_TO_SEARCH)).await?;
        let search = answered(client.prepare(server::SEARCH)).await?;
        // The first search of a session takes several times as long.
        let (id, nothing, no_vector) = (team.borrow().id, None::<Vec<String>>, None::<Vec<f32>>);
        answered(client.query(&search, &[&id, &nothing, &no_vector, &"", &1_i32])).await?;
        Ok(Searcher { client, search, news })
    }

    /// Answers until the connection ends, or is worth nothing any more: says why.
    async fn serve_prompts(
        &self,
        desk: &Desk,
        searcher: &Searcher,
        team: &watch::Receiver<Arc<Team>>,
        adopted: &mpsc::Sender<Applied>,
        backoff: &mut Backoff,
    ) -> ShareError {
        let (way, mut questions) = mpsc::channel(1);
        let _open = desk.open(way);
        loop {
            let question = tokio::select! {
                question = questions.recv() => question,
                () = searcher.news.heard() => None,
            };
            if searcher.client.is_closed() {
                return ShareError::Unreachable("the connection was closed".to_owned());
            }
            let Some(question) = question.filter(|question| !question.until.has_passed()) else {
                continue;
            };
            let team = Arc::clone(&team.borrow());
            match self.answer(searcher, &team, question, adopted).await {
                Ok(()) => backoff.succeeded(),
                // It may do the next.
                Err(error @ (ShareError::Server { .. } | ShareError::Store(_) | ShareError::Panicked(_))) => {
                    tracing::debug!(error = %with_causes(&error), "a prompt did without the shared store");
                }
                Err(error) => return error,
            }
        }
    }

    /// Asks one question, stores what is not here, and answers, whoever still waits.
    async fn answer(
        &self,
        searcher: &Searcher,
        team: &Team,
        question: Question,
        adopted: &mpsc::Sender<Applied>,
    ) -> Result<(), ShareError> {
        let Question {
            terms,
            embedding,
            place,
            answer,
            ..
        } = question;
        let model = self.model().filter(|(name, _)| team.models.contains(name));
        let embedding = embedding.filter(|_| model.is_some());
        // A sealed team's server holds no words, and is told none.
        let terms = Some(terms).filter(|terms| team.sealing.is_none() && !terms.is_empty());
        let mut found = Vec::new();
        if terms.is_some() || embedding.is_some() {
            let name = model.as_ref().map_or("", |(name, _)| name.as_str());
            let Searcher { client, search, .. } = searcher;
            let told = timeout(PATIENCE, client.query(search, &[&team.id, &terms, &embedding, &name, &MOST])).await;
            let rows = told.map_err(|_| ShareError::Late(PATIENCE))??;
            let reading = Reading {
                sealing: team.sealing.clone(),
                model,
                now: clock::now(),
            };
            found = self.found(rows, reading, &place, adopted).await?;
        }
        // Whoever asked may be gone.
        answer.try_send(found).ok();
        Ok(())
    }

    /// Where what a search found is here, best first, after what was not is stored.
    async fn found(
        &self,
        rows: Vec<Row>,
        reading: Reading,
        place: &SharePlace,
        adopted: &mpsc::Sender<Applied>,
    ) -> Result<Vec<EpisodeId>, ShareError> {
        let hits = hits(&rows)?;
        let Some(first) = rows.first() else { return Ok(Vec::new()) };
        let head: i64 = get(first, "head")?;
        let wanted: Vec<(EpisodeUid, i64)> = hits.iter().map(|hit| (hit.uid, hit.seq)).collect();
        let looked = timeout(LOOK, self.background.call(move |reader| reader.found_here(&wanted))).await;
        let mut here = match looked {
            Ok(here) => here??,
            Err(_) => vec![None; hits.len()],
        };
        let missing: Vec<usize> = (0..hits.len()).filter(|at| here[*at].is_none()).collect();
        if missing.is_empty() || self.progress.is_paused(clock::now()) {
            return Ok(here.into_iter().flatten().collect());
        }
        let of_rows: Vec<(usize, usize)> = missing.iter().map(|at| (*at, hits[*at].row)).collect();
        // Seals and redaction take their time.
        let read = tokio::task::spawn_blocking(move || read(&rows, &of_rows, &reading));
        let (places, found): (Vec<usize>, Vec<FoundEpisode>) = read.await.map_err(|_| Panicked)??.into_iter().unzip();
        let page = FoundPage {
            sent: place.sent,
            head,
            found,
        };
        for (at, id) in places.into_iter().zip(self.adopt(page, adopted).await?) {
            here[at] = id;
        }
        Ok(here.into_iter().flatten().collect())
    }

    /// Stores what was found, once there is room to tell who follows it: what memory holds of it is brought in step afterwards, whatever
    /// becomes of this connection.
    async fn adopt(&self, page: FoundPage, adopted: &mpsc::Sender<Applied>) -> Result<Vec<Option<EpisodeId>>, ShareError> {
        // Nobody follows any more where the daemon is stopping.
        let room = adopted.clone().reserve_owned().await.map_err(|_| NoAnswer::Closed)?;
        let stored = self.writer.call(move |writer| {
            let Adopted { here, applied } = writer.adopt_found(&page, clock::now())?;
            drop(room.send(applied));
            Ok::<_, QueryError>(here)
        });
        Ok(stored.await??)
    }

    /// Brings what memory and files hold in step with what searches brought.
    pub(super) async fn follow_found(&self, mut adopted: mpsc::Receiver<Applied>) {
        while let Some(applied) = adopted.recv().await {
            let model = self.model().map(|(name, _)| name);
            if let Err(error) = self.follow(applied, model.as_deref()).await {
                tracing::warn!(error = %with_causes(&error), "what the shared store found is recalled by words until the next start");
            }
        }
    }
}

/// The episodes of an answer, best first: by words and by meaning alike.
fn hits(rows: &[Row]) -> Result<Vec<Hit>, ShareError> {
    let mut hits = Vec::with_capacity(rows.len());
    for (row, told) in rows.iter().enumerate() {
        let Ok(uid) = <[u8; 16]>::try_from(get::<&[u8]>(told, "uid")?) else {
            continue;
        };
        hits.push(Hit {
            uid: EpisodeUid(uid),
            seq: get(told, "seq")?,
            row,
            score: score(get(told, "words_rank")?, get(told, "meaning_rank")?),
        });
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.uid.cmp(&b.uid)));
    Ok(hits)
}

fn score(words: Option<i32>, meaning: Option<i32>) -> f64 {
    let part = |rank: i32| 1.0 / (K + f64::from(rank.max(1)));
    words.map_or(0.0, part) + meaning.map_or(0.0, part)
}

/// What the rows of these places say, of those that are episodes, each with where it belongs.
fn read(rows: &[Row], places: &[(usize, usize)], reading: &Reading) -> Result<Vec<(usize, FoundEpisode)>, ShareError> {
    let mut found = Vec::with_capacity(places.len());
    for (at, row) in places {
        if let Incoming::Change(PulledChange::Live { seq, from, episode }) = reading.row(&rows[*row])? {
            found.push((*at, FoundEpisode { seq, from, episode }));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::share::sharing::tests::{Here, MOMENT, no_model};

    #[tokio::test]
    async fn what_was_found_is_stored_once_there_is_room_to_follow_it() {
        let here = Here::new(no_model()).await;
        let (adopted, mut to_follow) = mpsc::channel(1);
        adopted.send(Applied::default()).await.unwrap();
        {
            let mut waiting = std::pin::pin!(here.sharing.adopt(FoundPage::default(), &adopted));
            assert!(
                timeout(MOMENT, &mut waiting).await.is_err(),
                "nobody has followed what was there"
            );
            assert_eq!(to_follow.recv().await, Some(Applied::default()));
            assert!(waiting.await.unwrap().is_empty());
        }
        drop(adopted);
        assert!(to_follow.recv().await.is_some(), "who follows is told");
        assert_eq!(to_follow.recv().await, None);
    }

    #[test]
    fn what_both_find_goes_before_what_one_finds() {
        let order = [
            score(Some(1), Some(3)),
            score(Some(20), Some(20)),
            score(Some(1), None),
            score(None, Some(2)),
            score(Some(20), None),
        ];
        assert!(order.is_sorted_by(|a, b| a > b), "{order:?}");
        assert!((score(Some(4), None) - score(None, Some(4))).abs() < f64::EPSILON);
        assert!(score(None, None).abs() < f64::EPSILON);
        assert!(
            (score(Some(-7), None) - score(Some(1), None)).abs() < f64::EPSILON,
            "whatever a server says"
        );
    }
}
