//! Answers for which pages of the web were read.

use super::*;

/// The order in which two memories come, of which the first was made from web pages and lies nearer by `by`.
fn own_comes_first(by: f32) -> bool {
    let mut store = Store::new();
    store.fill(20);
    let mut remember = |tool: &str, axis: usize, cosine: f32| {
        store.remember(&Memory {
            prompt: PROMPT,
            answer: &format!("The coolant was low in spring, as {axis} showed."),
            facets: Facets {
                tools: vec![tool.to_owned()],
                ..Facets::default()
            },
            vector: Some(vector(cosine, axis)),
            ..Memory::default()
        })
    };
    let fetched = remember("WebFetch", 1, 0.7 + by);
    let own = remember("Read", 2, 0.7);
    let recalled = store.ask_with(PROMPT, &SessionState::default(), &RecallSettings::default(), &Ok(asked()));
    let shown = uids(&recalled);
    assert!(
        shown.contains(&fetched) && shown.contains(&own),
        "neither is dropped: {shown:?}"
    );
    let marked = recalled
        .context
        .lines()
        .filter(|line| line.ends_with(" · made from web pages"))
        .count();
    assert_eq!(marked, 1, "{}", recalled.context);
    shown[0] == own
}

#[test]
fn of_equals_the_one_that_owes_nothing_to_the_web_comes_first() {
    assert!(own_comes_first(0.0));
    assert!(!own_comes_first(0.25), "what fits better stays before it");
}
