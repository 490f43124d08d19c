//! TLS before a server that has none: the engine of these tests is built without it. As PostgreSQL with `ssl = on` does, it hears that a
//! client wants TLS, agrees, shows a certificate, and carries what is said from then on. It takes nothing that is not encrypted.

use std::io::{Error, Read, Result, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};

/// What a client says first that wants TLS: a length of eight bytes, and the number of that request.
const WANTS_TLS: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];
/// Bytes that are read at a time.
const PIECE: usize = 16 * 1024;

/// The end of the encrypted way. Dropping it takes no more connections.
pub(super) struct Encrypting {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

/// What the threads share.
struct Shared {
    server: SocketAddr,
    config: Mutex<Arc<ServerConfig>>,
    asked: AtomicU64,
    agreed: AtomicU64,
    stopped: AtomicBool,
}

/// A file that `make.sh` made, by its name.
pub(super) fn certificate(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("e2e/share/certificates")
        .join(name)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All certificates of servers are for one key.
fn showing(name: &str) -> Arc<ServerConfig> {
    let chain = vec![CertificateDer::from_pem_file(certificate(name)).unwrap()];
    let key = PrivateKeyDer::from_pem_file(certificate("server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    Arc::new(config.unwrap().with_no_client_auth().with_single_cert(chain, key).unwrap())
}

impl Encrypting {
    /// Listens at a free port of 127.0.0.1, shows this certificate there, and carries what is said to `server`.
    pub(super) fn before(server: SocketAddr, name: &str) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            server,
            config: Mutex::new(showing(name)),
            asked: AtomicU64::new(0),
            agreed: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
        });
        let accepting = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.accept(&listener))
        };
        Self {
            address,
            shared,
            accepting: Some(accepting),
        }
    }

    /// Where it listens.
    pub(super) fn port(&self) -> u16 {
        self.address.port()
    }

    /// From now on it shows another certificate.
    pub(super) fn show(&self, name: &str) {
        *locked(&self.shared.config) = showing(name);
    }

    /// How many connections wanted TLS, and with how many of them it was agreed on keys: with no other was a word exchanged.
    pub(super) fn asked_and_agreed(&self) -> (u64, u64) {
        (
            self.shared.asked.load(Ordering::SeqCst),
            self.shared.agreed.load(Ordering::SeqCst),
        )
    }
}

impl Drop for Encrypting {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for the next connection.
        drop(TcpStream::connect(self.address));
        if let Some(accepting) = self.accepting.take() {
            accepting.join().ok();
        }
    }
}

impl Shared {
    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        for client in listener.incoming().flatten() {
            if self.stopped.load(Ordering::SeqCst) {
                return;
            }
            let shared = Arc::clone(self);
            // Where it fails, the client learns it by the end of its connection.
            thread::spawn(move || shared.serve(client).ok());
        }
    }

    /// From the first byte of a connection to its last.
    fn serve(&self, mut client: TcpStream) -> Result<()> {
        client.set_nodelay(true)?;
        let mut first = [0; WANTS_TLS.len()];
        client.read_exact(&mut first)?;
        if first != WANTS_TLS {
            return Ok(());
        }
        self.asked.fetch_add(1, Ordering::SeqCst);
        client.write_all(b"S")?;
        let config = Arc::clone(&locked(&self.config));
        let mut tls = ServerConnection::new(config).map_err(Error::other)?;
        while tls.is_handshaking() {
            tls.complete_io(&mut client)?;
        }
        self.agreed.fetch_add(1, Ordering::SeqCst);
        let server = TcpStream::connect(self.server)?;
        server.set_nodelay(true)?;
        let tls = Arc::new(Mutex::new(tls));
        let back = {
            let (tls, client, server) = (Arc::clone(&tls), client.try_clone()?, server.try_clone()?);
            thread::spawn(move || {
                let carried = to_client(&tls, &client, &server);
                close(&client, &server);
                carried
            })
        };
        let carried = to_server(&tls, &client, &server);
        close(&client, &server);
        back.join().ok();
        carried
    }
}

/// Decrypts what the client says, until it says no more.
fn to_server(tls: &Mutex<ServerConnection>, mut client: &TcpStream, mut server: &TcpStream) -> Result<()> {
    let mut piece = vec![0; PIECE];
    // What came with the last words of the handshake is there already.
    let mut length = 0;
    loop {
        let plain = opened(&mut locked(tls), &piece[..length], client)?;
        server.write_all(&plain)?;
        length = client.read(&mut piece)?;
        if length == 0 {
            return Ok(());
        }
    }
}

/// What `sealed` and what came before it say; what TLS itself has to answer is sent.
fn opened(tls: &mut ServerConnection, mut sealed: &[u8], client: &TcpStream) -> Result<Vec<u8>> {
    let mut plain = Vec::new();
    loop {
        // To read nothing would be the end.
        let taken = if sealed.is_empty() { 0 } else { tls.read_tls(&mut sealed)? };
        let state = tls.process_new_packets().map_err(Error::other)?;
        let known = plain.len();
        plain.resize(known + state.plaintext_bytes_to_read(), 0);
        tls.reader().read_exact(&mut plain[known..])?;
        // It takes nothing more, either, after the client's farewell.
        if taken == 0 || sealed.is_empty() {
            break;
        }
    }
    send(tls, client)?;
    Ok(plain)
}

/// Encrypts what the server says, until it says no more.
fn to_client(tls: &Mutex<ServerConnection>, client: &TcpStream, mut server: &TcpStream) -> Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        let length = server.read(&mut piece)?;
        let mut tls = locked(tls);
        if length == 0 {
            tls.send_close_notify();
            return send(&mut tls, client);
        }
        tls.writer().write_all(&piece[..length])?;
        send(&mut tls, client)?;
    }
}

fn send(tls: &mut ServerConnection, mut client: &TcpStream) -> Result<()> {
    while tls.wants_write() {
        tls.write_tls(&mut client)?;
    }
    Ok(())
}

/// Both ways of both ends; one that has ended already is closed.
fn close(client: &TcpStream, server: &TcpStream) {
    client.shutdown(Shutdown::Both).ok();
    server.shutdown(Shutdown::Both).ok();
}
