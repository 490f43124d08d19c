//! Connections: where they are taken, how many, and how long each may take for what. Sockets come in; requests go to the views, and what
//! is too much is closed.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::guard::Hosts;
use super::patience::Patient;
use crate::server::is_admitted;
use crate::socket::{SocketFile, bind};
use crate::system::{self, Listener, Stream};

/// The name of the unix socket, beside the daemon's.
const SOCKET_NAME: &str = "page.sock";
/// How a unix socket is called where an address is.
pub(crate) const SOCKET_ADDRESS: &str = "http://localhost/";

/// Connections at a time: a browser opens six for each tab at most, and one stays open for its live events.
const CONNECTIONS: usize = 64;
/// How long a request's head may take to come, and a connection be idle.
const HEAD_PATIENCE: Duration = Duration::from_secs(10);
/// Bytes of a head at most.
const MOST_HEAD: usize = 16 * 1_024;
/// Lines of a head at most.
const MOST_LINES: usize = 64;
/// Bytes that are held of a connection at most.
const MOST_BUFFER: usize = 64 * 1_024;
/// How long requests in progress may take once the page stops: less than the daemon may take for all of its stop.
const LAST_PATIENCE: Duration = Duration::from_secs(2);
/// Between two attempts to accept where the system refuses.
const AFTER_REFUSAL: Duration = Duration::from_millis(50);

/// What is told who comes when too many are there.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-type: text/plain\r\nretry-after: 1\r\n\
content-length: 32\r\n\r\ntoo many connections; try again\n";

/// Where the page is served.
pub(crate) enum At {
    /// At a port of this machine's own address, and of that of IPv6 where it was asked for.
    Port(TcpListener, Option<TcpListener>),
    /// At a unix socket.
    Socket(Listener, SocketFile),
}

impl At {
    /// A port of the loopback address: this one, or one that is free.
    ///
    /// # Errors
    /// The system's error, with the address.
    pub(crate) async fn port(port: Option<u16>, also_six: bool) -> std::io::Result<Self> {
        let four = listen(SocketAddr::from((Ipv4Addr::LOCALHOST, port.unwrap_or(0)))).await?;
        let six = if also_six {
            let port = four.local_addr()?.port();
            Some(listen(SocketAddr::from((Ipv6Addr::LOCALHOST, port))).await?)
        } else {
            None
        };
        Ok(Self::Port(four, six))
    }

    /// A unix socket of this user alone, beside the first usable of the `candidates` for the daemon's.
    ///
    /// # Errors
    /// Where none is usable: the places and their errors.
    pub(crate) fn socket(candidates: &[PathBuf], uid: u32) -> std::io::Result<Self> {
        let mut tried = Vec::new();
        for path in socket_paths(candidates) {
            match bind(&path, uid) {
                Ok(listener) => return Ok(Self::Socket(listener, SocketFile::own(&path))),
                // Another page of this user: a second one elsewhere would never be found.
                Err(error) if error.kind() == ErrorKind::AddrInUse => {
                    return Err(std::io::Error::new(
                        error.kind(),
                        format!("cannot listen at {}: {error}", path.display()),
                    ));
                }
                Err(error) => tried.push(format!("{} ({error})", path.display())),
            }
        }
        Err(std::io::Error::other(format!(
            "cannot listen at any of: {}",
            tried.join(", ")
        )))
    }

    /// The unix socket, if it is one.
    pub(crate) fn socket_path(&self) -> Option<&Path> {
        match self {
            Self::Port(..) => None,
            Self::Socket(_, file) => Some(file.path()),
        }
    }

    fn own_port(&self) -> u16 {
        match self {
            Self::Port(four, _) => four.local_addr().map_or(0, |address| address.port()),
            Self::Socket(..) => 0,
        }
    }

    /// The address of the page, without its token.
    pub(super) fn address(&self) -> String {
        match self {
            Self::Port(..) => format!("http://127.0.0.1:{}/", self.own_port()),
            Self::Socket(..) => SOCKET_ADDRESS.to_owned(),
        }
    }

    /// The name of its token's file, where the page is not the daemon's.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Port(..) => self.own_port().to_string(),
            Self::Socket(..) => "socket".to_owned(),
        }
    }

    /// How this machine may be called there.
    pub(super) fn hosts(&self) -> Hosts {
        match self {
            Self::Port(..) => Hosts::Port(self.own_port()),
            Self::Socket(..) => Hosts::AnyPort,
        }
    }
}

async fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let told = |error: std::io::Error| std::io::Error::new(error.kind(), format!("cannot listen at {address}: {error}"));
    TcpListener::bind(address).await.map_err(told)
}

/// Where the page's unix socket may be, in the order of the daemon's.
pub(crate) fn socket_paths(candidates: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
    candidates.iter().map(|path| path.with_file_name(SOCKET_NAME))
}

/// A connection that was taken.
enum Taken {
    Tcp(TcpStream),
    Unix(Stream),
}

/// Serves `router` at `at` until `shutdown`; requests in progress are finished, as far as they are soon.
pub(super) async fn serve(at: At, router: Router, shutdown: CancellationToken) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let taken = tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
            taken = accept(&at) => taken,
        };
        let taken = match taken {
            Ok(taken) => taken,
            // Out of file descriptors, or a client that left: neither ends the page.
            Err(error) => {
                tracing::debug!(%error, "a connection to the page was not accepted");
                tokio::time::sleep(AFTER_REFUSAL).await;
                continue;
            }
        };
        let place = Arc::clone(&places).try_acquire_owned().ok();
        let (router, shutdown) = (router.clone(), shutdown.clone());
        connections.spawn(async move {
            match taken {
                Taken::Tcp(stream) => converse(stream, place, router, shutdown).await,
                Taken::Unix(stream) => {
                    if system::peer(&stream).is_ok_and(is_admitted) {
                        converse(stream, place, router, shutdown).await;
                    } else {
                        tracing::warn!("another user's connection to the page is refused");
                    }
                }
            }
        });
    }
    tokio::time::timeout(LAST_PATIENCE, async { while connections.join_next().await.is_some() {} })
        .await
        .ok();
    connections.shutdown().await;
    if let At::Socket(_, file) = &at {
        file.remove();
    }
}

async fn accept(at: &At) -> std::io::Result<Taken> {
    let (four, six) = match at {
        At::Socket(listener, _) => return Ok(Taken::Unix(listener.accept().await?.0)),
        At::Port(four, six) => (four, six),
    };
    let taken = match six {
        None => four.accept().await?,
        Some(six) => tokio::select! {
            taken = four.accept() => taken?,
            taken = six.accept() => taken?,
        },
    };
    Ok(Taken::Tcp(taken.0))
}

async fn converse(
    mut stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    place: Option<OwnedSemaphorePermit>,
    router: Router,
    shutdown: CancellationToken,
) {
    let Some(_place) = place else {
        tokio::time::timeout(AFTER_REFUSAL, stream.write_all(FULL)).await.ok();
        return;
    };
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE)
        .max_header_size(MOST_HEAD)
        .max_headers(MOST_LINES)
        .max_buf_size(MOST_BUFFER);
    let connection = builder.serve_connection(TokioIo::new(Patient::new(stream)), TowerToHyperService::new(router));
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = shutdown.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a conversation with a browser ended early");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_too_late_is_told_so_in_whole() {
        let text = std::str::from_utf8(FULL).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}", body.len())), "{}", body.len());
    }

    #[tokio::test]
    async fn a_port_that_is_taken_is_named() {
        let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = taken.local_addr().unwrap().port();
        let error = At::port(Some(port), false).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::AddrInUse);
        assert!(
            error.to_string().starts_with(&format!("cannot listen at 127.0.0.1:{port}: ")),
            "{error}"
        );
    }

    #[tokio::test]
    async fn a_port_is_of_this_machine_alone() {
        let at = At::port(None, false).await.unwrap();
        let At::Port(four, None) = &at else {
            panic!("a port was asked for")
        };
        let address = four.local_addr().unwrap();
        assert!(address.ip().is_loopback() && address.port() > 0);
        assert_eq!(at.address(), format!("http://{address}/"));
        assert_eq!(at.hosts(), Hosts::Port(address.port()));
    }
}
