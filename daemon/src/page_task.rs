//! When the daemon serves the page: where the settings want it, as soon as it can. Where it can't (another program has the port), that is
//! told by `status` and `doctor`, it is tried again now and then, and the daemon goes on without it: prompts come first.

use std::sync::Arc;
use std::time::Duration;

use remembrancer_hooks::places::Places;
use tokio_util::sync::CancellationToken;

use crate::config::{PageServing, PageSettings};
use crate::operations::Operations;
use crate::page::{At, Memory, OF_DAEMON, Page};
use crate::progress::{Part, Progress};

/// Between two attempts to serve it: as between those to store what the disk refused.
const AGAIN: Duration = Duration::from_secs(10);

/// The page that the settings want.
pub(crate) struct DaemonPage {
    wanted: PageSettings,
    places: Places,
    operations: Arc<Operations>,
}

impl DaemonPage {
    /// The page, where it is wanted.
    pub(crate) fn wanted(wanted: PageSettings, places: Places, operations: Arc<Operations>) -> Option<Self> {
        (wanted.serve != PageServing::Off).then_some(Self {
            wanted,
            places,
            operations,
        })
    }

    /// Serves it until `shutdown`, from when it can be served.
    pub(crate) async fn run(self, shutdown: CancellationToken) {
        let progress = Arc::clone(&self.operations.recaller.progress);
        let Some(page) = until_it_works(&progress, &shutdown, || self.page()).await else {
            return;
        };
        tracing::info!(token = %page.token_file().display(), "the page is served; `remembrancer serve` tells its address");
        page.serve(shutdown).await;
    }

    async fn page(&self) -> std::io::Result<Page> {
        let at = match self.wanted.serve {
            PageServing::Port => At::port(self.wanted.port, false).await?,
            PageServing::Off | PageServing::Socket => At::socket(&self.places.socket_candidates(), self.places.uid())?,
        };
        let memory = Memory::Own(Arc::clone(&self.operations));
        Page::new(at, memory, &self.places.state_dir(), OF_DAEMON)
    }
}

/// What `attempt` gives once it succeeds; none where `shutdown` comes before. While it fails, that is told.
async fn until_it_works<T, F: Future<Output = std::io::Result<T>>>(
    progress: &Progress,
    shutdown: &CancellationToken,
    attempt: impl Fn() -> F,
) -> Option<T> {
    loop {
        match attempt().await {
            Ok(done) => {
                progress.works(Part::Page);
                return Some(done);
            }
            Err(error) => progress.fails(Part::Page, error.to_string()),
        }
        tokio::select! {
            () = shutdown.cancelled() => return None,
            () = tokio::time::sleep(AGAIN) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io::Error;

    use remembrancer_hooks::clock::monotonic_ns;

    use super::*;
    use crate::health::State;

    #[tokio::test(start_paused = true)]
    async fn what_fails_is_told_and_tried_again_until_it_works() {
        let (progress, shutdown) = (Progress::default(), CancellationToken::new());
        let tries = Cell::new(0);
        let attempt = || {
            let told = progress.findings(monotonic_ns(), 0);
            let number = tries.replace(tries.get() + 1);
            assert_eq!(told.len(), usize::from(number > 0), "{told:?}");
            for finding in told {
                assert_eq!((finding.state, finding.part), (State::Degraded, "page"));
                assert!(finding.why.contains("port 7 is taken"), "{}", finding.why);
            }
            async move {
                match number {
                    0..3 => Err(Error::other("port 7 is taken")),
                    number => Ok(number),
                }
            }
        };
        let began = tokio::time::Instant::now();
        assert_eq!(until_it_works(&progress, &shutdown, attempt).await, Some(3));
        assert!((3 * AGAIN..4 * AGAIN).contains(&began.elapsed()), "{:?}", began.elapsed());
        assert!(progress.problems().is_empty() && progress.findings(monotonic_ns(), 0).is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn it_ends_with_the_daemon() {
        let (progress, shutdown) = (Progress::default(), CancellationToken::new());
        shutdown.cancel();
        let never = || async { Err::<(), _>(Error::other("port 7 is taken")) };
        assert_eq!(until_it_works(&progress, &shutdown, never).await, None);
    }
}
