//! What the server says to a hello, and whether one can go on from there. The daemon and the commands judge it by the same rules.

use remembrancer_schema::shared as server;
use tokio_postgres::Row;

use super::error::ShareError;
use super::seal::TeamKey;
use super::wire_rows::{Sealing, get};

/// What the server says of itself and of who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hello {
    /// Its version.
    pub(crate) server_version: i32,
    /// The oldest version of a program that it takes.
    pub(crate) oldest_client: i32,
    /// The team's number.
    pub(crate) team: i32,
    /// The member's number.
    pub(crate) member: i32,
    /// The member's login.
    pub(crate) login: String,
    /// Whether the team's texts are sealed.
    pub(crate) is_sealed: bool,
    /// By what the team's key is known, where it has one.
    pub(crate) key_check: Option<Vec<u8>>,
    /// The last change of the team.
    pub(crate) head: i64,
}

impl Hello {
    /// What a row says.
    ///
    /// # Errors
    /// [`ShareError::Unread`]; where this version and the server's do not understand each other, what to do.
    pub(crate) fn of(row: &Row) -> Result<Self, ShareError> {
        let hello = Self {
            server_version: get(row, "server_version")?,
            oldest_client: get(row, "oldest_client")?,
            team: get(row, "team_id")?,
            member: get(row, "member_id")?,
            login: get(row, "member_login")?,
            is_sealed: get(row, "sealed")?,
            key_check: get(row, "key_check")?,
            head: get(row, "head")?,
        };
        hello.fits().map(|()| hello)
    }

    /// Whether this version and the server's understand each other.
    fn fits(&self) -> Result<(), ShareError> {
        let (theirs, ours) = (self.server_version, server::CLIENT_VERSION);
        if theirs < server::OLDEST_SERVER {
            return Err(ShareError::Refused(format!(
                "the shared store is of version {theirs}, and this program needs {} or newer: who keeps it runs `remembrancer share init` of this version",
                server::OLDEST_SERVER
            )));
        }
        if self.oldest_client > ours {
            return Err(ShareError::Refused(format!(
                "the shared store takes programs of version {} and newer, and this one is of {ours}: update it",
                self.oldest_client
            )));
        }
        Ok(())
    }

    /// How texts of the team `team` are sealed, by what it says of itself and the key that the settings name.
    ///
    /// # Errors
    /// Where the two do not fit, with what to do.
    pub(crate) fn sealing(&self, team: &str, key: Option<TeamKey>) -> Result<Option<Sealing>, ShareError> {
        let refused = |why: &str| Err(ShareError::Refused(format!("the team {team} {why}")));
        match (self.is_sealed, key) {
            (false, None) => Ok(None),
            (false, Some(_)) => refused("has no key, and share.key_file names one: take it out, or name another team"),
            (true, None) => refused("has a key: name its file by share.key_file, as its admin gave it to you"),
            (true, Some(key)) => {
                if self.key_check.as_deref() != Some(&key.check()[..]) {
                    return refused("has another key than that of share.key_file: ask its admin for the one it has");
                }
                let team = team.to_owned();
                Ok(Some(Sealing { team, key }))
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use rstest::rstest;

    use super::*;

    /// What a server of this version says to a member of a team without a key.
    pub(in crate::share) fn hello() -> Hello {
        Hello {
            server_version: server::SHARED_VERSION,
            oldest_client: server::CLIENT_VERSION,
            team: 1,
            member: 1,
            login: "ada".to_owned(),
            is_sealed: false,
            key_check: None,
            head: 0,
        }
    }

    #[rstest]
    #[case::the_same(server::SHARED_VERSION, server::CLIENT_VERSION, None)]
    #[case::newer(server::SHARED_VERSION + 9, server::CLIENT_VERSION, None)]
    #[case::too_old(server::OLDEST_SERVER - 1, server::CLIENT_VERSION, Some("share init"))]
    #[case::too_new(server::SHARED_VERSION + 9, server::CLIENT_VERSION + 1, Some("update it"))]
    fn versions_that_do_not_fit_are_refused(
        #[case] server_version: i32,
        #[case] oldest_client: i32,
        #[case] expected: Option<&str>,
    ) {
        let hello = Hello {
            server_version,
            oldest_client,
            ..hello()
        };
        match (hello.fits(), expected) {
            (Ok(()), None) => {}
            (Err(error), Some(expected)) => {
                assert!(error.is_refusal() && error.to_string().contains(expected), "{error}");
            }
            (fits, expected) => panic!("{fits:?}, {expected:?}"),
        }
    }

    #[test]
    fn a_key_has_to_be_the_team_s() {
        let folder = tempfile::tempdir().unwrap();
        let [ours, other] = ["ours", "other"].map(|name| TeamKey::generate(&folder.path().join(name)).unwrap());
        let sealed = Hello {
            is_sealed: true,
            key_check: Some(ours.check().to_vec()),
            ..hello()
        };
        assert!(hello().sealing("acme", None).unwrap().is_none());
        assert_eq!(sealed.sealing("acme", Some(ours.clone())).unwrap().unwrap().team, "acme");
        for (hello, key, expected) in [
            (hello(), Some(ours), "has no key"),
            (sealed.clone(), None, "share.key_file"),
            (sealed, Some(other), "another key"),
        ] {
            let error = hello.sealing("acme", key).unwrap_err();
            assert!(error.is_refusal() && error.to_string().contains(expected), "{error}");
        }
    }
}
