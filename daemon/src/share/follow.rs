//! What follows a change by others: what memory and files hold is brought in step with the store. What the store says it did comes in.

use remembrancer_schema::{Applied, EpisodeId};
use tokio::time::sleep;

use super::Sharing;
use super::backoff::{Backoff, random_chance};
use super::error::ShareError;
use crate::causes::with_causes;
use crate::removals;

impl Sharing {
    /// Brings what memory and files hold in step with the store.
    ///
    /// # Errors
    /// Where the daemon is stopping, or the store can't be read.
    pub(super) async fn follow(&self, applied: Applied, model: Option<&str>) -> Result<(), ShareError> {
        let Applied {
            stored,
            replaced,
            removed,
            forgotten_own,
            projects,
            unscrubbed,
            ..
        } = applied;
        // Cleaning up, and trying it again, is upkeep's.
        if unscrubbed {
            self.progress.forgetting_unfinished.notify_one();
        }
        let came = (stored.len() + replaced.len()) as u64;
        self.shared.count(|counts| counts.taken += came);
        // The store has moved on: whatever else fails, what went is told no more.
        for project in projects {
            self.refresher.due.stored(project);
        }
        if !removed.is_empty() || !forgotten_own.is_empty() {
            self.left(removed).await?;
        }
        if came > 0 {
            // A project may be known by more than before.
            self.mailbox.forget_projects();
            self.progress.backlog_grew.notify_one();
            let (changed, codes) = ([stored, replaced].concat(), self.codes.clone());
            let model = model.map(str::to_owned);
            self.background
                .call(move |reader| {
                    if let Some(model) = model {
                        return codes.renew_adopted(reader, &model, &changed);
                    }
                    codes.remove(reader, &changed);
                    Ok(())
                })
                .await??;
        }
        Ok(())
    }

    /// Has nothing tell any more of what left the memory. The recollection files are removed at once; the instruction files follow, and what
    /// a prompt under way still writes ([`Sharing::follow_removals`]).
    ///
    /// # Errors
    /// Where the daemon is stopping.
    pub(super) async fn left(&self, removed: Vec<EpisodeId>) -> Result<(), ShareError> {
        // A project may be gone with it.
        self.mailbox.forget_projects();
        let codes = self.codes.clone();
        self.background.call(move |reader| codes.remove(reader, &removed)).await?;
        self.conversations.forget_topics();
        if let Err(error) = removals::remove_recollection_files(&self.recollections).await {
            tracing::debug!(error = %with_causes(&error), "recollection files are removed once more");
        }
        // From here on no prompt finds anything of it.
        self.went.notify_one();
        Ok(())
    }

    /// Has the files that a host may read tell nothing more of what left, each time that something did; what fails is tried again, later
    /// each time.
    pub(super) async fn follow_removals(&self) {
        let mut backoff = Backoff::default();
        loop {
            self.went.notified().await;
            let mut is_told = false;
            while let Err(error) = removals::files_tell_no_more(&self.refresher, &self.recollections, Ok(())).await {
                if !is_told {
                    tracing::warn!(error = %with_causes(&error), "files may still tell of what others took back; it is tried again");
                }
                is_told = true;
                sleep(backoff.next(random_chance())).await;
            }
            backoff.succeeded();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use remembrancer_processor::FENCE_CLOSE;
    use remembrancer_schema::{InstructionFile, Pause, UnixMillis};
    use tokio::time::timeout;

    use super::*;
    use crate::instructions::insert;
    use crate::share::sharing::tests::{Here, MOMENT, PATIENCE, no_model};

    const QUOTE: &str = "what another shared";

    #[tokio::test]
    async fn what_is_to_be_cleaned_up_now_is_told_to_who_does_that() {
        let here = Here::new(no_model()).await;
        for unscrubbed in [false, true] {
            let applied = Applied {
                unscrubbed,
                ..Applied::default()
            };
            here.sharing.follow(applied, None).await.unwrap();
            let patience = if unscrubbed { PATIENCE } else { MOMENT };
            let told = timeout(patience, here.sharing.progress.forgetting_unfinished.notified()).await;
            assert_eq!(told.is_ok(), unscrubbed);
        }
    }

    /// As after others took something back.
    fn taken_back() -> Applied {
        Applied {
            removed: vec![EpisodeId(7)],
            ..Applied::default()
        }
    }

    /// Lets removals be followed until `done`.
    async fn followed_until(here: &Here, done: impl Fn() -> bool) {
        let looked = async {
            while !done() {
                sleep(Duration::from_millis(5)).await;
            }
        };
        let told = timeout(PATIENCE, async {
            tokio::select! {
                () = here.sharing.follow_removals() => {}
                () = looked => {}
            }
        });
        told.await.expect("it is followed");
    }

    #[tokio::test]
    async fn what_a_prompt_under_way_writes_after_a_removal_goes_as_well() {
        let here = Here::new(no_model()).await;
        let folder = here.sharing.recollections.clone();
        fs_err::create_dir(&folder).unwrap();
        let (before, after) = (folder.join("before.md"), folder.join("after.md"));
        fs_err::write(&before, QUOTE).unwrap();
        here.sharing.follow(taken_back(), None).await.unwrap();
        assert!(!before.exists(), "at once");
        fs_err::write(&after, QUOTE).unwrap();
        followed_until(&here, || !after.exists()).await;
    }

    #[tokio::test]
    async fn a_removal_of_files_that_failed_is_tried_again() {
        let here = Here::new(no_model()).await;
        let folder = here.sharing.recollections.clone();
        // No folder can be removed as a file.
        let obstacle = folder.join("a folder");
        fs_err::create_dir_all(&obstacle).unwrap();
        here.sharing.follow(taken_back(), None).await.unwrap();
        let file = folder.join("quotes.md");
        let mended = async {
            // The first try has failed by then, and the next comes a second later.
            sleep(Duration::from_millis(700)).await;
            fs_err::remove_dir(&obstacle).unwrap();
            fs_err::write(&file, QUOTE).unwrap();
        };
        tokio::join!(mended, followed_until(&here, || !obstacle.exists() && !file.exists()));
    }

    #[tokio::test]
    async fn an_instruction_file_tells_no_more_of_it_in_a_pause_either() {
        let here = Here::new(no_model()).await;
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().canonicalize().unwrap();
        let path = folder.join("AGENTS.md").to_str().unwrap().to_owned();
        let file = InstructionFile {
            path: path.clone(),
            line: None,
            folder: folder.to_str().unwrap().to_owned(),
            made: Some(path.clone()),
            tracked: false,
        };
        let uid = here.sharing.refresher.uid;
        insert(std::slice::from_ref(&file), uid).unwrap().unwrap().apply().unwrap();
        let text = fs_err::read_to_string(&path).unwrap();
        fs_err::write(&path, text.replace(FENCE_CLOSE, &format!("{QUOTE}\n{FENCE_CLOSE}"))).unwrap();
        let noted = here
            .sharing
            .writer
            .call(move |writer| writer.add_instruction_file(&file, UnixMillis(1)));
        noted.await.unwrap().unwrap();
        let tells = || fs_err::read_to_string(&path).unwrap().contains(QUOTE);
        assert!(tells());
        here.sharing.progress.set_paused(Some(Pause::Indefinite));
        here.sharing.follow(taken_back(), None).await.unwrap();
        followed_until(&here, || !tells()).await;
        assert_eq!(fs_err::read_to_string(&path).unwrap(), text);
    }
}
