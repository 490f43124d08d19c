//! The frame of every view: what stands above, beside and below it. A view comes in, a whole document goes out. Stored text enters by
//! [`Said`] alone, escaped as all text is, with what would act or hide spelled out.

mod chart;
mod decide;
mod episode;
mod explanation;
mod health;
mod lists;
mod parts;
mod put;
mod search;
mod text;
mod times;

use std::fmt::Write as _;

use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use maud::{DOCTYPE, Escaper, Markup, PreEscaped, Render, html};
use serde_json::Value;

use super::memory::{Failure, FailureKind};
use crate::printable::on_one_line;

pub(super) use decide::{changed_since, confirm, confirm_fact, decided, done, forgotten, remember, remembered};
pub(super) use episode::{episode, session};
pub(super) use explanation::{explanation, recollections};
pub(super) use health::health;
pub(super) use lists::{arrivals, late, project, projects, sessions, timeline};
pub(super) use put::{Put, put, put_now};
pub(super) use search::{found, search};

/// Which part of the page a view belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Timeline,
    Search,
    Sessions,
    Projects,
    Recollections,
    Decisions,
    Health,
    /// None: what went wrong.
    None,
}

/// The sections that can be gone to: what each is called, where it is, and the key after `g`.
const SECTIONS: [(Section, &str, &str, &str); 6] = [
    (Section::Timeline, "Timeline", "timeline", "t"),
    (Section::Sessions, "Sessions", "sessions", "s"),
    (Section::Projects, "Projects", "projects", "p"),
    (Section::Recollections, "Recollections", "recollections", "r"),
    (Section::Decisions, "Decisions", "decisions", "d"),
    (Section::Health, "Health", "health", "h"),
];

/// One view.
pub(super) struct View {
    pub(super) title: String,
    pub(super) section: Section,
    /// Whether a daemon answers; unknown where nothing was asked of it.
    pub(super) has_daemon: Option<bool>,
    /// What was just done.
    pub(super) notice: Option<Markup>,
    pub(super) body: Markup,
}

impl View {
    /// A view of `section`.
    pub(super) fn new(section: Section, title: impl Into<String>, body: Markup) -> Self {
        Self {
            title: title.into(),
            section,
            has_daemon: None,
            notice: None,
            body,
        }
    }

    /// The same, by a daemon or without one.
    pub(super) fn by(mut self, has_daemon: bool) -> Self {
        self.has_daemon = Some(has_daemon);
        self
    }

    /// The same, below what was just done.
    pub(super) fn after(mut self, notice: Option<Markup>) -> Self {
        self.notice = notice;
        self
    }
}

impl IntoResponse for View {
    fn into_response(self) -> Response {
        Html(document(&self).into_string()).into_response()
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let (status, title) = match self.kind {
            FailureKind::Refused => (StatusCode::NOT_FOUND, "Not there"),
            FailureKind::Senseless => (StatusCode::BAD_REQUEST, "That makes no sense"),
            FailureKind::NotThisWay => (StatusCode::METHOD_NOT_ALLOWED, "Not in this way"),
            FailureKind::TooLong => (StatusCode::PAYLOAD_TOO_LARGE, "Too long"),
            FailureKind::NoForm => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "That is no form"),
            FailureKind::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "No answer"),
            FailureKind::Store => (StatusCode::SERVICE_UNAVAILABLE, "The memory can't be read"),
            FailureKind::Failed => (StatusCode::INTERNAL_SERVER_ERROR, "It failed"),
        };
        let body = html! {
            h1 { (title) }
            (failed(&self))
            p { a href="timeline" { "To the timeline" } }
        };
        (status, View::new(Section::None, title, body)).into_response()
    }
}

/// A document for who has the key, of what was refused nevertheless: what, and how to go on.
pub(super) fn refused(title: &str, text: &str) -> Html<String> {
    let body = html! {
        h1 { (title) }
        p.failure { (text) }
        p { a href="timeline" { "To the timeline" } }
    };
    Html(document(&View::new(Section::None, title, body)).into_string())
}

/// A failure, in the place of what was asked for.
pub(super) fn failed(failure: &Failure) -> Markup {
    html! {
        p.failure { (Said(&failure.message)) }
        @if let Some(hint) = &failure.hint { p { "What to do: " (Said(hint)) } }
    }
}

/// Text of the memory, or of anybody else, on one line.
pub(super) struct Said<'a>(pub(super) &'a str);

impl Render for Said<'_> {
    fn render_to(&self, buffer: &mut String) {
        // Writing to a string can't fail.
        Escaper::new(buffer).write_str(&on_one_line(self.0)).ok();
    }
}

/// The name of a link that others are called like: what is seen of it, and of what it is.
fn labelled(seen: &str, of: &str) -> String {
    format!("{seen}: {}", on_one_line(of))
}

/// The text of a member, empty where there is none.
fn member<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// A link to a view with what it asks for.
pub(super) fn link(view: &str, asked: &[(&str, &str)]) -> String {
    let mut link = view.to_owned();
    for (number, (name, value)) in asked.iter().enumerate() {
        link.push(if number == 0 { '?' } else { '&' });
        link.push_str(name);
        link.push('=');
        for byte in value.bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => link.push(char::from(byte)),
                // Writing to a string can't fail.
                other => drop(write!(link, "%{other:02X}")),
            }
        }
    }
    link
}

/// A number with its digits in threes.
fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut told = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            told.push(',');
        }
        told.push(digit);
    }
    told
}

/// A number and the word for what it counts.
fn counted(value: &Value, one: &str, many: &str) -> String {
    let count = value.as_u64().unwrap_or_default();
    format!("{} {}", number(count), if count == 1 { one } else { many })
}

/// What stands where there is nothing to list: what that means, and what to do.
fn nothing(what: &str, next: &Markup) -> Markup {
    html! {
        div.nothing {
            p.lead { (what) }
            (next)
        }
    }
}

fn head(title: &str) -> Markup {
    html! {
        meta charset="utf-8";
        meta name="viewport" content="width=device-width, initial-scale=1";
        meta name="color-scheme" content="light dark";
        title { (Said(title)) " · Remembrancer" }
        link rel="icon" href="/icon.svg" type="image/svg+xml";
        link rel="stylesheet" href="/style.css";
    }
}

fn document(view: &View) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (head(&view.title))
                script src="/script.js" defer {}
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                (top(view.section))
                main #main tabindex="-1" {
                    @if let Some(notice) = &view.notice { div.notice role="status" { (notice) } }
                    @if view.has_daemon == Some(false) {
                        p.aside {
                            "No daemon runs: you see the memory as it stands. Nothing is read or recalled until "
                            code { "remembrancer run" } " does."
                        }
                    }
                    (view.body)
                }
                footer {
                    p { "Remembrancer " (remembrancer_hooks::VERSION) " · nothing here leaves this machine" }
                    p { "Press " kbd { "?" } " for the keys" }
                }
                p #said .unseen role="status" aria-live="polite" {}
                (keys())
            }
        }
    }
}

fn top(section: Section) -> Markup {
    let current = |of: Section| (of == section).then_some("page");
    html! {
        header.top {
            a.brand href="timeline" { (icon()) span { "Remembrancer" } }
            nav aria-label="Views" {
                ul {
                    @for (of, name, view, key) in SECTIONS {
                        li { a href=(view) aria-current=[current(of)] data-go=(key) { (name) } }
                    }
                    li { a.act href="remember" data-go="n" { "Remember…" } }
                }
            }
            @if section != Section::Search {
                form.find role="search" action="search" {
                    label.unseen for="find" { "Search the memory" }
                    input #find type="search" name="q" placeholder="Search" autocomplete="off" spellcheck="false" data-find;
                }
            }
        }
    }
}

/// The mark of the page: a thread around a finger, so as not to forget.
fn icon() -> Markup {
    html! {
        svg.mark viewBox="0 0 24 24" aria-hidden="true" focusable="false" {
            path.ring d="M5 12a7 7 0 1 0 14 0a7 7 0 1 0 -14 0" {}
            path.knot d="M12 5c-3-4-7-2-6 0s4 1 6 0c2 1 5 2 6 0s-3-4-6 0z" {}
        }
    }
}

/// What the keys do, as a dialog that the script opens.
fn keys() -> Markup {
    let rows: [(&[&str], &str); 12] = [
        (&["/"], "search"),
        (&["j"], "the next in a list"),
        (&["k"], "the one before it"),
        (&["Enter"], "open it"),
        (&["n"], "the next page; of an episode, the next turn of its session"),
        (&["p"], "the page or the turn before"),
        (
            &["g", "t"],
            "to the timeline; likewise s sessions, p projects, r recollections, d decisions, h health, n remember",
        ),
        (&["s"], "of an episode: its session"),
        (&["m"], "mute it, or no more"),
        (&["b"], "boost it, or no more"),
        (&["x"], "forget it"),
        (&["u"], "undo what was just done"),
    ];
    html! {
        dialog #keys aria-labelledby="keys-title" {
            h2 #keys-title { "Keys" }
            dl {
                @for (pressed, what) in rows {
                    dt { @for key in pressed { kbd { (key) } " " } }
                    dd { (what) }
                }
                dt { kbd { "?" } " " kbd { "Esc" } }
                dd { "these words, and away with them" }
            }
            p { label { input #keys-on type="checkbox" checked; " Single keys do something" } }
            form method="dialog" { button { "Close" } }
        }
    }
}

/// A document for who is not let in: it needs no key, and shows nothing of the memory.
pub(super) fn outside(title: &str, text: &str) -> Html<String> {
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head { (head(title)) }
            body.outside {
                main { h1 { (title) } p { (text) } }
            }
        }
    };
    Html(document.into_string())
}

/// A document that goes on to `inside` by itself.
pub(super) fn on_to(inside: &str) -> Html<String> {
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta http-equiv="refresh" content=(format!("0;url={inside}"));
                (head("Opening"))
            }
            body.outside {
                main { h1 { "Opening" } p { a href=(inside) { "Go on to the memory" } } }
            }
        }
    };
    Html(document.into_string())
}

/// A document of a file that leads a browser on to `opening`.
pub(crate) fn leading_to(opening: &str) -> String {
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="refresh" content=(format!("0;url={opening}"));
                meta name="referrer" content="no-referrer";
                title { "Remembrancer" }
            }
            body { p { a href=(opening) { "Go on to the memory" } } }
        }
    };
    document.into_string()
}

/// A part of a view, for the script to put into it.
pub(super) fn part(markup: Markup) -> Html<String> {
    Html(markup.into_string())
}

/// Pieces of a text of which some stand out: ranges of characters in it.
fn marked(text: &str, marks: &Value) -> Markup {
    let mut pieces = String::new();
    let mut at = 0;
    let ends = text.char_indices().map(|(place, _)| place).chain([text.len()]);
    let places: Vec<usize> = ends.collect();
    let place = |value: &Value| places.get(usize::try_from(value.as_u64()?).ok()?).copied();
    for mark in marks.as_array().into_iter().flatten() {
        let (Some(from), Some(to)) = (place(&mark[0]), place(&mark[1])) else {
            continue;
        };
        let (Some(before), Some(inside)) = (text.get(at..from), text.get(from..to)) else {
            continue;
        };
        pieces.push_str(&html! { (Said(before)) mark { (Said(inside)) } }.into_string());
        at = to;
    }
    pieces.push_str(&html! { (Said(text.get(at..).unwrap_or_default())) }.into_string());
    PreEscaped(pieces)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::nothing(&[], "timeline")]
    #[case::plain(&[("project", "shop")], "timeline?project=shop")]
    #[case::more(&[("a", "1 2"), ("b", "&=?#/\"<")], "timeline?a=1%202&b=%26%3D%3F%23%2F%22%3C")]
    #[case::wide(&[("q", "é日")], "timeline?q=%C3%A9%E6%97%A5")]
    fn links_hold_whatever_is_asked(#[case] asked: &[(&str, &str)], #[case] expected: &str) {
        assert_eq!(link("timeline", asked), expected);
    }

    #[test]
    fn stored_text_does_nothing() {
        let said = html! { (Said("<script>x()</script>\u{1b}[2J\u{202e}\nb")) }.into_string();
        assert_eq!(said, "&lt;script&gt;x()&lt;/script&gt;\\u001b[2J\\u202e\\nb");
    }

    #[rstest]
    #[case::none(json!([]), "a &lt;b&gt; c")]
    #[case::one(json!([[2, 5]]), "a <mark>&lt;b&gt;</mark> c")]
    #[case::two(json!([[0, 1], [6, 7]]), "<mark>a</mark> &lt;b&gt; <mark>c</mark>")]
    #[case::beyond(json!([[2, 99]]), "a &lt;b&gt; c")]
    #[case::backwards(json!([[6, 7], [0, 1]]), "a &lt;b&gt; <mark>c</mark>")]
    #[case::no_range(json!([[2]]), "a &lt;b&gt; c")]
    fn marks_stand_out_and_break_nothing(#[case] marks: Value, #[case] expected: &str) {
        assert_eq!(marked("a <b> c", &marks).into_string(), expected);
    }

    #[test]
    fn marks_count_characters() {
        let shown = marked("…é b", &json!([[1, 2], [3, 4]])).into_string();
        assert_eq!(shown, "…<mark>é</mark> <mark>b</mark>");
    }

    #[rstest]
    #[case::small(7, "7")]
    #[case::hundreds(999, "999")]
    #[case::thousands(100_000, "100,000")]
    #[case::millions(1_234_567, "1,234,567")]
    fn digits_stand_in_threes(#[case] value: u64, #[case] expected: &str) {
        assert_eq!(number(value), expected);
    }
}
