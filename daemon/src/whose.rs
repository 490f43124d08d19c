//! Whose a memory is: the user's own, or what another member of the shared store wrote. Who shared it comes in as the store has it, or as
//! a reply tells it; a name that is harmless wherever it is shown goes out, and sentences of what becomes of others' words.

use remembrancer_processor::recall::{cut, inline, member_named};
use remembrancer_schema::{ShareOrigin, SharedBy};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::plural::counted;

/// Characters of a name that others choose.
const NAME_CHARS: usize = 64;
/// Members that a sentence names.
const NAMED: usize = 3;

/// Who shared an episode that is a copy here, as it is told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sharer {
    /// The member's login.
    pub member: String,
    /// The machine's name.
    pub machine: String,
    /// Whether the member is the user, and the machine another one of the user's.
    pub own: bool,
}

impl Sharer {
    /// What the store says, fit to be shown; `None` of this machine's own.
    pub(crate) fn of(by: Option<&SharedBy>) -> Option<Self> {
        by.map(|by| Self {
            member: member_named(&by.member),
            machine: name_of(&by.machine),
            own: by.is_own,
        })
    }

    /// The same as a reply tells it.
    pub(crate) fn json(&self) -> Value {
        json!(self)
    }

    /// The login, where it is another member's.
    pub(crate) fn other(&self) -> Option<&str> {
        (!self.own).then_some(self.member.as_str())
    }
}

/// The login of the other member whose words an episode or a turn is, of what a reply tells of it; `None` of the user's own.
pub(crate) fn other_of(told: &Value) -> Option<&str> {
    let by = &told["shared_by"];
    by["member"].as_str().filter(|_| by["own"] != true)
}

/// Whether any of these, each told by its [`other_of`] or [`Sharer::other`], is another member's.
pub(crate) fn has_others<'a>(others: impl IntoIterator<Item = Option<&'a str>>) -> bool {
    others.into_iter().any(|other| other.is_some())
}

/// The name of a machine or a project, which others choose: on one line, harmless wherever it is shown, and of bounded length. A login
/// that has to be told whatever is left of it is [`member_named`].
pub(crate) fn name_of(name: &str) -> String {
    cut(&inline(name), NAME_CHARS)
}

/// Members by name, the first of many.
pub(crate) fn named(logins: &[String]) -> String {
    let (first, more) = logins.split_at(logins.len().min(NAMED));
    match more.len() {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// What stands before the line of another member's episode; nothing before one's own.
pub(crate) fn mark(other: Option<&str>) -> String {
    other.map_or_else(String::new, |login| format!("[shared by {login}] "))
}

/// Who shared an episode, and from which machine, as an export and a status tell it.
pub(crate) fn shared_by_json(origin: &ShareOrigin) -> Value {
    json!({"member": member_named(&origin.member_login), "machine": name_of(&origin.machine_name)})
}

/// Members with how many episodes each shared, as a reply tells it.
pub(crate) fn sharers_json(sharers: &[(String, u64)]) -> Value {
    let told = sharers
        .iter()
        .map(|(login, episodes)| json!({"member": member_named(login), "episodes": episodes}));
    told.collect()
}

/// What is selected to be forgotten, or was, and what of it others shared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Others {
    /// Episodes of it that others shared.
    pub episodes: u64,
    /// Who shared them; nobody where that is not known.
    pub logins: Vec<String>,
}

impl Others {
    /// Of a reply's `shared`.
    pub(crate) fn of(shared: &Value) -> Self {
        let all = || shared.as_array().into_iter().flatten();
        Self {
            episodes: all().filter_map(|of| of["episodes"].as_u64()).sum(),
            logins: all().filter_map(|of| of["member"].as_str().map(str::to_owned)).collect(),
        }
    }

    /// That it goes from the user's machines, and stays with who shared it, where it is `all` episodes that are meant or some of them;
    /// `None` where nothing is others'.
    pub(crate) fn sentence(&self, all: u64) -> Option<String> {
        let who = self.who();
        match self.episodes {
            0 => None,
            1 if all == 1 => Some(format!(
                "It goes from your machines alone, and stays with {who}, who shared it."
            )),
            others if others >= all => Some(format!(
                "They go from your machines alone, and stay with {who}, who shared them."
            )),
            others => Some(format!(
                "Of them {} from your machines alone, and {} with {who}, who shared {}.",
                counted(others, "episode goes", "episodes go"),
                if others == 1 { "stays" } else { "stay" },
                if others == 1 { "it" } else { "them" }
            )),
        }
    }

    fn who(&self) -> String {
        let named = &self.logins[..self.logins.len().min(NAMED)];
        let more = self.logins.len() - named.len();
        match (named, more) {
            ([], _) => "the other member of the team".to_owned(),
            ([one], _) => one.clone(),
            ([first @ .., last], 0) => format!("{} and {last}", first.join(", ")),
            (all, more) => format!("{} and {more} more", all.join(", ")),
        }
    }
}

/// That what of one's own is shared goes from everywhere, where it is `all` episodes that are meant or some of them; `None` where nothing
/// of it is shared.
pub(crate) fn goes_everywhere(shared_on: u64, all: u64) -> Option<String> {
    let what = match shared_on {
        0 => return None,
        1 if all == 1 => "It goes".to_owned(),
        shared if shared >= all => "They go".to_owned(),
        shared => format!("Of them {}", counted(shared, "episode goes", "episodes go")),
    };
    Some(format!("{what} from the team and from your other machines, too."))
}

/// How many episodes of one's own are shared, of a reply; 0 of a program that does not tell.
pub(crate) fn shared_on(told: &Value) -> u64 {
    told["shared_on"].as_u64().unwrap_or_default()
}

#[cfg(test)]
mod tests;
