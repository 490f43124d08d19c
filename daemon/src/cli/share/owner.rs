//! What is asked of the server as who runs it, or looks after a team: the URL in a file of theirs alone, and a connection by it. What is
//! wrong with either is told of that file, and not of the settings, which are a member's.

use std::path::{Path, PathBuf};

use super::server::{Network, share_error};
use crate::causes::with_causes;
use crate::cli::error::{CliError, Kind};
use crate::cli::surroundings::{SHARE_ADMIN_URL_FILE, Surroundings};
use crate::files::read_text;
use crate::paths;
use crate::share::{self, Address, PasswordSource, Server, Session, ShareError, ShareSettings, TlsChoice};
use crate::system;

/// Where the URL of who runs the server stands.
#[derive(Debug, clap::Args)]
pub(super) struct AdminArguments {
    /// A file of yours alone (mode 0600) with the URL of the database, as its owner or an admin of the team; a password may stand
    /// in it.
    #[arg(long, value_name = "FILE")]
    url_file: Option<PathBuf>,
}

/// Why no URL is taken as an argument.
const NOT_HERE: &str = "a URL on a command line can be read by every user of this machine, password and all";

/// How a password stands in a URL.
const ESCAPED: &str = "of the password, write all but letters, digits, '-', '.', '_' and '~' as % and two hexadecimal digits: '@' is %40, '/' \
is %2F";

/// What the file says. It may hold a password, and is never printed.
pub(super) struct Owner {
    file: PathBuf,
    address: Address,
    password: Option<String>,
}

impl AdminArguments {
    /// Reads the file that is named.
    ///
    /// # Errors
    /// Where none is named or it can't be used.
    pub(super) fn read(&self, surroundings: &Surroundings) -> Result<Owner, CliError> {
        let named = self.url_file.as_ref().or(surroundings.share_admin_url_file.as_ref());
        let Some(named) = named else {
            return Err(CliError::new(Kind::Usage, "no file with the URL of the database is named")
                .with_hint(format!("name it by --url-file or by {SHARE_ADMIN_URL_FILE}")));
        };
        if is_url(named) {
            return Err(CliError::new(Kind::Usage, NOT_HERE)
                .with_hint("write it into a file of mode 0600, and name the file; change the password if it stood here"));
        }
        let file = whole(named, &surroundings.home)?;
        let (address, password) = read_url(&file)?;
        Ok(Owner { file, address, password })
    }

    /// Connects as who runs the server.
    ///
    /// # Errors
    /// As of [`AdminArguments::read`] and [`Owner::connect`].
    pub(super) fn connect(&self, network: &Network, surroundings: &Surroundings) -> Result<Session, CliError> {
        self.read(surroundings)?.connect(network, surroundings)
    }
}

impl Owner {
    /// The login of the URL.
    pub(super) fn login(&self) -> &str {
        &self.address.user
    }

    /// Connects.
    ///
    /// # Errors
    /// What keeps the connection from being made.
    pub(super) fn connect(self, network: &Network, surroundings: &Surroundings) -> Result<Session, CliError> {
        let Self { file, address, password } = self;
        let of_member = surroundings.config.share.as_ref();
        let settings = ShareSettings {
            tls: tls_for(&address, of_member),
            server: Server::At(address),
            password: password.map_or(PasswordSource::None, PasswordSource::given),
            team: String::new(),
            projects: Vec::new(),
            machine: None,
            ca_file: of_member.and_then(|settings| settings.ca_file.clone()),
            key_file: None,
            pull: false,
            remote: false,
        };
        network.wait(share::connect(&settings)).map_err(|error| of_url(&error, &file))
    }
}

/// A path as it was typed, or stands in a variable: `~/` is the home folder, and what is not whole is meant from the working folder.
fn whole(named: &Path, home: &Path) -> Result<PathBuf, CliError> {
    Ok(match paths::from_home(named, home) {
        Some(path) => path,
        None => std::path::absolute(named)?,
    })
}

/// What keeps the URL in `file` from being followed. The remedies that a member is told are about the settings; how the server's
/// certificate is judged, they say for who runs it, too.
fn of_url(error: &ShareError, file: &Path) -> CliError {
    let shown = file.display();
    let reached = format!("see that the server runs, and host and port of the URL in {shown}");
    match error {
        ShareError::Refused(told) | ShareError::NoMember(told) => match told.split_once(": ") {
            Some((_, remedy)) if remedy.contains("share.ca_file") || remedy.contains("share.tls") => {
                CliError::new(Kind::Failed, told.replace("in share.url", &format!("of the URL in {shown}")))
            }
            split => {
                let what = split.map_or(told.as_str(), |(what, _)| what);
                CliError::new(Kind::Failed, what)
                    .with_hint(format!("see user, password, host and database of the URL in {shown}"))
            }
        },
        ShareError::Unreachable(why) => {
            let why = why.split_once("; ").map_or(why.as_str(), |(why, _)| why);
            let what = format!("the server of the shared store can't be reached: {why}");
            // The host may be a part of the password.
            let hint = if why.contains("lookup address") {
                format!("{reached}; {ESCAPED}")
            } else {
                reached
            };
            CliError::new(Kind::Failed, what).with_hint(hint)
        }
        ShareError::Late(_) => share_error(error).with_hint(reached),
        _ => share_error(error),
    }
}

/// What would be right of a URL, where a password may stand in it, and no setting has a say.
fn remedy(of_settings: String) -> String {
    match of_settings.split_once(": ") {
        Some((what, rest)) if rest.contains("share.") => {
            if what.contains("password") {
                "write the password before the host: postgres://user:password@host/database".to_owned()
            } else {
                what.to_owned()
            }
        }
        _ => of_settings,
    }
}

/// A way that does not leave this machine needs no encryption; any other is verified, whatever the member's settings say.
fn tls_for(address: &Address, of_member: Option<&ShareSettings>) -> TlsChoice {
    let may_be_plain = of_member.is_none_or(|settings| settings.tls == TlsChoice::Off);
    if may_be_plain && address.is_near() {
        TlsChoice::Off
    } else {
        TlsChoice::Verify
    }
}

fn is_url(file: &Path) -> bool {
    let text = file.to_string_lossy();
    ["postgres:", "postgresql:"].iter().any(|scheme| text.starts_with(scheme)) || text.contains("://")
}

/// The URL in a file, and the password in it.
fn read_url(file: &Path) -> Result<(Address, Option<String>), CliError> {
    let shown = file.display();
    let refused = |why: String, hint: &str| CliError::new(Kind::Usage, why).with_hint(hint.to_owned());
    let hint = format!("name a file with the URL of the database by --url-file or by {SHARE_ADMIN_URL_FILE}");
    let text = read_text(file).map_err(|error| refused(with_causes(&error), &hint))?;
    let metadata = fs_err::metadata(file)?;
    let mode = system::mode(&metadata) & 0o777;
    if system::owner(&metadata) != system::user_id() || mode & 0o077 != 0 {
        let why = format!("others can reach {shown} (mode {mode:04o}), and it may hold a password");
        return Err(refused(why, "make it your own, and `chmod 600` it"));
    }
    let line = text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty() && !line.starts_with('#'));
    if line.is_some_and(is_cut_short) {
        return Err(refused(
            format!("the URL in {shown} can't be used: an @ stands behind its host"),
            ESCAPED,
        ));
    }
    let Some((url, password)) = line.and_then(without_password) else {
        let hint = format!("write postgres://user:password@host/database on its first line; {ESCAPED}");
        return Err(refused(format!("{shown} holds no URL of a database"), &hint));
    };
    let address = Address::parse(&url).map_err(|wrong| refused(format!("the URL in {shown} can't be used"), &remedy(wrong)))?;
    Ok((address, password))
}

/// Whether a sign in the password of a URL ends what is before the database's name, so that the host would be read from within it.
fn is_cut_short(url: &str) -> bool {
    let Some((_, rest)) = url.split_once("://") else {
        return false;
    };
    let (authority, behind) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let database = behind.split('?').next().unwrap_or_default();
    // Where no user is named before, what is behind the colon is a port.
    let is_place = authority.contains('@')
        || authority.ends_with(']')
        || authority
            .rsplit_once(':')
            .is_none_or(|(_, port)| port.bytes().all(|digit| digit.is_ascii_digit()));
    database.contains('@') || !is_place && behind.contains('@')
}

/// A URL without the password in it, and the password; none where it is no URL, or its password is spelled wrongly.
fn without_password(url: &str) -> Option<(String, Option<String>)> {
    let (scheme, rest) = url.split_once("://")?;
    // What is behind the last @ is the place: a password may have one.
    let authority = rest.find(['/', '?']).map_or(rest, |end| &rest[..end]);
    let Some(at) = authority.rfind('@') else {
        return Some((url.to_owned(), None));
    };
    match rest[..at].split_once(':') {
        None => Some((url.to_owned(), None)),
        Some((user, password)) => Some((format!("{scheme}://{user}{}", &rest[at..]), Some(decoded(password)?))),
    }
}

/// `text` with each `%41` as the byte that it stands for.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut parts = text.split('%');
    bytes.extend_from_slice(parts.next()?.as_bytes());
    for part in parts {
        let digits = part
            .get(..2)
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::none("postgres://ada@db/memory", "postgres://ada@db/memory", None)]
    #[case::plain("postgres://ada:s3cret@db:5433/memory", "postgres://ada@db:5433/memory", Some("s3cret"))]
    #[case::escaped("postgres://ada:a%40%2Fb@db/memory", "postgres://ada@db/memory", Some("a@/b"))]
    #[case::with_an_at("postgres://ada:a@b@db/memory", "postgres://ada@db/memory", Some("a@b"))]
    #[case::colons("postgres://ada:a:b@db/memory", "postgres://ada@db/memory", Some("a:b"))]
    #[case::address("postgres://ada:x@[::1]:5432/memory", "postgres://ada@[::1]:5432/memory", Some("x"))]
    #[case::no_user("postgres:///memory?host=/run/pg", "postgres:///memory?host=/run/pg", None)]
    #[case::mail_behind("postgres://db/memory?user=a@b", "postgres://db/memory?user=a@b", None)]
    fn a_password_is_taken_out_of_a_url(#[case] url: &str, #[case] expected: &str, #[case] password: Option<&str>) {
        let (without, found) = without_password(url).unwrap();
        assert_eq!((without.as_str(), found.as_deref()), (expected, password));
    }

    #[test]
    fn what_is_no_url_or_wrongly_spelled_gives_none() {
        for wrong in [
            "",
            "ada@db",
            "postgres://ada:a%4@db/m",
            "postgres://ada:a%zz@db/m",
            "postgres://ada:%ff@db/m",
        ] {
            assert_eq!(without_password(wrong), None, "{wrong}");
        }
    }

    #[rstest]
    #[case::a_slash("postgres://ada:s3/cret@db/memory", true)]
    #[case::both("postgres://ada:s3@cr/et@db/memory", true)]
    #[case::digits("postgres://ada:12/34@db/memory", true)]
    #[case::a_question("postgres://ada:s3?cret@db/memory", true)]
    #[case::an_at("postgres://ada:s3@cret@db/memory", false)]
    #[case::escaped("postgres://ada:s3%2Fcr%40et@db:5433/memory", false)]
    #[case::none("postgres://ada@db/memory", false)]
    #[case::mail_behind("postgres://db/memory?user=a@b", false)]
    #[case::mail_behind_a_port("postgres://db:5432?user=a@b&dbname=memory", false)]
    #[case::mail_behind_an_address("postgres://[::1]?user=a@b&dbname=memory", false)]
    #[case::no_url("ada:s3/cret@db", false)]
    fn a_password_that_is_not_escaped_is_seen(#[case] url: &str, #[case] expected: bool) {
        assert_eq!(is_cut_short(url), expected);
    }

    #[test]
    fn how_a_password_is_written_is_told_where_it_is_not_and_where_no_host_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("url");
        for url in ["postgres://ada:s3@cr/et@db/memory", "postgres://ada:s3%cret@db/memory"] {
            fs_err::write(&file, url).unwrap();
            fs_err::set_permissions(&file, system::permissions(0o600)).unwrap();
            let error = read_url(&file).unwrap_err();
            assert_eq!(error.kind(), Kind::Usage);
            let told = error.to_string();
            assert!(
                told.contains("'/' is %2F") && !["s3@", "s3%", "cr/et"].iter().any(|part| told.contains(part)),
                "{told}"
            );
        }
        let unknown = ShareError::Unreachable("failed to lookup address information: Name or service not known".to_owned());
        let told = of_url(&unknown, &file).to_string();
        assert!(told.contains("'/' is %2F"), "{told}");
        let away = ShareError::Unreachable("connection refused".to_owned());
        assert!(!of_url(&away, &file).to_string().contains("%2F"));
    }

    #[rstest]
    #[case("postgres://ada:s3cret@db/memory", true)]
    #[case("postgresql://db/memory", true)]
    #[case("/home/ada/url", false)]
    #[case("url", false)]
    fn a_url_is_told_from_a_file(#[case] text: &str, #[case] expected: bool) {
        assert_eq!(is_url(Path::new(text)), expected);
    }

    #[test]
    fn a_file_that_others_can_read_is_refused_and_no_password_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("url");
        fs_err::write(&file, "# of the owner\npostgres://ada:s3cret@db/memory\n").unwrap();
        fs_err::set_permissions(&file, system::permissions(0o644)).unwrap();
        let error = read_url(&file).unwrap_err();
        assert!(error.message().contains("mode 0644"), "{error}");
        fs_err::set_permissions(&file, system::permissions(0o600)).unwrap();
        let (address, password) = read_url(&file).unwrap();
        assert_eq!(address.to_string(), "postgres://ada@db:5432/memory");
        assert_eq!(password.as_deref(), Some("s3cret"));
        fs_err::write(&file, "mysql://ada:s3cret@db/memory\n").unwrap();
        let error = read_url(&file).unwrap_err().to_string();
        assert!(error.contains("write postgres://") && !error.contains("s3cret"), "{error}");
    }

    #[rstest]
    #[case::whole("/srv/url", "/srv/url")]
    #[case::of_home("~/owner.url", "/home/ada/owner.url")]
    fn a_file_may_lie_below_home(#[case] named: &str, #[case] expected: &str) {
        assert_eq!(whole(Path::new(named), Path::new("/home/ada")).unwrap(), Path::new(expected));
    }

    #[test]
    fn a_file_may_be_named_from_the_working_folder() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(
            whole(Path::new("owner.url"), Path::new("/home/ada")).unwrap(),
            here.join("owner.url")
        );
    }

    #[rstest]
    #[case::password(ShareError::Refused("the server does not take the password: see share.password_file".to_owned()))]
    #[case::none(ShareError::Refused("the server asks for a password, and none is set: name its file by share.password_file".to_owned()))]
    #[case::away(ShareError::Unreachable("connection refused; are host and port in share.url right?".to_owned()))]
    #[case::silent(ShareError::Late(std::time::Duration::from_secs(10)))]
    fn what_is_wrong_is_told_of_the_file_and_not_of_the_settings(#[case] error: ShareError) {
        let told = of_url(&error, Path::new("/home/ada/owner.url")).to_string();
        assert!(told.contains("/home/ada/owner.url") && !told.contains("share."), "{told}");
    }

    #[test]
    fn how_a_certificate_is_judged_the_settings_say() {
        let error = ShareError::Refused("nobody has signed the certificate: name the file of its CA by share.ca_file".to_owned());
        let told = of_url(&error, Path::new("/home/ada/owner.url")).to_string();
        assert!(told.contains("share.ca_file"), "{told}");
        let error = ShareError::Refused(
            "the server's certificate is for another host: name the host in share.url as it does, or have it made anew by the CA of \
             share.ca_file"
                .to_owned(),
        );
        let told = of_url(&error, Path::new("/home/ada/owner.url")).to_string();
        assert!(
            told.contains("name the host of the URL in /home/ada/owner.url as it does") && told.contains("share.ca_file"),
            "{told}"
        );
        assert!(!told.contains("share.url"), "{told}");
    }

    #[rstest]
    #[case::behind("postgres://ada@db/memory?password=x", "write the password before the host")]
    #[case::tls("postgres://ada@db/memory?sslmode=disable", "take `sslmode` out")]
    #[case::no_user("postgres://db/memory", "name the user: write postgres://")]
    fn what_would_be_right_of_a_url_names_no_setting(#[case] url: &str, #[case] expected: &str) {
        let told = remedy(Address::parse(url).unwrap_err());
        assert!(told.starts_with(expected) && !told.contains("share."), "{told}");
    }
}
