//! A TCP proxy that stands between a daemon and its server on the loopback, and does to their connections what networks do: delays
//! bytes, cuts after the n-th byte of either direction, refuses, or takes a connection and never answers. What it does can be changed
//! while connections are open, and everything is counted.
//!
//! Two threads a direction: one reads and notes when a piece is due, the other waits for that and gives it on, so that a delay is
//! the delay of a long line and not of a narrow one.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use remembrancer_processor::Deadline;

use crate::corpus::Numbers;

/// Bytes that are read at a time.
const PIECE: usize = 16 * 1024;
/// Pieces that may be under way in one direction of one connection.
const UNDER_WAY: usize = 256;

/// Where bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// From the client to the server.
    ToServer,
    /// From the server to the client.
    ToClient,
}

/// What becomes of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Answer {
    /// They are carried.
    #[default]
    Carry,
    /// New ones are closed at once; those that are open are carried.
    Refuse,
    /// New ones are taken and never answered, and on those that are open nothing moves any more until they are carried again.
    Hang,
}

/// Where connections are cut. The bytes before it arrive, the one after it never does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// Once, after so many more bytes in this direction, on whichever connection they go.
    Once(Direction, u64),
    /// Each connection, after so many bytes of its own in this direction.
    Each(Direction, u64),
}

/// What has happened since the proxy was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Connections that clients made, whatever became of them.
    pub connections: u64,
    /// Connections that were cut on purpose.
    pub cuts: u64,
    /// Bytes that arrived at the server.
    pub to_server: u64,
    /// Bytes that arrived at the client.
    pub to_client: u64,
}

/// The proxy. Dropping it closes every connection.
#[derive(Debug)]
pub struct CuttingProxy {
    address: SocketAddr,
    wire: Arc<Wire>,
    accepting: Option<JoinHandle<()>>,
}

/// What the threads share.
#[derive(Debug)]
struct Wire {
    server: SocketAddr,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    answer: Answer,
    to_server: Duration,
    to_client: Duration,
    cut: Option<Cut>,
    counts: Counts,
    /// Both ends of each connection that is carried.
    open: BTreeMap<u64, [TcpStream; 2]>,
    /// Connections that are never answered.
    hanging: Vec<TcpStream>,
    stopped: bool,
}

impl CuttingProxy {
    /// Listens at a free port of 127.0.0.1, and carries what comes there to `server`.
    ///
    /// # Errors
    /// Where no port can be listened at.
    pub fn before(server: SocketAddr) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let wire = Arc::new(Wire {
            server,
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let accepting = {
            let wire = Arc::clone(&wire);
            thread::spawn(move || accept(&listener, &wire))
        };
        Ok(Self {
            address,
            wire,
            accepting: Some(accepting),
        })
    }

    /// Where clients connect.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on this becomes of connections.
    pub fn answer(&self, answer: Answer) {
        self.wire.lock().answer = answer;
        self.wire.changed.notify_all();
    }

    /// From now on every byte takes this long to the server, and this long to the client.
    pub fn delay(&self, to_server: Duration, to_client: Duration) {
        let mut state = self.wire.lock();
        state.to_server = to_server;
        state.to_client = to_client;
    }

    /// From now on it cuts there; `None`: nowhere.
    pub fn cut(&self, cut: Option<Cut>) {
        self.wire.lock().cut = cut;
    }

    /// Cuts every connection that is open. Returns how many.
    pub fn cut_now(&self) -> usize {
        let mut state = self.wire.lock();
        let open = std::mem::take(&mut state.open);
        state.counts.cuts += open.len() as u64;
        open.values().for_each(close);
        open.len()
    }

    /// What has happened so far.
    pub fn counts(&self) -> Counts {
        self.wire.lock().counts
    }

    /// How many connections are carried now.
    pub fn open(&self) -> usize {
        self.wire.lock().open.len()
    }
}

impl Drop for CuttingProxy {
    fn drop(&mut self) {
        {
            let mut state = self.wire.lock();
            state.stopped = true;
            state.hanging.clear();
            state.open.values().for_each(close);
        }
        self.wire.changed.notify_all();
        // Wakes the thread that waits for the next connection.
        drop(TcpStream::connect(self.address));
        if let Some(accepting) = self.accepting.take() {
            accepting.join().ok();
        }
    }
}

/// Places of cuts without end, the same for the same seed: a direction, and a number of bytes from 1 on.
#[derive(Debug, Clone)]
pub struct CutPoints {
    numbers: Numbers,
    most_to_server: u64,
    most_to_client: u64,
}

impl CutPoints {
    /// Cuts after at most so many bytes in each direction.
    pub fn new(seed: u64, most_to_server: u64, most_to_client: u64) -> Self {
        Self {
            numbers: Numbers::new(seed),
            most_to_server,
            most_to_client,
        }
    }
}

impl Iterator for CutPoints {
    type Item = (Direction, u64);

    fn next(&mut self) -> Option<Self::Item> {
        let (direction, most) = match self.numbers.below(2) {
            0 => (Direction::ToServer, self.most_to_server),
            _ => (Direction::ToClient, self.most_to_client),
        };
        Some((direction, 1 + self.numbers.below(most as usize) as u64))
    }
}

impl Wire {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to carry a connection, where the server takes it.
    fn carry(self: &Arc<Self>, number: u64, client: TcpStream) -> std::io::Result<()> {
        let server = TcpStream::connect(self.server)?;
        client.set_nodelay(true)?;
        server.set_nodelay(true)?;
        let ends = [client.try_clone()?, server.try_clone()?];
        let ways = [
            (Direction::ToServer, client.try_clone()?, server.try_clone()?),
            (Direction::ToClient, server, client),
        ];
        {
            let mut state = self.lock();
            if state.stopped {
                close(&ends);
                return Ok(());
            }
            state.open.insert(number, ends);
        }
        for (direction, from, to) in ways {
            let (sender, pieces) = sync_channel(UNDER_WAY);
            let (taking, giving) = (Arc::clone(self), Arc::clone(self));
            thread::spawn(move || taking.take(direction, from, &sender));
            thread::spawn(move || giving.give(number, direction, to, &pieces));
        }
        Ok(())
    }

    /// Reads until the end, and notes when each piece is due.
    fn take(&self, direction: Direction, mut from: TcpStream, pieces: &SyncSender<(Deadline, Vec<u8>)>) {
        let mut buffer = vec![0; PIECE];
        loop {
            let length = match from.read(&mut buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Ok(0) | Err(_) => return,
                Ok(length) => length,
            };
            let delay = {
                let state = self.lock();
                match direction {
                    Direction::ToServer => state.to_server,
                    Direction::ToClient => state.to_client,
                }
            };
            if pieces.send((Deadline::after(delay), buffer[..length].to_vec())).is_err() {
                return;
            }
        }
    }

    /// Gives on what is due, until there is nothing more, nobody takes it, or it is cut; then the connection ends.
    fn give(&self, number: u64, direction: Direction, mut to: TcpStream, pieces: &Receiver<(Deadline, Vec<u8>)>) {
        let mut carried = 0;
        for (due, piece) in pieces {
            thread::sleep(due.remaining());
            self.wait_while_hanging();
            let (length, is_cut) = self.allow(direction, carried, piece.len() as u64);
            carried += length;
            let given = to.write_all(&piece[..length as usize]);
            if is_cut || given.is_err() {
                break;
            }
        }
        if let Some(ends) = self.lock().open.remove(&number) {
            close(&ends);
        }
    }

    fn wait_while_hanging(&self) {
        let mut state = self.lock();
        while state.answer == Answer::Hang && !state.stopped {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// How many of `length` bytes may pass on a connection that has `carried` so many in this direction, and whether it is cut after them.
    fn allow(&self, direction: Direction, carried: u64, length: u64) -> (u64, bool) {
        let mut state = self.lock();
        let left = match state.cut {
            Some(Cut::Once(of, left)) if of == direction => Some(left),
            Some(Cut::Each(of, after)) if of == direction => Some(after.saturating_sub(carried)),
            _ => None,
        };
        let (passing, is_cut) = left.map_or((length, false), |left| (length.min(left), length >= left));
        if let Some(Cut::Once(of, left)) = state.cut
            && of == direction
        {
            state.cut = (!is_cut).then_some(Cut::Once(of, left - passing));
        }
        state.counts.cuts += u64::from(is_cut);
        match direction {
            Direction::ToServer => state.counts.to_server += passing,
            Direction::ToClient => state.counts.to_client += passing,
        }
        (passing, is_cut)
    }
}

/// Takes connections until the proxy is dropped.
fn accept(listener: &TcpListener, wire: &Arc<Wire>) {
    for client in listener.incoming() {
        let mut state = wire.lock();
        if state.stopped {
            return;
        }
        let Ok(client) = client else { continue };
        state.counts.connections += 1;
        let number = state.counts.connections;
        match state.answer {
            Answer::Refuse => {}
            Answer::Hang => state.hanging.push(client),
            Answer::Carry => {
                drop(state);
                // Where the server takes none, the client's is closed.
                wire.carry(number, client).ok();
            }
        }
    }
}

/// Both ways of both ends; one that has ended already is closed.
fn close(ends: &[TcpStream; 2]) {
    for end in ends {
        end.shutdown(Shutdown::Both).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{eventually, timed};

    const PATIENCE: Duration = Duration::from_secs(20);
    /// So long a client waits for what must not come.
    const SHORTLY: Duration = Duration::from_millis(200);

    /// A server that says back what it hears, as long as the tests run.
    fn echo() -> SocketAddr {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                thread::spawn(move || std::io::copy(&mut &client, &mut &client).ok());
            }
        });
        address
    }

    fn connect(proxy: &CuttingProxy) -> TcpStream {
        let client = TcpStream::connect(proxy.address()).unwrap();
        client.set_read_timeout(Some(PATIENCE)).unwrap();
        client
    }

    /// Sends `bytes`, and reads what comes back until there are as many, or the connection ends.
    fn said_back(mut client: &TcpStream, bytes: &[u8]) -> Vec<u8> {
        client.write_all(bytes).ok();
        let mut heard = Vec::new();
        let mut buffer = [0; 4096];
        while heard.len() < bytes.len() {
            match client.read(&mut buffer) {
                Ok(0) | Err(_) => break,
                Ok(length) => heard.extend_from_slice(&buffer[..length]),
            }
        }
        heard
    }

    #[test]
    fn what_is_carried_arrives_whole_and_is_counted() {
        let proxy = CuttingProxy::before(echo()).unwrap();
        let text: Vec<u8> = (0..300_000_u32).map(|number| (number % 251) as u8).collect();
        let client = connect(&proxy);
        let sending = client.try_clone().unwrap();
        let sent = text.clone();
        let sender = thread::spawn(move || (&sending).write_all(&sent).unwrap());
        let mut heard = vec![0; text.len()];
        (&client).read_exact(&mut heard).unwrap();
        sender.join().unwrap();
        assert!(heard == text, "the bytes are others");
        let counts = proxy.counts();
        assert_eq!((counts.connections, counts.cuts), (1, 0));
        assert_eq!((counts.to_server, counts.to_client), (300_000, 300_000));
        drop(client);
        eventually("the connection to end", PATIENCE, || (proxy.open() == 0).then_some(()));
    }

    #[test]
    fn a_cut_lets_exactly_the_bytes_before_it_pass() {
        let proxy = CuttingProxy::before(echo()).unwrap();
        for (direction, after) in [(Direction::ToServer, 7), (Direction::ToClient, 3)] {
            proxy.cut(Some(Cut::Once(direction, after)));
            let heard = said_back(&connect(&proxy), b"0123456789").len() as u64;
            assert!(heard <= after, "{direction:?}: {heard}");
            assert_eq!(said_back(&connect(&proxy), b"0123456789"), b"0123456789", "it cuts once");
        }
        let counts = proxy.counts();
        assert_eq!((counts.connections, counts.cuts), (4, 2));
        assert_eq!(counts.to_server, 7 + 10 + 10 + 10);
    }

    #[test]
    fn a_cut_once_counts_over_connections_and_a_cut_of_each_anew() {
        let proxy = CuttingProxy::before(echo()).unwrap();
        proxy.cut(Some(Cut::Once(Direction::ToClient, 15)));
        assert_eq!(said_back(&connect(&proxy), b"0123456789"), b"0123456789");
        assert_eq!(said_back(&connect(&proxy), b"0123456789"), b"01234");
        proxy.cut(Some(Cut::Each(Direction::ToClient, 15)));
        for _ in 0..2 {
            let client = connect(&proxy);
            assert_eq!(said_back(&client, b"0123456789"), b"0123456789");
            assert_eq!(said_back(&client, b"0123456789"), b"01234");
        }
        proxy.cut(None);
        assert_eq!(said_back(&connect(&proxy), &[7; 100]), [7; 100]);
        assert_eq!(proxy.counts().cuts, 3);
    }

    #[test]
    fn a_delay_is_that_of_both_ways_and_not_of_each_piece() {
        let proxy = CuttingProxy::before(echo()).unwrap();
        proxy.delay(Duration::from_millis(100), Duration::from_millis(150));
        let client = connect(&proxy);
        let (heard, took) = timed(|| {
            for _ in 0..20 {
                (&client).write_all(b"piece").unwrap();
                thread::sleep(Duration::from_millis(1));
            }
            let mut heard = [0; 100];
            (&client).read_exact(&mut heard).unwrap();
            heard
        });
        assert_eq!(heard[95..], *b"piece");
        assert!(took >= Duration::from_millis(250), "{took:?}");
        assert!(took < Duration::from_secs(5), "one after the other: {took:?}");
    }

    #[test]
    fn what_is_refused_ends_at_once_and_what_hangs_never_answers() {
        let proxy = CuttingProxy::before(echo()).unwrap();
        let before = connect(&proxy);
        assert_eq!(said_back(&before, b"before"), b"before");
        proxy.answer(Answer::Refuse);
        assert_eq!(said_back(&connect(&proxy), b"refused"), b"");
        assert_eq!(said_back(&before, b"still"), b"still", "what is open is carried");

        proxy.answer(Answer::Hang);
        for client in [&before, &connect(&proxy)] {
            client.set_read_timeout(Some(SHORTLY)).unwrap();
            let (heard, took) = timed(|| said_back(client, b"unanswered"));
            assert_eq!(heard, b"");
            assert!(took >= SHORTLY, "it was closed after {took:?}");
        }
        proxy.answer(Answer::Carry);
        before.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut heard = [0; 10];
        (&before).read_exact(&mut heard).unwrap();
        assert_eq!(&heard, b"unanswered", "what was held arrives");
        assert_eq!(proxy.counts().connections, 3);
    }

    #[test]
    fn what_is_open_can_be_cut_and_a_server_that_is_gone_ends_its_clients() {
        let proxy = CuttingProxy::before(echo()).unwrap();
        let clients: Vec<TcpStream> = (0..3).map(|_| connect(&proxy)).collect();
        for client in &clients {
            assert_eq!(said_back(client, b"here"), b"here");
        }
        assert_eq!(proxy.cut_now(), 3);
        for client in &clients {
            assert_eq!(said_back(client, b"gone"), b"");
        }
        assert_eq!((proxy.counts().cuts, proxy.open()), (3, 0));

        let nobody = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
        let proxy = CuttingProxy::before(nobody).unwrap();
        assert_eq!(said_back(&connect(&proxy), b"anyone?"), b"");
    }

    #[test]
    fn the_same_seed_cuts_at_the_same_places() {
        let places = |seed| CutPoints::new(seed, 3_000, 500).take(200).collect::<Vec<_>>();
        assert_eq!(places(7), places(7));
        assert_ne!(places(7), places(8));
        for (direction, after) in places(7) {
            let most = if direction == Direction::ToServer { 3_000 } else { 500 };
            assert!((1..=most).contains(&after), "{direction:?} {after}");
        }
        let to_server = places(7)
            .iter()
            .filter(|(direction, _)| *direction == Direction::ToServer)
            .count();
        assert!((50..150).contains(&to_server), "{to_server} of 200");
    }
}
