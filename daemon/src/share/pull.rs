//! What comes: a page of the server's changes in, small transactions of the store out, each with how far it has come. The server is asked
//! between two jobs of the store, never within one; what memory and files hold of what changed follows at once (`follow`).

use std::sync::Arc;
use std::time::Duration;

use remembrancer_processor::Stopwatch;
use remembrancer_schema::{PulledChange, PulledPage, SharePlace, Writer};
use tokio::time::sleep;
use tokio_postgres::{Client, Row};

use super::connection::answered;
use super::error::ShareError;
use super::sharing::Team;
use super::wire_rows::{Incoming, Reading, place};
use super::{Sharing, server};
use crate::clock;
use crate::counts::Count;
use crate::threads::Panicked;

/// Changes of a page of the server's.
const PAGE: i32 = 500;
/// Changes of one transaction of the store: a new turn waits for one such at most.
const STEP: usize = 200;
/// How long a step waits while transcripts are to be read.
const BUSY: Duration = Duration::from_secs(2);

/// What a page holds.
#[derive(Debug, Default, PartialEq)]
struct Page {
    /// The place that it was asked from.
    after: i64,
    changes: Vec<PulledChange>,
    cursor: i64,
    head: i64,
    not_opened: u64,
    not_taken: u64,
    /// Whether nothing is left behind it.
    is_last: bool,
    /// Whether the server has come less far than the place that it was asked from: it was put back from a backup.
    went_back: bool,
}

impl Sharing {
    /// Takes the next page; without `contents` what was taken back and forgotten alone, and the rest once contents are wanted. Says whether
    /// there is more.
    ///
    /// # Errors
    /// [`ShareError`]; what was not applied is asked for again.
    pub(super) async fn pull_page(
        &self,
        client: &Client,
        team: &Arc<Team>,
        at: &SharePlace,
        contents: bool,
    ) -> Result<bool, ShareError> {
        let model = self.model();
        let machine: &[u8] = &team.machine;
        let name = model.as_ref().map_or("", |(name, _)| name.as_str());
        let rows = answered(client.query(server::PULL, &[&team.id, &machine, &at.cursor, &PAGE, &name, &contents])).await?;
        let reading = Reading {
            sealing: team.sealing.clone(),
            model: model.clone(),
            now: clock::now(),
        };
        let after = at.cursor;
        // Seals and redaction take their time.
        let page = tokio::task::spawn_blocking(move || read(&rows, &reading, after))
            .await
            .map_err(|_| Panicked)??;
        if page.went_back {
            self.begin_again().await?;
            return Ok(true);
        }
        self.progress.count(Count::ShareNotOpened, page.not_opened);
        self.progress.count(Count::ShareNotTaken, page.not_taken);
        self.shared.count(|counts| {
            counts.not_opened += page.not_opened;
            counts.not_taken += page.not_taken;
        });
        let is_last = page.is_last;
        if page.cursor <= after {
            // What gives nothing has no more, whatever it says.
            return Ok(false);
        }
        let is_whole = self.apply(page, at, contents, model.map(|(name, _)| name)).await?;
        Ok(!is_last || !is_whole)
    }

    /// Has all be told and asked for anew: the server has gone back to what it was, and knows no more of what came after.
    ///
    /// # Errors
    /// The store's error.
    pub(super) async fn begin_again(&self) -> Result<(), ShareError> {
        tracing::warn!("the shared store was put back from a backup, as it seems: all is told again, and taken again");
        let removed = self.writer.call(Writer::begin_again).await??;
        if !removed.is_empty() {
            self.left(removed).await?;
        }
        Ok(())
    }

    /// Stores a page step by step. Says whether all of it was stored: what was asked for from another place is left alone.
    async fn apply(&self, page: Page, at: &SharePlace, contents: bool, model: Option<String>) -> Result<bool, ShareError> {
        let mut after = at.cursor;
        for mut step in steps(page) {
            step.after = after;
            step.sent = at.sent;
            step.marks_only = !contents;
            self.wait_for_ingest().await;
            let mut watch = Stopwatch::start();
            let applied = self
                .writer
                .call(move |writer| writer.apply_pulled(&step, clock::now()))
                .await??;
            watch.lap("step");
            if applied.stale {
                return Ok(false);
            }
            after = applied.cursor;
            let took = watch.total();
            self.follow(applied, model.as_deref()).await?;
            sleep(self.politeness.rest_after(took)).await;
        }
        Ok(true)
    }

    /// A while in which transcripts are read first.
    async fn wait_for_ingest(&self) {
        if self.progress.counts().waiting_files > 0 {
            sleep(BUSY).await;
        }
    }
}

/// What the rows of a page that was asked for from `after` say.
fn read(rows: &[Row], reading: &Reading, after: i64) -> Result<Page, ShareError> {
    let mut page = Page {
        after,
        cursor: after,
        head: after,
        ..Page::default()
    };
    for row in rows {
        let (seq, head) = place(row)?;
        page.note(seq, head, reading.row(row)?);
    }
    // An answer without rows says no more than that there is nothing.
    page.is_last |= rows.is_empty();
    Ok(page)
}

impl Page {
    fn note(&mut self, seq: i64, head: i64, incoming: Incoming) {
        self.went_back |= head < self.after;
        self.cursor = self.cursor.max(seq);
        self.head = self.head.max(head);
        match incoming {
            Incoming::Change(change) => self.changes.push(change),
            Incoming::NotOpened => self.not_opened += 1,
            Incoming::NotTaken => self.not_taken += 1,
            Incoming::Further => {}
            Incoming::End => self.is_last = true,
        }
    }
}

/// A page in steps, each with the place of its last change; the last with the page's.
fn steps(page: Page) -> Vec<PulledPage> {
    let (cursor, head) = (page.cursor, page.head);
    let mut steps = Vec::with_capacity(page.changes.len() / STEP + 1);
    let mut changes = page.changes.into_iter().peekable();
    loop {
        let step: Vec<PulledChange> = changes.by_ref().take(STEP).collect();
        let is_last = changes.peek().is_none();
        steps.push(PulledPage {
            after: 0,
            sent: 0,
            cursor: match step.last() {
                Some(last) if !is_last => seq_of(last),
                _ => cursor,
            },
            changes: step,
            head,
            marks_only: false,
        });
        if is_last {
            return steps;
        }
    }
}

fn seq_of(change: &PulledChange) -> i64 {
    match change {
        PulledChange::Live { seq, .. } | PulledChange::Withdrawn { seq, .. } | PulledChange::Forgotten { seq, .. } => *seq,
    }
}

#[cfg(test)]
mod tests {
    use remembrancer_schema::{EpisodeUid, TurnUid};

    use super::*;

    fn withdrawn(seq: i64) -> Incoming {
        Incoming::Change(PulledChange::Withdrawn {
            seq,
            uid: EpisodeUid([1; 16]),
            member: 2,
            machine: [9; 16],
        })
    }

    fn page(rows: impl IntoIterator<Item = (i64, Incoming)>) -> Page {
        let mut page = Page::default();
        for (seq, incoming) in rows {
            page.note(seq, 900, incoming);
        }
        page
    }

    #[test]
    fn a_page_is_stored_in_steps_that_each_know_where_they_end() {
        let steps = steps(page((1..=450).map(|seq| (seq * 2, withdrawn(seq * 2)))));
        let told: Vec<_> = steps
            .iter()
            .map(|step| (step.changes.len(), step.cursor, step.head))
            .collect();
        assert_eq!(told, [(200, 400, 900), (200, 800, 900), (50, 900, 900)]);
    }

    #[test]
    fn what_is_passed_over_is_counted_and_not_asked_for_again() {
        let page = page([
            (3, withdrawn(3)),
            (5, Incoming::NotOpened),
            (7, Incoming::NotTaken),
            (9, Incoming::End),
        ]);
        assert_eq!((page.not_opened, page.not_taken, page.is_last, page.cursor), (1, 1, true, 9));
        let steps = steps(page);
        assert_eq!(
            steps.iter().map(|step| (step.changes.len(), step.cursor)).collect::<Vec<_>>(),
            [(1, 9)]
        );
    }

    #[test]
    fn a_page_of_nothing_moves_the_cursor() {
        let steps = steps(page([(12, Incoming::End)]));
        assert_eq!(
            steps.iter().map(|step| (step.changes.len(), step.cursor)).collect::<Vec<_>>(),
            [(0, 12)]
        );
    }

    #[test]
    fn a_page_that_looked_up_to_somewhere_has_more_behind_it() {
        let page = page([(3, withdrawn(3)), (800, Incoming::Further)]);
        assert!(!page.is_last && !page.went_back);
        assert_eq!(steps(page).last().map(|step| step.cursor), Some(800));
    }

    #[test]
    fn a_server_that_has_come_less_far_was_put_back() {
        let asked = |after, head| {
            let mut page = Page {
                after,
                ..Page::default()
            };
            page.note(head, head, Incoming::End);
            page.went_back
        };
        assert!(asked(12, 11));
        assert!(!asked(12, 12) && !asked(12, 13));
    }

    #[test]
    fn a_full_page_ends_where_its_last_row_is() {
        let full = page((1..=500).map(|seq| (seq, withdrawn(seq))));
        assert!(!full.is_last);
        let turn = PulledChange::Forgotten {
            seq: 8,
            turn_uid: TurnUid([1; 16]),
            member: 1,
        };
        assert_eq!(seq_of(&turn), 8);
        assert_eq!(steps(full).last().map(|step| step.cursor), Some(500));
    }
}
