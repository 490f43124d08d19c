//! The shared store: can it be reached, is this login a member, does the team's key fit? What a try came to comes in, checks go
//! out; nothing where this memory is not shared.

use serde_json::Value;

use super::Check;

const SHARING: &str = "sharing";
/// What helps where nothing nearer is known.
const SEE: &str = "see docs/share.md, and `remembrancer share status`";

/// What does not work, and what to do where that is known.
pub(crate) type Trouble = (String, Option<String>);

/// What a connection told.
#[derive(Debug)]
pub(crate) struct Connected {
    /// The member.
    pub login: String,
    /// The shared store's version.
    pub version: i32,
    /// Whether the team's texts are sealed.
    pub sealed: bool,
    /// Whether the key of the settings is the team's; fine where the team has none.
    pub key: Result<(), Trouble>,
}

/// What was learnt of the shared store that the settings name.
#[derive(Debug)]
pub(crate) struct Sharing {
    /// The team of the settings.
    pub team: String,
    /// Whether the settings name a key.
    pub has_key: bool,
    /// What the daemon or the store tell of it; null where nothing is known.
    pub status: Value,
    /// What a connection of this command's own came to.
    pub tried: Result<Connected, Trouble>,
}

impl Sharing {
    /// What is right and wrong with it.
    pub(crate) fn checks(&self) -> Vec<Check> {
        let mut checks = Vec::new();
        match &self.tried {
            Err(trouble) => checks.push(failed(trouble)),
            Ok(connected) => {
                let Connected { login, version, .. } = connected;
                let found = format!("reached as {login} of the team {}, version {version}", self.team);
                checks.push(Check::ok(SHARING, found));
                checks.extend(self.key(connected));
            }
        }
        if self.status["paused"] == true {
            checks.push(Check::warning(SHARING, "it is paused", "run `remembrancer share resume`"));
        }
        let connection = &self.status["connection"];
        // What keeps the daemon, and not this command: an older one, or settings that it has not read.
        if self.tried.is_ok()
            && connection["needs_a_change"] == true
            && let Some(why) = connection["last_error"]["why"].as_str()
        {
            let remedy = "start the daemon again, which reads the settings as it starts";
            checks.push(Check::failed(SHARING, format!("the daemon shares nothing: {why}"), remedy));
        }
        checks
    }

    fn key(&self, connected: &Connected) -> Option<Check> {
        match &connected.key {
            Err(trouble) => Some(failed(trouble)),
            Ok(()) if connected.sealed => Some(Check::ok(SHARING, "the team is sealed, and its key fits")),
            Ok(()) if self.has_key => Some(Check::warning(
                SHARING,
                format!(
                    "`share.key_file` names a key, and the team {} is not sealed: the server can read its texts",
                    self.team
                ),
                "ask who set up the team, or take `share.key_file` out",
            )),
            Ok(()) => None,
        }
    }
}

fn failed((found, remedy): &Trouble) -> Check {
    Check::failed(SHARING, found, remedy.as_deref().unwrap_or(SEE))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::doctor::Verdict;

    fn sharing() -> Sharing {
        Sharing {
            team: "acme".to_owned(),
            has_key: false,
            status: json!({"paused": false, "connection": {"needs_a_change": false}}),
            tried: Ok(Connected {
                login: "ada".to_owned(),
                version: 5,
                sealed: false,
                key: Ok(()),
            }),
        }
    }

    fn connected(it: &mut Sharing) -> &mut Connected {
        it.tried.as_mut().unwrap()
    }

    #[rstest]
    #[case::as_it_should_be(|_: &mut Sharing| {}, Verdict::Ok, "reached as ada")]
    #[case::away(|it: &mut Sharing| it.tried = Err(("no route".to_owned(), None)), Verdict::Failed, "no route")]
    #[case::paused(|it: &mut Sharing| it.status["paused"] = true.into(), Verdict::Warning, "paused")]
    #[case::sealed(|it: &mut Sharing| connected(it).sealed = true, Verdict::Ok, "its key fits")]
    #[case::another_key(|it: &mut Sharing| connected(it).key = Err(("not the key".to_owned(), Some("ask".to_owned()))), Verdict::Failed, "not the key")]
    #[case::a_key_for_nothing(|it: &mut Sharing| it.has_key = true, Verdict::Warning, "is not sealed")]
    #[case::the_daemon_alone(|it: &mut Sharing| it.status["connection"] = json!({"needs_a_change": true, "last_error": {"why": "no member"}}), Verdict::Failed, "no member")]
    fn each_finding_has_its_verdict(#[case] change: fn(&mut Sharing), #[case] expected: Verdict, #[case] said: &str) {
        let mut sharing = sharing();
        change(&mut sharing);
        let checks = sharing.checks();
        assert_eq!(checks.iter().map(|check| check.verdict).max(), Some(expected), "{checks:?}");
        assert!(checks.iter().any(|check| check.found.contains(said)), "{checks:?}");
        assert!(
            checks
                .iter()
                .all(|check| (check.verdict == Verdict::Ok) == check.remedy.is_none())
        );
    }
}
