//! The page as a child process of a test, and a client of HTTP that says exactly what a test wants said: over a port or a unix socket.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::sandbox::Sandbox;
use crate::wait::{eventually, timed};

/// For the start and for an answer: far more than they take, since test machines are busy.
const PATIENCE: Duration = Duration::from_mins(1);

/// Every view that needs no id; the first leads on to the timeline.
pub const VIEWS: [&str; 10] = [
    "",
    "timeline",
    "search",
    "sessions",
    "projects",
    "recollections",
    "decisions",
    "health",
    "remember",
    "put",
];

/// An answer of HTTP.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// The lines of its head, names in small letters.
    pub head: Vec<(String, String)>,
    /// Its body.
    pub body: String,
}

impl Answer {
    /// The value of a line of the head; empty where there is none.
    pub fn line(&self, name: &str) -> &str {
        let found = self.head.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }
}

/// Where the page is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// At this port of 127.0.0.1.
    Port(u16),
    /// At this unix socket.
    Socket(PathBuf),
}

impl Place {
    /// The name of the host that a browser would give.
    pub fn host(&self) -> String {
        match self {
            Self::Port(port) => format!("127.0.0.1:{port}"),
            Self::Socket(_) => "localhost".to_owned(),
        }
    }

    /// Sends `bytes` and reads what comes back, to the end or to what the head says is the end.
    ///
    /// # Errors
    /// The system's error, or that what came is no answer.
    pub fn send(&self, bytes: &[u8]) -> std::io::Result<Answer> {
        match self {
            Self::Port(port) => {
                let stream = TcpStream::connect(("127.0.0.1", *port))?;
                stream.set_read_timeout(Some(PATIENCE))?;
                converse(stream, bytes)
            }
            Self::Socket(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                converse(stream, bytes)
            }
        }
    }
}

fn converse(mut stream: impl Read + Write, bytes: &[u8]) -> std::io::Result<Answer> {
    // One that refuses what is too long may have closed before all of it was sent.
    stream.write_all(bytes).ok();
    let mut reader = BufReader::new(stream);
    let wrong = || std::io::Error::new(std::io::ErrorKind::InvalidData, "no answer");
    let (status, head) = read_head(&mut reader)?.ok_or_else(wrong)?;
    let mut body = Vec::new();
    let length = head.iter().find(|(name, _)| name == "content-length");
    match length.and_then(|(_, value)| value.parse::<u64>().ok()) {
        Some(length) => drop(reader.take(length).read_to_end(&mut body)?),
        None => drop(reader.read_to_end(&mut body)?),
    }
    let body = String::from_utf8_lossy(&body).into_owned();
    Ok(Answer { status, head, body })
}

/// The status and the lines of an answer's head.
type Head = (u16, Vec<(String, String)>);

/// The head of an answer; nothing where none came.
fn read_head(reader: &mut impl BufRead) -> std::io::Result<Option<Head>> {
    let mut first = String::new();
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            return Ok(status.map(|status| (status, head)));
        }
        if let Some((name, value)) = line.trim_end().split_once(':') {
            head.push((name.to_lowercase(), value.trim().to_owned()));
        }
    }
}

/// What opens a page, as a browser keeps it.
#[derive(Debug, Clone)]
pub struct Key {
    /// Where.
    pub place: Place,
    /// The folder of all addresses, with a slash on either side.
    pub folder: String,
    /// The cookie.
    pub cookie: String,
}

impl Key {
    /// Exchanges the address that was printed for a cookie.
    ///
    /// # Panics
    /// Where the page does not open.
    pub fn of(place: &Place, opening: &str) -> Self {
        let (_, query) = opening.split_once("/?").unwrap();
        let request = format!(
            "GET /?{query} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n",
            place.host()
        );
        let answer = place.send(request.as_bytes()).unwrap();
        assert_eq!(answer.status, 303, "{answer:?}");
        Self {
            place: place.clone(),
            folder: answer.line("location").to_owned(),
            cookie: answer.line("set-cookie").split(';').next().unwrap().to_owned(),
        }
    }

    /// Asks for a view, as a browser does whose user follows a link of the page.
    ///
    /// # Panics
    /// Where no answer comes.
    pub fn get(&self, view: &str) -> Answer {
        self.ask("GET", view, &["sec-fetch-site: same-origin"], "")
    }

    /// Sends a form, as a browser does: with its origin.
    ///
    /// # Panics
    /// Where no answer comes.
    pub fn post(&self, view: &str, fields: &[(&str, &str)]) -> Answer {
        let origin = format!("origin: http://{}", self.place.host());
        let body: Vec<String> = fields
            .iter()
            .map(|(name, value)| format!("{name}={}", encoded(value)))
            .collect();
        let lines = [origin.as_str(), "content-type: application/x-www-form-urlencoded"];
        self.ask("POST", view, &lines, &body.join("&"))
    }

    /// Asks with the cookie and further lines of the head.
    ///
    /// # Panics
    /// Where no answer comes.
    pub fn ask(&self, method: &str, view: &str, lines: &[&str], body: &str) -> Answer {
        self.place.send(self.request(method, view, lines, body).as_bytes()).unwrap()
    }

    /// What is sent for that.
    pub fn request(&self, method: &str, view: &str, lines: &[&str], body: &str) -> String {
        let lines = [lines, &[""]].concat().join("\r\n");
        format!(
            "{method} {}{view} HTTP/1.1\r\nhost: {}\r\ncookie: {}\r\nconnection: close\r\ncontent-length: {}\r\n{lines}\r\n{body}",
            self.folder,
            self.place.host(),
            self.cookie,
            body.len(),
        )
    }

    /// Opens the stream of arrivals; the stream itself, or the status that was answered instead.
    ///
    /// # Errors
    /// The status.
    ///
    /// # Panics
    /// Where no answer comes, or the page is at a unix socket.
    pub fn live(&self) -> Result<BufReader<TcpStream>, u16> {
        let Place::Port(port) = self.place else {
            panic!("a port is asked for")
        };
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let request = self.request("GET", "live", &["sec-fetch-site: same-origin"], "");
        stream.write_all(request.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let (status, _) = read_head(&mut reader).unwrap().unwrap();
        if status == 200 { Ok(reader) } else { Err(status) }
    }
}

/// A value as a form or an address writes it.
pub fn encoded(value: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let write = |byte| {
        if plain(byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    value.bytes().map(write).collect()
}

/// A page that is served, killed when it is dropped.
#[derive(Debug)]
pub struct Served {
    child: Child,
    /// The address that was printed.
    pub opening: String,
    /// Where it is.
    pub place: Place,
    log: PathBuf,
}

impl Served {
    fn start(mut command: Command, log: &Path, socket: &Path) -> Self {
        let errors = fs_err::OpenOptions::new().create(true).append(true).open(log).unwrap();
        let mut child = command.stdout(Stdio::piped()).stderr(errors.into_parts().0).spawn().unwrap();
        let mut printed = String::new();
        let stdout = child.stdout.take().expect("invariant: stdout is piped");
        BufReader::new(stdout).read_line(&mut printed).unwrap();
        let opening = printed.trim().to_owned();
        assert!(
            opening.starts_with("http://"),
            "{opening:?}; {}",
            fs_err::read_to_string(log).unwrap()
        );
        let port = opening
            .strip_prefix("http://127.0.0.1:")
            .and_then(|rest| rest.split('/').next()?.parse().ok());
        Self {
            child,
            opening,
            place: port.map_or_else(|| Place::Socket(socket.to_owned()), Place::Port),
            log: log.to_owned(),
        }
    }

    /// What a browser has once it was opened.
    pub fn key(&self) -> Key {
        Key::of(&self.place, &self.opening)
    }

    /// What it has logged.
    pub fn log(&self) -> String {
        fs_err::read_to_string(&self.log).unwrap_or_default()
    }

    /// Stops it by `signal` and waits. Returns how it ended, and after how long.
    ///
    /// # Panics
    /// Where it does not end.
    pub fn stop(mut self, signal: rustix::process::Signal) -> (ExitStatus, Duration) {
        let pid = rustix::process::Pid::from_raw(self.child.id() as i32).expect("invariant: a child has a pid");
        rustix::process::kill_process(pid, signal).unwrap();
        timed(|| eventually("the page's end", PATIENCE, || self.child.try_wait().unwrap()))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Sandbox {
    /// Serves the page with further arguments, and waits until it says where.
    ///
    /// # Panics
    /// Where it does not start.
    pub fn serve(&self, arguments: &[&str]) -> Served {
        self.serve_with(arguments, &[])
    }

    /// The same with environment variables.
    ///
    /// # Panics
    /// As [`Sandbox::serve`].
    pub fn serve_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Served {
        let mut command = self.command(&[&["serve"], arguments].concat());
        command.envs(variables.iter().copied());
        let socket = self.home().join("run/remembrancer/page.sock");
        Served::start(command, &self.page_log(), &socket)
    }

    /// Where the page logs.
    pub fn page_log(&self) -> PathBuf {
        self.log_file().with_file_name("page.log")
    }
}
