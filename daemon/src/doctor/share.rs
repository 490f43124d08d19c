//! The shared store: can it be reached, is this login a member, does the team's key fit, do the patterns name anything, and is something
//! left at a team of before? What a try came to comes in, checks go out, one a trouble.

use serde_json::Value;

use super::Check;
use crate::plural::counted;

const SHARING: &str = "sharing";
/// What helps where nothing nearer is known.
const SEE: &str = "see docs/share.md, and `remembrancer share status`";

/// Where the keys are that a pattern may name.
pub(crate) const SEE_PROJECTS: &str = "`remembrancer share projects` lists the keys of the projects here";

/// What to do where the team was left.
pub(crate) const ONCE_LEFT: &str =
    "take `[share]` out of the settings, or run `remembrancer share resume` to be in the team again";

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
    /// Whether the key of the settings is the team's; fine where both have none.
    pub key: Result<(), Trouble>,
}

/// What was learnt of the shared store that the settings name.
#[derive(Debug)]
pub(crate) struct Sharing {
    /// The team of the settings.
    pub team: String,
    /// What the daemon or the store tell of it; null where nothing is known.
    pub status: Value,
    /// Patterns that name no project here.
    pub unmatched: Vec<String>,
    /// What a connection of this command's own came to.
    pub tried: Result<Connected, Trouble>,
}

impl Sharing {
    /// What is right and wrong with it.
    pub(crate) fn checks(&self) -> Vec<Check> {
        let is_left = self.status["left"] == true;
        if is_left && self.status["store"].as_str().map(team_of) == Some(self.team.as_str()) {
            return self.left();
        }
        let mut checks = Vec::new();
        match &self.tried {
            Err(trouble) => checks.push(failed(trouble)),
            Ok(connected) => {
                let Connected { login, version, .. } = connected;
                let found = format!("reached as {login} of the team {}, version {version}", self.team);
                checks.push(Check::ok(SHARING, found));
                checks.extend(key(connected));
            }
        }
        if self.status["paused"] == true && !is_left {
            checks.push(Check::warning(SHARING, "it is paused", "run `remembrancer share resume`"));
        }
        let unmatched = self.unmatched.iter();
        checks.extend(unmatched.map(|pattern| Check::warning(SHARING, unmatched_told(pattern), SEE_PROJECTS)));
        let former = former(&self.status).into_iter();
        checks.extend(former.map(|(found, remedy)| Check::warning(SHARING, found, remedy)));
        checks.extend(self.daemon_alone());
        checks
    }

    /// Where the team was left: how the server is reached matters no more, once all is taken back.
    fn left(&self) -> Vec<Check> {
        let left = format!("this memory has left the team {}", self.team);
        let mut checks = Vec::new();
        if let Some((found, remedy)) = not_taken_back(&self.status) {
            checks.push(Check::warning(SHARING, format!("{left}, and {found}"), remedy));
            checks.extend(self.tried.as_ref().err().map(failed));
            checks.extend(self.daemon_alone());
        } else {
            checks.push(Check::warning(SHARING, left, ONCE_LEFT));
        }
        let former = former(&self.status).into_iter();
        checks.extend(former.map(|(found, remedy)| Check::warning(SHARING, found, remedy)));
        checks
    }

    /// What keeps the daemon, and not this command: an older one, settings that it has not read, a service that may use no network. What
    /// keeps both is told of the try.
    fn daemon_alone(&self) -> Option<Check> {
        let connection = &self.status["connection"];
        if !self.tried.as_ref().is_ok_and(|connected| connected.key.is_ok()) {
            return None;
        }
        let why = connection["last_error"]["why"].as_str()?;
        if connection["needs_a_change"] == true {
            let remedy = "start the daemon again, which reads the settings as it starts";
            return Some(Check::failed(SHARING, format!("the daemon shares nothing: {why}"), remedy));
        }
        connection["tried_again"].is_string().then(|| {
            let remedy = "where it is a service, run `remembrancer install --service`, which opens the network for it; else see its log \
                          (`remembrancer logs`)";
            Check::warning(SHARING, format!("the daemon does not reach it: {why}"), remedy)
        })
    }
}

fn key(connected: &Connected) -> Option<Check> {
    match &connected.key {
        Err(trouble) => Some(failed(trouble)),
        Ok(()) if connected.sealed => Some(Check::ok(SHARING, "the team is sealed, and its key fits")),
        Ok(()) => None,
    }
}

/// What is found where the settings name no shared store: a daemon that has not read them, or `left` episodes of this memory that are
/// where they were shared.
pub(crate) fn without_settings(status: &Value, left: u64) -> Vec<Check> {
    let mut checks = Vec::new();
    if status["connection"].is_object() {
        let found = "the settings name no shared store any more, and the running daemon shares still";
        checks.push(Check::warning(SHARING, found, "start it again, which ends that"));
    }
    if left > 0 {
        let (found, remedy) = left_there(left);
        checks.push(Check::warning(SHARING, found, remedy));
    }
    checks
}

/// What is told of `left` episodes that are where they were shared, and what to do.
pub(crate) fn left_there(left: u64) -> (String, String) {
    let episodes = counted(left, "episode of this memory is", "episodes of this memory are");
    (
        format!("{episodes} still shared where they were, and not taken back"),
        "set `[share]` as it was, start the daemon, and run `remembrancer share leave`".to_owned(),
    )
}

/// What may still be at the team that was left, and what has it go; from what is known of sharing. None where the team does not let this login
/// in: nothing can be taken back from there.
pub(crate) fn not_taken_back(sharing: &Value) -> Option<(String, String)> {
    let sent = sharing["sent"].as_u64().filter(|sent| *sent > 0)?;
    if sharing["left"] != true || is_put_out(sharing) {
        return None;
    }
    let episodes = counted(sent, "episode is", "episodes are");
    Some((
        format!("{episodes} not taken back yet from the team that was left"),
        "the daemon takes back what is left as soon as it reaches the server: have it run, and `[share]` stay in the settings, until then"
            .to_owned(),
    ))
}

/// Whether the server said last that this is no member of the team; from what is known of sharing.
pub(crate) fn is_put_out(sharing: &Value) -> bool {
    // What the daemon knows is newer.
    match sharing["connection"]["put_out"].as_bool() {
        Some(is_put_out) => is_put_out,
        None => sharing["put_out"] == true,
    }
}

/// The team of a store, as the store is told.
fn team_of(store: &str) -> &str {
    store.rsplit_once('#').map_or(store, |(_, team)| team)
}

/// A pattern that names nothing, in words.
pub(crate) fn unmatched_told(pattern: &str) -> String {
    format!("the pattern {pattern:?} of `share.projects` names no project of this memory")
}

/// What is left at teams of before, and what to do; from what is known of sharing.
pub(crate) fn former(status: &Value) -> Vec<(String, String)> {
    let teams = status["former"].as_array().into_iter().flatten();
    let told = teams.filter_map(|former| {
        let (store, sent) = (former["store"].as_str()?, former["sent"].as_u64().filter(|sent| *sent > 0)?);
        let team = team_of(store);
        let episodes = counted(sent, "episode is", "episodes are");
        let found = format!("{episodes} still shared with {team} ({store}), as they were when the settings were changed");
        Some((
            found,
            format!("set {team} again, start the daemon, and run `remembrancer share leave`"),
        ))
    });
    told.collect()
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
            status: json!({"paused": false, "connection": {"needs_a_change": false}}),
            unmatched: Vec::new(),
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
    #[case::the_daemon_alone(|it: &mut Sharing| it.status["connection"] = json!({"needs_a_change": true, "last_error": {"why": "no member"}}), Verdict::Failed, "no member")]
    #[case::the_daemon_has_no_way(|it: &mut Sharing| it.status["connection"] = json!({"needs_a_change": false, "tried_again": "2026-01-01T00:05:00Z", "last_error": {"why": "no such family"}}), Verdict::Warning, "does not reach it: no such family")]
    #[case::an_error_of_the_past(|it: &mut Sharing| it.status["connection"] = json!({"needs_a_change": false, "tried_again": null, "last_error": {"why": "away"}}), Verdict::Ok, "reached as ada")]
    #[case::a_pattern_of_nothing(|it: &mut Sharing| it.unmatched = vec!["github.com/acme/wrong".to_owned()], Verdict::Warning, "\"github.com/acme/wrong\"")]
    #[case::left_at_a_team(|it: &mut Sharing| it.status["former"] = json!([{"store": "db:5432/m#old", "sent": 12}]), Verdict::Warning, "12 episodes are still shared with old")]
    #[case::nothing_left(|it: &mut Sharing| it.status["former"] = json!([{"store": "db:5432/m#old", "sent": 0}]), Verdict::Ok, "reached as ada")]
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

    #[rstest]
    #[case::of_both(|it: &mut Sharing| it.tried = Err(("no member".to_owned(), None)))]
    #[case::of_the_key(|it: &mut Sharing| connected(it).key = Err(("no member".to_owned(), None)))]
    fn one_refusal_is_told_once(#[case] change: fn(&mut Sharing)) {
        let mut sharing = sharing();
        sharing.status["connection"] = json!({"needs_a_change": true, "last_error": {"why": "no member"}});
        change(&mut sharing);
        let checks = sharing.checks();
        let told = checks.iter().filter(|check| check.found.contains("no member")).count();
        assert_eq!(told, 1, "{checks:?}");
    }

    /// As after `share leave`, of this team.
    fn left(team: &str, sent: u64, is_put_out: bool) -> Vec<Check> {
        let mut sharing = sharing();
        sharing.status = json!({
            "left": true, "paused": true, "store": format!("db:5432/m#{team}"), "sent": sent, "put_out": is_put_out, "connection": {},
        });
        sharing.tried = Err(("no member".to_owned(), None));
        sharing.checks()
    }

    #[test]
    fn who_has_left_is_not_told_to_undo_it() {
        let checks = left("acme", 0, false);
        assert_eq!(checks.len(), 1, "{checks:?}");
        assert!(checks[0].found.contains("has left the team acme"), "{checks:?}");
        assert!(
            checks[0].remedy.as_deref().unwrap().contains("take `[share]` out"),
            "{checks:?}"
        );
        let of_another = left("other", 0, false);
        assert!(
            of_another.iter().all(|check| !check.found.contains("paused")),
            "{of_another:?}"
        );
        assert!(
            of_another.iter().any(|check| check.found.contains("no member")),
            "{of_another:?}"
        );
    }

    #[test]
    fn what_was_not_taken_back_is_told_unless_it_can_not_be() {
        let half = left("acme", 3, false);
        assert!(
            half[0]
                .found
                .contains("has left the team acme, and 3 episodes are not taken back yet"),
            "{half:?}"
        );
        assert!(
            half[0].remedy.as_deref().unwrap().contains("`[share]` stay in the settings"),
            "{half:?}"
        );
        assert!(
            half[1].found.contains("no member"),
            "what keeps it from being taken back: {half:?}"
        );
        assert!(
            half.iter().all(|check| check.remedy.as_deref() != Some(ONCE_LEFT)),
            "{half:?}"
        );
        let put_out = left("acme", 3, true);
        assert_eq!(put_out.len(), 1, "{put_out:?}");
        assert_eq!(put_out[0].remedy.as_deref(), Some(ONCE_LEFT));
        assert_eq!(not_taken_back(&json!({"left": false, "sent": 3})), None);
    }

    #[test]
    fn what_is_left_is_told_where_the_settings_name_nothing() {
        assert!(without_settings(&Value::Null, 0).is_empty());
        let shares = without_settings(&json!({"connection": {}}), 0);
        assert!(shares[0].found.contains("shares still"), "{shares:?}");
        let left = without_settings(&Value::Null, 1);
        assert!(left[0].found.contains("1 episode of this memory is still shared"), "{left:?}");
    }
}
