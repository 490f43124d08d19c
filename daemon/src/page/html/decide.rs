//! What the user decides, asked before it is done: what will happen, exactly, and to what. A decision and a preview of it come in; a form
//! that does it goes out, which works without script; and, afterwards, what was done, with what takes it back.

use maud::{Markup, html};
use serde_json::Value;

use super::super::decision::Decision;
use super::parts::shared_by;
use super::times::moment;
use super::{Said, Section, View, counted, link, member, nothing};
use crate::forgotten::Forgotten;
use crate::printable::{for_field, is_plain};
use crate::whose::{Others, goes_everywhere, other_of, shared_on};

/// How each decision is worded.
impl Decision {
    fn question(self) -> &'static str {
        match self {
            Self::Mute => "Mute this memory?",
            Self::Unmute => "Let this memory be recalled again?",
            Self::Boost => "Boost this memory?",
            Self::Unboost => "Boost this memory no more?",
            Self::Forget => "Forget this memory?",
            Self::ForgetSession => "Forget this session?",
            Self::ForgetProject => "Forget this project?",
        }
    }

    fn verb(self) -> &'static str {
        match self {
            Self::Mute => "Mute it",
            Self::Unmute => "Unmute it",
            Self::Boost => "Boost it",
            Self::Unboost => "Unboost it",
            Self::Forget | Self::ForgetSession | Self::ForgetProject => "Forget for good",
        }
    }

    /// What happens, in sentences.
    fn consequences(self) -> &'static [&'static str] {
        match self {
            Self::Mute => &[
                "It is never recalled again: no prompt is reminded of it, and files that show recollections show it no more.",
                "It stays in the memory, with its whole turn, and is found by whoever looks for it.",
                "It holds when the transcript is read again, in copies of the session, and in a backup that is gone back to. \
                 Unmuting takes it back.",
            ],
            Self::Unmute => &["A prompt that it fits may be reminded of it again."],
            Self::Boost => &[
                "Its whole turn counts as important: where several memories fit a prompt about as well, it comes first.",
                "It is recalled for nothing that it does not fit.",
                "It outlives the database. Unboosting takes it back.",
            ],
            Self::Unboost => &["It is as important again as the rules say."],
            Self::Forget | Self::ForgetSession | Self::ForgetProject => &[
                "What is listed here is deleted from the memory, from its index and from the copies that the daemon keeps. It can't be \
                 undone.",
                "It does not come back: not from its transcript, not from a fork of it, not from a backup.",
                "Transcripts are not touched; they are the agents'. What happens later in the same session or project is remembered.",
            ],
        }
    }

    /// What is said where it was so already, as the command says it.
    fn as_before(self) -> &'static str {
        match self {
            Self::Mute => "Muted, as before: it is never recalled.",
            Self::Unmute => "Not muted, as before: it may be recalled.",
            Self::Boost => "Boosted, as before: it counts as important.",
            Self::Unboost => "Not boosted, as before: it is as important as the rules say.",
            Self::Forget | Self::ForgetSession | Self::ForgetProject => "Forgotten, as before.",
        }
    }

    /// What is said once it is done.
    fn done(self) -> &'static str {
        match self {
            Self::Mute => "Muted: it is never recalled again.",
            Self::Unmute => "Unmuted: it may be recalled again.",
            Self::Boost => "Boosted: it counts as important.",
            Self::Unboost => "Unboosted: it is as important as the rules say.",
            Self::Forget | Self::ForgetSession | Self::ForgetProject => "Forgotten, for good.",
        }
    }
}

/// Asks whether `decision` is to be done to `id`, showing what it comes to.
pub(in crate::page) fn confirm(decision: Decision, id: &str, preview: &Value, key: &str) -> View {
    let newest: Vec<&Value> = preview["newest"].as_array().into_iter().flatten().collect();
    let turns = preview["turns"].as_u64().unwrap_or_default();
    let more = turns.saturating_sub(newest.len() as u64);
    let episodes = preview["episodes"].as_u64().unwrap_or_default();
    let others = Others::of(&preview["shared"]);
    let stays = others.sentence(episodes).filter(|_| decision.forgets());
    let everywhere = goes_everywhere(shared_on(preview), episodes).filter(|_| decision.forgets());
    // What is one's own goes for good, whatever stays with others.
    let verb = match stays {
        None => decision.verb(),
        Some(_) if others.episodes >= episodes => "Forget here",
        Some(_) => "Forget",
    };
    let body = html! {
        h1 { (decision.question()) }
        div.confirm {
            h2 { "What it is" }
            ul.what {
                @for turn in &newest {
                    li {
                        (Said(member(turn, "asked")))
                        p.meta { span { (Said(member(turn, "date"))) } span { (Said(turn["project"].as_str().unwrap_or("no project"))) } code { (Said(member(turn, "id"))) } (shared_by(other_of(turn))) }
                    }
                }
            }
            @if more > 0 { p { "and " (counted(&more.into(), "older turn", "older turns")) "." } }
            p.amount {
                (counted(&preview["episodes"], "episode", "episodes")) " of " (counted(&preview["turns"], "turn", "turns"))
                " in " (counted(&preview["sessions"], "session", "sessions"))
                @if let (Some(from), Some(to)) = (preview["from"].as_str(), preview["to"].as_str()) {
                    @if from == to { ", begun on " (moment(from)) } @else { ", begun from " (moment(from)) " to " (moment(to)) }
                }
                "."
            }
            h2 { "What happens" }
            ul {
                @if let Some(everywhere) = &everywhere { li { (everywhere) } }
                @if let Some(stays) = &stays { li { (Said(stays)) } }
                @for consequence in decision.consequences() { li { (consequence) } }
            }
            form method="post" action="decide" {
                (hidden(decision, id, key))
                input type="hidden" name="seen" value=(member(preview, "seen"));
                div.does {
                    button.grave[decision.forgets()] { (verb) }
                    a href=(back(decision, id)) data-key="u" { "No, go back" }
                }
            }
        }
    };
    View::new(Section::Decisions, decision.question(), body)
}

fn hidden(decision: Decision, id: &str, key: &str) -> Markup {
    html! {
        input type="hidden" name="key" value=(key);
        input type="hidden" name="act" value=(decision.name());
        input type="hidden" name="id" value=(id);
    }
}

/// Where one comes from who is asked.
fn back(decision: Decision, id: &str) -> String {
    match decision {
        Decision::ForgetSession => link("session", &[("id", id)]),
        Decision::ForgetProject => link("project", &[("name", id)]),
        _ => link("episode", &[("id", id)]),
    }
}

/// What was just done to `id`, with a form that takes it back, or that it was so already.
pub(in crate::page) fn done(decision: Decision, as_before: bool, id: &str, key: &str) -> Markup {
    let undo = decision.undone_by().filter(|_| !as_before && is_plain(id));
    html! {
        p { @if as_before { (decision.as_before()) } @else { (decision.done()) } }
        @if let Some(undo) = undo {
            form method="post" action="decide" { (hidden(undo, id, key)) button data-key="u" { "Undo" } }
        }
    }
}

/// That a fact was remembered, or was before, as the command says it.
pub(in crate::page) fn remembered(as_before: bool, redacted: bool) -> Markup {
    html! {
        p { @if as_before { "That was remembered before, as it stands here." } @else { "Remembered, as it stands here." } }
        @if redacted { p { "What looks like a secret was taken out of it." } }
    }
}

/// What a forgetting came to, as the command says it.
pub(in crate::page) fn forgotten(forgotten: &Forgotten) -> Markup {
    html! { @for sentence in forgotten.sentences() { p { (sentence) } } }
}

/// Why it is asked once more.
pub(in crate::page) fn changed_since() -> Markup {
    html! { p { "Nothing was forgotten: what it names has changed since you were asked. This is what it is now." } }
}

/// What the user decided so far.
pub(in crate::page) fn decided(steered: &Value, key: &str) -> View {
    let list = |name: &str| -> Vec<Value> { steered[name].as_array().cloned().unwrap_or_default() };
    let (muted, boosted) = (list("muted"), list("boosted"));
    let body = html! {
        h1 { "Decisions" }
        p.lead { "What you silenced and what you lifted. To forget leaves nothing to list." }
        @if muted.is_empty() && boosted.is_empty() {
            (nothing("Nothing is muted or boosted.", &html! {
                p { "Open an episode to mute it, so that it is never recalled again, or to boost it, so that it counts as important." }
                p { a href="remember" { "Remember a fact" } ", if there is something that no transcript says." }
            }))
        }
        (steered_list("Muted", &muted, Decision::Unmute, key))
        (steered_list("Boosted", &boosted, Decision::Unboost, key))
    };
    View::new(Section::Decisions, "Decisions", body)
}

fn steered_list(title: &str, turns: &[Value], undo: Decision, key: &str) -> Markup {
    html! {
        @if !turns.is_empty() {
            h2 { (title) }
            ul.decided {
                @for turn in turns {
                    @let id = member(turn, "id");
                    li.turn {
                        a.asked href=(link("episode", &[("id", id)])) data-item {
                            @match turn["asked"].as_str() { Some(asked) => (Said(asked)), None => em { "(not stored now)" } }
                        }
                        p.meta {
                            span { "since " (Said(member(turn, "since"))) }
                            span { (Said(turn["project"].as_str().unwrap_or("no project"))) }
                            code { (Said(id)) }
                            (shared_by(other_of(turn)))
                        }
                        form method="post" action="decide" {
                            (hidden(undo, id, key))
                            button aria-label=(format!("{} {id}", undo.verb().trim_end_matches(" it"))) { (undo.verb().trim_end_matches(" it")) }
                        }
                    }
                }
            }
        }
    }
}

/// A form for a fact.
pub(in crate::page) fn remember(project: Option<&str>, key: &str) -> View {
    let project = project.map(for_field);
    let body = html! {
        h1 { "Remember a fact" }
        p.lead { "Say one fact, as you would tell a colleague. It is recalled like any other memory, where it fits a prompt, and counts as important." }
        form.remember method="post" action="remember" {
            input type="hidden" name="key" value=(key);
            label { span { "Fact" } textarea name="text" rows="5" maxlength="2000" required {} }
            label { span { "Project" } input name="project" value=[project] placeholder="name or folder" autocomplete="off" spellcheck="false"; }
            p.hint { "Without a project it holds in all. At most 2,000 characters; what looks like a secret is taken out." }
            div.does { button { "Go on…" } }
        }
    };
    View::new(Section::Decisions, "Remember a fact", body)
}

/// Asks whether that is to be remembered, of the project of this name and folder or of all. `spelled` is the whole of it, as the form
/// sends it back.
pub(in crate::page) fn confirm_fact(text: &str, project: Option<(&str, &str)>, spelled: &str, key: &str) -> View {
    let body = html! {
        h1 { "Remember this?" }
        div.confirm {
            h2 { "What it is" }
            (super::text::text(text))
            h2 { "What happens" }
            ul {
                li { "It is kept as a memory of its own, "
                    @match project {
                        Some((name, folder)) => { "about the project " (Said(name)) " (" span.path { (Said(folder)) } ")" },
                        None => "in all projects",
                    }
                    ", and counts as important." }
                li { "It outlives the database. To say the same twice is to say it once. Forgetting it takes it out again." }
                li { "What looks like a secret is taken out before it is stored." }
            }
            form method="post" action="remember" {
                input type="hidden" name="key" value=(key);
                input type="hidden" name="fact" value=(spelled);
                div.does { button { "Remember it" } a href="remember" { "No, go back" } }
            }
        }
    };
    View::new(Section::Decisions, "Remember a fact", body)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_asked_says_to_what_and_what_happens() {
        let preview = json!({"episodes": 9, "turns": 7, "sessions": 1, "from": "2026-03-01T12:00:00Z", "to": "2026-03-02T12:00:00Z",
            "newest": [{"id": "2b3c49c9", "date": "2026-03-02", "project": null, "asked": "Why <b>?"}]});
        let asked = confirm(Decision::ForgetSession, "s\"1", &preview, "abc").body.into_string();
        for expected in [
            "Forget this session?",
            "Why &lt;b&gt;?",
            "and 6 older turns.",
            "9 episodes of 7 turns in 1 session",
            "can't be undone",
            "method=\"post\"",
            "name=\"key\" value=\"abc\"",
            "value=\"s&quot;1\"",
            "session?id=s%221",
        ] {
            assert!(
                asked.contains(expected) || asked.contains(&expected.replace('\'', "&#39;")),
                "{expected}: {asked}"
            );
        }
    }

    #[test]
    fn what_another_member_shared_is_said_to_stay_with_them() {
        let turn = json!({"id": "2b3c49c9", "date": "2026-03-02", "project": null, "asked": "Why?",
            "shared_by": {"member": "bob<b>", "machine": "den", "own": false}});
        let mut preview =
            json!({"episodes": 1, "turns": 1, "sessions": 1, "newest": [turn], "shared": [{"member": "bob<b>", "episodes": 1}]});
        let asked = |decision, preview: &Value| confirm(decision, "2b3c49c9", preview, "abc").body.into_string();
        let others = asked(Decision::Forget, &preview);
        for expected in [
            "stays with bob&lt;b&gt;, who shared it",
            "shared by bob&lt;b&gt;",
            "Forget here",
        ] {
            assert!(others.contains(expected), "{expected}: {others}");
        }
        assert!(!others.contains("for good"), "{others}");
        preview["episodes"] = 3.into();
        let mixed = asked(Decision::ForgetSession, &preview);
        assert!(
            mixed.contains(">Forget</button>") && mixed.contains("Of them 1 episode goes"),
            "{mixed}"
        );
        assert!(!mixed.contains("for good") && !mixed.contains("Forget here"), "{mixed}");
        let muted = asked(Decision::Mute, &preview);
        assert!(!muted.contains("stays with") && muted.contains("Mute it"), "{muted}");
        preview["shared"] = json!([]);
        let own = asked(Decision::Forget, &preview);
        assert!(own.contains("Forget for good") && !own.contains("stays with"), "{own}");
        assert!(!own.contains("from the team"), "{own}");
        preview["shared_on"] = 3.into();
        let shared = asked(Decision::ForgetSession, &preview);
        assert!(
            shared.contains("They go from the team and from your other machines, too."),
            "{shared}"
        );
        assert!(!asked(Decision::Mute, &preview).contains("from the team"));
    }

    #[test]
    fn what_was_decided_of_another_member_s_words_says_whose_they_are() {
        let mut turn = json!({"id": "2b3c49c9", "since": "2026-03-02", "date": "2026-03-01", "project": null, "asked": "Why?",
            "shared_by": null});
        let list = |turn: &Value| decided(&json!({"muted": [turn], "boosted": []}), "abc").body.into_string();
        assert!(!list(&turn).contains("shared by"));
        turn["shared_by"] = json!({"member": "bob", "machine": "den", "own": false});
        assert!(list(&turn).contains("shared by bob"), "{}", list(&turn));
    }

    #[test]
    fn what_was_done_can_be_undone_where_it_can() {
        let muted = done(Decision::Mute, false, "2b3c49c9", "abc").into_string();
        assert!(muted.contains("value=\"unmute\"") && !muted.contains("as before"), "{muted}");
        let again = done(Decision::Mute, true, "2b3c49c9", "abc").into_string();
        assert!(again.contains("as before") && !again.contains("form"), "{again}");
        assert!(
            !done(Decision::Forget, false, "2b3c49c9", "abc")
                .into_string()
                .contains("form")
        );
    }

    #[test]
    fn a_fact_is_asked_for_and_then_asked_about() {
        let form = remember(Some("/srv/<x>\u{1b}"), "abc").body.into_string();
        assert!(form.contains("value=\"/srv/&lt;x&gt;\""), "{form}");
        let asked = confirm_fact("Cents <b>", None, "{\"text\":\"\"}", "abc").body.into_string();
        for expected in [
            "Remember this?",
            "Cents &lt;b&gt;",
            "in all projects",
            "name=\"fact\" value=\"{&quot;text&quot;:",
        ] {
            assert!(asked.contains(expected), "{expected}: {asked}");
        }
        let of_project = confirm_fact("Cents", Some(("till", "/srv/<x>")), "{}", "abc")
            .body
            .into_string();
        assert!(
            of_project.contains("about the project till (") && of_project.contains("/srv/&lt;x&gt;"),
            "{of_project}"
        );
    }

    #[test]
    fn what_was_forgotten_is_told_as_the_command_tells_it() {
        let told = Forgotten {
            episodes: 2,
            bytes_left: true,
            ..Forgotten::default()
        };
        let shown = forgotten(&told).into_string();
        assert!(
            shown.contains("Forgotten: 2 episodes, for good.") && shown.contains("Another program"),
            "{shown}"
        );
    }

    #[test]
    fn nothing_that_acts_is_sent_back_with_a_form() {
        let undone = done(Decision::Mute, false, "2b3c\u{1b}", "abc").into_string();
        assert!(!undone.contains("form"), "{undone}");
    }
}
