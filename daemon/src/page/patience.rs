//! A connection that is given up where its other end takes nothing for a while. Bytes come in and go out unchanged; what hyper bounds
//! is only how long a request's head may take.

use std::io::{Error, ErrorKind, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// How long the other end may take nothing of what is written to it.
const PATIENCE: Duration = Duration::from_secs(10);

/// A stream whose writes end in time.
pub(super) struct Patient<S> {
    stream: S,
    /// Until when the write that waits may wait.
    until: Option<Pin<Box<Sleep>>>,
    patience: Duration,
}

impl<S> Patient<S> {
    /// Of `stream`.
    pub(super) fn new(stream: S) -> Self {
        Self::within(stream, PATIENCE)
    }

    fn within(stream: S, patience: Duration) -> Self {
        Self {
            stream,
            until: None,
            patience,
        }
    }

    /// What a write came to, or that it took too long.
    fn judged<T>(&mut self, context: &mut Context<'_>, written: Poll<Result<T>>) -> Poll<Result<T>> {
        if written.is_ready() {
            self.until = None;
            return written;
        }
        let patience = self.patience;
        let until = self.until.get_or_insert_with(|| Box::pin(sleep(patience)));
        ready!(until.as_mut().poll(context));
        // What comes after it waits anew, and not at once in vain.
        until.as_mut().reset(Instant::now() + patience);
        Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the other end takes nothing")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.judged(context, written)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let this = self.get_mut();
        let flushed = Pin::new(&mut this.stream).poll_flush(context);
        this.judged(context, flushed)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    // Its time goes by as it is waited for.
    #[tokio::test(start_paused = true)]
    async fn who_takes_nothing_is_given_up_and_who_is_slow_is_not() {
        let (ours, mut other) = duplex(16);
        let mut ours = Patient::within(ours, Duration::from_millis(50));
        let reader = tokio::spawn(async move {
            let mut taken = [0; 16];
            for _ in 0..4 {
                tokio::time::sleep(Duration::from_millis(20)).await;
                other.read_exact(&mut taken).await.unwrap();
            }
            other
        });
        ours.write_all(&[1; 64]).await.unwrap();
        let _other = reader.await.unwrap();
        let late = ours.write_all(&[1; 64]).await.unwrap_err();
        assert_eq!(late.kind(), ErrorKind::TimedOut);
    }
}
