//! Where the server of the shared store is: a URL as libpq reads it comes in, host, port, database and user go out, or what would be right.
//! A password in it is refused, since settings are printed.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

/// The port of PostgreSQL where none is named.
pub(super) const PORT: u16 = 5432;

/// What a URL should look like.
const FORM: &str = "write postgres://you@host/database";
/// Where a password goes.
const NO_PASSWORD: &str =
    "take the password out: it goes into a file that share.password_file names, or comes from share.password_command";

/// A database on a server, and who asks there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    /// The server.
    pub(crate) host: Host,
    /// Its port; of a socket, a part of its name.
    pub(crate) port: u16,
    /// The database.
    pub(crate) database: String,
    /// The login role.
    pub(crate) user: String,
}

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Host {
    /// At a name or an address.
    Name(String),
    /// At a unix socket in this folder.
    Socket(PathBuf),
}

impl Host {
    /// A host as libpq has it: what begins with a slash is the folder of a socket.
    pub(super) fn of(text: &str) -> Self {
        if text.starts_with('/') {
            Self::Socket(text.into())
        } else {
            Self::Name(text.to_owned())
        }
    }
}

/// What is known of an address so far.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) host: String,
    pub(super) port: String,
    pub(super) database: String,
    pub(super) user: String,
}

impl Parts {
    /// The address that they come to; what is missing or wrong, as a remedy.
    pub(super) fn address(self) -> Result<Address, String> {
        let Self {
            host,
            port,
            database,
            user,
        } = self;
        for (value, what) in [(&user, "user"), (&host, "host"), (&database, "database")] {
            if value.is_empty() {
                return Err(format!("name the {what}: {FORM}"));
            }
        }
        if host.contains(',') {
            return Err("name one server".to_owned());
        }
        let port = match port.as_str() {
            "" => PORT,
            port => port
                .parse()
                .ok()
                .filter(|port| *port > 0)
                .ok_or("write the port as a number from 1 to 65535")?,
        };
        Ok(Address {
            host: Host::of(&host),
            port,
            database,
            user,
        })
    }
}

impl Address {
    /// Reads `postgres://user@host:port/database`, with `host`, `port`, `user` or `dbname` behind a `?` where they are not in front. The
    /// folder of a unix socket is a host, each `/` in it written as `%2F`, or stands in `?host=/folder`.
    ///
    /// # Errors
    /// What would be right.
    pub(crate) fn parse(url: &str) -> Result<Self, String> {
        let rest = url
            .strip_prefix("postgres://")
            .or_else(|| url.strip_prefix("postgresql://"))
            .ok_or(FORM)?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, place) = authority.rsplit_once('@').unwrap_or(("", authority));
        if user.contains(':') {
            return Err(NO_PASSWORD.to_owned());
        }
        let (host, port) = host_and_port(place)?;
        let mut parts = Parts {
            host: decoded(host)?,
            port: port.to_owned(),
            database: decoded(database)?,
            user: decoded(user)?,
        };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let place = match key {
                "host" => &mut parts.host,
                "port" => &mut parts.port,
                "dbname" => &mut parts.database,
                "user" => &mut parts.user,
                "password" => return Err(NO_PASSWORD.to_owned()),
                "sslmode" | "sslrootcert" => {
                    return Err(format!("take `{key}` out: share.tls and share.ca_file are for that"));
                }
                _ => return Err(format!("{FORM}, with nothing but host, port, user and dbname behind a `?`")),
            };
            if !place.is_empty() {
                return Err(format!("say the {key} once"));
            }
            *place = decoded(value)?;
        }
        parts.address()
    }

    /// Whether the way there does not leave this machine.
    pub(crate) fn is_near(&self) -> bool {
        match &self.host {
            Host::Socket(_) => true,
            Host::Name(name) => name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback()),
        }
    }

    /// By what a team of this database is told from every other: without who asks, and without secrets.
    pub(crate) fn team_key(&self, team: &str) -> String {
        let host = match &self.host {
            Host::Name(name) => name.to_lowercase(),
            Host::Socket(folder) => folder.display().to_string(),
        };
        format!("{host}:{}/{}#{team}", self.port, self.database)
    }
}

/// As a URL, without secrets, of which it knows none.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            host,
            port,
            database,
            user,
        } = self;
        match host {
            Host::Name(name) if name.contains(':') => write!(f, "postgres://{user}@[{name}]:{port}/{database}"),
            Host::Name(name) => write!(f, "postgres://{user}@{name}:{port}/{database}"),
            Host::Socket(folder) => write!(f, "postgres://{user}@/{database}?host={}&port={port}", folder.display()),
        }
    }
}

/// A URL that may be wrong in any way, as it may be shown: without what may be a password in it.
pub(crate) fn without_secrets(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return if url.contains(['@', ':', '=']) {
            "…".to_owned()
        } else {
            url.to_owned()
        };
    };
    let (rest, query) = match rest.split_once('?') {
        // It may be in a password.
        Some((_, behind)) if behind.contains('@') => return format!("{scheme}://…"),
        Some((rest, _)) => (rest, "?…"),
        None => (rest, ""),
    };
    match rest.rsplit_once('@') {
        Some((who, place)) => {
            let (user, password) = who.split_once(':').map_or((who, ""), |(user, _)| (user, ":…"));
            format!("{scheme}://{user}{password}@{place}{query}")
        }
        None => format!("{scheme}://{rest}{query}"),
    }
}

/// `[::1]:5432`, `host:5432`, `host`, or nothing.
fn host_and_port(place: &str) -> Result<(&str, &str), String> {
    if let Some(rest) = place.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').ok_or(FORM)?;
        let port = rest.strip_prefix(':').or_else(|| rest.is_empty().then_some("")).ok_or(FORM)?;
        return Ok((host, port));
    }
    Ok(place.split_once(':').unwrap_or((place, "")))
}

/// `text` with each `%41` as the byte that it stands for.
fn decoded(text: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digit = |at: usize| rest.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        let (high, low) = digit(0).zip(digit(1)).ok_or(FORM)?;
        bytes.push((high * 16 + low) as u8);
        rest = &rest[2..];
    }
    let text = String::from_utf8(bytes).map_err(|_| FORM)?;
    if text.contains(char::is_control) {
        return Err(FORM.to_owned());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain("postgres://ada@db.example.org/memory", "postgres://ada@db.example.org:5432/memory")]
    #[case::long("postgresql://ada@db:6543/memory", "postgres://ada@db:6543/memory")]
    #[case::address("postgres://ada@[::1]:5433/memory", "postgres://ada@[::1]:5433/memory")]
    #[case::escaped("postgres://a%40b@db/m%20x", "postgres://a@b@db:5432/m x")]
    #[case::socket("postgres://ada@%2Frun%2Fpg/memory", "postgres://ada@/memory?host=/run/pg&port=5432")]
    #[case::behind(
        "postgres:///memory?host=/run/pg&user=ada&port=7",
        "postgres://ada@/memory?host=/run/pg&port=7"
    )]
    #[case::database_behind("postgres://ada@db?dbname=memory", "postgres://ada@db:5432/memory")]
    fn a_url_is_read(#[case] url: &str, #[case] expected: &str) {
        assert_eq!(
            Address::parse(url).map(|address| address.to_string()),
            Ok(expected.to_owned())
        );
    }

    #[rstest]
    #[case::other_scheme("mysql://ada@db/memory", "write postgres://")]
    #[case::password("postgres://ada:s3cret@db/memory", "take the password out")]
    #[case::password_behind("postgres://ada@db/memory?password=s3cret", "take the password out")]
    #[case::no_user("postgres://db/memory", "name the user")]
    #[case::no_host("postgres://ada@/memory", "name the host")]
    #[case::no_database("postgres://ada@db", "name the database")]
    #[case::port("postgres://ada@db:x/memory", "write the port")]
    #[case::no_port("postgres://ada@db:0/memory", "write the port")]
    #[case::two("postgres://ada@a,b/memory", "name one server")]
    #[case::tls("postgres://ada@db/memory?sslmode=disable", "take `sslmode` out")]
    #[case::other("postgres://ada@db/memory?options=-c", "write postgres://")]
    #[case::twice("postgres://ada@db/memory?user=bob", "say the user once")]
    #[case::half_an_escape("postgres://ada@db/memory%2", "write postgres://")]
    #[case::no_text("postgres://ada@db/%ff", "write postgres://")]
    #[case::control("postgres://ada@db/a%0ab", "write postgres://")]
    #[case::open_bracket("postgres://ada@[::1/memory", "write postgres://")]
    fn a_wrong_url_is_told_with_what_would_be_right(#[case] url: &str, #[case] expected: &str) {
        let remedy = Address::parse(url).unwrap_err();
        assert!(remedy.starts_with(expected), "{remedy}");
        assert!(!remedy.contains("s3cret"), "{remedy}");
    }

    #[rstest]
    #[case("postgres://ada:s3cret@db/memory?password=s3cret", "postgres://ada:…@db/memory?…")]
    #[case("postgres://ada:s3@cret@db/x", "postgres://ada:…@db/x")]
    #[case("postgres://ada:s3?cret@db/x", "postgres://…")]
    #[case("postgres://ada:s3/cret@db/x", "postgres://ada:…@db/x")]
    #[case("postgres://s3?cret@db/x?user=ada", "postgres://…")]
    #[case("ada:s3cret@db", "…")]
    #[case("password=s3cret", "…")]
    #[case("host/db", "host/db")]
    #[case("postgres://db", "postgres://db")]
    fn what_may_be_a_password_is_not_shown(#[case] url: &str, #[case] expected: &str) {
        assert_eq!(without_secrets(url), expected);
    }

    #[rstest]
    #[case::socket("postgres:///m?host=/run/pg&user=ada", true)]
    #[case::name("postgres://ada@localhost/m", true)]
    #[case::four("postgres://ada@127.0.0.2/m", true)]
    #[case::six("postgres://ada@[::1]/m", true)]
    #[case::other("postgres://ada@10.0.0.1/m", false)]
    #[case::called_alike("postgres://ada@localhost.example.org/m", false)]
    fn what_stays_on_this_machine(#[case] url: &str, #[case] expected: bool) {
        assert_eq!(Address::parse(url).unwrap().is_near(), expected);
    }

    #[test]
    fn a_team_is_told_by_its_place_and_not_by_who_asks() {
        let key = |url| Address::parse(url).unwrap().team_key("acme");
        assert_eq!(key("postgres://ada@DB/m"), "db:5432/m#acme");
        assert_eq!(key("postgres://ada@DB/m"), key("postgres://bob@db:5432/m"));
        assert_ne!(key("postgres://ada@db/m"), key("postgres://ada@db/n"));
    }
}
