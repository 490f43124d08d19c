//! A prompt that is put to see what it would be reminded of: the form for it, and, with what it came to, the form again. The prompt stands
//! in forms alone: neither in an address nor in a title, which histories keep.

use maud::{Markup, html};

use super::{Said, Section, View, explanation};
use crate::explanation::{Explanation, Known};
use crate::page::routes::MOST_PROMPT;
use crate::printable::{for_field, for_lines};

/// What a prompt is put with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::page) struct Put {
    pub(in crate::page) prompt: String,
    /// The name or the folder of the project in which it is put.
    pub(in crate::page) project: Option<String>,
    /// Whether all projects are looked at alike.
    pub(in crate::page) everywhere: bool,
}

const TITLE: &str = "What would a prompt be reminded of?";

/// The form alone.
pub(in crate::page) fn put(key: &str) -> View {
    let body = html! {
        p.over { a href="recollections" { "Recollections" } }
        h1 { (TITLE) }
        (form(&Put::default(), key))
    };
    View::new(Section::Recollections, TITLE, body)
}

/// What the prompt came to, and below it the form with what was put.
pub(in crate::page) fn put_now(explained: &Explanation, put: &Put, key: &str) -> View {
    let mut view = explanation(explained);
    // What was named and is no project of the memory's must not look as if it had been looked at.
    let unknown = put
        .project
        .as_deref()
        .filter(|_| explained.known != Known::NotSearched && explained.prompt.project.is_none());
    view.body = html! {
        @if let Some(named) = unknown {
            p.aside { (Said(named)) " is no project of which anything is remembered: the prompt was put as in none." }
        }
        (view.body)
        h2 { "Put it in other words" }
        (form(put, key))
    };
    view
}

/// The form, out of sight until it is wanted.
pub(super) fn folded(put: &Put, key: &str) -> Markup {
    html! { details.narrow { summary { (TITLE) } (form(put, key)) } }
}

fn form(put: &Put, key: &str) -> Markup {
    let project = put.project.as_deref().map(for_field);
    html! {
        form.remember method="post" action="put" {
            input type="hidden" name="key" value=(key);
            label { span { "Prompt" } textarea name="prompt" rows="4" maxlength=(MOST_PROMPT) required { (for_lines(&put.prompt)) } }
            label { span { "Project" } input name="project" value=[project] placeholder="name or folder" autocomplete="off" spellcheck="false"; }
            label { input type="checkbox" name="everywhere" value="yes" checked[put.everywhere]; " Look at all projects alike, whatever the settings say" }
            p.hint { "It is recalled for as an agent's prompt is, and leaves no trace: it is not kept, and nothing counts as shown. Without a project it is put in none." }
            div.does { button { "See" } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explanation::Prompt;

    #[test]
    fn a_prompt_that_was_put_can_be_put_in_other_words() {
        let explained = Explanation {
            prompt: Prompt {
                at: "2026-03-01T12:00:00Z".to_owned(),
                ..Prompt::default()
            },
            reason_about: Some("it is <small>".to_owned()),
            ..Explanation::default()
        };
        let put = Put {
            prompt: "why </textarea><b>\u{1b}[2J\nthis?".to_owned(),
            project: Some("shop\u{202e}".to_owned()),
            everywhere: true,
        };
        let view = put_now(&explained, &put, "abc");
        assert!(!view.title.contains("why"), "a title stands in histories: {}", view.title);
        let body = view.body.into_string();
        for expected in [
            "What your prompt would be reminded of",
            "it is &lt;small&gt;",
            "required>why &lt;/textarea&gt;&lt;b&gt;[2J\nthis?</textarea>",
            "value=\"shop\"",
            "checked",
            "method=\"post\"",
        ] {
            assert!(body.contains(expected), "{expected}: {body}");
        }
    }

    #[test]
    fn a_folder_that_is_no_project_is_said_to_be_none() {
        let put = Put {
            project: Some("/gone/<x>".to_owned()),
            ..Put::default()
        };
        let told = |project: Option<&str>, known: Known| {
            let explained = Explanation {
                prompt: Prompt {
                    project: project.map(str::to_owned),
                    ..Prompt::default()
                },
                known,
                ..Explanation::default()
            };
            put_now(&explained, &put, "abc").body.into_string()
        };
        let unknown = told(None, Known::Whole);
        assert!(unknown.contains("/gone/&lt;x&gt; is no project"), "{unknown}");
        for told in [told(Some("gone"), Known::Whole), told(None, Known::NotSearched)] {
            assert!(!told.contains("is no project"), "{told}");
        }
    }

    #[test]
    fn the_form_is_there_before_anything_is_put() {
        let body = super::put("abc").body.into_string();
        assert!(
            body.contains("name=\"key\" value=\"abc\"") && !body.contains("checked"),
            "{body}"
        );
        assert!(folded(&Put::default(), "abc").into_string().contains("<details"));
    }
}
