//! Why nothing is shared for now: what the settings, the server or the store say, in words that hold no text of an episode and no
//! password, and whether to try again soon or only once something has changed.

use std::error::Error;
use std::io;
use std::time::Duration;

use remembrancer_processor::recall::{cut, shown};
use remembrancer_schema::QueryError;
use rustls::CertificateError;

use super::seal::{KeyFileError, SealError};
use super::server::Refusal;
use super::settings::Unusable;
use crate::causes::with_causes;
use crate::store::NoAnswer;
use crate::threads::Panicked;

/// A row is beyond its bounds.
const BOUNDS: &str = "RM006";
/// Characters of what a server says that are told.
const MESSAGE: usize = 300;
/// A machine's name is another member's, or has not been told.
pub(super) const ANOTHERS_MACHINE: &str = "RM004";
/// SQLSTATEs of a database in which nobody made the shared store, or an older one: no such schema, function, table, column.
const NOT_MADE: [&str; 4] = ["3F000", "42883", "42P01", "42703"];

/// Why nothing is shared for now.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ShareError {
    /// A setting, or a file that one names.
    #[error(transparent)]
    Settings(#[from] Unusable),
    /// The team's key can't be read.
    #[error(transparent)]
    Key(#[from] KeyFileError),
    /// The server can't be reached, or the connection was lost.
    #[error("the server of the shared store can't be reached: {0}")]
    Unreachable(String),
    /// The server does not answer.
    #[error("the server of the shared store did not answer within {} s", .0.as_secs())]
    Late(Duration),
    /// The shared store says why it takes nothing from here.
    #[error("{0}")]
    Refused(String),
    /// The login is no member of the shared store, or not of the team: perhaps no longer.
    #[error("{0}")]
    NoMember(String),
    /// The server reports an error.
    #[error("the shared store failed: {message} (SQLSTATE {state})")]
    Server {
        /// Its code.
        state: String,
        /// Its words, but those that may quote a row.
        message: String,
    },
    /// The server gave what this version does not know.
    #[error("the shared store answered with what this version does not read: {0}; update this program")]
    Unread(String),
    /// An episode can't be sealed.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// The store here.
    #[error(transparent)]
    Store(#[from] QueryError),
    /// The daemon is stopping, or failed on it.
    #[error(transparent)]
    Gone(#[from] NoAnswer),
    /// A panic, in what is done beside the store.
    #[error(transparent)]
    Panicked(#[from] Panicked),
}

impl ShareError {
    /// Whether it stays until somebody changes something: it is tried again seldom.
    pub(super) fn is_refusal(&self) -> bool {
        match self {
            Self::Settings(_) | Self::Key(_) | Self::Refused(_) | Self::NoMember(_) | Self::Unread(_) => true,
            Self::Unreachable(_)
            | Self::Late(_)
            | Self::Server { .. }
            | Self::Seal(_)
            | Self::Store(_)
            | Self::Gone(_)
            | Self::Panicked(_) => false,
        }
    }

    /// Whether nothing more comes by this connection.
    pub(super) fn is_of_way(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Late(_))
    }

    /// Where it is of the hello: what is beyond its bounds there is a name that the settings choose, and no row.
    pub(super) fn of_hello(self) -> Self {
        match self {
            Self::Server { state, .. } if state == BOUNDS => Self::Refused(
                "the shared store does not take this machine: its name has more than 200 characters (see share.machine), or the login has \
                 too many machines there"
                    .to_owned(),
            ),
            other => other,
        }
    }

    /// Whether the server refused what a row holds: its bounds, or what can't be text there. Other rows may be right.
    pub(super) fn is_of_content(&self) -> bool {
        match self {
            Self::Server { state, .. } => state == BOUNDS || is_of_data(state),
            _ => false,
        }
    }
}

/// Classes of a row that is not right for its types or its table: their messages may quote it.
fn is_of_data(state: &str) -> bool {
    state.starts_with("22") || state.starts_with("23")
}

/// What an error of the server with this code says.
pub(super) fn of_server(state: &str, message: &str) -> ShareError {
    if state == BOUNDS {
        return ShareError::Server {
            state: state.to_owned(),
            message: "a row is beyond its bounds".to_owned(),
        };
    }
    // The next session says hello, which is what that asks for.
    if state == ANOTHERS_MACHINE {
        return ShareError::Server {
            state: state.to_owned(),
            message: one_line(message),
        };
    }
    match Refusal::of(state) {
        Some(refusal @ (Refusal::UnknownLogin | Refusal::UnknownTeam)) => return ShareError::NoMember(refusal.to_string()),
        Some(refusal) => return ShareError::Refused(refusal.to_string()),
        None => {}
    }
    let refused = match state {
        "28P01" => {
            "the server does not take the password: see share.password_file or share.password_command, or the service that share.service names"
        }
        "28000" => "the server does not let this user in from here: ask who keeps it",
        "3D000" => "the server has no database of that name: see share.url",
        "42501" => {
            "the server does not allow this user the shared store: its admin adds members by `remembrancer share add-member`"
        }
        state if NOT_MADE.contains(&state) => {
            "that database holds no shared store, or an older one: who keeps it runs `remembrancer share init`"
        }
        state => {
            return ShareError::Server {
                state: state.to_owned(),
                message: if is_of_data(state) {
                    "a row is not right".to_owned()
                } else {
                    one_line(message)
                },
            };
        }
    };
    ShareError::Refused(refused.to_owned())
}

/// What a server says, on one harmless line of bounded length: it is shown and logged.
fn one_line(message: &str) -> String {
    let words: Vec<&str> = message.split_whitespace().collect();
    cut(&shown(&words.join(" ")), MESSAGE)
}

impl From<tokio_postgres::Error> for ShareError {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.as_db_error() {
            Some(told) => of_server(told.code().code(), told.message()),
            None => of_way(&error),
        }
    }
}

/// What keeps the server from being reached: a refusal where a setting or the server has to change, and else a fault of the way.
fn of_way(error: &(dyn Error + 'static)) -> ShareError {
    let mut next = Some(error);
    while let Some(cause) = next {
        if let Some(told) = of_cause(cause) {
            return told;
        }
        next = cause.source();
    }
    ShareError::Unreachable(with_causes(error))
}

fn of_cause(cause: &(dyn Error + 'static)) -> Option<ShareError> {
    if let Some(cause) = cause.downcast_ref::<io::Error>() {
        // What TLS says lies within, and is not told as a cause.
        let tls = cause.get_ref().and_then(|within| within.downcast_ref::<rustls::Error>());
        return tls.map_or_else(|| of_io(cause.kind()), of_tls);
    }
    // The driver has no types for these.
    let refused = match cause.to_string().as_str() {
        "password missing" => {
            "the server asks for a password, and none is set: name its file by share.password_file, or a program that tells it by \
             share.password_command"
        }
        "server does not support TLS" => {
            "the server speaks no TLS: have who keeps it turn that on; share.tls = \"off\" does without, at a loopback address alone"
        }
        _ => return None,
    };
    Some(ShareError::Refused(refused.to_owned()))
}

/// Faults that go by themselves, as where a server starts.
fn of_io(kind: io::ErrorKind) -> Option<ShareError> {
    let why = match kind {
        io::ErrorKind::ConnectionRefused => {
            "connection refused; does the server run, and are host and port in share.url those at which it listens?"
        }
        io::ErrorKind::NotFound => {
            "it has no socket there; does the server run, and is the folder in share.url that of its socket?"
        }
        _ => return None,
    };
    Some(ShareError::Unreachable(why.to_owned()))
}

fn of_tls(error: &rustls::Error) -> Option<ShareError> {
    let refused = match error {
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            "nobody who is trusted here has signed the server's certificate: name the file of its CA's certificate by share.ca_file"
        }
        rustls::Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => {
            "the server's certificate is for another host: name the host in share.url as it does, or have it made anew by the CA of \
             share.ca_file"
        }
        rustls::Error::InvalidCertificate(
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. },
        ) => {
            "the server's certificate is not valid at this time: have it made anew by the CA of share.ca_file, and look at this machine's clock"
        }
        rustls::Error::InvalidCertificate(_) => {
            return Some(ShareError::Refused(format!(
                "the server's certificate is not taken: {}; see share.ca_file, or have who keeps the server make a new one",
                one_line(&error.to_string())
            )));
        }
        rustls::Error::PeerIncompatible(_) => {
            "the server speaks no TLS that is safe today: have who keeps it allow TLS 1.2 or 1.3"
        }
        _ => return None,
    };
    Some(ShareError::Refused(refused.to_owned()))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::password("28P01", true, false)]
    #[case::no_member("RM002", true, false)]
    #[case::another_sealing("RM005", true, false)]
    #[case::not_made("3F000", true, false)]
    #[case::unknown_machine("RM004", false, false)]
    #[case::bounds("RM006", false, true)]
    #[case::no_text("22021", false, true)]
    #[case::a_rule_of_the_table("23514", false, true)]
    #[case::too_many("53300", false, false)]
    #[case::full("53100", false, false)]
    #[case::stopping("57P01", false, false)]
    fn each_code_is_tried_again_as_it_deserves(#[case] state: &str, #[case] refusal: bool, #[case] of_content: bool) {
        let error = of_server(state, "words of the server");
        assert_eq!((error.is_refusal(), error.is_of_content()), (refusal, of_content), "{error}");
    }

    #[test]
    fn who_is_put_out_is_told_apart() {
        for state in ["RM001", "RM002"] {
            assert!(matches!(of_server(state, "words"), ShareError::NoMember(_)), "{state}");
        }
        assert!(!matches!(of_server("RM003", "words"), ShareError::NoMember(_)));
    }

    #[test]
    fn a_name_that_the_server_does_not_take_is_no_row() {
        let error = of_server("RM006", "a machine has a name of at most 200 characters").of_hello();
        assert!(error.is_refusal() && !error.is_of_content(), "{error}");
        assert!(error.to_string().contains("share.machine"), "{error}");
        assert!(!of_server("53300", "too many").of_hello().is_refusal());
    }

    fn of_certificate(error: CertificateError) -> ShareError {
        let tls = rustls::Error::InvalidCertificate(error);
        of_way(&io::Error::new(io::ErrorKind::InvalidData, tls))
    }

    #[rstest]
    #[case::of_nobody(CertificateError::UnknownIssuer, "nobody who is trusted")]
    #[case::of_another(CertificateError::NotValidForName, "share.url")]
    #[case::too_old(CertificateError::Expired, "clock")]
    #[case::revoked(CertificateError::Revoked, "not taken")]
    fn a_certificate_that_is_not_taken_is_told_with_what_to_do(#[case] error: CertificateError, #[case] expected: &str) {
        let told = of_certificate(error);
        assert!(told.is_refusal() && !told.is_of_way(), "{told}");
        let told = told.to_string();
        assert!(told.contains(expected) && told.contains("share.ca_file"), "{told}");
    }

    #[rstest]
    #[case::refused(io::ErrorKind::ConnectionRefused, "share.url")]
    #[case::no_socket(io::ErrorKind::NotFound, "share.url")]
    #[case::reset(io::ErrorKind::ConnectionReset, "reset")]
    fn what_may_go_by_itself_is_tried_again(#[case] kind: io::ErrorKind, #[case] expected: &str) {
        let told = of_way(&io::Error::from(kind));
        assert!(told.is_of_way() && !told.is_refusal(), "{told}");
        assert!(told.to_string().contains(expected), "{told}");
    }

    #[test]
    fn what_a_server_says_is_one_line_of_bounded_length() {
        let message = format!("full\nof {}\u{1b}[2J", "disk ".repeat(1_000));
        let ShareError::Server { message, .. } = of_server("53100", &message) else {
            panic!("it is tried again");
        };
        assert!(
            message.starts_with("full of disk") && message.chars().count() <= MESSAGE,
            "{message}"
        );
        assert!(!message.contains(char::is_control));
    }

    #[rstest]
    #[case::of_a_row("22021", false)]
    #[case::of_a_rule("23514", false)]
    #[case::of_room("53100", true)]
    fn what_may_quote_a_row_is_not_told(#[case] state: &str, #[case] told: bool) {
        let error = of_server(state, "invalid: my text").to_string();
        assert_eq!(error.contains("my text"), told, "{error}");
        assert!(error.contains(state), "{error}");
    }
}
