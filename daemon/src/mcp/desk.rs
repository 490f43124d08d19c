//! Where calls are done: on threads that may wait, few at once and few in line, each called off when its client says so. A fault of ours
//! in one is that call's error.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{CallToolResult, ProgressNotificationParam};
use rmcp::service::{RequestContext, RoleServer};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::bounds::{MOST_AT_WORK, MOST_CALLS};
use super::wording::{failed, refused};
use crate::cli::CliError;

/// How often a client that asks for it is told that its call is at work still.
const PROGRESS: Duration = Duration::from_secs(1);

/// Places for calls.
pub(super) struct Desk {
    /// For those that are at work or wait.
    calls: Arc<Semaphore>,
    /// For those that are at work.
    at_work: Arc<Semaphore>,
}

impl Default for Desk {
    fn default() -> Self {
        Self {
            calls: Arc::new(Semaphore::new(MOST_CALLS)),
            at_work: Arc::new(Semaphore::new(MOST_AT_WORK)),
        }
    }
}

impl Desk {
    /// A place in line, held until the call is answered.
    ///
    /// # Errors
    /// Where there is none.
    pub(super) fn enter(&self) -> Result<OwnedSemaphorePermit, CallToolResult> {
        Arc::clone(&self.calls).try_acquire_owned().map_err(|_| {
            refused(
                &format!("{MOST_CALLS} calls are being answered already, which is as many as there may be"),
                Some("wait for their answers, then call again"),
            )
        })
    }

    /// Does `work` once there is a place for it, with word of its progress.
    ///
    /// # Errors
    /// What it says; that it was called off, or failed by a fault of ours.
    pub(super) async fn work<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce() -> Result<T, CliError> + Send + 'static,
    ) -> Result<T, CallToolResult> {
        let place = tokio::select! {
            biased;
            () = context.ct.cancelled() => return Err(called_off()),
            place = Arc::clone(&self.at_work).acquire_owned() => place.map_err(|_| called_off())?,
        };
        // What was begun goes on and keeps its place until it ends, though nobody waits for it any more.
        let job = tokio::task::spawn_blocking(move || {
            let done = work();
            drop(place);
            done
        });
        tokio::select! {
            biased;
            done = job => match done {
                Ok(done) => done.map_err(|error| failed(&error)),
                Err(_) => Err(refused(
                    "the program failed on this, which is a fault to report",
                    Some("call with other arguments; where it failed is on the server's standard error"),
                )),
            },
            () = context.ct.cancelled() => Err(called_off()),
            () = tell_of_progress(context) => Err(called_off()),
        }
    }
}

fn called_off() -> CallToolResult {
    refused("the call was called off; what was begun of it may be done", None)
}

/// Tells a client that asked for it that its call is at work, and never ends.
async fn tell_of_progress(context: &RequestContext<RoleServer>) {
    let Some(token) = context.meta.get_progress_token() else {
        return std::future::pending().await;
    };
    let mut seconds = 0.0;
    loop {
        tokio::time::sleep(PROGRESS).await;
        seconds += PROGRESS.as_secs_f64();
        let progress = ProgressNotificationParam::new(token.clone(), seconds).with_message("at work");
        context.peer.notify_progress(progress).await.ok();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use rmcp::model::{NumberOrString, RequestId};
    use rmcp::service::Peer;
    use serde_json::Value;

    use super::*;
    use crate::cli::Kind;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap()
    }

    fn text(result: &CallToolResult) -> String {
        let value: Value = serde_json::to_value(result).unwrap();
        assert_eq!(value["isError"], true);
        value["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// A context of a client that never says anything.
    fn context() -> RequestContext<RoleServer> {
        struct Nothing;
        impl rmcp::handler::server::ServerHandler for Nothing {}
        let (_client, ours) = tokio::io::duplex(64);
        let running = rmcp::service::serve_directly::<RoleServer, _, _, _, _>(Nothing, tokio::io::split(ours), None);
        let peer: Peer<RoleServer> = running.peer().clone();
        RequestContext::new(RequestId::from(NumberOrString::Number(1)), peer)
    }

    #[test]
    fn a_panic_is_the_error_of_its_call_and_its_place_is_free_again() {
        runtime().block_on(async {
            let (desk, context) = (Desk::default(), context());
            for _ in 0..=MOST_AT_WORK {
                let panics = || -> Result<(), CliError> { panic!("a secret text") };
                let said = text(&desk.work(&context, panics).await.unwrap_err());
                assert!(said.contains("a fault to report") && !said.contains("secret"), "{said}");
            }
            assert_eq!(desk.work(&context, || Ok(7)).await.unwrap(), 7);
            let fails = || Err::<(), _>(CliError::new(Kind::NotFound, "no such thing").with_hint("look"));
            assert_eq!(
                text(&desk.work(&context, fails).await.unwrap_err()),
                "no such thing\nWhat to do: look"
            );
        });
    }

    #[test]
    fn a_call_that_is_called_off_is_not_begun_or_not_waited_for() {
        runtime().block_on(async {
            let (desk, context) = (Desk::default(), context());
            let (release, waits) = mpsc::channel::<()>();
            let (begun, begins) = tokio::sync::oneshot::channel();
            let work = desk.work(&context, move || {
                begun.send(()).ok();
                waits.recv().ok();
                Ok(())
            });
            let cancel = async {
                begins.await.unwrap();
                context.ct.cancel();
            };
            let (done, ()) = tokio::join!(work, cancel);
            assert!(text(&done.unwrap_err()).contains("called off"));
            release.send(()).unwrap();
            let never = desk.work(&context, || -> Result<(), CliError> {
                unreachable!("it was called off before")
            });
            assert!(text(&never.await.unwrap_err()).contains("called off"));
        });
    }

    #[test]
    fn no_more_calls_than_a_bound_are_taken() {
        let desk = Desk::default();
        let places: Vec<_> = (0..MOST_CALLS).map(|_| desk.enter().unwrap()).collect();
        assert!(text(&desk.enter().unwrap_err()).contains("wait for their answers"));
        drop(places);
        assert!(desk.enter().is_ok());
    }
}
