//! Parts that several views are made of: links to the pages on either side, a number with its name, a wide table. Values come in as they
//! are shown; nothing here knows what they mean.

use maud::{Markup, Render, html};

use super::Said;

/// Links to what comes before and after: where each leads, and how it is called. Nothing where there is neither.
pub(super) fn pager(label: &str, before: Option<(String, &str)>, after: Option<(String, &str)>) -> Markup {
    html! {
        @if before.is_some() || after.is_some() {
            nav.pager aria-label=(label) {
                @if let Some((link, called)) = before { a rel="prev" href=(link) data-key="p" { (called) } }
                @if let Some((link, called)) = after { a rel="next" href=(link) data-key="n" { (called) } }
            }
        }
    }
}

/// One of the values of a `dl`, with its name.
pub(super) fn figure(name: &str, value: impl Render) -> Markup {
    html! { div { dt { (name) } dd { (value) } } }
}

/// That something is the words of another member of the shared store, where it is.
pub(super) fn shared_by(other: Option<&str>) -> Markup {
    html! { @if let Some(login) = other { span.flag { "shared by " (Said(login)) } } }
}

/// Below its title, a table that is scrolled by itself where it is wider than the page. The heads that are `true` stand over digits.
pub(super) fn table(id: &str, title: &str, heads: &[(&str, bool)], rows: &Markup) -> Markup {
    html! {
        h2 id=(id) { (title) }
        div.scroll tabindex="0" role="region" aria-labelledby=(id) {
            table {
                thead { tr { @for (name, is_digits) in heads { th class=[is_digits.then_some("digits")] scope="col" { (name) } } } }
                tbody { (rows) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pager_has_the_sides_that_there_are() {
        let both = pager(
            "Pages",
            Some(("a?x=1&y=2".to_owned(), "← Newer")),
            Some(("b".to_owned(), "Older →")),
        )
        .into_string();
        assert!(
            both.contains("<a rel=\"prev\" href=\"a?x=1&amp;y=2\" data-key=\"p\">") && both.contains("Older →"),
            "{both}"
        );
        let last = pager("Pages", Some(("a".to_owned(), "← Newer")), None).into_string();
        assert!(!last.contains("next"), "{last}");
        assert_eq!(pager("Pages", None, None).into_string(), "");
    }

    #[test]
    fn whose_words_they_are_is_said_of_others_alone() {
        assert_eq!(shared_by(None).into_string(), "");
        let said = shared_by(Some("bob<b>\u{202e}")).into_string();
        assert!(
            said.starts_with("<span class=\"flag\">shared by bob&lt;b&gt;") && !said.contains('\u{202e}'),
            "{said}"
        );
    }

    #[test]
    fn a_table_is_named_by_its_title() {
        let shown = table("gates", "Gates <b>", &[("Gate", false), ("Value", true)], &html! { tr {} }).into_string();
        for expected in [
            "<h2 id=\"gates\">Gates &lt;b&gt;</h2>",
            "aria-labelledby=\"gates\"",
            "<th scope=\"col\">Gate</th>",
            "<th class=\"digits\" scope=\"col\">Value</th>",
            "<tbody><tr></tr></tbody>",
        ] {
            assert!(shown.contains(expected), "{expected}: {shown}");
        }
    }
}
