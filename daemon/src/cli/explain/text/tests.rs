//! The text of explanations: what it tells, and that no line is wider than it may be.

use super::*;
use crate::explanation::{Candidate, Named, Pool, Prompt, Ranks, Source, Stage, Times};

/// An explanation of everything that one can hold.
pub(in crate::cli::explain) fn example() -> Explanation {
    Explanation {
        prompt: Prompt {
            id: Some("p1207".to_owned()),
            number: Some(3),
            at: "2026-11-29T06:12:03Z".to_owned(),
            agent: "claude-code".to_owned(),
            session: Some("0195a7c2-4c1e-7f0a-b3d1-2f6d0f9be001".to_owned()),
            project: Some("kiosk".to_owned()),
        },
        query: query(),
        profile: Some("default".to_owned()),
        scope: Some("project-first".to_owned()),
        sources: vec![
            source("recent", 200, 200, Some(3), None),
            source("meaning", 0, 0, None, Some("embedding-late")),
            source("words", 50, 12, Some(0), None),
        ],
        pool: Pool {
            size: 199,
            found: Some(212),
            gone: Some(1),
            other_projects: Some(12),
            in_context: Some(4),
            shown_before: Some(2),
        },
        lists: vec![list()],
        gates: gates(),
        second_parts: vec!["cosine_share".to_owned(), "coverage".to_owned(), "web".to_owned()],
        candidates: vec![shown(), dropped(), Candidate::default()],
        degradations: vec![Named {
            name: "embedding-late".to_owned(),
            about: "the prompt's vector came too late: words alone".to_owned(),
        }],
        stages: vec![stage("bm25", 12_000), stage("meaning", 100_000), stage("text", 40)],
        times: Times {
            budget_micros: Some(240_000),
            left_micros: Some(231_000),
            whole_micros: Some(120_000),
        },
        ..Explanation::default()
    }
}

fn query() -> Query {
    let term = |term: Option<&str>, episodes, too_common| Term {
        term: term.map(str::to_owned),
        episodes: Some(episodes),
        weight: Some(1.5),
        too_common,
    };
    Query {
        terms: vec![
            term(Some("receipt"), 12, false),
            term(Some("total"), 99_000, true),
            term(None, 3, false),
        ],
        characters: Some(900),
        asked_characters: Some(80),
        pasted_lines: 23,
        error_kept: true,
        stop_words: Words {
            count: 2,
            words: vec!["the".to_owned(), "of".to_owned()],
        },
        ..Query::default()
    }
}

fn source(name: &str, found: u32, added: u32, passed_over: Option<u32>, absent: Option<&str>) -> Source {
    Source {
        name: name.to_owned(),
        found,
        added,
        passed_over,
        absent: absent.map(str::to_owned),
    }
}

fn list() -> List {
    List {
        leg: "bm25".to_owned(),
        counts: true,
        ranked: 50,
        absent: None,
        top: vec![
            Top {
                rank: 1,
                value: -12.345,
                id: Some("6548bfec".to_owned()),
                asked: Some("The receipt total is sometimes one cent lower than the sum of its lines. Find out why.".to_owned()),
                shared_by: None,
            },
            Top {
                rank: 2,
                value: -3.0,
                ..Top::default()
            },
        ],
    }
}

fn gates() -> Vec<Gate> {
    let gate = |name: &str, value, threshold, passed| Gate {
        name: name.to_owned(),
        value,
        threshold,
        passed,
        about: crate::explanation::about_gate(name).to_owned(),
    };
    vec![
        gate("answer-probability", Some(0.63), 0.4, Some(true)),
        gate("ample-cosine", Some(0.31), 0.5, Some(false)),
        gate("lexical-terms", None, 2.0, None),
    ]
}

fn shown() -> Candidate {
    Candidate {
        id: Some("6548bfec".to_owned()),
        date: Some("2026-08-01".to_owned()),
        project: Some("kiosk".to_owned()),
        asked: Some("The receipt total is sometimes one cent lower than the sum of its lines. Find out why.".to_owned()),
        shown: Some(1),
        score: Some(3.3215),
        fused_place: Some(1),
        cosine: Some(0.381),
        ranks: Ranks {
            bm25: Some(3),
            vector: Some(2),
            ..Ranks::default()
        },
        second_parts: vec![2.5, 0.85, -0.08],
        words: vec!["receipt".to_owned()],
        matched: Some(1),
        coverage: Some(0.6),
        important: true,
        uses: 2,
        ..Candidate::default()
    }
}

fn dropped() -> Candidate {
    Candidate {
        id: Some("aaaabbbb".to_owned()),
        dropped: Some("below-floor".to_owned()),
        because: Some("its cosine 0.20 is 50 % of the best, 55 % are needed, or 30 % with 80 % of the best coverage".to_owned()),
        score: Some(1.25),
        ..Candidate::default()
    }
}

fn stage(name: &str, micros: u64) -> Stage {
    Stage {
        name: name.to_owned(),
        micros,
    }
}

pub(in crate::cli::explain) fn page(explanation: &Explanation, columns: usize) -> Vec<String> {
    let mut page = Page {
        lines: Vec::new(),
        columns,
    };
    page.explanation(explanation);
    page.lines
}

#[test]
fn what_another_member_shared_is_marked_in_lists_and_ranking() {
    let sharer = |own| {
        Some(Sharer {
            member: "bob".to_owned(),
            machine: "den".to_owned(),
            own,
        })
    };
    let mut explanation = example();
    let own = page(&explanation, 110);
    explanation.lists[0].top[0].shared_by = sharer(true);
    explanation.candidates[0].shared_by = sharer(true);
    assert_eq!(page(&explanation, 110), own, "another machine of one's own is oneself");
    explanation.lists[0].top[0].shared_by = sharer(false);
    explanation.candidates[0].shared_by = sharer(false);
    let text = page(&explanation, 110).join("\n");
    assert_eq!(text.matches("[shared by bob] The receipt total").count(), 2, "{text}");
}

#[test]
fn what_is_of_another_project_says_so_in_the_ranking() {
    let mut explanation = example();
    let told = "of kiosk: ranked among what other projects have, behind the prompt's own";
    assert!(!page(&explanation, 110).join("\n").contains(told));
    explanation.candidates[0].other_project = true;
    assert!(page(&explanation, 110).join("\n").contains(told));
}

#[test]
fn no_line_is_wider_than_it_may_be() {
    for columns in [66, 80, 120] {
        for line in page(&example(), columns) {
            assert!(line.chars().count() <= columns, "{columns}: {line}");
        }
    }
}

#[test]
fn all_that_is_known_is_told() {
    let text = page(&example(), 80).join("\n");
    for part in [
        "Prompt 3 (p1207) of 2026-11-29 06:12 UTC",
        "Shown: 1.",
        "receipt 12, total 99000, (forgotten)\n  3",
        "too common to be searched for: total",
        "left out: 23 pasted lines, but for the line of the error",
        "left out: 2 stop words (the of)",
        "recent   found 200, new 200, passed over 3",
        "meaning  found 0, new 0 (absent: embedding-late)",
        "4 in the session's context, 2 shown in it before",
        "pool: 199 of 212 (1 hidden or gone, 12 of other projects",
        "#2     -3.000  gone",
        "answer-probability  0.63  0.40 yes",
        "lexical-terms          -  2.00 each",
        "shown 1        6548bfec    3.3215     #1  0.381      #3      #2",
        "= cosine_share +2.500, coverage +0.850, web -0.080",
        "its cosine 0.20 is 50 % of the best",
        "embedding-late: the prompt's vector came too late",
        "meaning      100.0 ms ###",
        "around it      8.0 ms #",
        "text           0.0 ms .",
        "the whole budget, 240 ms; 231.0 were left when it was asked",
    ] {
        assert!(text.contains(part), "no {part:?} in:\n{text}");
    }
    assert!(!text.contains("recency"), "a narrow table has no room for it");
    assert!(page(&example(), 120).join("\n").contains(" recency"));
}

#[test]
fn what_was_not_searched_for_is_told_in_two_lines() {
    let silent = Explanation {
        known: Known::NotSearched,
        reason: Some("paused".to_owned()),
        reason_about: Some("remembering and recalling were paused".to_owned()),
        prompt: Prompt {
            agent: "cli".to_owned(),
            ..Prompt::default()
        },
        ..Explanation::default()
    };
    assert_eq!(
        page(&silent, 80),
        [
            "A new prompt, which left no trace: cli, project none that is known",
            "Nothing was shown (paused): remembering and recalling were paused.",
        ]
    );
}

#[test]
fn an_older_version_s_log_tells_what_it_has() {
    let older = Explanation {
        known: Known::Older,
        sources: Vec::new(),
        gates: Vec::new(),
        ..example()
    };
    let text = page(&older, 80).join("\n");
    assert!(text.contains("An older version logged it"), "{text}");
    assert!(text.contains("6548bfec") && !text.contains("Gates"), "{text}");
}
